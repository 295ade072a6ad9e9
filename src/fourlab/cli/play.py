"""`fourlab play`: play games in the terminal, with people and agents as either side."""

import shlex
import sys
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from fourlab.agent import Agent, Analysis, Decision, Limit
from fourlab.agents import adaptive
from fourlab.agents.levels import LEVELS, level_name, number_of, title
from fourlab.agents.registry import make, parse_spec
from fourlab.agents.simple.human import Human, HumanSays
from fourlab.cli.generated import with_settings
from fourlab.cli.options import (
    AnyCountsOption,
    BoardOption,
    JsonOption,
    StartOption,
    as_arguments,
    print_json,
)
from fourlab.cli.table import LiveTable, Table, table
from fourlab.errors import UserError
from fourlab.game.outcome import RED, SIDE_NAMES, YELLOW, Result
from fourlab.game.position import Position

if TYPE_CHECKING:
    from fourlab.solver import Solver

AUTO = "auto"
"""The level that adapts to the person's results."""
ADVICE_SECONDS = 5.0
"""Time limit of the solver for a hint or an evaluation; the classic board needs less."""
REVIEW_SECONDS = 20.0
"""Time limit of the solver for the review of a game."""


@dataclass(frozen=True)
class Players:
    """Who plays."""

    red: Annotated[
        str | None,
        typer.Option("--red", metavar="AGENT", help="First player (default human)."),
    ] = None
    yellow: Annotated[
        str | None,
        typer.Option("--yellow", metavar="AGENT", help="Second player (default rules)."),
    ] = None
    level: Annotated[
        str | None,
        typer.Option(
            "--level",
            metavar="N",
            help="Play against this level, 1 to 10, or auto, which adapts to your results.",
        ),
    ] = None

    def specs(self, opponent: str | None) -> tuple[str, str]:
        """Return the specs of red and yellow; an opponent takes the seat that is left."""
        if self.level is not None:
            if opponent is not None:
                raise UserError("give an opponent or a level, not both")
            opponent = level_name(self._number(self.level))
        if opponent is None:
            return self.red or "human", self.yellow or "rules"
        if self.red is not None and self.yellow is not None:
            raise UserError(f"there is no seat left for {opponent}; leave out --red or --yellow")
        if self.yellow is not None:
            return opponent, self.yellow
        return self.red or "human", opponent

    @property
    def is_adaptive(self) -> bool:
        """Whether the level follows the person's results."""
        return self.level == AUTO

    def _number(self, level: str) -> int:
        if level == AUTO:
            if (self.red or self.yellow or "human") != "human":
                raise UserError(f"--level {AUTO} follows the results of a person, not of an agent")
            return adaptive.remembered()
        if not (level.isascii() and level.isdigit() and len(level) < 4):
            raise UserError(
                f"a level is a number from 1 to {len(LEVELS)}, or {AUTO}, not {level!r}"
            )
        return int(level)


@dataclass(frozen=True)
class Advice:
    """Hints for people."""

    hints: Annotated[
        bool, typer.Option("--hints/--no-hints", help="Show a hint before every human move.")
    ] = False
    hint_agent: Annotated[
        str,
        typer.Option(
            "--hint-agent", metavar="AGENT", help="Agent that gives the hints: by default exact."
        ),
    ] = "perfect"


@with_settings
def play(
    players: Players,
    advice: Advice,
    opponent: Annotated[
        str | None,
        typer.Argument(metavar="OPPONENT", help="Agent to play against (fourlab agents)."),
    ] = None,
    board: BoardOption = None,
    start: StartOption = "",
    any_counts: AnyCountsOption = False,
    games: Annotated[int, typer.Option(min=1, help="Number of games to play.")] = 1,
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

    Type a column number, or back to take a move back, hint for the best column, eval for the exact
    value of every column, or quit; their first letters will do. Both sides can be people or agents;
    two agents play each other. On a terminal one board is redrawn, and after a game you can play
    again or review it. With --json the finished game is printed as one JSON value on standard
    output, and the board on standard error.

    Examples:

      fourlab play --level 5

      fourlab play --level auto --games 5

      fourlab play mcts:simulations=1000 --seed 1
    """
    if json and games != 1:
        raise UserError("--json prints one game; leave out --games")
    red, yellow = players.specs(opponent)
    position = Position(start, board, check_counts=not any_counts)
    # With --json, standard output has the JSON value and nothing else.
    where = table(sys.stderr if json else sys.stdout, position.rules.rows)
    adviser = _Adviser(advice.hint_agent)
    limit = Limit(seconds=seconds, simulations=simulations)
    rng = np.random.default_rng(seed)
    seats = [_seat(red, where), _seat(yellow, where)]
    options = (adviser, advice.hints, not json, players.is_adaptive)
    sitting = _Sitting((red, yellow), seats, position, limit, rng, where, *options)
    ending = sitting.play(games)
    if json:
        _print_json(sitting.game, red, yellow)
    if ending == "interrupted":
        raise typer.Exit(130)


def _seat(spec: str, where: Table) -> Agent:
    """Return the agent of a spec; a person is asked at the table."""
    try:
        agent = make(spec)
    except UserError as error:
        raise UserError(f"{error}{_start_instead(spec)}") from None
    return Human(where.ask, where.show) if isinstance(agent, Human) else agent


def _start_instead(spec: str) -> str:
    """Return advice if the spec is a position, which belongs elsewhere."""
    try:
        Position(spec)
    except UserError:
        return ""
    return f"; to play on from a position, write fourlab play --start {spec}"


class _Adviser:
    """Gives hints and evaluations; makes what it needs when it is first asked."""

    def __init__(self, spec: str) -> None:
        # A person as the adviser would be asked for the person's own move.
        if parse_spec(spec)[0] == "human":
            raise UserError("hints must come from an agent, not from a person")
        self.spec = spec
        if spec != "perfect":
            _ = self._agent  # raises UserError now and not in the middle of the game

    @cached_property
    def _agent(self) -> Agent:
        return make(self.spec)

    @cached_property
    def _solver(self) -> "Solver":
        from fourlab.solver import Solver

        return Solver()

    def hint(self, position: Position, limit: Limit) -> str:
        """Return the column to play, and the result if it is proven."""
        if self.spec == "perfect":
            limit = Limit(seconds=ADVICE_SECONDS)
        # Its own generator, so that hints do not change a seeded game.
        rng = np.random.default_rng(position.key)
        decision = self._agent.decide(position, limit, rng)
        text = f"hint: column {decision.column + 1}"
        if (proven := decision.proven) is not None:
            text += f", which {proven.result.verdict}"
            if proven.plies is not None and proven.result != 0:
                text += f" in {proven.plies}"
        return text

    def evaluation(self, position: Position) -> str:
        """Return the exact value of every column, best columns first."""
        columns = self._solver.columns(position, Limit(seconds=ADVICE_SECONDS))
        by_value: dict[str, list[str]] = {}
        for column in sorted(columns, key=lambda column: -columns[column].upper):
            by_value.setdefault(str(columns[column]), []).append(str(column + 1))
        values = (f"{value}: {', '.join(numbers)}" for value, numbers in by_value.items())
        return f"columns by value: {'; '.join(values)}"


@dataclass
class _Sitting:
    """One or more games between the same players, with their score."""

    specs: tuple[str, str]
    seats: list[Agent]
    start: Position
    limit: Limit
    rng: np.random.Generator
    table: Table
    adviser: _Adviser
    hints: bool
    prints_moves: bool = True
    """Whether to print the moves at the end of a game; --json has them."""
    is_adaptive: bool = False
    """Whether the level of the next game depends on the person's result."""
    score: list[int] = field(default_factory=lambda: [0, 0, 0])
    """Games won by the first and the second of `specs`, and drawn games."""

    def __post_init__(self) -> None:
        self.game = _Game(self)

    def play(self, games: int) -> str:
        """Play games; return "over", "quit" or "interrupted", as the last one ended."""
        played = 0
        while True:
            try:
                ending = self.game.run()
            except KeyboardInterrupt:
                self.table.show("")  # ends the line of the prompt
                ending = "interrupted"
            self._report(ending, of_several=games > 1)
            if ending == "over" and self.is_adaptive:
                self._adapt()
            played += 1
            if ending != "over":
                return ending
            if played >= games:
                # On a terminal, people may go on for as long as they like.
                try:
                    if not (self.table.is_live and self._has_people() and self._is_continued()):
                        return ending
                except KeyboardInterrupt:
                    self.table.show("")
                    return ending
            self.game = _Game(self)

    def heading(self) -> str:
        """Return who plays which colour, and the score."""
        names = [
            f"{SIDE_NAMES[side]} ({'XO'[side]}): {title(self.specs[side])}"
            for side in (RED, YELLOW)
        ]
        return f"{'   '.join(names)}   score {self.score[0]}-{self.score[1]}, {self.score[2]} drawn"

    def _report(self, ending: str, of_several: bool) -> None:
        """Print the result of a game, or how to resume it."""
        game = self.game
        if ending == "over":
            outcome = game.positions[-1].outcome()
            winner = None if outcome is None else outcome.winner
            self.score[2 if winner is None else winner] += 1
            if of_several or self.table.is_live:
                one, other = map(title, self.specs)
                drawn = self.score[2]
                self.table.show(
                    f"score: {one} {self.score[0]}, {other} {self.score[1]}, drawn {drawn}"
                )
        if not self.prints_moves:
            return
        if ending != "over":
            self.table.show(f"stopped; resume with: {_resume_command(self)}")
        elif self._has_people() and not self.table.is_live:
            self.table.show(f"review it: {_review_command(self)}")
        moves = " ".join(str(column + 1) for column in game.columns)
        self.table.show(f"moves: {moves or 'none'}")

    def _adapt(self) -> None:
        """Replace the level by the one for the next game, and remember it."""
        seat = next(seat for seat in (RED, YELLOW) if number_of(self.specs[seat]) is not None)
        level = number_of(self.specs[seat])
        outcome = self.game.positions[-1].outcome()
        assert level is not None
        assert outcome is not None
        result = Result.DRAW
        if outcome.winner is not None:
            result = Result.LOSS if outcome.winner == seat else Result.WIN
        level = adaptive.next_level(level, result)
        adaptive.remember(level)
        specs = list(self.specs)
        specs[seat] = level_name(level)
        self.specs = (specs[RED], specs[YELLOW])
        self.seats[seat] = make(specs[seat])
        self.table.show(f"next game: {title(specs[seat])}")

    def _has_people(self) -> bool:
        return any(isinstance(seat, Human) for seat in self.seats)

    def _is_continued(self) -> bool:
        """Ask what to do after a game; return whether to play another one."""
        while True:
            try:
                answer = self.table.ask("Enter plays again, s swaps colours, r reviews, q quits: ")
            except EOFError:
                return False
            word = answer.strip().lower()[:1]
            if word == "r":
                self._review()
            elif word in ("", "s", "y"):
                if word == "s":
                    self.specs = self.specs[::-1]
                    self.seats.reverse()
                    self.score[:2] = self.score[1::-1]
                if isinstance(self.table, LiveTable):
                    self.table.keep()
                return True
            elif word in ("q", "n"):
                return False

    def _review(self) -> None:
        """Print the review of the last game."""
        from fourlab.analysis.review import review

        columns = tuple(self.game.columns)
        print(review(self.start, columns, Limit(seconds=REVIEW_SECONDS)))
        if isinstance(self.table, LiveTable):
            self.table.keep()


class _Game:
    """A game with take-backs: the positions so far and the columns between them."""

    def __init__(self, sitting: _Sitting) -> None:
        self.sitting = sitting
        self.table = sitting.table
        self.table.forget()
        self.positions = [sitting.start]
        self.columns: list[int] = []

    def run(self) -> str:
        """Play on; return "over" at the end of the game or "quit" if a person quits."""
        while (position := self.positions[-1]).outcome() is None:
            agent = self.sitting.seats[position.to_move]
            if isinstance(agent, Human):
                self.table.draw(position, self.sitting.heading())
                if self.sitting.hints:
                    self.table.show(self.sitting.adviser.hint(position, self.sitting.limit))
            elif self.table.is_live:
                status = f"{SIDE_NAMES[position.to_move]} is thinking …"
                self.table.draw(position, self.sitting.heading(), status)
            try:
                decision = agent.decide(position, self.sitting.limit, self.sitting.rng)
            # People answer with columns or with commands, which are no moves.
            except HumanSays as command:
                if command.word == "quit":
                    return "quit"
                self._obey(command.word, position)
                continue
            self.table.forget()
            if not isinstance(agent, Human):
                side = SIDE_NAMES[position.to_move]
                self.table.announce(f"{side} plays {decision.column + 1}")
                if text := _statistics(decision):
                    self.table.announce(text)
            self.columns.append(decision.column)
            self.positions.append(position.play(decision.column))
        self.table.draw(self.positions[-1], self.sitting.heading())
        return "over"

    def _obey(self, word: str, position: Position) -> None:
        """Do what a person asks for instead of a move."""
        adviser = self.sitting.adviser
        if word == "back":
            self.take_back()
            return
        self.table.forget()
        if word == "eval":
            self.table.announce(adviser.evaluation(position))
        else:
            self.table.announce(adviser.hint(position, self.sitting.limit))

    def take_back(self) -> None:
        """Return to the last position in which a person was to move."""
        self.table.forget()
        if not any(self.is_human(position) for position in self.positions[:-1]):
            self.table.announce("there is no move to take back")
            return
        self.positions.pop()
        # Against an agent, that takes back two moves: its reply and the person's.
        while not self.is_human(self.positions[-1]):
            self.positions.pop()
        # There is one position more than columns, the start.
        del self.columns[len(self.positions) - 1 :]

    def is_human(self, position: Position) -> bool:
        """Return whether a person is to move."""
        return isinstance(self.sitting.seats[position.to_move], Human)


def _statistics(decision: Decision) -> str:
    """Return the work behind a decision in one line, as Arya's program does; empty if unknown."""
    analysis: Analysis = decision.analysis
    counts = [
        f"{count:,} {unit}"
        for count, unit in (
            (analysis.simulations, "simulations"),
            (analysis.evaluations, "evaluations"),
            (analysis.nodes, "nodes"),
            (analysis.depth, "plies deep"),
        )
        if count is not None
    ]
    if not counts:
        return ""
    if analysis.seconds is not None:
        counts[0] += f" in {analysis.seconds:.3f} s"
    if decision.value is not None:
        counts.append(f"expects {decision.value:+.2f}")
    return f"statistics: {', '.join(counts)}"


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


def _resume_command(sitting: _Sitting) -> str:
    position = sitting.game.positions[-1]
    # Moves are shorter than a FEN, but a game from a hand-made position does not have all of them.
    from_moves = position.moves is not None
    options = {
        "--red": sitting.specs[RED],
        "--yellow": sitting.specs[YELLOW],
        # A FEN says the size of the board itself; moves do not.
        "--board": str(position.rules) if from_moves else None,
        "--start": position.write("moves" if from_moves else "fen"),
        "--seconds": sitting.limit.seconds,
        "--simulations": sitting.limit.simulations,
    }
    return shlex.join(["fourlab", "play", *as_arguments(options)])


def _review_command(sitting: _Sitting) -> str:
    """Return the command that reviews the last game."""
    start = sitting.start
    columns = [str(column + 1) for column in sitting.game.columns]
    # From ten columns on, numbers are separated.
    moves = "".join(columns) if start.rules.columns < 10 else ",".join(columns)
    options = {
        "--start": start.write("fen") if start.ply else None,
        "--board": str(start.rules) if not start.ply and str(start.rules) != "7x6x4" else None,
    }
    return shlex.join(["fourlab", "review", moves, *as_arguments(options)])
