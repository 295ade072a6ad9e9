"""Our agents as engines: the answering side of the protocol C4I, told in docs/engine-protocol.md.

A thread reads, so that `stop` and `quit` are heard while an agent thinks; everything else is done in the order in which it came.
So each `go` gets one `bestmove`, and a late one cannot be taken for the next.
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
from fourlab.agents.registry import make, options_of, parse_spec
from fourlab.analysis.opinion import ColumnOpinion, Opinion, ask, solve
from fourlab.engines import protocol as c4i
from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.rules import CLASSIC, Rules
from fourlab.options import Option
from fourlab.version import __version__

Read = Callable[[], bytes]
"""Waits for some bytes of the input; none means its end."""
Say = Callable[[str], None]
"""Writes lines, at once."""

LINE_BYTES = 4096
"""A longer line is no question; it is passed over."""
MOST_WAITING = 1000
"""So many lines may wait while an agent thinks."""
SECONDS_TO_GO = 0.2
"""How long a search that is to end has, before the process leaves without it."""
SECONDS_TO_ANSWER = 10.0
"""How long questions that were asked before the end of the input have; `quit` gives them none."""
SECONDS_BETWEEN_INFO = 0.1
PAUSE = 0.01
ONE_LOOK = Limit(seconds=0.01, simulations=1, nodes=1, depth=1)


def serve(spec: str, read: Read, say: Say, rules: Rules = CLASSIC, seconds: float | None = None, seed: int = 0) -> None:
    """Answer until `quit` or the end of the input; the board, the time and the seed hold where nobody says another."""
    say = _in_turn(say)
    served = _Served(spec, say, rules, seconds, seed)
    inbox = _Inbox(read, say)
    try:
        for words, stop in inbox:
            match words:
                case ["c4i", *_]:
                    served.greet()
                case ["isready", *_]:
                    served.get_ready()
                    say("readyok")
                case ["ping", number, *_]:
                    say(f"pong {number}")
                case ["setoption", *rest]:
                    served.set_option(rest)
                case ["newgame", *rest]:
                    served.begin(rest)
                case ["position", *rest]:
                    served.set_up(rest)
                case ["go", *rest]:
                    served.answer(c4i.Go.read(rest), stop, inbox)
    finally:
        inbox.left.set()
        served.close()


def _in_turn(say: Say) -> Say:
    """Two threads speak, one after the other."""
    lock = threading.Lock()

    def wait_and_say(text: str) -> None:
        with lock:
            say(text)

    return wait_and_say


def read_lines(read: Read) -> Iterator[str]:
    """Cut the input into lines, of which those that are too long are left out."""
    rest, too_long = b"", False
    while chunk := read():
        *lines, rest = (rest + chunk).split(b"\n")
        for line in lines:
            if not too_long and len(line) <= LINE_BYTES:
                yield line.decode(errors="replace")
            too_long = False
        if len(rest) > LINE_BYTES:
            rest, too_long = b"", True
    if rest and not too_long:
        yield rest.decode(errors="replace")


class _Inbox:
    """The lines that came in, in order, each with the flag that ends the thinking about it."""

    def __init__(self, read: Read, say: Say) -> None:
        self._read, self._say = read, say
        self._waiting: queue.SimpleQueue[tuple[list[str], Stop] | None] = queue.SimpleQueue()
        self._asked: dict[Stop, bool] = {}  # the questions that are not answered yet, and whether they are endless
        self._fault: UserError | None = None
        self.closed = False
        """Whether nobody wants an answer any more."""
        self.left = threading.Event()
        """Set by whoever has stopped looking into the box."""
        threading.Thread(target=self._listen, daemon=True).start()

    def __iter__(self) -> Iterator[tuple[list[str], Stop]]:
        while (each := self._waiting.get()) is not None and not self.closed:
            yield each
        if self._fault is not None:
            raise self._fault

    def answered(self, stop: Stop) -> None:
        """The question with this flag is done with."""
        del self._asked[stop]

    def _listen(self) -> None:
        wanted = False
        with suppress(OSError):  # nobody reads what we say
            wanted = self._sort()
        self._waiting.put(None)
        if wanted:  # lines out of a file: who sent them waits for the answers
            self._stop_all(endless=True)
            self.left.wait(SECONDS_TO_ANSWER)
        self.closed = True
        self._stop_all()
        if not self.left.wait(SECONDS_TO_GO):  # an agent that does not heed the flag
            os._exit(0)

    def _sort(self) -> bool:
        """Do at once what cannot wait, and put the rest into the box, until the end; returns whether answers are still wanted."""
        for line in read_lines(self._read):
            match c4i.words_of(line):
                case ["quit", *_]:
                    return False
                case ["stop", *_]:
                    self._stop_all()
                case ["isready", *_] if self._asked:
                    self._say("readyok")  # whoever asks this wants to know at once whether we are alive
                case words:
                    if self._waiting.qsize() >= MOST_WAITING:
                        self._fault = UserError(f"more than {MOST_WAITING} lines came while there was no answer yet")
                        return False
                    stop = Stop()
                    if words[:1] == ["go"]:
                        self._asked[stop] = c4i.Go.read(words[1:]).infinite
                    self._waiting.put((words, stop))
        return True

    def _stop_all(self, endless: bool = False) -> None:
        """End the thinking about all questions, or about those only that have no end of their own."""
        for stop, infinite in list(self._asked.items()):
            if infinite or not endless:
                stop.set()


class _Served:
    """An agent, and the position it is to think about."""

    def __init__(self, spec: str, say: Say, rules: Rules, seconds: float | None, seed: int) -> None:
        self._spec, (self._name, self._options) = spec, parse_spec(spec)
        self._agent, self._ready = agent_of(spec), False
        self._say, self._seconds = say, seconds
        self._rules: Rules | None = rules
        self._position: Position | None = Position(board=rules)
        self._rng = np.random.default_rng(seed)

    def close(self) -> None:
        """Nobody asks any more."""
        close(self._agent)

    def greet(self) -> None:
        """Say who we are and what can be set."""
        who = [f"id name Fourlab {__version__} {self._spec}", "id author Fourlab"]
        options = [
            c4i.write_option(option.name, self._options.get(option.name, _default(option))) for option in options_of(self._name)
        ]
        self._say("\n".join([*who, *options, "c4iok"]))

    def get_ready(self) -> None:
        """Load and compile what the first question would wait for; by an agent of its own, since some remember."""
        if self._ready:
            return
        self._ready, agent = True, make(self._spec)
        with suppress(UserError):  # not every agent knows the usual board
            agent.decide(Position(), ONE_LOOK, np.random.default_rng(0))
        close(agent)

    def set_option(self, words: list[str]) -> None:
        """Make the agent anew with an option changed; one that cannot be used changes nothing."""
        try:
            name, value = c4i.read_setoption(words)
            options = {**self._options, name: value}
            spec = f"{self._name}:" + ",".join(f'{name}="{value}"' for name, value in options.items())
            agent = agent_of(spec)
        except UserError as error:
            self._tell(error)
            return
        self.close()
        self._agent, self._spec, self._options, self._ready = agent, spec, options, False

    def begin(self, words: list[str]) -> None:
        """Begin a game: its board, and where its chance comes from."""
        self._rules, self._position = None, None  # what cannot be read is no game, and not the last one either
        try:
            self._rules, seed = c4i.read_newgame(words)
        except UserError as error:
            self._tell(error)
            return
        self._position = Position(board=self._rules)
        self.close()
        self._agent = agent_of(self._spec)  # one that remembers is to forget the last game
        if seed is not None:
            self._rng = np.random.default_rng(seed)

    def set_up(self, words: list[str]) -> None:
        """Set up a position."""
        self._position = None
        try:
            if self._rules is not None:
                self._position = c4i.read_position(words, self._rules)
        except UserError as error:
            self._tell(error)

    def answer(self, go: c4i.Go, stop: Stop, inbox: _Inbox) -> None:
        """Think, and say which column; nothing if there is nobody to hear it any more."""
        position = self._position
        if position is None or position.outcome() is not None:
            why = "there is no position to think about" if position is None else f"the game is over ({position.outcome()})"
            lines = [f"info string {why}", "bestmove none"]
        else:
            opinion = self._think(position, go, stop)
            best = ranked(opinion)[0].column
            lines = [*info_lines(opinion, go.multipv), f"bestmove {best + 1}"]
        while go.infinite and not stop.is_set():
            time.sleep(PAUSE)
        inbox.answered(stop)
        if not inbox.closed:
            self._say("\n".join(lines))

    def _think(self, position: Position, go: c4i.Go, stop: Stop) -> Opinion:
        due = time.monotonic() + SECONDS_BETWEEN_INFO

        def told(opinion: Opinion) -> None:
            nonlocal due
            if time.monotonic() >= due and not stop.is_set():
                due = time.monotonic() + SECONDS_BETWEEN_INFO
                self._say("\n".join(info_lines(opinion, go.multipv)))

        limit = self._limit(go, stop)
        if go.multipv > 1 and _knows_all_columns(self._agent) and limit.nodes is None:
            return solve(position, limit, told)
        return ask(self._agent, position, limit, self._rng, told)

    def _limit(self, go: c4i.Go, stop: Stop) -> Limit:
        limit = go.limit if go.infinite or go.limit != Limit() else Limit(seconds=self._seconds)
        bounded = go.infinite or (limit.seconds, limit.simulations, limit.nodes) != (None, None, None)
        if not bounded and is_unbounded(self._agent):
            return limit  # which is short; with the flag it would search until stopped
        return replace(limit, stop=stop)

    def _tell(self, error: UserError) -> None:
        self._say(f"info string {' '.join(str(error).split())}")


def agent_of(spec: str) -> Agent:
    """Make an agent that another program may ask."""
    if parse_spec(spec)[0] == "human":
        raise UserError("agent 'human' cannot be served: where a person would type, the other program asks")
    return make(spec)


def _default(option: Option) -> str:
    """An option's default, as it would be written in a spec."""
    return str(option.default).lower() if option.default is None or isinstance(option.default, bool) else str(option.default)


def _knows_all_columns(agent: Agent) -> bool:
    """Whether an agent plays what the solver says of all columns, which it would not tell itself."""
    return isinstance(agent, Perfect) and (agent.choice, agent.mistakes, agent.book) == ("centre", 0, True)


# --- what an agent thinks, as lines ------------------------------------------------------------------------------------


def info_lines(opinion: Opinion, multipv: int) -> list[str]:
    """What is thought of the best columns, one line each; of the others only if there is something to say."""
    best, *others = ranked(opinion)
    others = [each for each in others if each.value is not None or each.proven is not None][: multipv - 1]
    chosen = best.column == opinion.best
    first = c4i.Info(
        1 if multipv > 1 else None,
        depth=opinion.depth,
        nodes=opinion.nodes,
        simulations=opinion.simulations,
        value=opinion.value if chosen else best.value,
        proven=opinion.proven if chosen else best.proven,
        line=opinion.line if opinion.line[:1] == (best.column,) else (best.column,),
    )
    rest = [
        c4i.Info(rank, value=each.value, proven=each.proven, line=(each.column,)) for rank, each in enumerate(others, start=2)
    ]
    return [info.write() for info in (first, *rest)]


def ranked(opinion: Opinion) -> list[ColumnOpinion]:
    """The open columns, the chosen one first, then as a search prefers them: wins, what it looked at most, losses."""
    first = opinion.promising if opinion.best is None else opinion.best

    def rank(each: ColumnOpinion) -> tuple[bool, int, int, float, int]:
        result, plies = (0, 0) if each.proven is None else (each.proven.result, each.proven.plies or 0)
        return each.column == first, result, each.visits or 0, each.value or 0.0, -result * plies

    return sorted((each for each in opinion.columns if each.open), key=rank, reverse=True)
