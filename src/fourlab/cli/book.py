"""`fourlab book`: build, describe and check opening books."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fourlab.cli.generated import with_settings
from fourlab.cli.options import BoardOption, JsonOption, SeedOption, print_facts, progress
from fourlab.cli.running import Running, Workers, print_results
from fourlab.errors import UserError
from fourlab.game.rules import CLASSIC, Rules

if TYPE_CHECKING:
    from fourlab.solver import Book
    from fourlab.solver.build import BookJob

app = typer.Typer(
    help=(
        "Build, describe and check opening books.\n\n"
        "A book holds the exact scores of all positions up to some ply."
    ),
    rich_markup_mode=None,
)
FileArgument = Annotated[
    Path | None,
    typer.Argument(metavar="FILE", help="Book file (default the one that comes with Fourlab)."),
]


@app.command()
@with_settings
def build(
    plies: Annotated[
        int, typer.Option(min=0, help="Include every position with at most this many discs.")
    ],
    workers: Workers,
    running: Running,
    file: Annotated[Path, typer.Option("--file", metavar="FILE", help="Output file.")] = Path(
        "book.npz"
    ),
    board: BoardOption = None,
) -> None:
    """Build an opening book.

    Solves every position of the last ply, one of each mirror pair, and backs the scores up to the
    empty board. The same command again, or `fourlab resume`, resumes a stopped build: the solved
    positions are stored in the run folder. On two cores, a book of 5 plies on the classic board
    takes most of an hour, one of 8 plies about four hours.

    Example: fourlab book build --plies 6 --file book.npz
    """
    from fourlab.solver.build import BookJob

    rules = CLASSIC if board is None else Rules.parse(board)
    _build(BookJob(rules, plies, file), running, workers)


@app.command()
@with_settings
def replies(
    plies: Annotated[
        int, typer.Option(min=1, help="Reply to every position with at most this many discs.")
    ],
    workers: Workers,
    running: Running,
    file: Annotated[Path, typer.Option("--file", metavar="FILE", help="Output file.")] = Path(
        "replies.npz"
    ),
    board: BoardOption = None,
) -> None:
    """Build the book of replies of `fourlab export kaggle perfect`.

    It has a perfect reply to every position that its own replies lead to, for both sides, whatever
    the opponent plays. The same command again, or `fourlab resume`, resumes a stopped build.

    Example: fourlab book replies --plies 8 --file replies.npz
    """
    from fourlab.bridges.kaggle.replies_job import RepliesJob

    rules = CLASSIC if board is None else Rules.parse(board)
    _build(RepliesJob(rules, plies, file), running, workers)


@app.command()
def info(file: FileArgument = None, json: JsonOption = False) -> None:
    """Describe a book and verify that it is intact.

    Example: fourlab book info book.npz
    """
    book = _load(file)
    facts = {
        "board": str(book.rules),
        "plies": book.plies,
        "positions": len(book),
        "sha256": book.checksum,
    }
    print_facts(facts, json)


@app.command()
def check(
    file: FileArgument = None,
    sample: Annotated[int, typer.Option(min=1, help="Number of positions to solve again.")] = 20,
    seed: SeedOption = 0,
) -> None:
    """Solve a random sample of a book again and compare.

    The solver does not use the book. The exit code is 1 if a score is wrong.

    Example: fourlab book check --sample 5
    """
    import numpy as np

    from fourlab.game.position import Position
    from fourlab.solver import Solver

    book = _load(file)
    solver = Solver(book=None)
    rng = np.random.default_rng(seed)
    # A book holds every position up to its last ply, so most of a sample are of that ply.
    indices = rng.choice(len(book), min(sample, len(book)), replace=False)
    wrong = 0
    for index in progress(list(indices), "solving"):
        position = Position.from_key(book.keys[index], book.rules)
        score = solver.solve(position).score
        if score != book.scores[index]:
            wrong += 1
            print(f"{position.write()}: the book says {book.scores[index]}, it is {score}")
    print(f"{len(indices)} positions solved again, {wrong} wrong")
    if wrong:
        raise typer.Exit(1)


def _build(job: "BookJob", running: Running, workers: Workers) -> None:
    """Do the work of a job and print its results."""
    run, results = running.desk(workers).work(job)
    if running.json:
        print_results(run, results, json=True)
    else:
        print(f"{job.file}: {results['headline']}")


def _load(file: Path | None) -> "Book":
    """Load a book, by default the one that comes with Fourlab."""
    from fourlab.solver import Book, shipped_book

    if file is not None:
        return Book.load(file)
    if (book := shipped_book()) is None:
        raise UserError("this copy of Fourlab has no book; fourlab book build makes one")
    return book
