"""`fourlab review`: a game beside the truth, move by move."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fourlab.cli.options import DEFAULT_HOME, BoardOption, HomeOption, JsonOption, StartOption, print_json
from fourlab.errors import UserError
from fourlab.game import notation
from fourlab.game.outcome import RED, SIDE_NAMES, YELLOW
from fourlab.game.position import Position

if TYPE_CHECKING:
    from fourlab.analysis.review import Review


def review(
    moves: Annotated[str, typer.Argument(metavar="[MOVES]", help="The columns played: 4453, or 10,4,3.")] = "",
    start: StartOption = "",
    board: BoardOption = None,
    run: Annotated[str | None, typer.Option("--run", metavar="RUN", help="Review a game of this run instead.")] = None,
    game: Annotated[int, typer.Option("--game", metavar="NUMBER", min=0, help="Which game of the run.")] = 0,
    seconds: Annotated[float, typer.Option("--seconds", help="How long the solver may work on the whole game.")] = 20,
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Also write it as a page to look at.")] = None,
    home: HomeOption = DEFAULT_HOME,
    json: JsonOption = False,
) -> None:
    """Say what every position of a game was worth, which moves were best and which were mistakes, and how well each side played.

    Examples: fourlab review 44444 --html review.html; fourlab review --run last --game 17
    """
    from fourlab.agent import Limit
    from fourlab.analysis.review import review as review_game
    from fourlab.files import write_atomically

    if run is not None and (moves or start or board):
        raise UserError("say either which moves or which game of a run")
    begun, columns = _stored(home, run, game) if run is not None else _written(moves, start, board)
    found = review_game(begun, columns, Limit(seconds=seconds))
    if html is not None:
        from fourlab.analysis.review_page import review_page

        write_atomically(html, review_page(found).encode())
    if json:
        print_json(found.as_data())
    else:
        _print(found)


def _written(moves: str, start: str, board: str | None) -> tuple[Position, tuple[int, ...]]:
    begun = Position(start, board)
    columns = notation.read(moves, begun.rules).moves
    if columns is None:
        raise UserError(f"{moves!r} is a board, not the moves of a game; --start says where a game starts")
    return begun, columns


def _stored(home: Path, run: str, number: int) -> tuple[Position, tuple[int, ...]]:
    from fourlab.arena.store import Store
    from fourlab.jobs.run import find_run

    found = find_run(home, run)
    with Store(found.games_file, read_only=True) as store:
        if (game := store.game(number)) is None:
            raise UserError(f"{found.folder} has no game {number}")
        return game.start_position, game.columns


def _print(review: "Review") -> None:
    for move in review.moves:
        mover = SIDE_NAMES[move.position.to_move]
        print(f"{move.number:3}. {mover:6} {move.column + 1:2}  {move.category.value:7}  {move}")
    print(f"at the end: {review.standings[-1]}")
    for side in (RED, YELLOW):
        found = review.accuracy(side)
        if found.accuracy is not None:
            shares = f"value kept {found.kept:.1%}, exactly best {found.best:.1%} of {found.moves} moves"
            print(f"{SIDE_NAMES[side]}: accuracy {found.accuracy:.1%}, {shares}")
    if worst := ", ".join(str(move.number) for move in review.mistakes):
        print(f"mistakes, worst first: {worst}")
    if not review.is_complete:
        print("not everything could be proven in the time given (--seconds)")
