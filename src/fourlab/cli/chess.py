"""`fourlab chess …`: the textbook tree search applied to chess."""

import shlex
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated

import numpy as np
import typer

from fourlab.agent import Limit
from fourlab.cli.generated import with_settings
from fourlab.cli.options import JsonOption, SeedOption, as_arguments, print_json
from fourlab.cli.running import Running, Workers, print_results
from fourlab.errors import UserError
from fourlab.files import write_atomically

# The rules of chess come from python-chess, an extra; only the commands that need it import it.
if TYPE_CHECKING:
    from fourlab.chess.game import ChessState
    from fourlab.chess.players import ChessPlayer

app = typer.Typer(rich_markup_mode=None)
SIDES = ("white", "black")
"""By `not board.turn`: in python-chess, white is True and black is False."""
SVG_SIZE = 300
"""Width of the drawn board in pixels, as in Arya's thesis."""
SecondsPerMoveOption = Annotated[
    float | None, typer.Option("--seconds", help="Time limit per move, in seconds.")
]
SimulationsPerMoveOption = Annotated[
    int | None,
    typer.Option("--simulations", help="Simulations per move (default the player's own number)."),
]


@app.callback()
def _chess() -> None:
    """Play chess with the same tree search.

    Players are arya (the program of Arya's report), improved and random.
    """


@app.command()
def play(
    white: Annotated[
        str, typer.Option(metavar="PLAYER", help="human, arya, improved or random.")
    ] = "human",
    black: Annotated[str, typer.Option(metavar="PLAYER", help="The same for black.")] = "improved",
    fen: Annotated[
        str | None, typer.Option(help="Starting position (default the initial one).")
    ] = None,
    seconds: SecondsPerMoveOption = None,
    simulations: SimulationsPerMoveOption = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Random seed of the players (default random).")
    ] = None,
    svg: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Draw the board here after every move.")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Play a game of chess in the terminal.

    Type a move as e2e4 or Nf3, or back to take one back, or quit. Without a human the players play
    each other. With --json the game is printed as one JSON value on standard output, and the board
    on standard error.

    Example: fourlab chess play --black arya --seconds 1
    """
    from fourlab.chess import chess
    from fourlab.chess.game import ChessState
    from fourlab.chess.players import player

    seats = [None if name == "human" else player(name) for name in (white, black)]
    limit = Limit(seconds=seconds, simulations=simulations)
    start = ChessState.of(chess.STARTING_FEN if fen is None else fen)
    # With --json, standard output has the JSON value and nothing else.
    stream = sys.stderr if json else sys.stdout
    game = _Game(start, seats, limit, np.random.default_rng(seed), svg, stream)
    exit_code = 0
    try:
        game.run()
    except KeyboardInterrupt:
        game.show("")  # ends the line of the prompt
        exit_code = 130
    _print_game(game, white, black, json)
    raise typer.Exit(exit_code)


class _Game:
    """A game with take-backs: the list of its states so far."""

    def __init__(
        self,
        start: "ChessState",
        seats: "list[ChessPlayer | None]",
        limit: Limit,
        rng: np.random.Generator,
        svg: Path | None,
        stream: IO[str],
    ) -> None:
        self.states = [start]
        self.seats = seats
        self.limit = limit
        self.rng = rng
        self.svg = svg
        self.stream = stream

    def run(self) -> None:
        """Play until the game is over or a person quits.

        The board is printed before every move of a person and at the end.
        """
        self.draw()
        while not (state := self.states[-1]).ending:
            if (player := self.player(state)) is None:
                self.show(board_text(state))
                if not self.ask(state):
                    return
            else:
                # The name of a move, such as Nf3, depends on the board before it.
                move = player.decide(state, self.limit, self.rng).move
                self.show(f"{SIDES[not state.board.turn]} plays {state.board.san(move)}")
                self.states.append(state.play(move))
            self.draw()
        self.show(board_text(state))
        self.show(f"{state.result}: {state.ending}")

    def player(self, state: "ChessState") -> "ChessPlayer | None":
        """Return the player to move; None is a person."""
        return self.seats[0 if state.board.turn else 1]

    def ask(self, state: "ChessState") -> bool:
        """Ask a person for a move or a command; return False if the person quits."""
        self.show(f"{SIDES[not state.board.turn]}, your move (or back, quit): ", end="")
        try:
            answer = input().strip()
        except EOFError:
            self.show("")
            return False
        if answer == "back":
            self.take_back()
        elif answer != "quit":
            try:
                self.states.append(state.play(state.read(answer)))
            except UserError as error:
                self.show(str(error))
        return answer != "quit"

    def take_back(self) -> None:
        """Return to the last state in which a person was to move."""
        # Against a player, that takes back two moves: its reply and the person's.
        if not any(self.player(state) is None for state in self.states[:-1]):
            self.show("there is no move to take back")
            return
        self.states.pop()
        while self.player(self.states[-1]) is not None:
            self.states.pop()

    def show(self, text: str, end: str = "\n") -> None:
        print(text, end=end, file=self.stream, flush=True)

    def draw(self) -> None:
        """Write the board to the SVG file, if any; mark the last move and a king in check."""
        if self.svg is None:
            return
        import chess.svg

        board = self.states[-1].board
        last = board.move_stack[-1] if board.move_stack else None
        check = board.king(board.turn) if board.is_check() else None
        picture = chess.svg.board(board, lastmove=last, check=check, size=SVG_SIZE)
        write_atomically(self.svg, picture.encode())


def board_text(state: "ChessState") -> str:
    """Return the board in letters, white's in capitals, and the side to move."""
    ranks = str(state.board).splitlines()
    lines = [f"{8 - i}  {rank}" for i, rank in enumerate(ranks)]
    lines.append("   a b c d e f g h")
    if not state.ending:
        # With no legal move it would be mate, which `ending` names.
        check = ", in check" if state.board.is_check() and state.moves else ""
        lines.append(f"{SIDES[not state.board.turn]} to move{check}")
    return "\n".join(lines)


def _print_game(game: _Game, white: str, black: str, json: bool) -> None:
    end = game.states[-1]
    # From the given position on; a FEN has no history.
    moves = [state.board.move_stack[-1].uci() for state in game.states[1:]]
    if not json:
        print(f"moves: {' '.join(moves) or 'none'}")
        if not end.ending:
            print(f"stopped; resume with: {_resume_command(game, white, black)}")
        return
    print_json(
        {
            "white": white,
            "black": black,
            "start": game.states[0].board.fen(),
            "moves": moves,
            "fen": end.board.fen(),
            "result": end.result,
            "ending": end.ending,
        }
    )


def _resume_command(game: _Game, white: str, black: str) -> str:
    options = {
        "--white": white,
        "--black": black,
        "--fen": game.states[-1].board.fen(),
        "--seconds": game.limit.seconds,
        "--simulations": game.limit.simulations,
        "--svg": game.svg,
    }
    return shlex.join(["fourlab", "chess", "play", *as_arguments(options)])


@app.command()
def uci() -> None:
    """Run as a UCI chess engine on standard input and output.

    UCI options: Preset (arya, improved, random), Simulations (0: as many as the time allows, or
    the preset's own number) and Seed.

    Example: fourlab chess uci
    """
    from fourlab.chess.uci import Engine

    def send(text: str) -> None:
        # One write per line: two threads write, and print would write the newline separately.
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    Engine(send).serve(iter(sys.stdin.readline, ""))


@app.command()
@with_settings
def match(
    one: Annotated[str, typer.Argument(metavar="A", help="arya, improved or random.")],
    other: Annotated[str, typer.Argument(metavar="B", help="Its opponent.")],
    workers: Workers,
    running: Running,
    games: Annotated[int, typer.Option(min=2, help="Number of games.")] = 100,
    plies: Annotated[
        int, typer.Option(min=0, max=20, help="Number of random plies in an opening.")
    ] = 4,
    seconds: SecondsPerMoveOption = None,
    simulations: SimulationsPerMoveOption = None,
    seed: SeedOption = 0,
    keep: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also write the games to this file, as JSON lines."),
    ] = None,
) -> None:
    """Play a chess match between two players.

    Every opening is played twice with colours swapped, and Elo is computed from such pairs. The
    games do not depend on the number of workers, unless the limit is a time.

    Example: fourlab chess match improved random --games 20
    """
    from fourlab.chess.job import ChessJob
    from fourlab.chess.match import ChessMatch

    planned = ChessMatch((one, other), games, plies, simulations, seconds, seed)
    run, summary = running.desk(workers).work(ChessJob(planned, keep))
    print_results(run, summary, running.json)
