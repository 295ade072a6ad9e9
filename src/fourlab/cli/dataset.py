"""`fourlab dataset`: positions with exact results, for training and evaluation."""

import re
from pathlib import Path
from typing import Annotated

import typer

from fourlab.agent import MAX_BOUND
from fourlab.cli.generated import with_settings
from fourlab.cli.options import BoardOption, MemoryOption, SeedOption, print_facts
from fourlab.cli.running import Running, Workers
from fourlab.errors import UserError
from fourlab.game.geometry import MAX_BITS
from fourlab.game.rules import CLASSIC, Rules

app = typer.Typer(help="Generate positions with exact results.", rich_markup_mode=None)
OutputOption = Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Output file.")]


@app.command()
@with_settings
def uci8(
    output: OutputOption,
    workers: Workers,
    running: Running,
    from_scratch: Annotated[
        bool, typer.Option("--from-scratch", help="Solve every position, without the book.")
    ] = False,
) -> None:
    """Write the UCI Connect-4 data set.

    It holds every position with 8 discs in which neither side can win with the next disc, one of
    each mirror pair. Each line is a position: 42 cells, column by column from the left and from
    the bottom (b empty, x first player, o second player), then win, loss or draw for x. A FILE
    that ends in .gz or .xz is compressed.

    The results come from the book that is part of Fourlab. --from-scratch takes hours; the same
    command again, or `fourlab resume`, resumes it.

    Example: fourlab dataset uci8 --output connect-4.data
    """
    from hashlib import sha256

    from fourlab.datasets import labels
    from fourlab.datasets.job import Uci8Job
    from fourlab.files import check_target, write_atomically

    check_target(output)
    if from_scratch:
        _, results = running.desk(workers).work(Uci8Job(output))
        _print_facts(output, results, running.json)
        return
    # From the book it takes seconds, so there is nothing to resume and no run.
    labelled = labels.uci8()
    text = labels.as_text(labelled)
    write_atomically(output, labels.compress(text, output.suffix))
    # The checksum is that of the text, so that it is the same however the file is compressed.
    facts = {"positions": len(labelled), **labelled.counts, "sha256": sha256(text).hexdigest()}
    _print_facts(output, facts, running.json)


@app.command()
@with_settings
def solved(
    output: OutputOption,
    workers: Workers,
    running: Running,
    positions: Annotated[
        int, typer.Option("--positions", metavar="N", min=1, help="Number of positions.")
    ] = 10_000,
    plies: Annotated[
        str | None,
        typer.Option(
            metavar="A-B",
            help="Range of discs on the board (default 8 to the number of cells minus 6).",
        ),
    ] = None,
    board: BoardOption = None,
    seed: SeedOption = 0,
) -> None:
    """Solve random positions, with the score of every column.

    Every number of discs is equally frequent, and mirror images count as one position. Half of
    the games are uniformly random; in the other half, both sides take wins and block threats.
    FILE must end in .npz.

    The same command again, or `fourlab resume`, resumes stopped work; the file does not depend on
    the number of workers. Early positions are the slowest: with 8 to 10 discs, almost a second
    each.

    Example: fourlab dataset solved --positions 10k --output solved.npz
    """
    from fourlab.datasets.job import SolvedJob

    rules = CLASSIC if board is None else Rules.parse(board)
    bounds = (8, rules.columns * rules.rows - 6) if plies is None else _range(plies)
    _, results = running.desk(workers).work(SolvedJob(output, rules, positions, bounds, seed))
    _print_facts(output, results, running.json)


@app.command()
@with_settings
def boards(
    output: OutputOption,
    workers: Workers,
    running: Running,
    in_a_row: Annotated[
        int, typer.Option(min=3, max=MAX_BITS, help="Discs in a row that win.")
    ] = 4,
    nodes: Annotated[
        int, typer.Option(min=1, max=MAX_BOUND, help="Maximum number of nodes per board.")
    ] = 3_000_000_000,
    memory_mb: MemoryOption = 64,
) -> None:
    """Solve the empty boards of all sizes.

    FILE is a table of comma-separated values: size, result for the first player, discs of a game
    with best play, score, nodes and seconds of processor time. Boards are solved by the number of
    their cells, from 2x2. After a board that takes too many nodes, whose result is left empty, none
    is tried that is at least as wide and at least as high. 3,000,000,000 nodes take five to ten
    minutes.

    The same command again, or `fourlab resume`, resumes stopped work. With more nodes, it keeps the
    boards that are solved.

    Example: fourlab dataset boards --nodes 100M --output boards.csv
    """
    from fourlab.datasets.job import BoardsJob

    _, results = running.desk(workers).work(BoardsJob(output, in_a_row, nodes, memory_mb))
    _print_facts(output, results, running.json)


def _range(text: str) -> tuple[int, int]:
    """Parse a range of plies: A-B or A..B."""
    match = re.fullmatch(r"(\d{1,3})(?:-|\.\.)(\d{1,3})", text, re.ASCII)
    if match is None:
        raise UserError(f"plies are written A-B, for example 8-36, not {text!r}")
    return int(match[1]), int(match[2])


def _print_facts(output: Path, facts: dict[str, object], json: bool) -> None:
    """Print the counts and the checksum of a data set."""
    if json:
        facts = {**facts, "file": str(output)}
    else:
        facts = {name: facts[name] for name in facts if name not in ("headline", "file")}
    print_facts(facts, json)
