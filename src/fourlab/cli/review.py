"""`fourlab review`: compare the moves of a game with exact play."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fourlab.agent import Limit
from fourlab.cli.games import stored_game
from fourlab.cli.options import (
    DEFAULT_HOME,
    BoardOption,
    HomeOption,
    JsonOption,
    StartOption,
    print_json,
)
from fourlab.errors import UserError
from fourlab.files import check_target, write_atomically
from fourlab.game import notation
from fourlab.game.outcome import RED, SIDE_NAMES, YELLOW
from fourlab.game.position import Position
from fourlab.jobs.run import find_run

if TYPE_CHECKING:
    from fourlab.analysis.review import Review


def review(
    moves: Annotated[
        str, typer.Argument(metavar="MOVES", help="The columns played: 4453, or 10,4,3.")
    ] = "",
    start: StartOption = "",
    board: BoardOption = None,
    run: Annotated[
        str | None, typer.Option("--run", metavar="RUN", help="Review a game of this run instead.")
    ] = None,
    game: Annotated[
        int, typer.Option("--game", metavar="NUMBER", min=0, help="Number of the run's game.")
    ] = 0,
    seconds: Annotated[
        float, typer.Option("--seconds", help="Time limit of the solver for the whole game.")
    ] = 20,
    html: Annotated[
        Path | None,
        typer.Option("--html", metavar="FILE", help="Also write the review as an HTML page."),
    ] = None,
    home: HomeOption = DEFAULT_HOME,
    json: JsonOption = False,
) -> None:
    """Review a game move by move and find its mistakes.

    Prints the category of every move, the better columns, and the accuracy of both sides.

    Examples:

      fourlab review 44444 --html review.html

      fourlab review --run last --game 17
    """
    from fourlab.analysis.review import review as review_game

    if html is not None:
        check_target(html)
    if run is None:
        first, columns = _typed_game(moves, start, board)
    elif moves or start or board:
        raise UserError("give either the moves of a game or a run, not both")
    else:
        stored = stored_game(find_run(home, run), game)
        first = stored.start_position
        columns = stored.columns
    reviewed = review_game(first, columns, Limit(seconds=seconds))
    if html is not None:
        from fourlab.analysis.review_page import review_page  # loads matplotlib, which is slow

        write_atomically(html, review_page(reviewed).encode())
    if json:
        print_json(reviewed.as_data())
    else:
        print_review(reviewed)


def _typed_game(moves: str, start: str, board: str | None) -> tuple[Position, tuple[int, ...]]:
    """Return the starting position and the columns of a game on the command line."""
    first = Position(start, board)
    # Any notation can be read, but only those of moves are a game.
    columns = notation.read(moves, first.rules).moves
    if columns is None:
        raise UserError(
            f"{moves!r} is a board, not the moves of a game; --start says where a game starts"
        )
    return first, columns


def print_review(review: "Review") -> None:
    """Print the category of every move, and the accuracy of both sides."""
    for move in review.moves:
        mover = SIDE_NAMES[move.position.to_move]
        print(f"{move.number:3}. {mover:6} {move.column + 1:2}  {move.category.value:7}  {move}")
    print(f"at the end: {review.standings[-1]}")
    for side in (RED, YELLOW):
        shares = review.accuracy(side)
        if shares.accuracy is not None:
            kept = f"value kept {shares.kept:.1%}"
            best = f"exactly best {shares.best:.1%} of {shares.moves} moves"
            print(f"{SIDE_NAMES[side]}: accuracy {shares.accuracy:.1%}, {kept}, {best}")
    if worst := ", ".join(str(move.number) for move in review.mistakes):
        print(f"mistakes, worst first: {worst}")
    if not review.is_complete:
        print("not everything could be proven in the time given (--seconds)")
