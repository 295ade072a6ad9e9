"""The player that has learned by heart: it plays what a table of values says."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from fourlab.agent import UNLIMITED, Analysis, ColumnAnalysis, Decision, Limit
from fourlab.agents.generators import generator
from fourlab.agents.q.table import QTable, load_table, shipped_table
from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.options import check, option

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Q:
    """Plays the column of the greatest value in a table that `fourlab train q` has learned."""

    learned: ClassVar[bool] = True
    """It knows the board that it has learned on (fourlab.agent.Learned)."""
    table: str | None = option(
        None, "The file of the table; by default the one that comes with Fourlab, which knows the 5x4 board and nothing else."
    )
    tie: Literal["first", "random"] = option(
        "first", "Which of equally good columns to play, such as those it knows nothing of: the first, or any."
    )
    _table: QTable = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check(self)
        object.__setattr__(self, "_table", shipped_table() if self.table is None else load_table(Path(self.table)))

    def decide(self, position: Position, limit: Limit = UNLIMITED, rng: "np.random.Generator | None" = None) -> Decision:
        """Look up."""
        rng = generator(rng)
        board = self._table.form.rules
        if position.rules == board:
            worth, known = self._table.judge(position)
        elif self.table is None:
            worth, known = dict.fromkeys(position.legal_columns(), self._table.form.initial), 0
        else:
            raise UserError(f"the table {self.table} is for the board {board}, not {position.rules}")
        best = [column for column in worth if worth[column] == max(worth.values())]
        column = best[0] if self.tie == "first" else int(rng.choice(best))
        columns = tuple(ColumnAnalysis(each, value=max(-1.0, min(1.0, q)), estimate=q) for each, q in worth.items())
        value = self._table.scaled(worth[column]) if known else None
        return Decision(column, value, analysis=Analysis(columns, known=known))
