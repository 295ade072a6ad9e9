"""Whether a program keeps the rules of the engine protocol, one by one; docs/engine-protocol.md tells them."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial

import numpy as np

from fourlab.agent import Decision, Forfeit, Limit, Stop
from fourlab.engines import protocol as c4i
from fourlab.engines.program import Engine, Program
from fourlab.game.position import Position
from fourlab.game.rules import CLASSIC, Rules

BOARDS = (CLASSIC, Rules(5, 4, 4), Rules(12, 4, 5))
"""The usual one, a small one, and one whose columns have two digits."""
MOVE_SECONDS = 0.05
STOP_SECONDS = 0.3
"""How long an engine that may think without end is left to it."""
LEAVE_SECONDS = 2.0
"""How long an engine may take to end."""
SLOW_SECONDS = 1.0
"""An engine that thinks longer than this about ten simulations is not asked to play a whole game by them."""
TRIES = 300
QUICK = Limit(seconds=MOVE_SECONDS)
BOUNDS = (Limit(), Limit(depth=1), Limit(nodes=100), Limit(simulations=10), Limit(seconds=1, simulations=10, nodes=100, depth=2))


class Broken(Exception):
    """A rule is not kept; the message says how."""


@dataclass(frozen=True)
class Finding:
    """What became of one rule."""

    rule: str
    """What an engine does that keeps it."""
    kept: bool
    detail: str = ""
    """How it was broken, or a remark."""


Test = Callable[[Engine], str]
"""Returns a remark, or raises Broken or Forfeit."""


def check(engine: Engine, boards: Sequence[Rules] = BOARDS) -> Iterator[Finding]:
    """Examine an engine rule by rule; one that does not greet is not examined further."""
    with closing(engine):
        for rule, test in _tests(boards):
            try:
                yield Finding(rule, True, test(engine))
            except (Broken, Forfeit) as broken:
                yield Finding(rule, False, str(broken))
                if test is _greets:
                    return


def _tests(boards: Sequence[Rules]) -> Iterator[tuple[str, Test]]:
    yield "greets and gets ready", _greets
    yield "takes the options it offers", _takes_options
    yield "passes over lines it does not know", _passes_over
    yield "answers every ping, in order", _answers_pings
    yield "says nothing to stop when it does not think", _is_quiet_when_idle
    yield "gives one answer to one question", _answers_once
    yield "answers whatever the bounds are", _answers_any_bounds
    yield "keeps to its time", _keeps_its_time
    yield "answers when it is told to stop", _stops
    for rules in boards:
        yield f"knows on {rules} which columns are open, by moves, by fen and by both", partial(_knows_open_columns, rules)
        yield f"plays whole games on {rules}", partial(_plays, rules)
    other = next((rules for rules in boards if rules != CLASSIC and nearly_full(rules) is not None), None)
    yield "begins games without a board and with a seed alone", partial(_begins_games, other)
    yield "reads the size of the board from a fen", partial(_reads_sizes, other)
    yield "tells what it thinks in the protocol's words", _tells
    yield "takes its chance from the seed", _repeats_itself
    yield "ends at quit", _quits
    yield "ends when its input ends", _ends_with_its_input


# --- talking ----------------------------------------------------------------------------------------------------------


def _greets(engine: Engine) -> str:
    with engine.talk() as program:
        said = [c4i.words_of(line) for line in program.greeting]
    known = {words[1]: " ".join(words[2:]) for words in said if words[:1] == ["id"] and len(words) > 2}
    if missing := {"name", "author"} - known.keys():
        raise Broken(f"tells no id {' and no id '.join(sorted(missing, reverse=True))}")
    return known["name"]


def _takes_options(engine: Engine) -> str:
    with engine.talk() as program:
        offered = [words for line in program.greeting if (words := c4i.words_of(line))[:2] == ["option", "name"]]
        for words in offered:
            if "default" in words and "type" in words:
                name, value = words[2 : words.index("type")], words[words.index("default") + 1 :]
                program.say(c4i.write_setoption(" ".join(name), " ".join(value)))
        _until_pong(engine, program)
    _decide(engine, Position(), QUICK)
    return f"offers {len(offered)}"


def _passes_over(engine: Engine) -> str:
    with engine.talk() as program:
        program.say("", "hello there", "x" * 1000, "goodbye", "nonsense", "positions 4", "quitter", "stopped")
        _expect_no_answer(_until_pong(engine, program), "lines that no protocol knows")
    return ""


def _answers_pings(engine: Engine) -> str:
    with engine.talk() as program:
        first = f"pong {next(program.pings)}"
        program.say(first.replace("pong", "ping"))
        if first not in [" ".join(line.split()) for line in _until_pong(engine, program)]:
            raise Broken(f"left out {first}")
    return ""


def _is_quiet_when_idle(engine: Engine) -> str:
    with engine.talk() as program:
        program.say("stop")
        _expect_no_answer(_until_pong(engine, program), "stop")
    return ""


def _answers_once(engine: Engine) -> str:
    for _ in range(2):
        _decide(engine, Position(), QUICK)
        with engine.talk() as program:
            said = _until_pong(engine, program)
            time.sleep(MOVE_SECONDS)  # having said pong, it has nothing left to say
            said += _until_pong(engine, program)
        _expect_no_answer(said, "one question a second time")
        if after := [line for line in said if line.split()[:1] == ["info"]]:
            raise Broken(f"went on to think aloud after its answer: {after[0][:60]}")
    return ""


def _quits(engine: Engine) -> str:
    with engine.talk() as program:
        program.say("quit")
        return _leaves(program, "quit")


def _ends_with_its_input(engine: Engine) -> str:
    engine.close()
    with engine.talk() as program:
        program.hang_up()
        return _leaves(program, "the end of its input")


def _leaves(program: Program, why: str) -> str:
    if not program.ends_within(LEAVE_SECONDS):
        raise Broken(f"still ran {LEAVE_SECONDS:g} s after {why}")
    return ""


def _until_pong(engine: Engine, program: Program) -> list[str]:
    """Ping, and return what is said before the pong."""
    program.begin_question()
    number = next(program.pings)
    program.say(f"ping {number}")
    if (said := program.hear(f"pong {number}", time.monotonic() + engine.start_seconds)) is None:
        raise Broken(f"did not answer ping {number} with pong {number} within {engine.start_seconds:g} s")
    return said


def _expect_no_answer(said: list[str], asked: str) -> None:
    if answers := [line for line in said if line.split()[:1] == ["bestmove"]]:
        raise Broken(f"answered {asked}: {answers[0][:60]}")


# --- playing ----------------------------------------------------------------------------------------------------------


def _answers_any_bounds(engine: Engine) -> str:
    for limit in BOUNDS:
        if _seconds(_decide(engine, Position("44"), limit)) >= engine.move_seconds:
            raise Broken(f"did not answer {c4i.Go(limit).write()!r} within {engine.move_seconds:g} s before it was told to stop")
    return ""


def _keeps_its_time(engine: Engine) -> str:
    spent = [_seconds(_decide(engine, Position("4" * ply), QUICK)) for ply in range(4)]
    return f"thinks {max(spent):.2f} s where it has {MOVE_SECONDS:g} s"


def _stops(engine: Engine) -> str:
    stop = Stop()
    timer = threading.Timer(STOP_SECONDS, stop.set)
    timer.start()
    try:
        _decide(engine, Position(), Limit(stop=stop))
        return "" if stop.is_set() else "does not wait for it, which is allowed"
    finally:
        timer.cancel()


def _knows_open_columns(rules: Rules, engine: Engine) -> str:
    if (position := nearly_full(rules)) is None:
        return "not examined, since games on this board hardly ever fill it"
    _decide(engine, position, QUICK)
    _decide(engine, Position(position.write("fen")), QUICK)
    *before, last = position.moves or ()
    start = Position(Position(",".join(str(column + 1) for column in before) + ",", rules).write("fen"))
    _expect_last_column(engine, c4i.write_newgame(rules, 1), f"{c4i.write_position(start)} moves {last + 1}", rules)
    return ""


def _expect_last_column(engine: Engine, newgame: str, asked: str, rules: Rules) -> None:
    """Set up a position in which only the last column is open, and see whether it is played."""
    with engine.talk() as program:
        program.say(newgame)
        _until_pong(engine, program)
        program.say(asked, c4i.Go(QUICK, multipv=2).write())
        answer = _answer(program, time.monotonic() + MOVE_SECONDS + engine.start_seconds)
        if answer != str(rules.columns):
            raise Broken(f"answered {answer[:20]!r} where only column {rules.columns} is open ({newgame}, {asked})")


def _begins_games(other: Rules | None, engine: Engine) -> str:
    """The usual board is meant, whatever was played before."""
    position = nearly_full(CLASSIC)
    assert position is not None
    for newgame in ("newgame", "newgame seed 17"):
        if other is not None:
            _decide(engine, Position(board=other), QUICK)
        _expect_last_column(engine, newgame, c4i.write_position(position), CLASSIC)
    return ""


def _reads_sizes(other: Rules | None, engine: Engine) -> str:
    if other is None:
        return "not examined, since it is to know the usual board only"
    position = nearly_full(other)
    assert position is not None
    _expect_last_column(engine, "newgame", f"position fen {position.write('fen')}", other)
    return ""


def _tells(engine: Engine) -> str:
    with engine.talk() as program:
        program.say("newgame", "position startpos moves 4 4", "go movetime 100 multipv 2")
        until, told = time.monotonic() + engine.start_seconds, 0
        while (words := c4i.words_of(program.listen(until) or "bestmove"))[:1] != ["bestmove"]:
            if words[:1] == ["info"]:
                told += 1
                if wrong := c4i.fault_of_info(words[1:], CLASSIC.columns):
                    raise Broken(f"{wrong}: {' '.join(words)[:60]}")
    return f"{told} lines" if told else "tells nothing, which is allowed"


def _answer(program: Program, until: float) -> str:
    """The word behind the next `bestmove`."""
    while time.monotonic() < until:
        match c4i.words_of(program.listen(until) or ""):
            case ["bestmove", word, *_]:
                return word
            case ["bestmove"]:
                return ""
    raise Broken("did not answer")


def _plays(rules: Rules, engine: Engine) -> str:
    """One game as red and one as yellow, against any columns."""
    for side in (0, 1):
        rng, lot = np.random.default_rng(side), np.random.default_rng(10 + side)
        position = Position(board=rules)
        while position.outcome() is None:
            if position.to_move == side:
                column = _decide(engine, position, QUICK, rng).column
            else:
                column = int(lot.choice(position.legal_columns()))
            position = position.play(column)
    return ""


def _repeats_itself(engine: Engine) -> str:
    limit = Limit(simulations=10, nodes=100, depth=2)
    twice = []
    for _ in range(2):
        rng, position = np.random.default_rng(5), Position()
        while position.outcome() is None:
            decision = _decide(engine, position, limit, rng)
            if _seconds(decision) > SLOW_SECONDS:
                return "not examined, since it thinks long where no clock runs"
            position = position.play(decision.column)
        twice.append(position)
    return "" if twice[0] == twice[1] else "does not, so its games cannot be repeated; that is allowed"


def _decide(engine: Engine, position: Position, limit: Limit, rng: np.random.Generator | None = None) -> Decision:
    try:
        return engine.decide(position, limit, rng or np.random.default_rng(1))
    except Forfeit as fault:
        raise Broken(f"{fault} ({c4i.write_position(position)})") from None


def nearly_full(rules: Rules) -> Position | None:
    """A position in which only the last column is open, found by playing any columns that end nothing; None if none was."""
    rng, last = np.random.default_rng(1), rules.columns - 1
    for _ in range(TRIES):
        position = Position(board=rules)
        while quiet := [each for each in position.legal_columns() if each != last and position.play(each).outcome() is None]:
            position = position.play(int(rng.choice(quiet)))
        if position.legal_columns() == (last,) and position.moves:
            return position
    return None


def _seconds(decision: Decision) -> float:
    """Return how long an engine took; for engines this is always measured."""
    assert decision.analysis.seconds is not None
    return decision.analysis.seconds
