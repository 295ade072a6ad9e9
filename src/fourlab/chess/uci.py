"""The chess players as an engine that speaks UCI, the protocol of chess programs."""

import contextlib
import itertools
import re
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import chess
import numpy as np

from fourlab.agent import Limit, Stop
from fourlab.chess.game import HALF, ChessState
from fourlab.chess.players import ENDLESS, PRESETS, ChessDecision, player
from fourlab.engines.protocol import is_number
from fourlab.errors import UserError
from fourlab.version import __version__

MOST_SEED = 2**31 - 1
MOST_SIMULATIONS = 10**9
MOVES_LEFT = 30
"""Assumed number of moves to the end of the time control if `movestogo` is missing."""
RESERVE_SECONDS = 0.05
"""Subtracted from the time of a move for the way between the engine and the clock."""
MOVE = re.compile("[a-h][1-8][a-h][1-8][qrbn]?")
SECONDS_TO_ANSWER = 10.0
"""How long a pending search may take after the end of the input."""
LARGEST_VALUE = 0.95
"""Larger values are reported as this one: near 1 the score in centipawns grows without bound."""
GREETING = f"""id name Fourlab chess {__version__}
id author the Fourlab authors
option name Preset type combo default improved{"".join(f" var {name}" for name in PRESETS)}
option name Simulations type spin default 0 min 0 max {MOST_SIMULATIONS}
option name Seed type spin default 0 min 0 max {MOST_SEED}
uciok"""


@dataclass(frozen=True)
class Bounds:
    """The arguments of `go`, in milliseconds and plies."""

    movetime: int | None = None
    wtime: int | None = None
    btime: int | None = None
    winc: int = 0
    binc: int = 0
    movestogo: int | None = None
    nodes: int | None = None
    depth: int | None = None
    infinite: bool = False
    searchmoves: tuple[str, ...] = ()

    @classmethod
    def of(cls, words: list[str]) -> "Bounds":
        """Parse the words after `go`; ignore unknown ones."""
        # The others take numbers.
        names = cls.__annotations__.keys() - {"infinite", "searchmoves"}
        numbers = {
            name: int(word)
            for name, word in itertools.pairwise(words)
            if name in names and is_number(word)
        }
        after = words[words.index("searchmoves") + 1 :] if "searchmoves" in words else []
        moves = tuple(itertools.takewhile(MOVE.fullmatch, after))
        return cls(**numbers, infinite="infinite" in words, searchmoves=moves)

    def limit(self, white: bool, simulations: int, stop: Stop) -> Limit:
        """Return the limit per move; `simulations` is the engine's own setting, 0 for none.

        With a clock, a move gets an equal share of the remaining time plus the increment, but at
        most half of the remaining time.
        """
        if self.infinite:
            return Limit(simulations=ENDLESS, stop=stop)
        seconds = None if self.movetime is None else self.movetime / 1000
        clock, increment = (self.wtime, self.winc) if white else (self.btime, self.binc)
        if seconds is None and clock is not None:
            # In milliseconds, like all numbers of UCI.
            share = clock / (self.movestogo or MOVES_LEFT) + increment
            seconds = min(share, clock / 2) / 1000
        if seconds is not None:
            # The reserve takes at most half of a short time, and a limit must be above 0.
            seconds = max(seconds - RESERVE_SECONDS, seconds / 2, 0.001)
        # A node is a simulation: each adds at most one node.
        counts = [count for count in (self.nodes, simulations) if count]
        return Limit(
            seconds=seconds,
            simulations=min(counts, default=None),
            depth=self.depth or None,
            stop=stop,
        )


class Engine:
    """Answers UCI commands; it searches in a thread, so that it can be stopped."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say
        self.preset = "improved"
        self.simulations = 0
        self.seed = 0
        self.state: ChessState | None = ChessState.of()
        self.rng = np.random.default_rng(self.seed)
        self._thread: threading.Thread | None = None
        self._stop = Stop()
        self._infinite = False

    def serve(self, lines: Iterable[str]) -> None:
        """Answer lines until `quit`.

        At the end of the input, a finite search gets SECONDS_TO_ANSWER to finish.
        """
        for line in lines:
            words = line.split()
            if words[:1] == ["quit"]:
                self._stop.set()
                break
            try:
                self.execute(words)
            except UserError as error:
                self.say(f"info string {' '.join(str(error).split())}")
        if self._thread is not None and not self._infinite and not self._stop.is_set():
            self._thread.join(SECONDS_TO_ANSWER)
        self._stop.set()
        self._wait()

    def execute(self, words: list[str]) -> None:
        """Execute one command; ignore an unknown one, as UCI requires."""
        match words:
            case ["uci"]:
                self.say(GREETING)
            case ["isready"]:
                self.say("readyok")
            case ["ucinewgame"]:
                self.rng = np.random.default_rng(self.seed)
            case ["setoption", "name", name, "value", value]:
                self._set(name.lower(), value)
            case ["position", "startpos" | "fen" as kind, *rest]:
                end = rest.index("moves") if "moves" in rest else len(rest)
                # Replaced as a whole: UCI gives all moves since the start each time.
                self.state = None  # if the position cannot be read, there is none
                self.state = ChessState.of(
                    chess.STARTING_FEN if kind == "startpos" else " ".join(rest[:end]),
                    rest[end + 1 :],
                )
            case ["go", *rest]:
                self._go(Bounds.of(rest))
            case ["stop"]:
                self._stop.set()
                self._wait()

    def _set(self, name: str, value: str) -> None:
        if name == "preset":
            player(value)  # raises UserError if there is none
            self.preset = value
        elif name == "simulations":
            self.simulations = _number(name, value, MOST_SIMULATIONS)
        elif name == "seed":
            self.seed = _number(name, value, MOST_SEED)
            self.rng = np.random.default_rng(self.seed)

    def _go(self, bounds: Bounds) -> None:
        self._stop.set()  # one search at a time
        self._wait()
        self._stop = Stop()
        self._infinite = bounds.infinite
        state = self.state
        white_to_move = state is None or state.board.turn
        limit = bounds.limit(white_to_move, self.simulations, self._stop)
        if state is not None and bounds.searchmoves:
            state = state.among(bounds.searchmoves)
        # A daemon: a search that ignores its stop flag must not keep the process alive.
        self._thread = threading.Thread(
            target=self._answer, args=(state, limit, bounds.infinite), daemon=True
        )
        self._thread.start()

    def _wait(self) -> None:
        if self._thread is not None:
            self._thread.join()

    def _answer(self, state: ChessState | None, limit: Limit, infinite: bool) -> None:
        with contextlib.suppress(OSError):  # our output is closed
            self._think(state, limit, infinite)

    def _think(self, state: ChessState | None, limit: Limit, infinite: bool) -> None:
        """Search and answer; an infinite search answers only once it is stopped."""
        decision = None
        if state is not None and state.moves:
            decision = player(self.preset).decide(
                state, limit, self.rng, lambda so_far: self.say(info(state, so_far))
            )
            self.say(info(state, decision))
        # UCI forbids an answer to `go infinite` before `stop`.
        while infinite and limit.stop is not None and not limit.stop.is_set():
            time.sleep(0.01)
        self.say(f"bestmove {'0000' if decision is None else decision.move.uci()}")


def info(state: ChessState, decision: ChessDecision) -> str:
    """Return the `info` line of a decision."""
    line = decision.line
    seconds = decision.seconds
    words = f"info depth {len(line)} nodes {decision.simulations} time {int(1000 * seconds)}"
    if seconds:
        words += f" nps {int(decision.simulations / seconds)}"
    if decision.value is not None:
        words += f" score {_score(state, decision.value, line)}"
    return f"{words} pv {' '.join(move.uci() for move in line)}"


def _score(state: ChessState, value: float, line: tuple[chess.Move, ...]) -> str:
    """Return a value as UCI writes it: in centipawns, or as a mate if the line ends with one."""
    if abs(value) == 1:
        # The line must really end with mate; a proven win may be longer than the line shown.
        for move in line:
            state = state.play(move)
        if state.ending == "checkmate":
            # UCI counts full moves; a negative number means that the side to move is mated.
            return f"mate {(len(line) + 1) // 2 if value > 0 else -(len(line) // 2)}"
    value = max(-LARGEST_VALUE, min(value, LARGEST_VALUE))
    # The inverse of `evaluate`: the lead in pawns is HALF * value / (1 - |value|).
    return f"cp {round(100 * HALF * value / (1 - abs(value)))}"


def _number(name: str, value: str, most: int) -> int:
    """Return the value of a spin option; raise UserError if it is not in range."""
    if not is_number(value) or int(value) > most:
        raise UserError(f"{name} is a number from 0 to {most}, not {value!r}")
    return int(value)
