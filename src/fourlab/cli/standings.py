"""Print the results of matches, tournaments and chess matches."""

from typing import Any

from fourlab.arena import words


def print_summary(summary: dict[str, Any]) -> None:
    """Print the result of a match, or the table of a tournament."""
    print("\n".join(words.of_games(summary)))


def print_chess(summary: dict[str, Any]) -> None:
    """Print the result of a chess match."""
    one, other = summary["players"]
    print("\n".join(words.of_score(one, other, summary, "pair")))
    white = summary["as_white"]["score"]
    black = summary["as_black"]["score"]
    print(f"  {one}: {white:.1%} as white, {black:.1%} as black")
    endings = ", ".join(f"{ending} {count}" for ending, count in summary["endings"].items())
    print(f"  endings: {endings}")
    plies = summary["plies"]
    lengths = f"{plies['least']} to {plies['most']}, {plies['mean']:.1f} on average"
    print(f"  plies after the opening: {lengths}")
