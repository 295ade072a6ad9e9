"""Evaluation of a network in training: solved positions, wins and blocks, games with others."""

from typing import Any

import numpy as np

from fourlab.agents.alphazero.forest import ForestSearch
from fourlab.agents.alphazero.self_play import switches_of
from fourlab.agents.alphazero.settings import AlphaZeroSettings
from fourlab.agents.opponents import chooser
from fourlab.compiled.batches import open_columns
from fourlab.nets.evaluator import OnnxEvaluator
from fourlab.training.games import Chooser, match
from fourlab.training.test_set import solved_set, win_block_accuracy

OPPONENTS = ("rules", "minimax:depth=4")
"""Specs of the agents that an evaluation plays against."""


def player(evaluator: OnnxEvaluator, simulations: int, settings: AlphaZeroSettings) -> Chooser:
    """Return a network as a player of many games at a time.

    It searches without noise, or with 0 simulations plays the best column of its policy.
    """
    rules = evaluator.rules
    switches = switches_of(settings)._replace(noise=0.0, proving=True, faithful=False)

    def by_policy(own: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        logits = evaluator.heads(evaluator.planes(own, mask))["policy"]
        legal = open_columns(mask, rules.geometry)
        columns: np.ndarray = np.where(legal, logits, -np.inf).argmax(axis=1)
        return columns

    def by_search(own: np.ndarray, mask: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        search = ForestSearch(evaluator, rules, len(own), simulations, switches)
        search.reset(own, mask, simulations)
        search.run()
        roots = search.roots()
        if not switches.gumbel:
            return roots.most_visited()
        columns: np.ndarray = roots.improved(switches.scale).argmax(axis=1)
        return columns

    return by_search if simulations else by_policy


def evaluate(evaluator: OnnxEvaluator, s: AlphaZeroSettings, seed: int) -> dict[str, Any]:
    """Test a network on solved positions and in games against other agents."""
    rules = evaluator.rules
    policy = player(evaluator, 0, s)
    search = player(evaluator, s.exam_simulations, s)
    test_set = solved_set(rules)
    results: dict[str, Any] = {"win_block": dict(win_block_accuracy(policy, rules))}
    if len(test_set.own):
        results["policy"] = test_set.evaluate(policy)
        results["search"] = test_set.evaluate(search)
    if s.exam_games:
        for spec in OPPONENTS:
            opponent = chooser(spec, rules)
            rng = np.random.default_rng(seed)
            results[spec] = match(search, opponent, s.exam_games, rules, rng)
    return results


def headline(results: dict[str, Any], s: AlphaZeroSettings, games: int) -> str:
    """Return the results of an evaluation in one line."""
    parts = []
    if "search" in results:
        policy, search = results["policy"], results["search"]
        parts.append(
            f"mistakes in {policy['mistakes']:.1%} of {policy['positions']} positions "
            "by policy alone"
        )
        parts.append(f"{search['mistakes']:.1%} with {s.exam_simulations} simulations")
    for spec in OPPONENTS:
        if spec in results:
            parts.append(f"{results[spec]['score']:.1%} against {spec}")
    return ", ".join(parts) or f"{games:,} games"
