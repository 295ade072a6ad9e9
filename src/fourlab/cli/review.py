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
from fourlab.jobs.run import find_run

if TYPE_CHECKING:
    from fourlab.game.position import Position

AdviserOption = Annotated[
    str,
    typer.Option("--agent", metavar="AGENT", help="Also say what this agent would have played."),
]
MoveSecondsOption = Annotated[
    float | None,
    typer.Option(
        "--move-seconds", metavar="S", min=0.001, help="Time limit of the agent per move."
    ),
]


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
    agent: AdviserOption = "",
    move_seconds: MoveSecondsOption = None,
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

      fourlab review 44444 --agent mcts
    """
    from fourlab.agents.registry import make
    from fourlab.analysis.review import game_of, with_choices
    from fourlab.analysis.review import review as review_game

    if html is not None:
        check_target(html)
    player = make(agent) if agent else None  # a wrong spec is refused before the solver works
    if run is None:
        first, columns = game_of(moves, start, board)
    elif moves or start or board:
        raise UserError("give either the moves of a game or a run, not both")
    else:
        first, columns = _stored(home, run, game)
    reviewed = review_game(first, columns, Limit(seconds=seconds), named_from=1)
    if player is not None:
        reviewed = with_choices(reviewed, player, agent, Limit(seconds=move_seconds), 0)
    if html is not None:
        from fourlab.analysis.review_page import review_page  # loads matplotlib, which is slow

        write_atomically(html, review_page(reviewed).encode())
    if json:
        print_json(reviewed.to_dict())
    else:
        print(reviewed)


def _stored(home: Path, run: str, number: int) -> "tuple[Position, tuple[int, ...]]":
    """Return the starting position and the columns of a game of a run."""
    stored = stored_game(find_run(home, run), number)
    return stored.start_position, stored.columns
