"""What came out of a tournament, on the terminal."""

from typing import Any

from fourlab.arena.summary import head_to_head, interval


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
    _print_what_they_share(summary)
    if summary["accuracy"] is not None:
        _print_accuracy(summary["accuracy"])


def _print_match(summary: dict[str, Any]) -> None:
    (match,) = summary["matches"]
    one, other = match["agents"]
    games, unit = match["games"], summary["unit"]
    print(f"{one} against {other}: {games} games")
    for name in ("wins", "draws", "losses"):
        print(f"  {name:7} {interval(match[name]['count'], games)}")
    print(f"  score   {_percent(match['score'])}")
    for name, key in (("Elo", "elo"), ("normalized Elo", "normalized_elo"), ("likelihood of being stronger", "los")):
        print(f"  {name}: {match[key]['text']}")
    points = "0, ½, 1, 1½, 2 points" if unit == "pair" else "losses, draws, wins"
    print(f"  {unit}s ({points}): {' '.join(map(str, match['counts']))}")
    for agent in (one, other):
        shares = summary["agents"][agent]
        print(f"  {agent}: {_percent(shares['as_red']['score'])} as red, {_percent(shares['as_yellow']['score'])} as yellow")
    if summary["sprt"] is not None:
        print(f"SPRT: {summary['sprt']['sentence']}")


def _print_ratings(summary: dict[str, Any]) -> None:
    width = max(len(name) for name in summary["agents"])
    heads = f"{'games':>6}  {'score':>6}  {'as red':>6}  {'as yellow':>9}  Elo (Bradley-Terry, 95 %)"
    print(f"{'agent':{width}}  {heads}")
    for rating in summary["ratings"]:
        shares = summary["agents"][rating["agent"]]
        scores = (f"{_percent(each['score']):>6}" for each in (shares, shares["as_red"]))
        yellow = _percent(shares["as_yellow"]["score"])
        print(f"{rating['agent']:{width}}  {rating['games']:6}  {'  '.join(scores)}  {yellow:>9}  {rating['elo']['text']}")


def _print_cross_table(summary: dict[str, Any]) -> None:
    order = [rating["agent"] for rating in summary["ratings"]]
    width = max(len(name) for name in order)
    scores = head_to_head(summary)
    print("\nscore of row against column")
    print(f"{'':{width + 4}}" + "".join(f"{i + 1:>8}" for i in range(len(order))))
    for i, one in enumerate(order):
        cells = ["-" if one == other else _percent(scores.get((one, other))) for other in order]
        print(f"{i + 1:2}  {one:{width}}" + "".join(f"{cell:>8}" for cell in cells))
    print()


def _print_what_they_share(summary: dict[str, Any]) -> None:
    first = summary["first_player"]
    print(f"red, who moves first, scored {_percent(first['score'])}: {interval(first['wins']['count'], first['games'])} won")
    lengths = {int(length): count for length, count in summary["lengths"].items()}
    if lengths:
        mean = sum(length * count for length, count in lengths.items()) / sum(lengths.values())
        print(f"games had {min(lengths)} to {max(lengths)} plies, {mean:.1f} on average")
    columns = (
        f"{column}: {_percent(_score(counts))} of {sum(counts.values())}" for column, counts in summary["first_columns"].items()
    )
    if summary["first_columns"]:
        print(f"first column after the opening, and its score: {', '.join(columns)}")
    if summary["repetitions"]:
        print(f"{summary['repetitions']} {summary['unit']}s repeat others move by move and count once; more openings would help")
    times = (f"{agent} {1000 * seconds:.3g}" for agent, seconds in summary["seconds_a_move"].items())
    print(f"milliseconds a move: {', '.join(times)}")
    if summary["interrupted"]:
        print(f"{summary['interrupted']} games were interrupted and will be played again")
    for fault in summary["faults"]:
        print(f"{fault['games']} games ended by {fault['cause']}" + (f" of {fault['agent']}" if fault["agent"] else ""))


def _print_accuracy(accuracy: dict[str, Any]) -> None:
    print("beside the exact truth:")
    for agent, found in accuracy["agents"].items():
        kept, best = (round(found[each] * found["moves"]) for each in ("kept", "best"))
        print(f"  {agent}: value kept in {interval(kept, found['moves'])} of {found['moves']} moves")
        print(f"  {' ' * len(agent)}  exactly best {interval(best, found['moves'])}, {found['blunders']} blunders")
    for blunder in accuracy["blunders"][:10]:
        print(
            f"  game {blunder['game']}, ply {blunder['ply'] + 1}: {blunder['agent']} played {blunder['column']},"
            f" from {blunder['had']} to {blunder['has']}"
        )
    if (more := len(accuracy["blunders"]) - 10) > 0:
        print(f"  … and {more} more (--json lists them all)")


def _score(counts: dict[str, int]) -> float:
    return (counts["wins"] + counts["draws"] / 2) / sum(counts.values())


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{share:.1%}"
