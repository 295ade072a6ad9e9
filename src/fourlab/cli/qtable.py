"""`fourlab qtable`: describe and cut Q-tables, and convert them from and to Bhat's text format."""

from pathlib import Path
from typing import Annotated

import typer

from fourlab.cli.options import JsonOption, print_facts
from fourlab.errors import UserError

app = typer.Typer(
    help="Describe, cut, import and export Q-tables.\n\n`fourlab train q` makes them.",
    rich_markup_mode=None,
)
OutputOption = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Output file.")]
MemoryOption = Annotated[
    float | None,
    typer.Option(
        help="Memory that the table may take in MB (default: the size of the file and 80 more).",
        min=1,
    ),
]


@app.command()
def info(
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="Table (default the one that comes with Fourlab)."),
    ] = None,
    memory_mb: MemoryOption = None,
    json: JsonOption = False,
) -> None:
    """Describe a table and how it was trained.

    A damaged table is refused.

    Example: fourlab qtable info table.q
    """
    from fourlab.agents.q.table import QTable, shipped_table

    table = shipped_table() if file is None else QTable.load(file, memory_mb)
    form = table.form
    facts: dict[str, object] = {
        "board": str(form.rules),
        "form": form.form,
        "mirror": form.mirror,
        "positions": len(table),
        "initial": form.initial,
        "win": form.win,
        "loss": form.loss,
        "learned": table.about,
    }
    # As text, a dictionary would be printed with Python's quotes and braces.
    if not json:
        settings = ", ".join(f"{name}={value}" for name, value in table.about.items())
        facts["learned"] = settings or "unknown"
    print_facts(facts, json)


@app.command()
def cut(
    file: Annotated[Path, typer.Argument(metavar="FILE.q", help="Table.")],
    output: OutputOption,
    discs: Annotated[int, typer.Option(help="Maximum number of discs on the board.", min=0)] = 12,
    memory_mb: MemoryOption = None,
) -> None:
    """Keep the learned values of early positions only.

    After self-play most positions are late ones, which other games hardly ever reach.

    Example: fourlab qtable cut table.q --output early.q
    """
    from fourlab.agents.q.table import QTable

    whole = QTable.load(file, memory_mb)
    table = whole.cut(discs)
    table.save(output)
    print(f"{output}: {len(table):,} of {len(whole):,} positions on {table.form.rules}")


@app.command("import")
def read(
    file: Annotated[Path, typer.Argument(metavar="FILE.gz", help="Values in Bhat's text format.")],
    output: OutputOption,
    seat: Annotated[
        str, typer.Option(help="Player whose values they are: first, second or both.")
    ] = "second",
    in_a_row: Annotated[int, typer.Option(help="Number of discs in a row that win.")] = 4,
    memory_mb: MemoryOption = None,
) -> None:
    """Convert values in Bhat's text format to a table.

    Example: fourlab qtable import values.dat.gz --output table.q
    """
    # The format names neither the seat nor the length of a line; its default is the report's.
    from fourlab.agents.q.text import read_text

    if seat not in ("first", "second", "both"):
        raise UserError(f"the seat is first, second or both, not {seat!r}")
    table = read_text(file, seat, in_a_row, memory_mb)  # type: ignore[arg-type]
    table.save(output)
    print(f"{output}: {len(table):,} positions on {table.form.rules}")


@app.command("export")
def write(
    file: Annotated[
        Path, typer.Argument(metavar="FILE.q", help="Table with values of positions after a move.")
    ],
    output: OutputOption,
    memory_mb: MemoryOption = None,
) -> None:
    """Convert a table to Bhat's text format, gzipped.

    Example: fourlab qtable export table.q --output values.dat.gz
    """
    from fourlab.agents.q.table import QTable
    from fourlab.agents.q.text import write_text

    table = QTable.load(file, memory_mb)
    print(f"{output}: {write_text(table, output):,} positions")
