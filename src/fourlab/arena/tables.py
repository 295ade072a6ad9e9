"""What came out of a run as tables; its page and the web show the same."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fourlab.arena.summary import interval

MOST_BLUNDERS = 200
"""More are not listed; results.json has them all."""


@dataclass(frozen=True)
class Table:
    """Rows of words and whole numbers under their heads."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]


def of_games(summary: dict[str, Any]) -> Iterator[Table]:
    """All that is to be told of a match or a tournament."""
    yield from standings(summary)
    if summary["faults"]:
        yield faults(summary)
    if summary["accuracy"] is not None:
        yield accuracy(summary["accuracy"])
        if summary["accuracy"]["blunders"]:
            yield blunders(summary["accuracy"])


def standings(summary: dict[str, Any]) -> Iterator[Table]:
    """Who did how well."""
    if summary["ratings"] is not None:
        head = ("agent", "games", "score", "Elo", "as red", "as yellow", "ms a move")
        yield Table("Result", head, tuple(_rated(summary, rating) for rating in summary["ratings"]))
        return
    (match,) = summary["matches"]
    one, other = match["agents"]
    rows = [(name, interval(match[name]["count"], match["games"])) for name in ("wins", "draws", "losses")]
    rows += [("score", percent(match["score"])), ("Elo", match["elo"]["text"])]
    rows += [("normalized Elo", match["normalized_elo"]["text"]), ("likelihood of being stronger", match["los"]["text"])]
    rows += [(f"{summary['unit']}s, worst to best", " ".join(map(str, match["counts"])))]
    yield Table("Result", (one, f"against {other}"), tuple(rows))
    by_colour = tuple((name, *_by_colour(shares), _ms(summary, name)) for name, shares in summary["agents"].items())
    yield Table("By colour", ("agent", "as red", "as yellow", "ms a move"), by_colour)


def faults(summary: dict[str, Any]) -> Table:
    """Games that did not end by the rules."""
    rows = ((each["cause"], each["agent"] or "", each["games"]) for each in summary["faults"])
    return Table("Games not ended by the rules", ("cause", "agent", "games"), tuple(rows))


def accuracy(found: dict[str, Any]) -> Table:
    """How well the agents kept to the exact truth."""
    rows = []
    for agent, each in found["agents"].items():
        kept, best = (interval(round(each[name] * each["moves"]), each["moves"]) for name in ("kept", "best"))
        rows.append((agent, each["moves"], kept, best, each["blunders"]))
    return Table("Beside the exact truth", ("agent", "moves", "value kept", "exactly best", "blunders"), tuple(rows))


def blunders(found: dict[str, Any]) -> Table:
    """The first moves that gave away a win or a draw."""
    head = ("game", "ply", "agent", "column", "had", "has")
    rows = (tuple(each[name] for name in head) for each in found["blunders"][:MOST_BLUNDERS])
    return Table(f"{len(found['blunders'])} blunders", head, tuple(rows))


def of_training(results: dict[str, Any]) -> Table:
    """What came out of a training."""
    return named_values("Result", {name: value for name, value in results.items() if name not in ("headline", "lines")})


def named_values(title: str, values: dict[str, Any]) -> Table:
    """Values by their names."""
    return Table(title, ("name", "value"), tuple((name, _text(value)) for name, value in values.items()))


def percent(share: float | None) -> str:
    """A share for people."""
    return "–" if share is None else f"{share:.1%}"


def _rated(summary: dict[str, Any], rating: dict[str, Any]) -> tuple[object, ...]:
    agent = rating["agent"]
    shares = summary["agents"][agent]
    score, elo = percent(shares["score"]), rating["elo"]["text"]
    return (agent, rating["games"], score, elo, *_by_colour(shares), _ms(summary, agent))


def _by_colour(shares: dict[str, Any]) -> tuple[str, str]:
    return percent(shares["as_red"]["score"]), percent(shares["as_yellow"]["score"])


def _ms(summary: dict[str, Any], agent: str) -> str:
    seconds = summary["seconds_a_move"].get(agent)
    return "" if seconds is None else f"{1000 * seconds:.3g}"


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{name} {_text(each)}" for name, each in value.items())
    return f"{value:.6g}" if isinstance(value, float) else str(value)
