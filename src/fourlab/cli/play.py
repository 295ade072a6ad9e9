"""`fourlab play`: play a game in the terminal, with people and agents as either side."""

import shlex
import sys
from typing import IO, Annotated

import numpy as np
import typer

from fourlab.agent import Agent, Limit
from fourlab.agents.registry import make
from fourlab.agents.simple.human import Human, HumanSays
from fourlab.cli.board import plain_console, print_board
from fourlab.cli.options import (
    AnyCountsOption,
    BoardOption,
    JsonOption,
    StartOption,
    as_arguments,
    print_json,
)
from fourlab.errors import UserError
from fourlab.game.outcome import SIDE_NAMES
from fourlab.game.position import Position


def play(
    red: Annotated[
        str, typer.Option("--red", metavar="AGENT", help="First player (fourlab agents).")
    ] = "human",
    yellow: Annotated[
        str, typer.Option("--yellow", metavar="AGENT", help="Second player.")
    ] = "rules",
    board: BoardOption = None,
    start: StartOption = "",
    any_counts: AnyCountsOption = False,
    hints: Annotated[
        bool, typer.Option("--hints/--no-hints", help="Show a hint before every human move.")
    ] = False,
    hint_agent: Annotated[
        str, typer.Option("--hint-agent", metavar="AGENT", help="Agent that gives the hints.")
    ] = "rules",
    seconds: Annotated[
        float | None, typer.Option(help="Time limit of agents per move, in seconds.")
    ] = None,
    simulations: Annotated[
        int | None, typer.Option(help="Maximum number of simulations per move.")
    ] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, help="Random seed of the agents (default random).")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Play a game in the terminal.

    Type a column number, or back to take a move back, hint, or quit. Both sides can be people or
    agents; two agents play each other. With --json the finished game is printed as one JSON value
    on standard output, and the board on standard error.
    """
    # With --json, standard output has the JSON value and nothing else.
    table = _Table(sys.stderr if json else sys.stdout)
    seats = [table.seat(red), table.seat(yellow)]
    limit = Limit(seconds=seconds, simulations=simulations)
    # A person as the adviser would be asked for the person's own move.
    adviser = make(hint_agent)
    if isinstance(adviser, Human):
        raise UserError("hints must come from an agent, not from a person")
    position = Position(start, board, check_counts=not any_counts)
    game = _Game(position, seats, adviser, limit, np.random.default_rng(seed), table)
    try:
        ending = game.run(hints)
    except KeyboardInterrupt:
        table.show("")  # ends the line of the prompt
        ending = "interrupted"
    if json:
        _print_json(game, red, yellow)
    else:
        if ending != "over":
            print(f"stopped; resume with: {_resume_command(game, red, yellow)}")
        print(f"moves: {' '.join(str(column + 1) for column in game.columns) or 'none'}")
    if ending == "interrupted":
        raise typer.Exit(130)


class _Table:
    """Shows the board on a stream and asks people for their moves."""

    def __init__(self, stream: IO[str]) -> None:
        self.console = plain_console(stream)

    def seat(self, spec: str) -> Agent:
        """Return the agent of a spec; a person is asked at this table."""
        agent = make(spec)
        return Human(self.ask, self.show) if isinstance(agent, Human) else agent

    def ask(self, prompt: str) -> str:
        """Read a line; end the prompt's line if there is no more input."""
        self.console.print(prompt, end="")
        try:
            return input()
        except EOFError:
            self.show("")
            raise

    def show(self, text: str) -> None:
        self.console.print(text)


class _Game:
    """A game with take-backs: the positions so far and the columns between them."""

    def __init__(
        self,
        start: Position,
        seats: list[Agent],
        adviser: Agent,
        limit: Limit,
        rng: np.random.Generator,
        table: _Table,
    ) -> None:
        self.positions = [start]
        self.columns: list[int] = []
        self.seats = seats
        self.adviser = adviser
        self.limit = limit
        self.rng = rng
        self.table = table

    def run(self, hints: bool) -> str:
        """Play on; return "over" at the end of the game or "quit" if a person quits."""
        while (position := self.positions[-1]).outcome() is None:
            agent = self.seats[position.to_move]
            if isinstance(agent, Human):
                print_board(position, self.table.console)
                if hints:
                    self.hint(position)
            try:
                column = agent.decide(position, self.limit, self.rng).column
            # People answer with columns or with commands, which are no moves.
            except HumanSays as command:
                if command.word == "quit":
                    return "quit"
                if command.word == "back":
                    self.take_back()
                else:
                    self.hint(position)
                continue
            if not isinstance(agent, Human):
                self.table.show(f"{SIDE_NAMES[position.to_move]} plays {column + 1}")
            self.columns.append(column)
            self.positions.append(position.play(column))
        print_board(self.positions[-1], self.table.console)
        return "over"

    def take_back(self) -> None:
        """Return to the last position in which a person was to move."""
        if not any(self.is_human(position) for position in self.positions[:-1]):
            self.table.show("there is no move to take back")
            return
        self.positions.pop()
        # Against an agent, that takes back two moves: its reply and the person's.
        while not self.is_human(self.positions[-1]):
            self.positions.pop()
        # There is one position more than columns, the start.
        del self.columns[len(self.positions) - 1 :]

    def is_human(self, position: Position) -> bool:
        """Return whether a person is to move."""
        return isinstance(self.seats[position.to_move], Human)

    def hint(self, position: Position) -> None:
        """Show the column that the adviser would play."""
        # The adviser has its own generator, so that hints do not change a seeded game.
        rng = np.random.default_rng(position.key)
        column = self.adviser.decide(position, self.limit, rng).column
        self.table.show(f"hint: column {column + 1}")


def _print_json(game: _Game, red: str, yellow: str) -> None:
    start = game.positions[0]
    outcome = game.positions[-1].outcome()
    print_json(
        {
            "red": red,
            "yellow": yellow,
            "board": str(start.rules),
            "start": start.write(),
            "moves": [column + 1 for column in game.columns],
            "outcome": None if outcome is None else str(outcome),
        }
    )


def _resume_command(game: _Game, red: str, yellow: str) -> str:
    position = game.positions[-1]
    # Moves are shorter than a FEN, but a game from a hand-made position does not have all of them.
    from_moves = position.moves is not None
    options = {
        "--red": red,
        "--yellow": yellow,
        # A FEN says the size of the board itself; moves do not.
        "--board": str(position.rules) if from_moves else None,
        "--start": position.write("moves" if from_moves else "fen"),
        "--seconds": game.limit.seconds,
        "--simulations": game.limit.simulations,
    }
    return shlex.join(["fourlab", "play", *as_arguments(options)])
