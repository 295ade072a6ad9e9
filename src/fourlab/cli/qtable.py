"""`fourlab qtable`: look at tables of learned values, read and write document 001's."""

from pathlib import Path
from typing import Annotated

import typer

from fourlab.cli.options import JsonOption, print_json
from fourlab.errors import UserError

app = typer.Typer(help="Tables of learned values (fourlab train q makes them).", rich_markup_mode=None)
OutOption = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write it.")]


@app.command()
def info(
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A table; default the one that comes with Fourlab.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Tell what a table holds and how it was learned; a damaged one is refused."""
    from fourlab.agents.q.table import QTable, shipped_table

    table = shipped_table() if file is None else QTable.load(file)
    form = table.form
    data = {
        "board": str(form.rules),
        "form": form.form,
        "mirror": form.mirror,
        "positions": len(table),
        "initial": form.initial,
        "win": form.win,
        "loss": form.loss,
        "learned": table.about,
    }
    if json:
        print_json(data)
        return
    for name, value in data.items():
        if isinstance(value, dict):
            value = ", ".join(f"{each}={value[each]}" for each in value) or "nothing is known of it"
        print(f"{name}: {value}")


@app.command("import")
def read(
    file: Annotated[Path, typer.Argument(metavar="FILE.gz", help="Document 001's form.")],
    output: OutOption,
    seat: Annotated[
        str, typer.Option(help="Whose values they are: those of the first or the second player, or both.")
    ] = "second",
    in_a_row: Annotated[int, typer.Option(help="How many discs make a line.")] = 4,
) -> None:
    """Read values in document 001's text form and write a table."""
    from fourlab.agents.q.text import read_text

    if seat not in ("first", "second", "both"):
        raise UserError(f"the seat is first, second or both, not {seat!r}")
    table = read_text(file, seat, in_a_row)  # type: ignore[arg-type]
    table.save(output)
    print(f"{output}: {len(table):,} positions on {table.form.rules}")


@app.command("export")
def write(
    file: Annotated[Path, typer.Argument(metavar="FILE.q", help="A table of positions after a disc.")],
    output: OutOption,
) -> None:
    """Write a table in document 001's text form, gzipped."""
    from fourlab.agents.q.table import QTable
    from fourlab.agents.q.text import write_text

    print(f"{output}: {write_text(QTable.load(file), output):,} positions")
