"""Serve agents as engines: the answering side of the protocol C4I.

docs/reference/engine-protocol.md documents it.

A thread reads the input, so that `stop` and `quit` take effect while an agent is thinking. All
other commands are executed in the order in which they came, so every `go` gets exactly one
`bestmove`, and a late one cannot be taken for the next.
"""

import os
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace

import numpy as np

from fourlab.agent import Agent, Limit, Stop, close, is_unbounded
from fourlab.agents.perfect import Perfect
from fourlab.agents.programs import programs_in
from fourlab.agents.registry import current_names, make, options_of, parse_spec
from fourlab.analysis.opinion import ColumnOpinion, Opinion, ask, solve
from fourlab.arena.tournament import WARM_UP_LIMIT
from fourlab.engines import protocol as c4i
from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.rules import CLASSIC, Rules
from fourlab.options import Option
from fourlab.version import __version__

Read = Callable[[], bytes]
"""Waits for input and returns some bytes of it; no bytes mean its end."""
Say = Callable[[str], None]
"""Writes lines and flushes them."""

LINE_BYTES = 4096
"""Longer lines are ignored."""
MOST_WAITING = 1000
"""Number of lines that may wait while an agent is thinking."""
SECONDS_TO_GO = 0.2
"""How long a search may take to obey its stop flag before the process exits without it."""
SECONDS_TO_ANSWER = 10.0
"""How long pending questions may take after the end of the input; after `quit` they get no time."""
SECONDS_BETWEEN_INFO = 0.1
POLL_SECONDS = 0.01


def serve(
    spec: str,
    read: Read,
    say: Say,
    rules: Rules = CLASSIC,
    seconds: float | None = None,
    seed: int = 0,
) -> None:
    """Answer commands until `quit` or the end of the input.

    The board, the seconds per move and the seed are defaults that commands can override.
    """
    # Two threads write: this one answers, that of the inbox says `readyok` meanwhile.
    lock = threading.Lock()

    def locked_say(text: str) -> None:
        with lock:
            say(text)

    server = _Server(spec, locked_say, rules, seconds, seed)
    inbox = _Inbox(read, locked_say)
    try:
        for words, stop in inbox:
            match words:
                case ["c4i", *_]:
                    server.greet()
                case ["isready", *_]:
                    server.get_ready()
                    locked_say("readyok")
                case ["ping", number, *_]:
                    locked_say(f"pong {number}")
                case ["setoption", *rest]:
                    server.set_option(rest)
                case ["newgame", *rest]:
                    server.begin(rest)
                case ["position", *rest]:
                    server.set_up(rest)
                case ["go", *rest]:
                    server.answer(c4i.Go.read(rest), stop, inbox)
    finally:
        inbox.left.set()
        server.close()


def read_lines(read: Read) -> Iterator[str]:
    """Yield the lines of the input, except those that are too long."""
    rest = b""  # the beginning of a line whose end has not arrived yet
    too_long = False
    while chunk := read():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if not too_long and len(line) <= LINE_BYTES:
                yield line.decode(errors="replace")
            too_long = False
        # Drop the beginning of an overlong line at once, so that it cannot fill the memory.
        if len(rest) > LINE_BYTES:
            rest = b""
            too_long = True
    if rest and not too_long:
        yield rest.decode(errors="replace")


class _Inbox:
    """Iterates over the received commands, each with the stop flag for thinking about it."""

    def __init__(self, read: Read, say: Say) -> None:
        self._read = read
        self._say = say
        self._waiting: queue.SimpleQueue[tuple[list[str], Stop] | None] = queue.SimpleQueue()
        self._pending: dict[Stop, bool] = {}
        """Unanswered questions by stop flag, and whether they are infinite."""
        self._fault: UserError | None = None
        self.closed = False
        """Whether answers are no longer wanted."""
        self.left = threading.Event()
        """Set once the consumer has stopped iterating."""
        threading.Thread(target=self._listen, daemon=True).start()

    def __iter__(self) -> Iterator[tuple[list[str], Stop]]:
        while (command := self._waiting.get()) is not None and not self.closed:
            yield command
        if self._fault is not None:
            raise self._fault

    def answered(self, stop: Stop) -> None:
        """Mark the `go` command whose stop flag this is as answered."""
        del self._pending[stop]

    def _listen(self) -> None:
        """Receive commands until the end, then stop all thinking."""
        wanted = False
        with suppress(OSError):  # our output is closed
            wanted = self._receive()
        # The end of the commands, behind those that are still queued.
        self._waiting.put(None)
        if wanted:  # the input was a file or pipe whose sender waits for the answers
            self._stop_all(only_infinite=True)
            self.left.wait(SECONDS_TO_ANSWER)
        self.closed = True
        self._stop_all()
        # Compiled code that ignores the stop flag cannot be interrupted. Exit code 0: the other
        # side has what it asked for.
        if not self.left.wait(SECONDS_TO_GO):
            os._exit(0)

    def _receive(self) -> bool:
        """Execute `stop` and `quit` immediately and queue other commands, until the end.

        Returns whether answers to queued questions are still wanted.
        """
        for line in read_lines(self._read):
            match c4i.words_of(line):
                case ["quit", *_]:
                    return False
                case ["stop", *_]:
                    self._stop_all()
                case ["isready", *_] if self._pending:
                    self._say("readyok")  # while thinking this asks whether we are alive
                case words:
                    if self._waiting.qsize() >= MOST_WAITING:
                        self._fault = UserError(
                            f"more than {MOST_WAITING} lines came while there was no answer yet"
                        )
                        return False
                    # Register a question before it is queued: a `stop` that follows must find it.
                    stop = Stop()
                    if words[:1] == ["go"]:
                        self._pending[stop] = c4i.Go.read(words[1:]).infinite
                    self._waiting.put((words, stop))
        return True

    def _stop_all(self, only_infinite: bool = False) -> None:
        """Stop thinking about all pending questions, or only about the infinite ones."""
        # A copy, since the other thread removes answered questions meanwhile.
        for stop, infinite in list(self._pending.items()):
            if infinite or not only_infinite:
                stop.set()


class _Server:
    """Executes commands: holds the agent and the position to think about."""

    def __init__(self, spec: str, say: Say, rules: Rules, seconds: float | None, seed: int) -> None:
        self._spec = spec
        self._name, options = parse_spec(spec)
        self._options = current_names(self._name, options)
        self._agent = agent_of(spec)
        self._is_ready = False
        self._say = say
        self._seconds = seconds
        # Both are None after a command that could not be read.
        self._rules: Rules | None = rules
        self._position: Position | None = Position(board=rules)
        self._rng = np.random.default_rng(seed)

    def close(self) -> None:
        """Release what the agent holds."""
        close(self._agent)

    def greet(self) -> None:
        """Write the engine's name and options."""
        ids = [f"id name Fourlab {__version__} {self._spec}", "id author Fourlab"]
        options = [
            c4i.write_option(option.name, self._options.get(option.name, _default(option)))
            for option in options_of(self._name)
        ]
        self._say("\n".join([*ids, *options, "c4iok"]))

    def get_ready(self) -> None:
        """Load and compile what the first question would otherwise wait for."""
        if self._is_ready:
            return
        self._is_ready = True
        # A separate agent, since one that keeps its tree would remember the position.
        agent = make(self._spec)
        with suppress(UserError):  # some agents do not play on the usual board
            agent.decide(Position(), WARM_UP_LIMIT, np.random.default_rng(0))
        close(agent)

    def set_option(self, words: list[str]) -> None:
        """Replace the agent by one with a changed option; an invalid option changes nothing."""
        try:
            name, value = c4i.read_setoption(words)
            options = {**self._options, **current_names(self._name, {name: value})}
            # Quoted, since a value may contain commas.
            spec = f"{self._name}:" + ",".join(
                f'{name}="{value}"' for name, value in options.items()
            )
            # The program that may run is the one on our command line.
            if set(programs_in(spec)) - set(programs_in(self._spec)):
                raise UserError(f"option {name} names a program; only the command line may do that")
            agent = agent_of(spec)
        except UserError as error:
            self._say_error(error)
            return
        self.close()
        self._agent = agent
        self._spec = spec
        self._options = options
        self._is_ready = False

    def begin(self, words: list[str]) -> None:
        """Start a game on its board, with its seed."""
        # If this command cannot be read, the previous game must not continue either.
        self._rules = None
        self._position = None
        try:
            self._rules, seed = c4i.read_newgame(words)
        except UserError as error:
            self._say_error(error)
            return
        self._position = Position(board=self._rules)
        self.close()
        self._agent = agent_of(self._spec)  # a fresh agent remembers nothing of the last game
        if seed is not None:
            self._rng = np.random.default_rng(seed)

    def set_up(self, words: list[str]) -> None:
        """Set up a position."""
        self._position = None
        try:
            if self._rules is not None:
                self._position = c4i.read_position(words, self._rules)
        except UserError as error:
            self._say_error(error)

    def answer(self, go: c4i.Go, stop: Stop, inbox: _Inbox) -> None:
        """Think and write the best column, unless answers are no longer wanted."""
        position = self._position
        if position is None:
            lines = ["info string there is no position to think about", "bestmove none"]
        elif (outcome := position.outcome()) is not None:
            lines = [f"info string the game is over ({outcome})", "bestmove none"]
        else:
            opinion = self._think(position, go, stop)
            best = ranked(opinion)[0].column
            lines = [*info_lines(opinion, go.multipv), f"bestmove {best + 1}"]
        # An infinite search must not be answered before `stop`, even if it has nothing left to do.
        while go.infinite and not stop.is_set():
            time.sleep(POLL_SECONDS)
        # Before the answer is written: the next question may come at once.
        inbox.answered(stop)
        if not inbox.closed:
            self._say("\n".join(lines))

    def _think(self, position: Position, go: c4i.Go, stop: Stop) -> Opinion:
        """Return the agent's opinion; write interim ones as `info` lines on the way."""
        next_info = time.monotonic() + SECONDS_BETWEEN_INFO

        def on_opinion(opinion: Opinion) -> None:
            nonlocal next_info
            if time.monotonic() >= next_info and not stop.is_set():
                next_info = time.monotonic() + SECONDS_BETWEEN_INFO
                self._say("\n".join(info_lines(opinion, go.multipv)))

        limit = self._limit(go, stop)
        if go.multipv > 1 and _is_plain_perfect(self._agent) and limit.nodes is None:
            return solve(position, limit, on_opinion)
        return ask(self._agent, position, limit, self._rng, on_opinion)

    def _limit(self, go: c4i.Go, stop: Stop) -> Limit:
        """Return the limit of a question: its own, or the server's default seconds."""
        limit = go.limit
        if not go.infinite and limit == Limit():
            limit = Limit(seconds=self._seconds)
        bounds = (limit.seconds, limit.simulations, limit.nodes)
        is_bounded = go.infinite or any(bound is not None for bound in bounds)
        if not is_bounded and is_unbounded(self._agent):
            # Such an agent uses its default budget, but with a stop flag it would think until
            # the flag is set.
            return limit
        return replace(limit, stop=stop)

    def _say_error(self, error: UserError) -> None:
        self._say(f"info string {' '.join(str(error).split())}")


def agent_of(spec: str) -> Agent:
    """Make an agent that can be served to another program."""
    if parse_spec(spec)[0] == "human":
        raise UserError("agent 'human' cannot be served: the input belongs to the other program")
    return make(spec)


def _default(option: Option) -> str:
    """Return an option's default as it is written in a spec: none, true and false in lower case."""
    text = str(option.default)
    return text.lower() if option.default is None or isinstance(option.default, bool) else text


def _is_plain_perfect(agent: Agent) -> bool:
    """Return whether an agent plays exactly as the solver does.

    Then `solve` can answer in its place, which also evaluates the columns that are not best.
    """
    if not isinstance(agent, Perfect):
        return False
    return agent.ties == "centre" and agent.mistakes == 0 and agent.book


# --- opinions as info lines --------------------------------------------------------------------


def info_lines(opinion: Opinion, multipv: int) -> list[str]:
    """Return one `info` line for each of the best columns, at most `multipv`.

    Columns after the first are left out if nothing is known about them.
    """
    best, *rest = ranked(opinion)
    evaluated = [column for column in rest if column.value is not None or column.proven is not None]
    is_chosen = best.column == opinion.best
    infos = [
        c4i.Info(
            1 if multipv > 1 else None,
            depth=opinion.depth,
            nodes=opinion.nodes,
            simulations=opinion.simulations,
            value=opinion.value if is_chosen else best.value,
            proven=opinion.proven if is_chosen else best.proven,
            line=opinion.line if opinion.line[:1] == (best.column,) else (best.column,),
        )
    ]
    for number, column in enumerate(evaluated[: multipv - 1], start=2):
        infos.append(
            c4i.Info(number, value=column.value, proven=column.proven, line=(column.column,))
        )
    return [info.write() for info in infos]


def ranked(opinion: Opinion) -> list[ColumnOpinion]:
    """Return the open columns, best first.

    The chosen column comes first, then proven wins, then unproven columns and draws by visits, then
    proven losses. Among equals, short wins and long losses are better.
    """
    first = opinion.promising if opinion.best is None else opinion.best

    def rank(column: ColumnOpinion) -> tuple[bool, int, int, float, int]:
        # An unproven column ranks as a draw does: between proven wins and proven losses.
        result = 0
        plies = 0
        if column.proven is not None:
            result = column.proven.result
            plies = column.proven.plies or 0
        return (
            column.column == first,
            result,
            column.visits or 0,
            column.value or 0.0,
            -result * plies,
        )

    return sorted((column for column in opinion.columns if column.open), key=rank, reverse=True)
