"""`fourlab chess …`: the textbook's tree search at another game."""

import shlex
import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from fourlab.cli.generated import with_settings
from fourlab.cli.options import JsonOption, SeedOption, print_json
from fourlab.cli.running import Running, Workers
from fourlab.errors import UserError

if TYPE_CHECKING:
    import numpy as np

    from fourlab.agent import Limit
    from fourlab.chess.game import ChessState
    from fourlab.chess.players import ChessPlayer
    from fourlab.jobs.run import Run

app = typer.Typer(help="Chess, by the same tree search.", rich_markup_mode=None)
SIDES = ("white", "black")
SVG_SIZE = 300
"""Document 004's."""
SecondsChoice = Annotated[float | None, typer.Option("--seconds", help="Let players think this long a move.")]
SimulationsChoice = Annotated[
    int | None, typer.Option("--simulations", help="So many simulations a move; default the player's own number.")
]


@app.callback()
def _chess() -> None:
    """Chess, by the same tree search: players document (document 004's), improved and random."""


@app.command()
def play(
    white: Annotated[str, typer.Option(metavar="PLAYER", help="human, document, improved or random.")] = "human",
    black: Annotated[str, typer.Option(metavar="PLAYER", help="The same for black.")] = "improved",
    fen: Annotated[str | None, typer.Option(help="Where to start; default the usual array.")] = None,
    seconds: SecondsChoice = None,
    simulations: SimulationsChoice = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Make the players' chances repeatable.")] = None,
    svg: Annotated[Path | None, typer.Option(metavar="FILE", help="Draw the board here after every move, too.")] = None,
    json: JsonOption = False,
) -> None:
    """Play a game here: type a move as e2e4 or Nf3, or back, quit.

    Two players that are not human play by themselves. With --json the game is one JSON value on standard output, and the
    board goes to standard error.
    """
    import numpy as np

    from fourlab.agent import Limit
    from fourlab.chess import chess
    from fourlab.chess.game import ChessState
    from fourlab.chess.players import player

    seats = [None if name == "human" else player(name) for name in (white, black)]
    limit = Limit(seconds=seconds, simulations=simulations)
    start = ChessState.of(chess.STARTING_FEN if fen is None else fen)
    game = _Game(start, seats, limit, np.random.default_rng(seed), svg, sys.stderr if json else sys.stdout)
    try:
        game.run()
    except KeyboardInterrupt:
        game.tell("")
        _print_game(game, white, black, json)
        raise typer.Exit(130) from None
    _print_game(game, white, black, json)


class _Game:
    """One game with take-backs: the states so far."""

    def __init__(
        self,
        start: "ChessState",
        seats: "list[ChessPlayer | None]",
        limit: "Limit",
        rng: "np.random.Generator",
        svg: Path | None,
        stream: IO[str],
    ) -> None:
        self.states, self.seats, self.limit, self.rng, self.svg, self.stream = [start], seats, limit, rng, svg, stream

    def run(self) -> None:
        """Play until the game is over or somebody quits. People are shown the board when it is their turn, and at the end."""
        self.draw()
        while not (state := self.states[-1]).ending:
            if (seat := self.seat(state)) is None:
                self.tell(board_text(state))
                if not self.ask(state):
                    return
            else:
                move = seat.decide(state, self.limit, self.rng).move
                self.tell(f"{SIDES[not state.board.turn]} plays {state.board.san(move)}")
                self.states.append(state.play(move))
            self.draw()
        self.tell(board_text(state))
        self.tell(f"{state.result}: {state.ending}")

    def seat(self, state: "ChessState") -> "ChessPlayer | None":
        """Who has the move; None is a person."""
        return self.seats[0 if state.board.turn else 1]

    def ask(self, state: "ChessState") -> bool:
        """Do what a person says; tells whether the game goes on."""
        print(f"{SIDES[not state.board.turn]}, your move (or back, quit): ", end="", file=self.stream, flush=True)
        try:
            answer = input().strip()
        except EOFError:
            self.tell("")
            return False
        if answer == "back":
            self.take_back()
        elif answer != "quit":
            try:
                self.states.append(state.play(state.read(answer)))
            except UserError as error:
                self.tell(str(error))
        return answer != "quit"

    def take_back(self) -> None:
        """Go back to the last state in which a person had the move."""
        if not any(self.seat(state) is None for state in self.states[:-1]):
            self.tell("there is no move to take back")
            return
        self.states.pop()
        while self.seat(self.states[-1]) is not None:
            self.states.pop()

    def tell(self, text: str) -> None:
        """Show something."""
        print(text, file=self.stream, flush=True)

    def draw(self) -> None:
        """Draw the board with the last move and a check, as large as document 004's."""
        if self.svg is None:
            return
        import chess.svg

        from fourlab.files import write_atomically

        board = self.states[-1].board
        last = board.move_stack[-1] if board.move_stack else None
        check = board.king(board.turn) if board.is_check() else None
        write_atomically(self.svg, chess.svg.board(board, lastmove=last, check=check, size=SVG_SIZE).encode())


def board_text(state: "ChessState") -> str:
    """The board in letters, white's are capitals, and who moves."""
    ranks = str(state.board).splitlines()
    lines = [f"{8 - i}  {rank}" for i, rank in enumerate(ranks)] + ["   a b c d e f g h"]
    check = ", in check" if state.board.is_check() and state.moves else ""
    return "\n".join([*lines, *([] if state.ending else [f"{SIDES[not state.board.turn]} to move{check}"])])


def _print_game(game: _Game, white: str, black: str, json: bool) -> None:
    start, end = game.states[0], game.states[-1]
    moves = [state.board.move_stack[-1].uci() for state in game.states[1:]]
    if not json:
        print(f"moves: {' '.join(moves) or 'none'}")
        if not end.ending:
            print(f"stopped; resume with: {shlex.join(_resume(game, white, black))}")
        return
    print_json(
        {
            "white": white,
            "black": black,
            "start": start.board.fen(),
            "moves": moves,
            "fen": end.board.fen(),
            "result": end.result,
            "ending": end.ending,
        }
    )


def _resume(game: _Game, white: str, black: str) -> list[str]:
    words = ["fourlab", "chess", "play", "--white", white, "--black", black, "--fen", game.states[-1].board.fen()]
    words += [] if game.limit.seconds is None else ["--seconds", str(game.limit.seconds)]
    words += [] if game.limit.simulations is None else ["--simulations", str(game.limit.simulations)]
    return words + ([] if game.svg is None else ["--svg", str(game.svg)])


@app.command()
def uci() -> None:
    """Be a chess engine: speak UCI with a chess program, on standard input and output.

    Options: Preset (document, improved, random), Simulations (0: as many as the time allows, or the preset's own number) and
    Seed.
    """
    from fourlab.chess.uci import Engine

    def say(text: str) -> None:
        sys.stdout.write(f"{text}\n")  # at once, for two threads speak
        sys.stdout.flush()

    Engine(say).serve(iter(sys.stdin.readline, ""))


@app.command()
@with_settings
def match(
    one: Annotated[str, typer.Argument(metavar="A", help="document, improved or random.")],
    other: Annotated[str, typer.Argument(metavar="B", help="Its opponent.")],
    workers: Workers,
    running: Running,
    games: Annotated[int, typer.Option(min=2, help="How many games.")] = 100,
    plies: Annotated[int, typer.Option(min=0, max=20, help="Openings are so many random plies.")] = 4,
    seconds: SecondsChoice = None,
    simulations: SimulationsChoice = None,
    seed: SeedOption = 0,
    keep: Annotated[Path | None, typer.Option(metavar="FILE", help="Copy the games to this file, one JSON line each.")] = None,
) -> None:
    """Let two players play each other and say who is stronger, and how sure that is.

    Every opening is played twice with colours swapped, and Elo counts such pairs. The games do not depend on the number of
    workers, unless players think by the clock.

    Example: fourlab chess match improved random --games 20
    """
    from fourlab.chess.job import ChessJob
    from fourlab.chess.match import ChessMatch

    planned = ChessMatch((one, other), games, plies, simulations, seconds, seed)
    run, summary = running.desk(workers).work(ChessJob(planned, keep))
    print_chess(run, summary, running.json)


def print_chess(run: "Run", summary: dict[str, Any], json: bool) -> None:
    """Print what came of a match."""
    if json:
        print_json({"run": str(run.folder), **summary})
    else:
        _print_summary(summary)
        print(f"run: {run.folder}")


def _print_summary(summary: dict[str, Any]) -> None:
    from fourlab.arena.summary import interval

    one, other = summary["players"]
    print(f"{one} against {other}: {summary['games']} games")
    for name in ("wins", "draws", "losses"):
        print(f"  {name:7} {interval(summary[name]['count'], summary['games'])}")
    print(f"  score   {summary['score']:.1%}")
    for name, key in (("Elo", "elo"), ("normalized Elo", "normalized_elo"), ("likelihood of being stronger", "los")):
        print(f"  {name}: {summary[key]['text']}")
    print(f"  pairs (0, ½, 1, 1½, 2 points): {' '.join(map(str, summary['counts']))}")
    print(f"  {one}: {summary['as_white']['score']:.1%} as white, {summary['as_black']['score']:.1%} as black")
    print(f"  endings: {', '.join(f'{ending} {count}' for ending, count in summary['endings'].items())}")
    print("  plies after the opening: {least} to {most}, {mean:.1f} on average".format(**summary["plies"]))
