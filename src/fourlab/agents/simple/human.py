"""A person at the keyboard."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fourlab.agent import UNLIMITED, Decision, Limit
from fourlab.game.outcome import SIDE_NAMES
from fourlab.game.position import IllegalColumn, Position

if TYPE_CHECKING:
    import numpy as np

WORDS = {
    "quit": ("quit", "quit()", "exit", "exit()", ":q", "q"),
    "back": ("back", "undo", "u"),
    "hint": ("hint", "h", "?"),
}
"""What a person may say instead of a column."""


class HumanSays(Exception):
    """The person asked for something other than a move: `word` is quit, back or hint."""

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.word = word


@dataclass(frozen=True)
class Human:
    """Asks a person on the terminal for a column."""

    ask: Callable[[str], str] = lambda prompt: input(prompt)
    tell: Callable[[str], None] = print

    def decide(self, position: Position, limit: Limit = UNLIMITED, rng: "np.random.Generator | None" = None) -> Decision:
        """Ask until the answer is an open column or one of the known words."""
        columns = position.rules.columns
        prompt = f"{SIDE_NAMES[position.to_move]}, column 1-{columns} (or back, hint, quit): "
        while True:
            try:
                answer = self.ask(prompt).strip().lower()
            except EOFError:
                raise HumanSays("quit") from None
            for word, spellings in WORDS.items():
                if answer in spellings:
                    raise HumanSays(word)
            if not re.fullmatch(r"[0-9]{1,3}", answer):
                self.tell(f"{answer!r} is not a column; type a number from 1 to {columns}, or back, hint, quit")
                continue
            try:
                position.play(int(answer) - 1)
            except IllegalColumn as error:
                self.tell(str(error).split(":")[0])
                continue
            return Decision(int(answer) - 1)
