"""A human at the keyboard."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fourlab.agent import UNLIMITED, Decision, Limit
from fourlab.game.outcome import SIDE_NAMES
from fourlab.game.position import IllegalColumn, PositionLike, unfinished

if TYPE_CHECKING:
    import numpy as np

WORDS = {
    "quit": ("quit", "quit()", "exit", "exit()", ":q", "q"),
    "back": ("back", "undo", "u", "b"),
    "hint": ("hint", "h", "?"),
    "eval": ("eval", "evaluate", "e"),
}
"""What may be typed instead of a column, by the command it stands for."""


class HumanSays(Exception):
    """Raised when the human types a command: `word` is one of WORDS."""

    def __init__(self, word: str) -> None:
        super().__init__(word)
        self.word = word


@dataclass(frozen=True)
class Human:
    """Asks for a column on the terminal."""

    # A lambda, because `input` may be replaced after this class is made.
    ask: Callable[[str], str] = lambda prompt: input(prompt)
    """Shows a prompt and returns the answer."""
    show: Callable[[str], None] = print
    """Shows a message."""

    def decide(
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: "np.random.Generator | None" = None,
    ) -> Decision:
        """Ask until the answer is an open column; raise HumanSays if it is a command."""
        position = unfinished(position)
        columns = position.rules.columns
        prompt = f"{SIDE_NAMES[position.to_move]}, column 1-{columns} (or back, hint, eval, quit): "
        while True:
            try:
                answer = self.ask(prompt).strip().lower()
            except EOFError:
                raise HumanSays("quit") from None
            for word, spellings in WORDS.items():
                if answer in spellings:
                    raise HumanSays(word)
            if not re.fullmatch(r"[0-9]{1,3}", answer):
                self.show(
                    f"{answer!r} is not a column; "
                    f"type a number from 1 to {columns}, or back, hint, eval, quit"
                )
                continue
            try:
                position.play(int(answer) - 1, named_from=1)
            except IllegalColumn as error:
                # The message ends with the position, which the human sees anyway.
                self.show(str(error).split(":")[0])
                continue
            return Decision(int(answer) - 1)
