"""Q: an agent that plays by a table of learned values."""

from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from fourlab.agent import UNLIMITED, Analysis, ColumnAnalysis, Decision, Limit
from fourlab.agents.generators import generator
from fourlab.agents.q.table import QTable, named_table, shipped_table
from fourlab.errors import UserError
from fourlab.game.position import PositionLike, unfinished
from fourlab.options import check, option


@dataclass(frozen=True)
class Q:
    """Plays the column of the greatest value in a table made by `fourlab train q`."""

    learned: ClassVar[bool] = True
    """The agent plays only on the board it was trained on (fourlab.agent.Learned)."""
    table: str | None = option(
        None,
        "Table: a file, or arya or arya-faithful, shipped with Fourlab (default: the shipped table "
        "for the 5x4 board).",
    )
    memory_mb: float | None = option(
        None,
        "Memory that the table may take (default: the size of its file and 80 MB more).",
        unit="MB",
        least=1,
        most=1 << 20,
    )
    ties: Literal["first", "random"] = option(
        "first",
        "Choice between columns of equal value, such as those not in the table: the first, or a "
        "random one.",
        aliases=("tie",),
    )
    _table: QTable = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        check(self)
        table = shipped_table() if self.table is None else named_table(self.table, self.memory_mb)
        object.__setattr__(self, "_table", table)

    def decide(
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: np.random.Generator | None = None,
    ) -> Decision:
        """Return the column of the greatest value; off its board the shipped table has none."""
        position = unfinished(position)
        rng = generator(rng)
        board = self._table.form.rules
        if position.rules == board:
            values, stored = self._table.look_up(position)
        # The shipped table is for 5x4. Elsewhere the agent plays, but knows nothing.
        elif self.table is None:
            values = dict.fromkeys(position.legal_columns(), self._table.form.initial)
            stored = 0
        else:
            raise UserError(
                f"the table {self.table} is for the board {board}, not {position.rules}"
            )
        # Equality of float32 values is intended: columns that were never learned are exactly equal.
        greatest = max(values.values())
        best = [column for column in values if values[column] == greatest]
        column = best[0] if self.ties == "first" else int(rng.choice(best))
        columns = tuple(
            ColumnAnalysis(open_column, value=max(-1.0, min(1.0, q)), estimate=q)
            for open_column, q in values.items()
        )
        value = self._table.scaled(values[column]) if stored else None
        return Decision(column, value, analysis=Analysis(columns, table_hits=stored))
