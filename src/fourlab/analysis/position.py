"""Analyse a position: the exact value of every column, and what an agent thinks of it."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fourlab import decision_words, display
from fourlab.agent import UNLIMITED, Agent, Decision, Limit, Searcher, Snapshot
from fourlab.errors import UserError
from fourlab.game import drawing
from fourlab.game.position import Position, unfinished

if TYPE_CHECKING:
    from fourlab.reporting.figures import Figure
    from fourlab.solver import Solution

PROOF_SECONDS = 10.0
"""Time limit of the solver."""


@dataclass(frozen=True)
class ExactAnalysis:
    """The solver's results for a position."""

    columns: "dict[int, Solution]"
    """By column, counted from 0."""
    line: tuple[int, ...]
    """Best play for both sides, as columns counted from 0."""
    line_ends: bool
    """Whether the line reaches the end of the game; otherwise the time ran out."""

    def lines(self) -> Iterator[str]:
        """Yield one line per column, the best ones with a star, and the line of best play."""
        for column, mark, words in self._rows():
            yield f"column {column:2} {mark or ' '} {words}"
        if self.line:
            yield f"best play: {self._line_in_words()}"

    def _rows(self) -> Iterator[tuple[int, str, str]]:
        best = max(solution.upper for solution in self.columns.values())
        for column, solution in self.columns.items():
            # A column whose lower bound is the greatest upper bound is certainly best.
            yield column + 1, "*" if solution.lower == best else "", str(solution)

    def _line_in_words(self) -> str:
        return decision_words.joined(self.line) + ("" if self.line_ends else " …")

    def to_dict(self) -> dict[str, Any]:
        """Return the values as JSON data; columns count from 1."""
        columns = [
            {
                "column": column + 1,
                "says": str(solution),
                "score": solution.score,
                "lower": solution.lower,
                "upper": solution.upper,
            }
            for column, solution in self.columns.items()
        ]
        line = [column + 1 for column in self.line]
        return {"line": line, "line_ends": self.line_ends, "columns": columns}

    def _repr_html_(self) -> str:
        html = display.table(("column", "best", "exact value"), self._rows())
        return html + (
            display.paragraph(f"best play: {self._line_in_words()}") if self.line else ""
        )


@dataclass(frozen=True)
class PositionAnalysis:
    """What is proven about a position, and what an agent thinks of it."""

    position: Position
    agent: str
    """The agent's spec or name."""
    decision: Decision
    exact: ExactAnalysis | None = None
    """None if the solver was turned off."""
    trace: tuple[Snapshot, ...] | None = None
    """The root of a tree search after growing numbers of simulations; None for other agents."""

    def __str__(self) -> str:
        exact = () if self.exact is None else (*self.exact.lines(), "")
        columns = tuple(decision_words.column_lines(self.decision.analysis))
        lines = (*exact, f"{self.agent}:", *columns, *([""] if columns else []), str(self.decision))
        return "\n".join((drawing.text(self.position), "", *lines))

    def __repr__(self) -> str:
        return f"<PositionAnalysis of {self.position!r}: {self.agent} {self.decision}>"

    def trace_lines(self) -> Iterator[str]:
        """Yield how the search converged: means and visits after growing numbers of simulations."""
        yield "simulations  means (visits)"
        for snapshot in self.trace or ():
            cells = [
                f"{mean:+.2f} ({visits})" if mean is not None else "-"
                for mean, visits in zip(snapshot.means, snapshot.visits, strict=True)
            ]
            yield f"{snapshot.simulations:11,}  {'  '.join(cells)}"

    def to_dict(self) -> dict[str, Any]:
        """Return the analysis as JSON data; columns count from 1."""
        data = {
            "position": self.position.write(),
            "agent": self.agent,
            **decision_words.data(self.decision),
        }
        if self.exact is not None:
            data["truth"] = self.exact.to_dict()
        return data

    def trace_data(self) -> list[dict[str, Any]]:
        """Return the trace as JSON data."""
        return [
            {
                "simulations": snapshot.simulations,
                "visits": list(snapshot.visits),
                "means": list(snapshot.means),
            }
            for snapshot in self.trace or ()
        ]

    def to_pandas(self) -> display.DataFrame:
        """Return one row per legal column: the search's statistics and the exact values."""
        statistics = {
            row["column"]: row for row in decision_words.column_rows(self.decision.analysis)
        }
        exact = {} if self.exact is None else self.exact.columns
        rows = []
        for column in self.position.legal_columns():
            row: dict[str, Any] = {"column": column + 1, **statistics.get(column + 1, {})}
            if (solution := exact.get(column)) is not None:
                row |= {"exact": str(solution), "score": solution.score}
            rows.append(row)
        return display.data_frame(rows)

    def plot(self) -> "Figure":
        """Draw how the search converged, as a matplotlib figure."""
        from fourlab.reporting.figures import convergence, in_notebooks, require

        require("plot()")
        if self.trace is None:
            raise UserError(f"agent {self.agent!r} keeps no trace; mcts and alphazero do")
        name = self.position.write("moves" if self.position.moves else "fen")
        return in_notebooks(convergence(self.trace, f"{self.agent} on {name}"))

    def _repr_html_(self) -> str:
        board = display.picture(drawing.svg(self.position)) + display.paragraph(
            drawing.status(self.position)
        )
        opinion = display.paragraph(f"{self.agent}:") + self.decision._repr_html_()
        exact = [] if self.exact is None else [self.exact._repr_html_()]
        return display.beside(board, *exact, opinion)


def analyse_position(
    position: Position,
    agent: Agent,
    name: str,
    limit: Limit = UNLIMITED,
    seed: int = 0,
    proof: float = PROOF_SECONDS,
) -> PositionAnalysis:
    """Analyse a position that is not over with an agent called `name`.

    `proof` is the time limit of the solver in seconds; 0 turns it off.
    """
    position = unfinished(position)
    import numpy as np

    rng = np.random.default_rng(seed)
    trace: tuple[Snapshot, ...] | None = None
    if isinstance(agent, Searcher):
        search = agent.search(position, limit, rng)
        decision = search.decision
        trace = tuple(search.trace) or None  # an agent of the user's own may have none
    else:
        decision = agent.decide(position, limit, rng)
    exact = solve_columns(position, proof) if proof > 0 else None
    return PositionAnalysis(position, name, decision, exact, trace)


def solve_columns(position: Position, seconds: float) -> ExactAnalysis:
    """Solve every column, and spend the remaining time on the line of best play."""
    from fourlab.solver import Solver

    solver = Solver()
    deadline = time.perf_counter() + seconds
    columns = solver.columns(position, Limit(seconds=seconds))
    # The line reuses the solver's table and usually takes no time.
    remaining = deadline - time.perf_counter()
    line = solver.line(position, Limit(seconds=remaining)) if remaining > 0 else ()
    end = position
    for column in line:
        end = end.play(column)
    return ExactAnalysis(columns, line, end.outcome() is not None)
