"""`fourlab games`: the stored games of a run, listed, shown, replayed, exported."""

import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fourlab.cli.board import plain_console, print_board
from fourlab.cli.options import DEFAULT_HOME, HomeOption, JsonOption, print_json
from fourlab.errors import UserError
from fourlab.game.outcome import SIDE_NAMES, Result

if TYPE_CHECKING:
    from fourlab.arena.store import StoredGame
    from fourlab.game.record import Record
    from fourlab.jobs.run import Run

COLUMNS = ("number", "unit", "red", "yellow", "board", "start", "moves", "result", "cause", "detail", "seed")
"""Of exported tables; all of it is the same whenever and wherever the run is played, if no limit is a time."""


def games(
    run: Annotated[str, typer.Argument(metavar="RUN", help="A run folder, its name or a part of it, or last.")],
    number: Annotated[int | None, typer.Argument(metavar="[NUMBER]", min=0, help="Show this game.")] = None,
    replay: Annotated[float | None, typer.Option(metavar="SECONDS", min=0, help="Show it move by move, so quickly.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Play it again and tell whether it goes the same way.")] = False,
    agent: Annotated[str | None, typer.Option(help="Only games of this agent.")] = None,
    result: Annotated[str | None, typer.Option(metavar="red|draw|yellow|none", help="Only games that ended so.")] = None,
    cause: Annotated[str | None, typer.Option(help='Only games that ended by it: "illegal move", timeout, crash, …')] = None,
    csv: Annotated[Path | None, typer.Option("--csv", metavar="FILE", help="Write a table; - is standard output.")] = None,
    jsonl: Annotated[Path | None, typer.Option("--jsonl", metavar="FILE", help="Write JSON lines, with thoughts.")] = None,
    home: HomeOption = DEFAULT_HOME,
    json: JsonOption = False,
) -> None:
    """List the games of a run, show or replay one, or export them all. A run that is still being played can be read, too.

    Examples: fourlab games last; fourlab games last 17 --replay 0.5; fourlab games last --csv games.csv
    """
    from fourlab.arena.store import Store
    from fourlab.jobs.run import find_run

    found = find_run(home, run)
    with Store(found.games_file, read_only=True) as store:
        if number is not None:
            if (game := store.game(number)) is None:
                raise UserError(f"{found.folder} has no game {number}")
            _show(game, found, replay, again, json)
            return
        if replay is not None or again:
            raise UserError("say which game: fourlab games RUN NUMBER")
        wanted = (game for game in store.games(thoughts=jsonl is not None) if _is_wanted(game, agent, result, cause))
        if csv is not None:
            _write(csv, _table(wanted))
        elif jsonl is not None:
            _write(jsonl, _json_lines(wanted))
        elif json:
            print_json([as_data(game) for game in wanted])
        else:
            _list(wanted)


def as_data(game: "StoredGame") -> dict[str, Any]:
    """A game for machines, without what the agents thought."""
    data = {name: getattr(game, name) for name in COLUMNS}
    return {**data, "moves": [column + 1 for column in game.columns]}


def _is_wanted(game: "StoredGame", agent: str | None, result: str | None, cause: str | None) -> bool:
    return (
        (agent is None or agent in (game.red, game.yellow))
        and (result is None or _results(result) == game.result)
        and (cause is None or cause == game.cause)
    )


def _results(word: str) -> int | None:
    words = {"red": 1, "draw": 0, "yellow": -1, "none": None}
    if word not in words:
        raise UserError(f"a result is {', '.join(words)}, not {word!r}")
    return words[word]


def _list(games: Iterable["StoredGame"]) -> None:
    print(f"{'game':>6}  {'red':24}  {'yellow':24}  {'result':6}  {'cause':12}  moves")
    for game in games:
        word = {1: "red", 0: "draw", -1: "yellow", None: "-"}[game.result]
        start = f"({game.start}) " if game.start else ""
        print(f"{game.number:6}  {game.red:24}  {game.yellow:24}  {word:6}  {game.cause:12}  {start}{game.moves}")


def _show(game: "StoredGame", run: "Run", replay: float | None, again: bool, json: bool) -> None:
    if json:
        from fourlab.analysis.overview import thoughts

        print_json({**as_data(game), "thoughts": thoughts(game), "scores": game.exact_scores})
        return
    record, console = game.record, plain_console(sys.stdout)
    print(f"game {game.number}: {game.red} (red) against {game.yellow} (yellow)")
    positions = list(record.positions())
    for i, position in enumerate(positions):
        if replay is None and i < len(record.columns):
            continue
        if replay is not None and i > 0:
            time.sleep(replay)
            print(f"\n{SIDE_NAMES[1 - position.to_move]} plays {record.columns[i - 1] + 1}{_thought(game, record, i - 1)}")
        print_board(position, console)
    if replay is None:
        for i, column in enumerate(record.columns):
            side = positions[i].to_move
            print(f"{positions[i].ply + 1:3}. {SIDE_NAMES[side]:6} {column + 1}{_thought(game, record, i)}")
    if record.cause != "normal":
        print(f"ended by {record.cause}: {record.detail}" if record.detail else f"ended by {record.cause}")
    if again:
        _play_again(game, run)


def _play_again(game: "StoredGame", run: "Run") -> None:
    from fourlab.agents.registry import make
    from fourlab.arena.job import TournamentJob
    from fourlab.arena.tournament import GamePlayer
    from fourlab.jobs.kinds import job_of

    job = job_of(run)
    if not isinstance(job, TournamentJob):
        raise UserError(f"{run.folder} is a run of kind {run.config['kind']!r}, not a match or a tournament")
    now = GamePlayer(job.tournament, make)(game.number)
    if (now.moves, now.result, now.cause) == (game.moves, game.result, game.cause):
        print("played again: the same game")
    else:
        print(f"played again: {now.moves}, {now.result}, {now.cause}")
        raise typer.Exit(1)


def _thought(game: "StoredGame", record: "Record", i: int) -> str:
    thought = record.thoughts[i]
    parts = [f"{1000 * thought.seconds:.1f} ms"]
    parts += [] if thought.value is None else [f"value {thought.value:+.2f}"]
    parts += [] if thought.visits is None else [f"visits {' '.join(map(str, thought.visits))}"]
    if (scores := game.exact_scores) is not None:
        before, after = scores[i], -scores[i + 1]
        had, has = Result.of_score(before), Result.of_score(after)
        parts += [f"from {had.word} to {has.word}"] if had != has else ["best" if before == after else "keeps the value"]
    return "  " + ", ".join(parts)


def _table(games: Iterable["StoredGame"]) -> Iterator[str]:
    import csv
    import io

    row = io.StringIO()
    writer = csv.writer(row, lineterminator="\n")
    writer.writerow(COLUMNS)
    for game in games:
        writer.writerow([getattr(game, column) for column in COLUMNS])
        yield row.getvalue()
        row.seek(0)
        row.truncate()
    yield row.getvalue()


def _json_lines(games: Iterable["StoredGame"]) -> Iterator[str]:
    import json

    from fourlab.analysis.overview import thoughts

    for game in games:
        yield json.dumps({**as_data(game), "thoughts": thoughts(game), "scores": game.exact_scores}, ensure_ascii=False) + "\n"


def _write(file: Path, lines: Iterable[str]) -> None:
    if str(file) == "-":
        sys.stdout.writelines(lines)
        return
    from fourlab.files import write_atomically

    write_atomically(file, "".join(lines).encode())
