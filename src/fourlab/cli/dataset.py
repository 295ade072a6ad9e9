"""`fourlab dataset`: positions with their exact results, for learning and for examining what was learned."""

import re
import shlex
from pathlib import Path
from typing import Annotated

import typer

from fourlab.cli.options import BoardOption, JsonOption, SeedOption, print_json, solving
from fourlab.errors import UserError
from fourlab.game.rules import CLASSIC, Rules

app = typer.Typer(help="Data sets: positions with their exact results.", rich_markup_mode=None)
OutputOption = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write it.")]
WorkersOption = Annotated[int, typer.Option("--workers", min=1, help="How many processes solve.")]


@app.command()
def uci8(
    output: OutputOption,
    from_scratch: Annotated[bool, typer.Option("--from-scratch", help="Solve every position, without the book.")] = False,
    workers: WorkersOption = 1,
    json: JsonOption = False,
) -> None:
    """The UCI data set: every position of 8 discs without a win at hand for either side, one of each mirror pair.

    One position a line: 42 cells, columns from the left and each from below, b empty, x first player, o second; then win,
    loss or draw for x. A FILE that ends in .gz or .xz is compressed. The results are in the book that comes with Fourlab;
    --from-scratch takes hours, and goes on where it was stopped when the same command is given again.
    """
    from hashlib import sha256

    from fourlab.datasets import labels
    from fourlab.datasets.teacher import solve_uci8
    from fourlab.files import write_atomically
    from fourlab.solver.many import journal_of

    journal = journal_of(output)
    if from_scratch:
        with solving(f"fourlab dataset uci8 --from-scratch -o {shlex.quote(str(output))} --workers {workers}") as told:
            labelled = solve_uci8(output, workers, told)
    else:
        labelled = labels.uci8()
    text = labels.as_text(labelled)
    write_atomically(output, labels.compress(text, output.suffix))
    if from_scratch:
        journal.unlink(missing_ok=True)
    _tell(output, {"positions": len(labelled), **labelled.counts, "sha256": sha256(text).hexdigest()}, json)


@app.command()
def solved(
    output: OutputOption,
    positions: Annotated[int, typer.Option("--positions", metavar="N", min=1, help="How many.")] = 10_000,
    plies: Annotated[
        str | None, typer.Option(metavar="A-B", help="How many discs they have; default 8 to six fewer than there are cells.")
    ] = None,
    board: BoardOption = None,
    seed: SeedOption = 0,
    workers: WorkersOption = 1,
    json: JsonOption = False,
) -> None:
    """Positions of all phases from random games, with the exact score of every column.

    There are as many of each number of discs; mirror images count as one. Half of the games are played at random, half with
    wins and blocks. FILE ends in .npz. Work that was stopped goes on when the same command is given again; how many
    workers there are makes no difference to the file. Early positions take longest: with 8 to 10 discs most of a second each.
    """
    from fourlab.datasets import labels
    from fourlab.datasets.teacher import solve_random_positions
    from fourlab.solver.many import journal_of

    if output.suffix != ".npz":
        raise UserError(f"the file of a solved data set ends in .npz, not {output.suffix or 'so'}: {output}")
    rules = CLASSIC if board is None else Rules.parse(board)
    first, last = (8, rules.columns * rules.rows - 6) if plies is None else _range(plies)
    command = f"fourlab dataset solved --positions {positions} --plies {first}-{last} --board {rules} --seed {seed}"
    with solving(f"{command} -o {shlex.quote(str(output))} --workers {workers}") as told:
        labelled = solve_random_positions(output, rules, positions, (first, last), seed, workers, told)
    about = labels.save(labelled, output, {"command": command, "plies": [first, last], "seed": seed})
    journal_of(output).unlink(missing_ok=True)
    _tell(output, {name: about[name] for name in ("board", "positions", *labels.LABELS.values(), "sha256")}, json)


def _range(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,3})(?:-|\.\.)(\d{1,3})", text, re.ASCII)
    if found is None:
        raise UserError(f"plies are written A-B, for example 8-36, not {text!r}")
    return int(found[1]), int(found[2])


def _tell(output: Path, data: dict[str, object], json: bool) -> None:
    if json:
        print_json({"file": str(output), **data})
    else:
        print("\n".join(f"{name}: {value}" for name, value in data.items()))
