"""Decisions of agents as text, as HTML and as plain data; in all three columns count from 1."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from fourlab import display

if TYPE_CHECKING:
    from fourlab.agent import Analysis, Decision


def sentence(decision: "Decision") -> str:
    """Return the chosen column, what is expected of it and the line of play."""
    words = f"plays {decision.column + 1}"
    if decision.proven is not None:
        words += f", a proven {decision.proven.result.word}"
    elif decision.value is not None:
        words += f", expecting {decision.value:+.4f}"
    return f"{words}; line {joined(decision.line)}" if decision.line else words


def joined(line: tuple[int, ...]) -> str:
    """Return the columns of a line of play, counted from 1."""
    return " ".join(str(column + 1) for column in line)


def column_lines(analysis: "Analysis") -> Iterator[str]:
    """Yield one line per column: search statistics, points, exact values or estimates."""
    # Agents fill in different fields of an analysis; at most one of these blocks yields anything.
    head, rows = _statistics(analysis)
    if rows:
        yield f"{head[0]}{head[1]:>10}{head[2]:>8}{head[3]:>9}{head[4]:>9}  {head[5]}"
    for column, visits, share, mean, bound, proven in rows:
        yield f"{column:6}{visits:>10}{share:>8}{mean:>9}{bound:>9}  {proven}".rstrip()
    for number, points in analysis.scores.items():
        yield f"column {number + 1}: {points} points"
    for number, value in analysis.expected.items():
        yield f"column {number + 1}: {value} = {float(value):+.5f} exactly"
    for number, estimate in analysis.estimates.items():
        yield f"column {number + 1}: {estimate:+.4f} estimated"


def _statistics(analysis: "Analysis") -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Return the head and the rows of a search's statistics; no rows without a search."""
    columns = analysis.columns if analysis.visits is not None else ()
    # A network gives priors; a search without one selects by a bound.
    has_priors = any(column.prior is not None for column in columns)
    head = ("column", "visits", "share", "mean", "prior" if has_priors else "bound", "proven")
    all_visits = sum(column.visits for column in columns) or 1  # the divisor of shares
    rows = []
    for column in columns:
        bound = "-" if column.bound is None else f"{column.bound:+.4f}"
        if column.prior is not None:
            bound = f"{column.prior:.1%}"
        rows.append(
            (
                column.column + 1,
                f"{column.visits:,}",
                f"{column.visits / all_visits:.1%}",
                "-" if column.value is None else f"{column.value:+.4f}",
                bound,
                "" if column.proven is None else column.proven.word,
            )
        )
    return head, rows


def html(decision: "Decision") -> str:
    """Return the statistics of the columns as a table, and the decision below it."""
    return columns_html(decision.analysis) + display.paragraph(sentence(decision))


def columns_html(analysis: "Analysis") -> str:
    """Return what an agent reports about the columns, as a table or as lines."""
    head, rows = _statistics(analysis)
    if rows:
        return display.table(head, rows)
    lines = "\n".join(column_lines(analysis))
    return display.preformatted(lines) if lines else ""


def data(decision: "Decision") -> dict[str, Any]:
    """Return a decision as JSON data."""
    analysis = decision.analysis
    proven = decision.proven
    result: dict[str, Any] = {
        "column": decision.column + 1,
        "value": decision.value,
        "proven": proven and {"result": int(proven.result), "plies": proven.plies},
        "policy": decision.policy and list(decision.policy),
        "line": [column + 1 for column in decision.line],
        "columns": column_rows(analysis),
        "stats": _totals(analysis),
    }
    if analysis.expected:
        # As text, such as "-13/27", because JSON has no fractions.
        result["exact_values"] = {
            name: str(value) for name, value in _by_number(analysis.expected).items()
        }
    if analysis.estimates:
        result["estimates"] = _by_number(analysis.estimates)
    return result


def column_rows(analysis: "Analysis") -> list[dict[str, Any]]:
    """Return the statistics of a search, one mapping per column; none without a search."""
    return [
        {
            "column": column.column + 1,
            "visits": column.visits,
            "mean": column.value,
            "bound": column.bound,
            "prior": column.prior,
            "proven": None if column.proven is None else int(column.proven),
        }
        for column in (analysis.columns if analysis.visits is not None else ())
    ]


def _totals(analysis: "Analysis") -> dict[str, Any]:
    """Return the agent's counters that are set, by their names in the JSON format."""
    totals: dict[str, Any] = {
        "simulations": analysis.simulations,
        "seconds": analysis.seconds,
        "evaluations": analysis.evaluations,
        "nodes": analysis.nodes,
        "depth": analysis.depth,
        "bytes": analysis.memory_bytes,
        "visits": analysis.visits and list(analysis.visits),
        "network": analysis.network,
        "score": analysis.score,
        "known": analysis.table_hits,
        "book": analysis.from_book,
        "scores": _by_number(analysis.scores) or None,
    }
    return {name: value for name, value in totals.items() if value is not None}


def _by_number(values: dict[int, Any]) -> dict[str, Any]:
    """Return values by the numbers of their columns, counted from 1."""
    return {str(column + 1): value for column, value in values.items()}
