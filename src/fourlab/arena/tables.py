"""The results of a run as tables, for its HTML report and the web page."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fourlab.arena.summary import interval

MOST_BLUNDERS = 200
"""Only this many are listed; results.json has all of them."""


@dataclass(frozen=True)
class Table:
    """A table whose cells are text or integers."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


def of_games(summary: dict[str, Any]) -> Iterator[Table]:
    """Yield all tables of a match or a tournament."""
    yield from standings(summary)
    if summary["faults"]:
        yield faults(summary)
    if summary["accuracy"] is not None:
        yield accuracy(summary["accuracy"])
        if summary["accuracy"]["blunders"]:
            yield blunders(summary["accuracy"])


def standings(summary: dict[str, Any]) -> Iterator[Table]:
    """Yield the tables of scores: one of ratings, or for two agents the match in detail."""
    if summary["ratings"] is not None:
        head = ("agent", "games", "score", "Elo", "as red", "as yellow", "ms per move")
        yield Table("Result", head, tuple(_rated(summary, rating) for rating in summary["ratings"]))
        return
    # Without ratings there are two agents, hence one match.
    (match,) = summary["matches"]
    one, other = match["agents"]
    rows = [
        (name, interval(match[name]["count"], match["games"]))
        for name in ("wins", "draws", "losses")
    ]
    rows += [
        ("score", percent(match["score"])),
        ("Elo", match["elo"]["text"]),
        ("normalized Elo", match["normalized_elo"]["text"]),
        ("likelihood of being stronger", match["los"]["text"]),
        (f"{summary['unit']}s, worst to best", " ".join(map(str, match["counts"]))),
    ]
    yield Table("Result", (one, f"against {other}"), tuple(rows))
    by_colour = tuple(
        (name, *_by_colour(shares), _ms(summary, name))
        for name, shares in summary["agents"].items()
    )
    yield Table("By colour", ("agent", "as red", "as yellow", "ms per move"), by_colour)


def faults(summary: dict[str, Any]) -> Table:
    """Return the table of games that did not end by the rules."""
    rows = (
        # Results of older versions have no examples.
        (fault["cause"], fault["agent"] or "", fault["games"], fault.get("example", ""))
        for fault in summary["faults"]
    )
    names = ("cause", "agent", "games", "example")
    return Table("Games not ended by the rules", names, tuple(rows))


def accuracy(quality: dict[str, Any]) -> Table:
    """Return the table of how often the agents' moves agree with the exact values."""
    rows = []
    for agent, counts in quality["agents"].items():
        moves = counts["moves"]
        # results.json has shares; the counts are whole numbers, so rounding recovers them.
        kept = interval(round(counts["kept"] * moves), moves)
        best = interval(round(counts["best"] * moves), moves)
        rows.append((agent, moves, kept, best, counts["blunders"]))
    head = ("agent", "moves", "value kept", "exactly best", "blunders")
    return Table("Agreement with the solver", head, tuple(rows))


def blunders(quality: dict[str, Any]) -> Table:
    """Return the table of the first blunders: moves that gave away a win or a draw."""
    head = ("game", "ply", "agent", "column", "had", "has")
    rows = (
        tuple(blunder[name] for name in head) for blunder in quality["blunders"][:MOST_BLUNDERS]
    )
    return Table(f"{len(quality['blunders'])} blunders", head, tuple(rows))


def of_training(results: dict[str, Any]) -> Table:
    """Return the table of a training run's results."""
    return named_values(
        "Result",
        {name: value for name, value in results.items() if name not in ("headline", "lines")},
    )


def named_values(title: str, values: dict[str, Any]) -> Table:
    """Return a table of two columns, name and value."""
    rows = tuple((name, _text(value)) for name, value in values.items())
    return Table(title, ("name", "value"), rows)


def percent(share: float | None) -> str:
    """Return a share, 0 to 1, as a percentage; a dash for None."""
    return "–" if share is None else f"{share:.1%}"


def _rated(summary: dict[str, Any], rating: dict[str, Any]) -> tuple[object, ...]:
    agent = rating["agent"]
    shares = summary["agents"][agent]
    return (
        agent,
        rating["games"],
        percent(shares["score"]),
        rating["elo"]["text"],
        *_by_colour(shares),
        _ms(summary, agent),
    )


def _by_colour(shares: dict[str, Any]) -> tuple[str, str]:
    return percent(shares["as_red"]["score"]), percent(shares["as_yellow"]["score"])


def _ms(summary: dict[str, Any], agent: str) -> str:
    """Return the mean thinking time per move in milliseconds; empty without moves."""
    seconds = summary["seconds_a_move"].get(agent)
    return "" if seconds is None else f"{1000 * seconds:.3g}"


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(entry)}" for name, entry in value.items())
    return f"{value:.6g}" if isinstance(value, float) else str(value)
