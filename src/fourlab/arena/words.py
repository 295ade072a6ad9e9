"""The results of a match or tournament in words, as commands and Python print them."""

from collections.abc import Iterator
from typing import Any

from fourlab.arena.sprt import BIAS
from fourlab.arena.summary import head_to_head, interval

MAX_BLUNDERS = 10
"""Blunders to list; results.json has all of them."""


# These read results.json as `arena/summary.py` writes it. Scores are shares from 0 to 1; a draw
# counts one half.


def of_games(summary: dict[str, Any]) -> Iterator[str]:
    """Yield the result of a match, or the table of a tournament."""
    if summary["games"] == 0:
        yield "no games have been played"
        return
    if len(summary["agents"]) == 2:
        yield from _match(summary)
    else:
        yield from _ratings(summary)
        yield from _cross_table(summary)
    yield from _games(summary)
    if summary["accuracy"] is not None:
        yield from _accuracy(summary["accuracy"])


def of_score(one: str, other: str, match: dict[str, Any], unit: str) -> Iterator[str]:
    """Yield wins, draws, losses, Elo and the counts of pairs (or games) of two players."""
    yield f"{one} against {other}: {match['games']} games"
    for name in ("wins", "draws", "losses"):
        yield f"  {name:7} {interval(match[name]['count'], match['games'])}"
    yield f"  score   {_percent(match['score'])}"
    yield f"  Elo: {match['elo']['text']}"
    yield f"  normalized Elo: {match['normalized_elo']['text']}"
    yield f"  likelihood of being stronger: {match['los']['text']}"
    # Tallies count from the worst result to the best.
    points = "0, ½, 1, 1½, 2 points" if unit == "pair" else "losses, draws, wins"
    yield f"  {unit}s ({points}): {' '.join(map(str, match['counts']))}"


def _match(summary: dict[str, Any]) -> Iterator[str]:
    # Two agents have exactly one pairing, listed from the first one's point of view.
    (match,) = summary["matches"]
    one, other = match["agents"]
    yield from of_score(one, other, match, summary["unit"])
    for agent in (one, other):
        scores = summary["agents"][agent]
        red = _percent(scores["as_red"]["score"])
        yellow = _percent(scores["as_yellow"]["score"])
        yield f"  {agent}: {red} as red, {yellow} as yellow"
    if summary["sprt"] is not None:
        yield f"SPRT: {summary['sprt']['sentence']}"
        if summary["sprt"]["accepted"] is not None:
            yield f"  note: {BIAS}"


def _ratings(summary: dict[str, Any]) -> Iterator[str]:
    width = max(len(name) for name in summary["agents"])
    yield (
        f"{'agent':{width}}  {'games':>6}  {'score':>6}  {'as red':>6}  {'as yellow':>9}"
        "  Elo (Bradley-Terry, 95 %)"
    )
    for rating in summary["ratings"]:
        scores = summary["agents"][rating["agent"]]
        score = _percent(scores["score"])
        red = _percent(scores["as_red"]["score"])
        yellow = _percent(scores["as_yellow"]["score"])
        yield (
            f"{rating['agent']:{width}}  {rating['games']:6}  {score:>6}  {red:>6}  {yellow:>9}"
            f"  {rating['elo']['text']}"
        )


def _cross_table(summary: dict[str, Any]) -> Iterator[str]:
    # Agents in the order of the table above; columns have numbers, since names are long.
    order = [rating["agent"] for rating in summary["ratings"]]
    width = max(len(name) for name in order)
    scores = head_to_head(summary)
    yield "\nscore of row against column"
    yield f"{'':{width + 4}}" + "".join(f"{i + 1:>8}" for i in range(len(order)))
    for i, one in enumerate(order):
        cells = ["-" if one == other else _percent(scores.get((one, other))) for other in order]
        yield f"{i + 1:2}  {one:{width}}" + "".join(f"{cell:>8}" for cell in cells)
    yield ""


def _games(summary: dict[str, Any]) -> Iterator[str]:
    """Yield what concerns all games: first-player score, lengths, openings, times and faults."""
    first = summary["first_player"]
    wins = interval(first["wins"]["count"], first["games"])
    yield f"red, who moves first, scored {_percent(first['score'])}: {wins} won"
    # JSON has only texts as names.
    lengths = {int(length): count for length, count in summary["lengths"].items()}
    if lengths:
        mean = sum(length * count for length, count in lengths.items()) / sum(lengths.values())
        yield f"games had {min(lengths)} to {max(lengths)} plies, {mean:.1f} on average"
    if summary["first_columns"]:
        columns = (
            f"{column}: {_percent(_score(counts))} of {sum(counts.values())}"
            for column, counts in summary["first_columns"].items()
        )
        yield f"first column after the opening, and its score: {', '.join(columns)}"
    if summary["repetitions"]:
        yield (
            f"{summary['repetitions']} {summary['unit']}s repeat others move by move "
            "and count once; more openings would help"
        )
    times = (
        f"{agent} {1000 * seconds:.3g}" for agent, seconds in summary["seconds_a_move"].items()
    )
    yield f"milliseconds per move: {', '.join(times)}"
    if summary["interrupted"]:
        yield f"{summary['interrupted']} games were interrupted and will be played again"
    for fault in summary["faults"]:
        agent = f" of {fault['agent']}" if fault["agent"] else ""
        # Results of older versions have no examples.
        example = f": {fault['example']}" if fault.get("example") else ""
        noun = "game" if fault["games"] == 1 else "games"
        yield f"{fault['games']} {noun} ended by {fault['cause']}{agent}{example}"


def _accuracy(accuracy: dict[str, Any]) -> Iterator[str]:
    yield "compared with the exact values:"
    for agent, shares in accuracy["agents"].items():
        # results.json holds shares; the counts are whole numbers, so rounding recovers them.
        moves = shares["moves"]
        kept = interval(round(shares["kept"] * moves), moves)
        best = interval(round(shares["best"] * moves), moves)
        yield f"  {agent}: value kept in {kept} of {moves} moves"
        yield f"  {' ' * len(agent)}  exactly best {best}, {shares['blunders']} blunders"
    blunders = accuracy["blunders"]
    for blunder in blunders[:MAX_BLUNDERS]:
        yield (
            f"  game {blunder['game']}, ply {blunder['ply'] + 1}: "
            f"{blunder['agent']} played {blunder['column']}, "
            f"from {blunder['had']} to {blunder['has']}"
        )
    if len(blunders) > MAX_BLUNDERS:
        yield f"  … and {len(blunders) - MAX_BLUNDERS} more (results.json has them all)"


def _score(counts: dict[str, int]) -> float:
    return (counts["wins"] + counts["draws"] / 2) / sum(counts.values())


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"
