"""What Arya quotes or plans without trying it: remedies of DQN, proofs, wide boards."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from fourlab.agent import Limit
from fourlab.agents.dqn.settings import TRAINING
from fourlab.agents.registry import make
from fourlab.arena.openings import openings
from fourlab.arena.tournament import Player, Tournament
from fourlab.game.rules import CLASSIC
from fourlab.studies.arya import alpha
from fourlab.studies.arya.bouts import POINTS, match, play, score, too_few
from fourlab.studies.arya.matches import vanilla
from fourlab.studies.claims import (
    ANYTHING,
    RESULTS,
    SHARES,
    Claim,
    Kind,
    Source,
    Verdict,
    mean_of,
    share,
)
from fourlab.studies.trainings import ONE_TRAINING, train_in
from fourlab.studies.verdicts import (
    FEWEST_TRAININGS,
    LEAST_ERROR,
    larger_mean,
    larger_share,
    larger_than,
)
from fourlab.studies.workbench import Part, Table, Workbench
from fourlab.training.kind import TrainingJob
from fourlab.training.test_set import solved_positions

GAMES = 128
"""Games that DQN plays in step: without replay it learns from the latest move of each only."""
ARMS: dict[str, dict[str, Any]] = {
    "DQN": {},
    "without double DQN": {"double": False},
    "without replay": {"replay": GAMES},
}
"""Trainings of DQN, by the names of their rows, with the settings that they change."""
LEARNERS = {
    "Q-table": (3_000_000, "arya-q"),
    "DQN": (137_371, "dqn"),
    "AlphaMCTS(10), network alone": (1000, "alphazero:net=arya-1000,simulations=0"),
    "AlphaMCTS(50), network alone": (5000, "alphazero:net=arya-5000,simulations=0"),
}
"""Agents without search that ship with Fourlab: games of training, and specs."""
WIDTHS = (5, 7, 9)
MINIMAX = "minimax:depth=12,ties=random"
"""Deepens as far as its nodes reach."""
SCORE_MARGIN = 0.1
"""Margin of shares of games and positions, and of values from -1 to +1."""


def conduct(bench: Workbench) -> Iterator[Part]:
    """Try them."""
    yield from _remedies(bench)
    yield _proofs(bench)
    yield from _learning(bench)
    yield from _branching(bench)
    yield _chess_network()


def _train(folder: Path, size: Mapping[str, Any], seed: int, number: int) -> dict[str, float]:
    """Train one arm, numbers going through ARMS first, and return what it has learned."""
    repetition, arm = divmod(number, len(ARMS))
    settings = replace(
        TRAINING.preset("usual"),
        moves=size["moves"],
        games=GAMES,
        epsilon_moves=size["moves"] // 2,
        warmup=10 * GAMES,
        exam_every=10**6,  # only at the end
        exam_games=size["exam_games"],
        seed=seed + repetition,
    )
    changed = replace(settings, **list(ARMS.values())[arm])
    run = train_in(folder / str(number), TrainingJob(TRAINING, changed, "dqn"))
    results = run.results
    assert results is not None  # without a mark a training ends only when it is finished
    greatest, exact = greatest_and_exact(
        str(run.folder / "dqn.onnx"), size["valued"], changed.gamma
    )
    return {
        "greatest": greatest,
        "exact of these": exact,
        "rules": results["rules"]["score"],
        "kept": results["exact"]["decisive"],
    }


def greatest_and_exact(net: str, count: int, gamma: float) -> tuple[float, float]:
    """Return the mean greatest Q-value of solved positions, and the mean of their exact values."""
    agent = make(f"dqn:net={net}")
    greatest, exact = [], []
    for position, scores in zip(*solved_positions(count), strict=True):
        columns = agent.decide(position, Limit(), np.random.default_rng(0)).analysis.columns
        greatest.append(max(column.estimate for column in columns if column.estimate is not None))
        exact.append(discounted(max(scores.values()), position.ply, gamma))
    return fmean(greatest), fmean(exact)


def discounted(exact_score: int, ply: int, gamma: float) -> float:
    """Return the value that Q-learning with a discount factor aims at, under perfect play.

    `exact_score` is on Pons's scale, 22 less the discs of the winner at the end of the game;
    `ply` is the number of discs on the board. A win at once is worth 1.
    """
    if exact_score == 0:
        return 0.0
    discs = CLASSIC.columns * CLASSIC.rows // 2 + 1 - abs(exact_score)
    winner = ply % 2 if exact_score > 0 else 1 - ply % 2  # 0 is the player who began
    # The player who began places odd discs.
    end = 2 * discs - (winner == 0)
    return math.copysign(gamma ** (end - ply - 1), exact_score)


def _remedies(bench: Workbench) -> Iterator[Part]:
    """Train DQN with and without double DQN and replay."""
    seeds = bench.size["seeds"]
    folder = bench.folder.resolve() / "dqn"
    results = bench.repeat("dqn", _train, seeds * len(ARMS), folder, bench.size, bench.seed)
    arms = {name: results[place :: len(ARMS)] for place, name in enumerate(ARMS)}

    def values(arm: str, key: str) -> list[float]:
        return [result[key] for result in arms[arm]]

    def larger(key: str, one: str, other: str, margin: float) -> Verdict:
        if seeds < FEWEST_TRAININGS:
            return too_few(seeds)
        return larger_mean(
            values(one, key),
            values(other, key),
            margin,
            scale=SHARES,
            trained=True,
            least_error=LEAST_ERROR / 100,
        )

    full, single, forgetful = ARMS
    trained = f"{bench.size['moves']:,} moves of training, {seeds} seeds"
    yield _bias(
        {name: values(name, "greatest") for name in (full, single)},
        # The same positions for all trainings.
        values(single, "exact of these")[0],
        f"in {bench.size['valued']} solved positions; {trained}",
    )
    yield Claim(
        "catastrophic-forgetting",
        f"share of points against the rules agent; {trained}",
        "a network without replay forgets",
        Source.TEXT,
        faithful=mean_of(values(forgetful, "rules"), within=SHARES),
        corrected=mean_of(values(full, "rules"), within=SHARES),
        true=larger("rules", full, forgetful, SCORE_MARGIN),
        labels={"faithful": "without replay", "corrected": "with replay"},
    )
    ranges = {"greatest": ANYTHING, "rules": SHARES, "kept": SHARES}
    rows = [
        (
            name,
            *(str(mean_of(values(name, key), within=within)) for key, within in ranges.items()),
        )
        for name in ARMS
    ]
    head = ("training", "greatest Q", "points against rules", "exact value kept where it can fall")
    yield Table("DQN with and without its remedies", head, tuple(rows))


def _bias(greatest: Mapping[str, list[float]], exact: float, where: str) -> Claim:
    """Compare the mean greatest Q-values of trainings with the mean exact value."""
    full, single, _ = ARMS
    bias = {name: [value - exact for value in values] for name, values in greatest.items()}
    trainings = len(bias[single])
    return Claim(
        "maximisation-bias",
        f"mean greatest Q-value less the exact value, {where}",
        "Q-values are overestimated",
        Source.TEXT,
        faithful=mean_of(bias[single]),
        corrected=mean_of(bias[full]),
        true=too_few(trainings)
        if trainings < FEWEST_TRAININGS
        else larger_than(
            bias[single],
            0,
            SCORE_MARGIN,
            scale=RESULTS,
            what="trainings",
            least_error=LEAST_ERROR / 100,
        ),
        why="true asks whether plain DQN overestimates. The greatest Q-values have a mean of "
        f"{fmean(greatest[single]):.3f} (plain) and {fmean(greatest[full]):.3f} (double), the "
        f"exact values, discounted as in the training, one of {exact:.3f}. Targets are clamped to "
        "the range of results, which bounds a bias",
        labels={"faithful": "plain DQN", "corrected": "double DQN"},
    )


def _proofs(bench: Workbench) -> Claim:
    """Compare AlphaMCTS with and without wins and losses that are proven in the tree."""
    count = bench.size["positions"]
    net = alpha.NETWORKS[5000]
    specs = tuple(
        alpha.alpha(net, alpha.ITERATIONS, f"{alpha.WITHOUT_FAULTS},proofs={proofs}")
        for proofs in (0, 1)
    )
    answers = bench.repeat(
        "proofs", alpha.keeps_value, count * len(specs), specs, count, bench.seed
    )
    without, proving = (
        [answer["mistake"] for answer in answers[begin : begin + count] if answer["open"]]
        for begin in (0, count)
    )
    return Claim(
        "alphamcts-with-proofs",
        "moves of AlphaMCTS that give away a win or a draw, where that is possible, without and "
        "with results that are proven in the tree, as alpha-beta does",
        "combining both is planned",
        Source.TEXT,
        faithful=share(sum(without), len(without)),
        corrected=share(sum(proving), len(proving)),
        why=f"{net} with {alpha.ITERATIONS:,} simulations per move: {ONE_TRAINING}",
        labels={"faithful": "without proofs", "corrected": "with proofs"},
    )


def _learning(bench: Workbench) -> Iterator[Part]:
    """Score the agents that learn, without search, against the rules agent."""
    matches = [
        match(bench, (spec, "rules"), (name, "rules"), bench.size["games"], openings="random:4")
        for name, (_, spec) in LEARNERS.items()
    ]
    rows = []
    for name, games in zip(LEARNERS, play(bench, "learning", matches), strict=True):
        result = score(games, name)
        won = share(result.won, result.games)
        rows.append((name, LEARNERS[name][0], *result, str(won)))
        yield Claim(
            f"learning-speed-{LEARNERS[name][0]}",
            f"games won against rules by {name}, after {LEARNERS[name][0]:,} games of training",
            "speed of learning is named as a measure, without a number",
            Source.TEXT,
            faithful=won,
            kind=Kind.DIAGNOSTIC,
            labels={"faithful": "ours"},
        )
    head = ("agent", "games of training", "wins", "losses", "draws", "won")
    yield Table("Speed of learning: games of training and results against rules", head, tuple(rows))


def _chess_network() -> Claim:
    """Return the plan of the thesis that nobody has carried out."""
    return Claim(
        "chess-network",
        "a network for chess",
        "planned",
        Source.TEXT,
        faithful="not made",
        why="A plan without a number, and nothing to compare with; chess is played by search alone",
    )


def _branching(bench: Workbench) -> Iterator[Part]:
    """Play tree search against minimax on boards of growing width, with the same work for both.

    A simulation of tree search adds one node to its tree; minimax has as many nodes per move, and
    deepens as far as they reach.
    """
    nodes = bench.size["rollouts"]
    players = (
        Player(vanilla(nodes, False), name="MCTS"),
        Player(MINIMAX, Limit(nodes=nodes), "minimax"),
    )
    matches = [
        Tournament(
            players, (board_of(width),), "random:4", bench.size["games"] // 2, seed=bench.seed
        )
        for width in WIDTHS
    ]
    results = [score(games, "MCTS") for games in play(bench, "branching", matches)]
    depths = bench.repeat("depths", mean_depth, len(WIDTHS), nodes, bench.size["games"], bench.seed)
    narrow, wide = results[0], results[-1]
    shares = "; ".join(str(share(result.won, result.games)) for result in results)
    reached = ", ".join(f"{depth:.1f}" for depth in depths)
    yield Claim(
        "branching-and-tree-search",
        f"games that tree search with {nodes:,} rollouts wins against minimax with {nodes:,} nodes "
        f"per move, on {', '.join(map(str, WIDTHS))} columns and 5 rows",
        "tree search suits large branching factors",
        Source.TEXT,
        corrected=shares,
        true=larger_share(wide.won, wide.games, narrow.won, narrow.games, POINTS),
        why="true asks whether it wins more games on the widest board than on the narrowest. Both "
        f"have the same number of nodes on all boards, with which minimax completes {reached} "
        "plies on average",
    )
    rows = tuple(
        (width, *result, f"{depth:.1f}")
        for width, result, depth in zip(WIDTHS, results, depths, strict=True)
    )
    head = ("columns", "wins of tree search", "losses", "draws", "depth of minimax")
    yield Table("Tree search against minimax by width, with the same number of nodes", head, rows)


def board_of(width: int) -> str:
    """Return the board with a number of columns."""
    return f"{width}x5x4"


def mean_depth(nodes: int, count: int, seed: int, number: int) -> float:
    """Return the mean depth that minimax completes in positions after four random moves."""
    agent = make(MINIMAX)
    rng = np.random.default_rng(seed)
    positions = openings("random:4", board_of(WIDTHS[number]), count, seed)
    depths = [agent.decide(one, Limit(nodes=nodes), rng).analysis.depth for one in positions]
    return fmean(depth for depth in depths if depth is not None)
