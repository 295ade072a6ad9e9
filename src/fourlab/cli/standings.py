"""Print the results of matches, tournaments, chess matches and studies."""

from typing import Any

from fourlab.arena.sprt import BIAS
from fourlab.arena.summary import head_to_head, interval

MAX_BLUNDERS = 10
"""Blunders to print; --json has all of them."""


# These print results.json as `arena/summary.py`, `chess/job.py` and `studies/job.py` write it.
# Scores are shares from 0 to 1; a draw counts one half.


def print_summary(summary: dict[str, Any]) -> None:
    """Print the result of a match, or the table of a tournament."""
    if summary["games"] == 0:
        print("no games have been played")
        return
    if len(summary["agents"]) == 2:
        _print_match(summary)
    else:
        _print_ratings(summary)
        _print_cross_table(summary)
    _print_games(summary)
    if summary["accuracy"] is not None:
        _print_accuracy(summary["accuracy"])


def _print_score(one: str, other: str, match: dict[str, Any], unit: str) -> None:
    """Print wins, draws, losses, Elo and the counts of pairs (or games) of two players."""
    print(f"{one} against {other}: {match['games']} games")
    for name in ("wins", "draws", "losses"):
        print(f"  {name:7} {interval(match[name]['count'], match['games'])}")
    print(f"  score   {_percent(match['score'])}")
    print(f"  Elo: {match['elo']['text']}")
    print(f"  normalized Elo: {match['normalized_elo']['text']}")
    print(f"  likelihood of being stronger: {match['los']['text']}")
    # Tallies count from the worst result to the best.
    points = "0, ½, 1, 1½, 2 points" if unit == "pair" else "losses, draws, wins"
    print(f"  {unit}s ({points}): {' '.join(map(str, match['counts']))}")


def _print_match(summary: dict[str, Any]) -> None:
    # Two agents have exactly one pairing, listed from the first one's point of view.
    (match,) = summary["matches"]
    one, other = match["agents"]
    _print_score(one, other, match, summary["unit"])
    for agent in (one, other):
        scores = summary["agents"][agent]
        red = _percent(scores["as_red"]["score"])
        yellow = _percent(scores["as_yellow"]["score"])
        print(f"  {agent}: {red} as red, {yellow} as yellow")
    if summary["sprt"] is not None:
        print(f"SPRT: {summary['sprt']['sentence']}")
        if summary["sprt"]["accepted"] is not None:
            print(f"  note: {BIAS}")


def print_chess(summary: dict[str, Any]) -> None:
    """Print the result of a chess match."""
    one, other = summary["players"]
    _print_score(one, other, summary, "pair")
    white = summary["as_white"]["score"]
    black = summary["as_black"]["score"]
    print(f"  {one}: {white:.1%} as white, {black:.1%} as black")
    endings = ", ".join(f"{ending} {count}" for ending, count in summary["endings"].items())
    print(f"  endings: {endings}")
    plies = summary["plies"]
    lengths = f"{plies['least']} to {plies['most']}, {plies['mean']:.1f} on average"
    print(f"  plies after the opening: {lengths}")


def print_findings(results: dict[str, Any]) -> None:
    """Print how many findings of every experiment agree with its report."""
    from fourlab.analysis.overview import UNTESTED, count_answers
    from fourlab.studies.catalogue import all_experiments, title_of

    catalogue = all_experiments()
    for name, parts in results["experiments"].items():
        title = title_of(catalogue[name]) if name in catalogue else name
        answers = count_answers(parts)
        counts = [f"{answers['agrees']} agree", f"{answers['differs']} differ"]
        counts += [f"{answers[other]} {other}" for other in ("cannot tell", UNTESTED)]
        print(f"{title}: {', '.join(counts)}")


def _print_ratings(summary: dict[str, Any]) -> None:
    width = max(len(name) for name in summary["agents"])
    print(
        f"{'agent':{width}}  {'games':>6}  {'score':>6}  {'as red':>6}  {'as yellow':>9}"
        "  Elo (Bradley-Terry, 95 %)"
    )
    for rating in summary["ratings"]:
        scores = summary["agents"][rating["agent"]]
        score = _percent(scores["score"])
        red = _percent(scores["as_red"]["score"])
        yellow = _percent(scores["as_yellow"]["score"])
        print(
            f"{rating['agent']:{width}}  {rating['games']:6}  {score:>6}  {red:>6}  {yellow:>9}"
            f"  {rating['elo']['text']}"
        )


def _print_cross_table(summary: dict[str, Any]) -> None:
    # Agents in the order of the table above; columns have numbers, since names are long.
    order = [rating["agent"] for rating in summary["ratings"]]
    width = max(len(name) for name in order)
    scores = head_to_head(summary)
    print("\nscore of row against column")
    print(f"{'':{width + 4}}" + "".join(f"{i + 1:>8}" for i in range(len(order))))
    for i, one in enumerate(order):
        cells = ["-" if one == other else _percent(scores.get((one, other))) for other in order]
        print(f"{i + 1:2}  {one:{width}}" + "".join(f"{cell:>8}" for cell in cells))
    print()


def _print_games(summary: dict[str, Any]) -> None:
    """Print what concerns all games: first-player score, lengths, openings, times and faults."""
    first = summary["first_player"]
    wins = interval(first["wins"]["count"], first["games"])
    print(f"red, who moves first, scored {_percent(first['score'])}: {wins} won")
    # JSON has only texts as names.
    lengths = {int(length): count for length, count in summary["lengths"].items()}
    if lengths:
        mean = sum(length * count for length, count in lengths.items()) / sum(lengths.values())
        print(f"games had {min(lengths)} to {max(lengths)} plies, {mean:.1f} on average")
    if summary["first_columns"]:
        columns = (
            f"{column}: {_percent(_score(counts))} of {sum(counts.values())}"
            for column, counts in summary["first_columns"].items()
        )
        print(f"first column after the opening, and its score: {', '.join(columns)}")
    if summary["repetitions"]:
        print(
            f"{summary['repetitions']} {summary['unit']}s repeat others move by move "
            "and count once; more openings would help"
        )
    times = (
        f"{agent} {1000 * seconds:.3g}" for agent, seconds in summary["seconds_a_move"].items()
    )
    print(f"milliseconds per move: {', '.join(times)}")
    if summary["interrupted"]:
        print(f"{summary['interrupted']} games were interrupted and will be played again")
    for fault in summary["faults"]:
        agent = f" of {fault['agent']}" if fault["agent"] else ""
        # Results of older versions have no examples.
        example = f": {fault['example']}" if fault.get("example") else ""
        noun = "game" if fault["games"] == 1 else "games"
        print(f"{fault['games']} {noun} ended by {fault['cause']}{agent}{example}")


def _print_accuracy(accuracy: dict[str, Any]) -> None:
    print("compared with the exact values:")
    for agent, shares in accuracy["agents"].items():
        # results.json holds shares; the counts are whole numbers, so rounding recovers them.
        moves = shares["moves"]
        kept = interval(round(shares["kept"] * moves), moves)
        best = interval(round(shares["best"] * moves), moves)
        print(f"  {agent}: value kept in {kept} of {moves} moves")
        print(f"  {' ' * len(agent)}  exactly best {best}, {shares['blunders']} blunders")
    blunders = accuracy["blunders"]
    for blunder in blunders[:MAX_BLUNDERS]:
        print(
            f"  game {blunder['game']}, ply {blunder['ply'] + 1}: "
            f"{blunder['agent']} played {blunder['column']}, "
            f"from {blunder['had']} to {blunder['has']}"
        )
    if len(blunders) > MAX_BLUNDERS:
        print(f"  … and {len(blunders) - MAX_BLUNDERS} more (--json lists them all)")


def _score(counts: dict[str, int]) -> float:
    return (counts["wins"] + counts["draws"] / 2) / sum(counts.values())


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"
