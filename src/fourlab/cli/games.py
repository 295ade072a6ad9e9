"""`fourlab games`: list, show, replay and export the stored games of a run."""

import csv as csv_module
import io
import json as json_module
import sys
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from fourlab.analysis.overview import thoughts
from fourlab.arena.store import Store, StoredGame
from fourlab.cli.board import print_board
from fourlab.cli.generated import with_settings
from fourlab.cli.options import (
    DEFAULT_HOME,
    AllowProgramsOption,
    HomeOption,
    JsonOption,
    RunArgument,
    print_json,
)
from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.game.outcome import SIDE_NAMES, Outcome, Result
from fourlab.game.record import Record
from fourlab.jobs.kinds import job_of
from fourlab.jobs.run import Run, find_run
from fourlab.terminal import one_line

COLUMNS = (
    "number",
    "unit",
    "red",
    "yellow",
    "board",
    "start",
    "moves",
    "result",
    "cause",
    "detail",
    "seed",
)
"""Columns of exported tables. Unless a limit is a time, they are the same for every execution."""
RESULTS = {**{outcome.winner_name: outcome.value for outcome in Outcome}, "none": None}
"""Stored results, from red's point of view, by the words of --result."""


@dataclass(frozen=True)
class Filters:
    """The options that select games."""

    agent: Annotated[str | None, typer.Option(help="Only games of this agent.")] = None
    result: Annotated[
        str | None,
        typer.Option(metavar="red|draw|yellow|none", help="Only games with this result."),
    ] = None
    cause: Annotated[
        str | None,
        typer.Option(help='Only games that ended this way: "illegal move", timeout, crash, …'),
    ] = None

    def accept(self, game: StoredGame) -> bool:
        """Return whether a game passes all filters."""
        if self.result is not None and self.result not in RESULTS:
            raise UserError(f"a result is {', '.join(RESULTS)}, not {self.result!r}")
        return (
            (self.agent is None or self.agent in (game.red, game.yellow))
            and (self.result is None or RESULTS[self.result] == game.result)
            and (self.cause is None or self.cause == game.cause)
        )


@with_settings
def games(
    name: RunArgument,
    filters: Filters,
    number: Annotated[
        int | None, typer.Argument(metavar="NUMBER", min=0, max=2**63 - 1, help="Show this game.")
    ] = None,
    replay: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", min=0, help="Show the game with this delay per move."),
    ] = None,
    again: Annotated[
        bool, typer.Option("--again", help="Play the game again and compare the moves.")
    ] = False,
    allow_programs: AllowProgramsOption = False,
    csv: Annotated[
        Path | None,
        typer.Option("--csv", metavar="FILE", help="Write a CSV table; - is standard output."),
    ] = None,
    jsonl: Annotated[
        Path | None,
        typer.Option("--jsonl", metavar="FILE", help="Write JSON lines, with search data."),
    ] = None,
    home: HomeOption = DEFAULT_HOME,
    json: JsonOption = False,
) -> None:
    """List, show, replay or export the games of a run.

    A run can be read while it is still being played.

    Examples:

      fourlab games last

      fourlab games last 17 --replay 0.5

      fourlab games last --csv games.csv
    """
    run = find_run(home, name)
    # NUMBER is an argument, so that "games last 17" reads like "games last".
    if number is not None:
        game = stored_game(run, number)
        _show(game, replay, json)
        if again and not json:
            _play_again(game, run, allow_programs)
        return
    with Store(run.games_file, read_only=True) as store:
        if replay is not None or again:
            raise UserError("give the number of a game: fourlab games RUN NUMBER")
        # Thoughts are by far the largest column, so they are read only where they are written.
        chosen = filter(filters.accept, store.games(thoughts=jsonl is not None))
        if csv is not None:
            _write(csv, _table(chosen))
        elif jsonl is not None:
            _write(jsonl, _json_lines(chosen))
        elif json:
            print_json([as_data(game) for game in chosen])
        else:
            _list(chosen)


def stored_game(run: Run, number: int) -> StoredGame:
    """Return a game of a run; raise UserError if the run does not have it."""
    with Store(run.games_file, read_only=True) as store:
        game = store.game(number)
    if game is None:
        raise UserError(f"{run.folder} has no game {number}")
    return game


def as_data(game: StoredGame) -> dict[str, Any]:
    """Return a game as plain data, without the agents' search data; columns count from 1."""
    data = {name: getattr(game, name) for name in COLUMNS}
    return {**data, "moves": [column + 1 for column in game.columns]}


def _as_full_data(game: StoredGame) -> dict[str, Any]:
    """Return a game as plain data, with search data and exact scores."""
    return {**as_data(game), "thoughts": thoughts(game), "scores": game.exact_scores}


def _list(games: Iterable[StoredGame]) -> None:
    print(f"{'game':>6}  {'red':24}  {'yellow':24}  {'result':6}  {'cause':12}  moves")
    for game in games:
        result = "-" if game.result is None else Outcome(game.result).winner_name
        start = f"({game.start}) " if game.start else ""
        red, yellow, cause, moves = map(
            one_line, (game.red, game.yellow, game.cause, f"{start}{game.moves}")
        )
        print(f"{game.number:6}  {red:24}  {yellow:24}  {result:6}  {cause:12}  {moves}")


def _show(game: StoredGame, replay: float | None, json: bool) -> None:
    """Print one game: its last position and its moves, or every position if `replay` is set."""
    if json:
        print_json(_as_full_data(game))
        return
    record = game.record
    red, yellow = one_line(game.red), one_line(game.yellow)
    print(f"game {game.number}: {red} (red) against {yellow} (yellow)")
    if replay is None:
        _print_moves(game, record)
    else:
        _replay(game, record, replay)
    if record.cause != "normal":
        detail = f": {one_line(record.detail)}" if record.detail else ""
        print(f"ended by {record.cause}{detail}")


def _print_moves(game: StoredGame, record: Record) -> None:
    positions = list(record.positions())
    # Plies count the discs of the opening, too.
    print_board(positions[-1])
    for i, column in enumerate(record.columns):
        ply = positions[i].ply + 1
        side = SIDE_NAMES[positions[i].to_move]
        print(f"{ply:3}. {side:6} {column + 1}{_thought(game, record, i)}")


def _replay(game: StoredGame, record: Record, seconds: float) -> None:
    """Print every position, with a pause of `seconds` between moves."""
    # Position i follows move i - 1, which the other side made.
    for i, position in enumerate(record.positions()):
        if i > 0:
            time.sleep(seconds)
            side = SIDE_NAMES[1 - position.to_move]
            column = record.columns[i - 1] + 1
            print(f"\n{side} plays {column}{_thought(game, record, i - 1)}")
        print_board(position)


def _play_again(game: StoredGame, run: Run, allow_programs: bool) -> None:
    """Play the game again from its seed; exit with code 1 if it is different."""
    from fourlab.agents.registry import make
    from fourlab.arena.job import TournamentJob  # imports NumPy
    from fourlab.arena.tournament import GamePlayer

    job = job_of(run, allow_programs)
    if not isinstance(job, TournamentJob):
        raise UserError(
            f"{run.folder} is a run of kind {run.config['kind']!r}, not a match or a tournament"
        )
    # A game is a pure function of the tournament and its number; an agent that remembers has to
    # repeat its earlier games, too.
    with Store(run.games_file, read_only=True) as store:
        earlier = {other.number: other for other in store.games("number < ?", game.number)}
    repeated = GamePlayer(job.tournament, make, earlier)(game.number)
    outcome = (repeated.moves, repeated.result, repeated.cause)
    if outcome == (game.moves, game.result, game.cause):
        print("played again: the same game")
    else:
        print(f"played again: {repeated.moves}, {repeated.result}, {repeated.cause}")
        raise typer.Exit(1)


def _thought(game: StoredGame, record: Record, i: int) -> str:
    """Return what is stored about move `i`: time, value, visits and the effect on the value."""
    parts = []
    if record.thoughts:
        thought = record.thoughts[i]
        parts.append(f"{1000 * thought.seconds:.1f} ms")
        if thought.value is not None:
            parts.append(f"value {thought.value:+.2f}")
        if thought.visits is not None:
            parts.append(f"visits {' '.join(map(str, thought.visits))}")
    if (scores := game.exact_scores) is not None:
        # Scores are from the side to move's point of view, which changes with the move.
        before = scores[i]
        after = -scores[i + 1]
        had = Result.of_score(before)
        has = Result.of_score(after)
        if had != has:
            parts.append(f"from {had.word} to {has.word}")
        else:
            parts.append("best" if before == after else "keeps the value")
    return "  " + ", ".join(parts)


def _table(games: Iterable[StoredGame]) -> Iterator[str]:
    """Yield the games as lines of CSV, the header first."""
    yield _csv_line(COLUMNS)
    for game in games:
        yield _csv_line([getattr(game, column) for column in COLUMNS])


def _csv_line(cells: Iterable[object]) -> str:
    line = io.StringIO()
    csv_module.writer(line, lineterminator="\n").writerow(cells)
    return line.getvalue()


def _json_lines(games: Iterable[StoredGame]) -> Iterator[str]:
    for game in games:
        yield json_module.dumps(_as_full_data(game), ensure_ascii=False) + "\n"


def _write(file: Path, lines: Iterable[str]) -> None:
    # Standard output can be piped, so it is written line by line; a file appears when complete.
    if str(file) == "-":
        sys.stdout.writelines(lines)
        return
    write_atomically(file, "".join(lines).encode())
