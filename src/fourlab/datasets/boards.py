"""The exact values of the empty boards of all sizes: who wins, and after how many discs."""

import time
from collections.abc import Sequence
from dataclasses import asdict, astuple, dataclass, fields
from itertools import groupby
from pathlib import Path
from typing import Any

from fourlab.agent import Limit
from fourlab.errors import UserError
from fourlab.game.geometry import MAX_BITS
from fourlab.game.outcome import Result
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.jobs.executors import Lost
from fourlab.jobs.job import Progress, Session
from fourlab.jobs.run import Run
from fourlab.parsing import read_json
from fourlab.solver.rows import load_kernels
from fourlab.solver.solution import plies_to_end
from fourlab.solver.solver import Solver

# Boards of one row or one column are left out: nobody plays on them.
SIZES = sorted(
    (
        (columns, rows)
        for columns in range(2, MAX_BITS)
        for rows in range(2, MAX_BITS)
        if (rows + 1) * columns <= MAX_BITS
    ),
    key=lambda size: (size[0] * size[1], size),
)
"""All sizes as (columns, rows), by the number of cells."""


@dataclass(frozen=True)
class Value:
    """The value of an empty board, or that it was not found."""

    columns: int
    rows: int
    score: int | None
    """On Pons's scale, for the side that moves first; None if the nodes did not suffice."""
    nodes: int
    seconds: float
    """Processor time."""

    @property
    def result(self) -> str:
        """The result for the side that moves first; empty if it was not found."""
        return "" if self.score is None else Result.of_score(self.score).word

    @property
    def plies(self) -> int | None:
        """Discs of a game with best play by both sides; None if that was not found."""
        return None if self.score is None else plies_to_end(self.score, self.columns * self.rows)


def solve_board(size: tuple[int, int], in_a_row: int, max_nodes: int, megabytes: float) -> Value:
    """Solve an empty board in an empty table, as far as `max_nodes` allow."""
    position = Position(board=Rules(*size, in_a_row))
    # A new solver for every board: its nodes must not depend on what was solved before.
    solver = Solver(megabytes, book=None)
    before = time.thread_time()
    solution = solver.solve(position, Limit(nodes=max_nodes))
    seconds = round(time.thread_time() - before, 3)
    return Value(*size, solution.score, solution.nodes, seconds)


def is_hopeless(size: tuple[int, int], values: Sequence[Value]) -> bool:
    """Return whether a board that is not larger in either direction was too hard."""
    columns, rows = size
    return any(
        value.score is None and value.columns <= columns and value.rows <= rows for value in values
    )


@dataclass(frozen=True)
class Solving:
    """The work of an executor; an item is the index of a size."""

    in_a_row: int
    max_nodes: int
    megabytes: float

    def prepare(self) -> None:
        """Compile or load the solver, so that no board's time includes it."""
        load_kernels()

    def __call__(self, number: int, watch: Any) -> dict[str, Any]:
        """Solve a board."""
        return asdict(solve_board(SIZES[number], self.in_a_row, self.max_nodes, self.megabytes))


def solve_boards(run: Run, session: Session, solving: Solving) -> list[Value] | None:
    """Return the values of all boards that are not hopeless; None if the session was stopped.

    Every board is kept in the run folder as soon as it is finished. Boards with as many cells are
    solved together; which larger ones are hopeless is known then.
    """
    file = run.folder / "boards.json"
    stored = _read(file) if file.exists() else []
    # With more nodes than before, boards for which they did not suffice are tried again.
    values = [v for v in stored if v.score is not None or v.nodes >= solving.max_nodes]
    executor = session.executor(keep_alive=True)
    for _, group in groupby(SIZES, key=lambda size: size[0] * size[1]):
        solved = {(value.columns, value.rows) for value in values}
        missing = [size for size in group if size not in solved and not is_hopeless(size, values)]
        numbers = [SIZES.index(size) for size in missing]
        for batch in executor.map(solving, numbers) if numbers else ():
            for _, answer in batch:
                if isinstance(answer, Lost):
                    raise UserError(f"solving failed: {answer.why}")
                values.append(Value(**answer))
            run.write(file.name, {"boards": [asdict(value) for value in values]})
            last = values[-1]
            text = f"{last.columns}x{last.rows}: {last.result or 'not found'}"
            session.emit(Progress(len(values), None, "boards", "solving", text))
        if session.stopped:
            return None
    return sorted(values, key=lambda value: SIZES.index((value.columns, value.rows)))


def _read(file: Path) -> list[Value]:
    """Return the boards that are finished; raise UserError for a file of something else."""
    data = read_json(file)
    try:
        values = [Value(**entry) for entry in data["boards"]]
        if all((value.columns, value.rows) in SIZES and _is_possible(value) for value in values):
            return values
    except (KeyError, TypeError):
        pass
    raise UserError(f"{file} does not hold the values of boards; move it away to begin anew")


def _is_possible(value: Value) -> bool:
    """Return whether a value has the types and the range that values have."""
    most = (value.columns * value.rows + 1) // 2
    is_score = value.score is None or (type(value.score) is int and abs(value.score) <= most)
    return is_score and type(value.nodes) is int and isinstance(value.seconds, int | float)


def as_csv(values: Sequence[Value], in_a_row: int) -> str:
    """Return the values as a table of comma-separated values."""
    names = [field.name for field in fields(Value)]
    lines = [",".join([*names[:2], "in_a_row", "result", "plies", *names[2:]])]
    for value in values:
        columns, rows, *rest = astuple(value)
        row = (columns, rows, in_a_row, value.result, value.plies, *rest)
        lines.append(",".join("" if cell is None else str(cell) for cell in row))
    return "\n".join(lines) + "\n"
