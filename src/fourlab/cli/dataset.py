"""`fourlab dataset`: positions with their exact results, for learning and for examining what was learned."""

import re
from pathlib import Path
from typing import Annotated

import typer

from fourlab.cli.generated import with_settings
from fourlab.cli.options import BoardOption, SeedOption, print_json
from fourlab.cli.running import Running, Workers
from fourlab.errors import UserError
from fourlab.game.rules import CLASSIC, Rules

app = typer.Typer(help="Data sets: positions with their exact results.", rich_markup_mode=None)
OutputOption = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write it.")]


@app.command()
@with_settings
def uci8(
    output: OutputOption,
    workers: Workers,
    running: Running,
    from_scratch: Annotated[bool, typer.Option("--from-scratch", help="Solve every position, without the book.")] = False,
) -> None:
    """The UCI data set: every position of 8 discs without a win at hand for either side, one of each mirror pair.

    One position a line: 42 cells, columns from the left and each from below, b empty, x first player, o second; then win,
    loss or draw for x. A FILE that ends in .gz or .xz is compressed. The results are in the book that comes with Fourlab;
    --from-scratch takes hours; the same command again, or `fourlab resume`, resumes it.
    """
    from hashlib import sha256

    from fourlab.datasets import labels
    from fourlab.datasets.job import Uci8Job
    from fourlab.files import write_atomically
    from fourlab.solver.many import check_target

    check_target(output)
    if from_scratch:
        _, results = running.desk(workers).work(Uci8Job(output))
        _tell(output, results, running.json)
        return
    labelled = labels.uci8()
    text = labels.as_text(labelled)
    write_atomically(output, labels.compress(text, output.suffix))
    about = {"positions": len(labelled), **labelled.counts, "sha256": sha256(text).hexdigest()}
    _tell(output, about, running.json)


@app.command()
@with_settings
def solved(
    output: OutputOption,
    workers: Workers,
    running: Running,
    positions: Annotated[int, typer.Option("--positions", metavar="N", min=1, help="How many.")] = 10_000,
    plies: Annotated[
        str | None, typer.Option(metavar="A-B", help="How many discs they have; default 8 to six fewer than there are cells.")
    ] = None,
    board: BoardOption = None,
    seed: SeedOption = 0,
) -> None:
    """Positions of all phases from random games, with the exact score of every column.

    There are as many of each number of discs; mirror images count as one. Half of the games are played at random, half with
    wins and blocks. FILE ends in .npz. The same command again, or `fourlab resume`, resumes stopped work; how many
    workers there are makes no difference to the file. Early positions take longest: with 8 to 10 discs most of a second each.
    """
    from fourlab.datasets.job import SolvedJob

    rules = CLASSIC if board is None else Rules.parse(board)
    first, last = (8, rules.columns * rules.rows - 6) if plies is None else _range(plies)
    _, results = running.desk(workers).work(SolvedJob(output, rules, positions, (first, last), seed))
    _tell(output, results, running.json)


def _range(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,3})(?:-|\.\.)(\d{1,3})", text, re.ASCII)
    if found is None:
        raise UserError(f"plies are written A-B, for example 8-36, not {text!r}")
    return int(found[1]), int(found[2])


def _tell(output: Path, data: dict[str, object], json: bool) -> None:
    if json:
        print_json({**data, "file": str(output)})
    else:
        print("\n".join(f"{name}: {value}" for name, value in data.items() if name not in ("headline", "file")))
