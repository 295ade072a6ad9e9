"""`fourlab play`: a game on the terminal, people and agents in any seat."""

import shlex
import sys
from typing import IO, TYPE_CHECKING, Annotated

import typer

from fourlab.agent import Agent, Limit
from fourlab.agents.registry import make
from fourlab.agents.simple.human import Human, HumanSays
from fourlab.cli.board import plain_console, print_board
from fourlab.cli.options import AnyCountsOption, BoardOption, JsonOption, StartOption, print_json
from fourlab.errors import UserError
from fourlab.game.outcome import SIDE_NAMES
from fourlab.game.position import Position

if TYPE_CHECKING:
    import numpy as np


def play(
    red: Annotated[str, typer.Option("--red", metavar="AGENT", help="Who plays first.")] = "human",
    yellow: Annotated[str, typer.Option("--yellow", metavar="AGENT", help="Who plays second.")] = "rules",
    board: BoardOption = None,
    start: StartOption = "",
    any_counts: AnyCountsOption = False,
    hints: Annotated[bool, typer.Option("--hints/--no-hints", help="Show a suggestion before every human move.")] = False,
    hint_agent: Annotated[str, typer.Option("--hint-agent", metavar="AGENT", help="Who gives hints.")] = "rules",
    seconds: Annotated[float | None, typer.Option(help="Let agents think this long a move.")] = None,
    simulations: Annotated[int | None, typer.Option(help="Limit agents to so many simulations a move.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Make the agents' chances repeatable.")] = None,
    json: JsonOption = False,
) -> None:
    """Play a game here: type a column, or back, hint, quit.

    Both seats take any agent (fourlab agents); two agents play by themselves. With --json the finished game is one JSON
    value on standard output, and the board goes to standard error.
    """
    import numpy as np

    table = _Table(sys.stderr if json else sys.stdout)
    seats = [table.seat(red), table.seat(yellow)]
    limit = Limit(seconds=seconds, simulations=simulations)
    adviser = make(hint_agent)
    if isinstance(adviser, Human):
        raise UserError("hints must come from an agent, not from a person")
    begin = Position(start, board, check_counts=not any_counts)
    game = _Game(begin, seats, adviser, limit, np.random.default_rng(seed), table)
    try:
        ended = game.run(hints)
    except KeyboardInterrupt:
        table.tell("")
        ended = "interrupted"
    position = game.positions[-1]
    played = [column + 1 for column in game.columns]
    if json:
        outcome = position.outcome()
        print_json(
            {
                "red": red,
                "yellow": yellow,
                "board": str(position.rules),
                "start": game.positions[0].write(),
                "moves": played,
                "outcome": None if outcome is None else str(outcome),
            }
        )
    else:
        if ended != "over":
            print(f"stopped; resume with: {_resume_command(position, red, yellow, limit)}")
        print(f"moves: {' '.join(map(str, played)) or 'none'}")
    if ended == "interrupted":
        raise typer.Exit(130)


class _Table:
    """Where the board is shown and people are asked."""

    def __init__(self, stream: IO[str]) -> None:
        self.console = plain_console(stream)

    def seat(self, spec: str) -> Agent:
        agent = make(spec)
        return Human(self.ask, self.tell) if isinstance(agent, Human) else agent

    def ask(self, prompt: str) -> str:
        self.console.print(prompt, end="")
        try:
            return input()
        except EOFError:
            self.tell("")
            raise

    def tell(self, text: str) -> None:
        self.console.print(text)


class _Game:
    """One game with take-backs: the positions so far and the columns between them."""

    def __init__(
        self, start: Position, seats: list[Agent], adviser: Agent, limit: Limit, rng: "np.random.Generator", table: _Table
    ) -> None:
        self.positions, self.columns = [start], list[int]()
        self.seats, self.adviser, self.limit, self.rng, self.table = seats, adviser, limit, rng, table

    def run(self, hints: bool) -> str:
        """Play until the game is "over" or somebody has "quit"; says which."""
        while (position := self.positions[-1]).outcome() is None:
            seat = self.seats[position.to_move]
            if isinstance(seat, Human):
                print_board(position, self.table.console)
                if hints:
                    self.hint(position)
            try:
                column = seat.decide(position, self.limit, self.rng).column
            except HumanSays as said:
                if said.word == "quit":
                    return "quit"
                self.take_back() if said.word == "back" else self.hint(position)
                continue
            if not isinstance(seat, Human):
                self.table.tell(f"{SIDE_NAMES[position.to_move]} plays {column + 1}")
            self.columns.append(column)
            self.positions.append(position.play(column))
        print_board(self.positions[-1], self.table.console)
        return "over"

    def take_back(self) -> None:
        """Go back to the last position in which a person had the move."""
        if not any(isinstance(self.seats[position.to_move], Human) for position in self.positions[:-1]):
            self.table.tell("there is no move to take back")
            return
        while True:
            self.positions.pop()
            self.columns.pop()
            if isinstance(self.seats[self.positions[-1].to_move], Human):
                return

    def hint(self, position: Position) -> None:
        """Show what the adviser would play."""
        import numpy as np

        rng = np.random.default_rng(position.key)  # its own, so that asking changes nothing in a seeded game
        column = self.adviser.decide(position, self.limit, rng).column
        self.table.tell(f"hint: column {column + 1}")


def _resume_command(position: Position, red: str, yellow: str, limit: Limit) -> str:
    words = ["fourlab", "play", "--red", red, "--yellow", yellow]
    if position.moves is None:
        words += ["--start", position.write("fen")]
    else:
        words += ["--board", str(position.rules), "--start", position.write("moves")]
    words += [] if limit.seconds is None else ["--seconds", str(limit.seconds)]
    words += [] if limit.simulations is None else ["--simulations", str(limit.simulations)]
    return shlex.join(words)
