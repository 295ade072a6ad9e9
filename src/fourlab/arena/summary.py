"""The results of a tournament as plain data, shown alike by the terminal, the report and JSON."""

import itertools
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from fourlab.arena.judge import MoveQuality
from fourlab.arena.statistics import wilson
from fourlab.arena.store import Store
from fourlab.game.record import Cause

if TYPE_CHECKING:
    from fourlab.arena.results import Results


def summarize(results: "Results", store: Store) -> dict[str, Any]:
    """Return everything known about the games so far, as written to results.json."""
    tournament = results.tournament
    quality = MoveQuality.of(store.games("scores IS NOT NULL"))
    verdict = results.verdict()
    return {
        "games": results.games,
        # A decided test plays no more games, so the games so far are all there are.
        "of": len(tournament) if results.decided_at is None else results.games,
        "unit": "pair" if tournament.games_per_unit == 2 else "game",
        "agents": {name: _agent(results, name) for name in results.names},
        "matches": [
            _match(results, one, other) for one, other in itertools.combinations(results.names, 2)
        ],
        "ratings": _ratings(results) if len(results.names) > 2 else None,
        "sprt": None if verdict is None else asdict(verdict),
        "first_player": results.first_player().as_data(),
        "lengths": {str(length): count for length, count in sorted(results.lengths.items())},
        "first_columns": {
            # Columns count from 1 for people; keys of JSON objects are texts.
            str(column + 1): dict(zip(("wins", "draws", "losses"), counts, strict=True))
            for column, counts in sorted(results.first_columns.items())
        },
        "repetitions": results.repetitions,
        "interrupted": len(results.interrupted),
        "faults": _faults(results, store),
        # The only entry that differs between runs with the same seed.
        "seconds_a_move": {
            name: results.seconds[name] / moves
            for name in results.names
            if (moves := results.moves[name])
        },
        "accuracy": quality.as_data() if quality.moves else None,
    }


def _faults(results: "Results", store: Store) -> list[dict[str, Any]]:
    """Return how games ended that did not end by the rules, each with its first example."""
    counts = {kind: count for kind, count in results.causes.items() if kind[1] != Cause.NORMAL}
    examples: dict[tuple[str, str], str] = {}
    for game in store.games("cause != ?", Cause.NORMAL.value) if counts else ():
        examples.setdefault((game.at_fault, game.cause), f"game {game.number}, {game.detail}")
        if len(examples) == len(counts):
            break
    return [
        {
            "agent": agent or None,
            "cause": cause,
            "games": count,
            "example": examples.get((agent, cause), ""),
        }
        for (agent, cause), count in sorted(counts.items())
    ]


def _agent(results: "Results", name: str) -> dict[str, Any]:
    return {
        **results.share(name).as_data(),
        "as_red": results.share(name, red=True).as_data(),
        "as_yellow": results.share(name, red=False).as_data(),
    }


def _match(results: "Results", one: str, other: str) -> dict[str, Any]:
    tally = results.tally(one, other)
    return {
        "agents": [one, other],
        **results.share(one, other).as_data(),
        "counts": list(tally.counts),
        "elo": tally.elo().as_data(),
        "normalized_elo": tally.normalized_elo().as_data(),
        "los": tally.los().as_data(),
    }


def _ratings(results: "Results") -> list[dict[str, Any]]:
    return [
        {
            "agent": rating.name,
            "elo": rating.elo.as_data(),
            "games": rating.games,
            "score": rating.score,
        }
        for rating in results.ratings(results.tournament.seed)
    ]


def head_to_head(summary: dict[str, Any]) -> dict[tuple[str, str], float]:
    """Return the score, 0 to 1, of every agent against every other it has met."""
    scores: dict[tuple[str, str], float] = {}
    for match in summary["matches"]:
        one, other = match["agents"]
        if match["score"] is not None:
            scores[one, other] = match["score"]
            scores[other, one] = 1 - match["score"]
    return scores


def interval(count: int, of: int) -> str:
    """Return a count with its share and Wilson's 95 % interval, as text."""
    if of == 0:
        return "none"
    low, high = wilson(count, of)
    return f"{count} = {count / of:.1%} [{low:.1%}, {high:.1%}]"
