"""Check a program against every rule of docs/reference/engine-protocol.md."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial

import numpy as np

from fourlab.agent import Decision, Forfeit, Limit, Stop
from fourlab.engines import protocol as c4i
from fourlab.engines.process import Program
from fourlab.engines.program import Engine
from fourlab.game.position import Position
from fourlab.game.rules import CLASSIC, Rules

BOARDS = (CLASSIC, Rules(5, 4, 4), Rules(12, 4, 5))
"""The usual board, a small one, and one whose columns have two digits."""
MOVE_SECONDS = 0.05
STOP_SECONDS = 0.3
"""How long an engine that may think without a limit is left alone before it is stopped."""
LEAVE_SECONDS = 2.0
"""How long an engine may take to exit."""
SLOW_SECONDS = 1.0
"""An engine that takes longer than this for ten simulations does not play whole games by them."""
TRIES = 300
"""Random games to play in search of a nearly full board."""
QUICK = Limit(seconds=MOVE_SECONDS)
BOUNDS = (
    Limit(),
    Limit(depth=1),
    Limit(nodes=100),
    Limit(simulations=10),
    Limit(seconds=1, simulations=10, nodes=100, depth=2),
)


class Broken(Exception):
    """A rule is broken; the message says how."""


@dataclass(frozen=True)
class Finding:
    """The result for one rule."""

    rule: str
    """What an engine that keeps the rule does."""
    kept: bool
    detail: str = ""
    """How the rule was broken, or a remark."""


Test = Callable[[Engine], str | None]
"""Tests one rule: returns a remark or None, or raises Broken or Forfeit."""


def check(engine: Engine, boards: Sequence[Rules] = BOARDS) -> Iterator[Finding]:
    """Test an engine and yield a finding per rule; stop at once if it does not greet."""
    # Every test starts the program again if the one before has ended it.
    with closing(engine):
        for rule, test in _tests(boards):
            try:
                yield Finding(rule, True, test(engine) or "")
            except (Broken, Forfeit) as fault:
                yield Finding(rule, False, str(fault))
                if test is _greets:
                    return


def _tests(boards: Sequence[Rules]) -> Iterator[tuple[str, Test]]:
    yield "greets and gets ready", _greets
    yield "accepts the options it offers", _accepts_options
    yield "ignores unknown lines", _ignores_unknown_lines
    yield "answers every ping, in order", _answers_pings
    yield "does not answer stop when idle", _is_quiet_when_idle
    yield "gives one answer per question", _answers_once
    yield "answers with any bounds", _answers_any_bounds
    yield "keeps its time limit", _keeps_time_limit
    yield "answers when stopped", _stops
    # A position with one open column has one right answer, so these tests need no judgement.
    for rules in boards:
        yield (
            f"knows the open columns on {rules}, given as moves, as a FEN and as both",
            partial(_knows_open_columns, rules),
        )
        yield f"plays whole games on {rules}", partial(_plays, rules)
    other = next(
        (rules for rules in boards if rules != CLASSIC and nearly_full(rules) is not None), None
    )
    yield "starts games without a board or with a seed only", partial(_starts_games, other)
    yield "reads the board size from a FEN", partial(_reads_board_size, other)
    yield "writes valid info lines", _writes_info
    yield "is reproducible by its seed", _is_reproducible
    yield "exits on quit", _quits
    yield "exits at the end of its input", _exits_at_end_of_input


# --- conversation -------------------------------------------------------------------------------


def _greets(engine: Engine) -> str:
    ids = {}
    with engine.talk() as program:
        for line in program.greeting:
            match c4i.words_of(line):
                case ["id", field, first, *rest]:
                    ids[field] = " ".join([first, *rest])
    if missing := {"name", "author"} - ids.keys():
        raise Broken(f"sends no id {' and no id '.join(sorted(missing, reverse=True))}")
    return ids["name"]


def _accepts_options(engine: Engine) -> str:
    """Set every option to its default; the engine must still answer."""
    with engine.talk() as program:
        options = [
            words
            for line in program.greeting
            if (words := c4i.words_of(line))[:2] == ["option", "name"]
        ]
        for words in options:
            if "default" in words and "type" in words:
                name = " ".join(words[2 : words.index("type")])
                value = " ".join(words[words.index("default") + 1 :])
                program.send(c4i.write_setoption(name, value))
        _lines_before_pong(engine, program)
    _decide(engine, Position(), QUICK)
    return f"offers {len(options)}"


def _ignores_unknown_lines(engine: Engine) -> None:
    """Send lines that are not commands, some of which begin like one."""
    with engine.talk() as program:
        program.send(
            "",
            "hello there",
            "x" * 1000,
            "goodbye",
            "nonsense",
            "positions 4",
            "quitter",
            "stopped",
        )
        _expect_no_answer(_lines_before_pong(engine, program), "unknown lines")


def _answers_pings(engine: Engine) -> None:
    with engine.talk() as program:
        number = next(program.pings)
        program.send(f"ping {number}")
        # The second pong must come after the first.
        lines = [" ".join(line.split()) for line in _lines_before_pong(engine, program)]
        if f"pong {number}" not in lines:
            raise Broken(f"did not send pong {number}")


def _is_quiet_when_idle(engine: Engine) -> None:
    with engine.talk() as program:
        program.send("stop")
        _expect_no_answer(_lines_before_pong(engine, program), "stop")


def _answers_once(engine: Engine) -> None:
    for _ in range(2):
        _decide(engine, Position(), QUICK)
        with engine.talk() as program:
            lines = _lines_before_pong(engine, program)
            time.sleep(MOVE_SECONDS)  # an idle engine writes nothing in the meantime
            lines += _lines_before_pong(engine, program)
        _expect_no_answer(lines, "one question twice")
        if late_info := [line for line in lines if line.split()[:1] == ["info"]]:
            raise Broken(f"sent info after its answer: {late_info[0][:60]}")


def _quits(engine: Engine) -> None:
    with engine.talk() as program:
        program.send("quit")
        _expect_exit(program, "quit")


def _exits_at_end_of_input(engine: Engine) -> None:
    engine.close()
    with engine.talk() as program:
        program.close_input()
        _expect_exit(program, "the end of its input")


def _expect_exit(program: Program, event: str) -> None:
    if not program.ends_within(LEAVE_SECONDS):
        raise Broken(f"still ran {LEAVE_SECONDS:g} s after {event}")


def _lines_before_pong(engine: Engine, program: Program) -> list[str]:
    """Send a ping and return the lines that arrive before its pong."""
    program.reset_counters()
    lines = program.ping(engine.start_seconds)
    if lines is None:
        raise Broken(f"did not answer ping with its pong within {engine.start_seconds:g} s")
    return lines


def _expect_no_answer(lines: list[str], question: str) -> None:
    if answers := [line for line in lines if line.split()[:1] == ["bestmove"]]:
        raise Broken(f"answered {question}: {answers[0][:60]}")


# --- play ---------------------------------------------------------------------------------------


def _answers_any_bounds(engine: Engine) -> None:
    for limit in BOUNDS:
        if _seconds(_decide(engine, Position("44"), limit)) >= engine.move_seconds:
            raise Broken(
                f"did not answer {c4i.Go(limit).write()!r} within {engine.move_seconds:g} s "
                "without stop"
            )


def _keeps_time_limit(engine: Engine) -> str:
    seconds = [_seconds(_decide(engine, Position("4" * ply), QUICK)) for ply in range(4)]
    return f"takes up to {max(seconds):.2f} s of {MOVE_SECONDS:g} s"


def _stops(engine: Engine) -> str:
    stop = Stop()
    timer = threading.Timer(STOP_SECONDS, stop.set)
    timer.start()
    try:
        _decide(engine, Position(), Limit(stop=stop))
        return "" if stop.is_set() else "does not wait for it, which is allowed"
    finally:
        timer.cancel()


def _knows_open_columns(rules: Rules, engine: Engine) -> str | None:
    position = nearly_full(rules)
    if position is None:
        return "not tested, since games on this board hardly ever fill it"
    _decide(engine, position, QUICK)
    _decide(engine, Position(position.write("fen")), QUICK)
    # And as both: the FEN of the position one move earlier, then that move.
    # The trailing comma tells column 12 from columns 1 and 2.
    *columns, last = position.moves or ()
    moves = ",".join(str(column + 1) for column in columns) + ","
    before = Position(Position(moves, rules).write("fen"))
    question = f"{c4i.write_position(before)} moves {last + 1}"
    _expect_last_column(engine, c4i.write_newgame(rules, 1), question, rules)
    return None


def _expect_last_column(engine: Engine, newgame: str, question: str, rules: Rules) -> None:
    """Set up a position in which only the last column is open; it must be played."""
    with engine.talk() as program:
        program.send(newgame)
        _lines_before_pong(engine, program)
        program.send(question, c4i.Go(QUICK, multipv=2).write())
        answer = _answer(program, time.monotonic() + MOVE_SECONDS + engine.start_seconds)
        if answer != str(rules.columns):
            raise Broken(
                f"answered {answer[:20]!r} where only column {rules.columns} is open "
                f"({newgame}, {question})"
            )


def _starts_games(other: Rules | None, engine: Engine) -> None:
    """`newgame` without a board means the usual one, whatever was played before."""
    position = nearly_full(CLASSIC)
    assert position is not None
    for newgame in ("newgame", "newgame seed 17"):
        if other is not None:
            _decide(engine, Position(board=other), QUICK)
        _expect_last_column(engine, newgame, c4i.write_position(position), CLASSIC)


def _reads_board_size(other: Rules | None, engine: Engine) -> str | None:
    if other is None:
        return "not tested, since only the usual board is checked"
    position = nearly_full(other)
    assert position is not None
    _expect_last_column(engine, "newgame", f"position fen {position.write('fen')}", other)
    return None


def _writes_info(engine: Engine) -> str:
    lines = 0
    with engine.talk() as program:
        program.send("newgame", "position startpos moves 4 4", "go movetime 100 multipv 2")
        deadline = time.monotonic() + engine.start_seconds
        while True:
            match c4i.words_of(program.read_line(deadline) or "bestmove"):
                case ["bestmove", *_]:
                    break
                case ["info", *words]:
                    lines += 1
                    if fault := c4i.fault_of_info(words, CLASSIC.columns):
                        raise Broken(f"{fault}: {' '.join(['info', *words])[:60]}")
    return f"{lines} lines" if lines else "writes none, which is allowed"


def _answer(program: Program, deadline: float) -> str:
    """Return the word after the next `bestmove`."""
    while time.monotonic() < deadline:
        match c4i.words_of(program.read_line(deadline) or ""):
            case ["bestmove", word, *_]:
                return word
            case ["bestmove"]:
                return ""
    raise Broken("did not answer")


def _plays(rules: Rules, engine: Engine) -> None:
    """Play one game as red and one as yellow, against random columns."""
    # Two generators: the number of draws for the engine must not change the opponent's moves.
    for side in (0, 1):
        engine_rng = np.random.default_rng(side)
        opponent_rng = np.random.default_rng(10 + side)
        position = Position(board=rules)
        while position.outcome() is None:
            if position.to_move == side:
                column = _decide(engine, position, QUICK, engine_rng).column
            else:
                column = int(opponent_rng.choice(position.legal_columns()))
            position = position.play(column)


def _is_reproducible(engine: Engine) -> str:
    """Play two games with the same seed, limited by everything but the clock."""
    limit = Limit(simulations=10, nodes=100, depth=2)
    final_positions = []
    # The engine's seed is drawn from the generator, so equal generators give equal seeds.
    for _ in range(2):
        rng = np.random.default_rng(5)
        position = Position()
        while position.outcome() is None:
            decision = _decide(engine, position, limit, rng)
            if _seconds(decision) > SLOW_SECONDS:
                return "not tested, since it thinks long without a time limit"
            position = position.play(decision.column)
        final_positions.append(position)
    first, second = final_positions
    return "" if first == second else "is not, so its games cannot be repeated; that is allowed"


def _decide(
    engine: Engine, position: Position, limit: Limit, rng: np.random.Generator | None = None
) -> Decision:
    """Return the engine's decision; a fault is Broken, with the position in its message."""
    try:
        return engine.decide(position, limit, rng or np.random.default_rng(1))
    except Forfeit as fault:
        raise Broken(f"{fault} ({c4i.write_position(position)})") from None


def nearly_full(rules: Rules) -> Position | None:
    """Return a position in which only the last column is open.

    It comes from random games in which neither side wins; None if none of them gets that far.
    """
    rng = np.random.default_rng(1)
    last = rules.columns - 1
    for _ in range(TRIES):
        position = Position(board=rules)
        while quiet := [
            column
            for column in position.legal_columns()
            if column != last and position.play(column).outcome() is None
        ]:
            position = position.play(int(rng.choice(quiet)))
        if position.legal_columns() == (last,) and position.moves:
            return position
    return None


def _seconds(decision: Decision) -> float:
    """Return the time a decision took, which is always measured for engines."""
    assert decision.analysis.seconds is not None
    return decision.analysis.seconds
