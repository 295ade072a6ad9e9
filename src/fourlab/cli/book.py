"""`fourlab book`: build an opening book, look at one, examine one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fourlab.cli.generated import with_settings
from fourlab.cli.options import BoardOption, JsonOption, SeedOption, print_json, progress
from fourlab.cli.running import Running, Workers
from fourlab.errors import UserError
from fourlab.game.rules import CLASSIC, Rules

if TYPE_CHECKING:
    from fourlab.solver import Book

app = typer.Typer(help="Opening books: the exact scores of all positions up to some ply.", rich_markup_mode=None)
FileArgument = Annotated[Path | None, typer.Argument(metavar="[FILE]", help="A book; default the one that comes with Fourlab.")]


@app.command()
@with_settings
def build(
    plies: Annotated[int, typer.Option(min=0, help="Every position with at most so many discs.")],
    workers: Workers,
    running: Running,
    file: Annotated[Path, typer.Option("--file", metavar="FILE", help="Where to write it.")] = Path("book.npz"),
    board: BoardOption = None,
) -> None:
    """Solve every position of the last ply, one of each mirror pair, and reason back to the empty board.

    The same command again, or `fourlab resume`, resumes a stopped build: what is solved is kept in
    the run's folder. On two cores, 5 plies of the classic board take most of an hour, 8 plies four
    hours or so.
    """
    from fourlab.solver.build import BookJob

    rules = CLASSIC if board is None else Rules.parse(board)
    run, results = running.desk(workers).work(BookJob(rules, plies, file))
    if running.json:
        print_json({"run": str(run.folder), **results})
    else:
        print(f"{file}: {results['headline']}")


@app.command()
def info(file: FileArgument = None, json: JsonOption = False) -> None:
    """Tell what a book holds; a damaged one is refused."""
    book = _load(file)
    data = {"board": str(book.rules), "plies": book.plies, "positions": len(book), "sha256": book.checksum}
    if json:
        print_json(data)
    else:
        print("\n".join(f"{name}: {value}" for name, value in data.items()))


@app.command()
def check(
    file: FileArgument = None,
    sample: Annotated[int, typer.Option(min=1, help="How many positions to solve again.")] = 20,
    seed: SeedOption = 0,
) -> None:
    """Solve some of a book's positions again, without the book, and compare; the exit code is 1 if one is wrong."""
    import numpy as np

    from fourlab.game.position import Position
    from fourlab.solver import Solver

    book, solver = _load(file), Solver(book=None)
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(book), min(sample, len(book)), replace=False)
    wrong = 0
    for place in progress(list(chosen), "solving"):
        position = Position.from_key(book.keys[place], book.rules)
        score = solver.solve(position).score
        if score != book.scores[place]:
            wrong += 1
            print(f"{position.write()}: the book says {book.scores[place]}, it is {score}")
    print(f"{len(chosen)} positions solved again, {wrong} wrong")
    if wrong:
        raise typer.Exit(1)


def _load(file: Path | None) -> "Book":
    from fourlab.solver import Book, shipped_book

    if file is not None:
        return Book.load(file)
    if (book := shipped_book()) is None:
        raise UserError("this copy of Fourlab has no book; fourlab book build makes one")
    return book
