"""The players of chess as an engine that speaks UCI, the protocol of chess programs."""

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
"""A clock that does not say how many moves it is for is for so many."""
RESERVE_SECONDS = 0.05
"""A clock goes on while the move is on its way."""
MOVE = re.compile("[a-h][1-8][a-h][1-8][qrbn]?")
SECONDS_TO_ANSWER = 10.0
"""How long a search that was asked for before the end of the input has."""
SURE = 0.95
"""A greater value than this is not told as a greater score."""
GREETING = f"""id name Fourlab chess {__version__}
id author the Fourlab authors
option name Preset type combo default improved{"".join(f" var {name}" for name in PRESETS)}
option name Simulations type spin default 0 min 0 max {MOST_SIMULATIONS}
option name Seed type spin default 0 min 0 max {MOST_SEED}
uciok"""


@dataclass(frozen=True)
class Bounds:
    """What `go` says, in milliseconds and plies; unknown words are ignored."""

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
        """Read the words after `go`."""
        numbers = {name: int(word) for name, word in itertools.pairwise(words) if is_number(word)}
        known = {name: number for name, number in numbers.items() if name in cls.__annotations__ and name != "searchmoves"}
        wanted = words[words.index("searchmoves") + 1 :] if "searchmoves" in words else []
        moves = tuple(itertools.takewhile(MOVE.fullmatch, wanted))
        return cls(**{**known, "infinite": "infinite" in words, "searchmoves": moves})  # type: ignore[arg-type]

    def limit(self, white: bool, simulations: int, stop: Stop) -> Limit:
        """The limit for a side, `simulations` being the engine's own setting."""
        if self.infinite:
            return Limit(simulations=ENDLESS, stop=stop)
        seconds = None if self.movetime is None else self.movetime / 1000
        clock, more = (self.wtime, self.winc) if white else (self.btime, self.binc)
        if seconds is None and clock is not None:
            share = clock / (self.movestogo or MOVES_LEFT) + more
            seconds = min(share, clock / 2) / 1000
        if seconds is not None:
            seconds = max(seconds - RESERVE_SECONDS, seconds / 2, 0.001)
        counts = [count for count in (self.nodes, simulations) if count]
        return Limit(seconds=seconds, simulations=min(counts, default=None), depth=self.depth or None, stop=stop)


class Engine:
    """Hears UCI's lines and answers; it thinks in a thread, so that it can be stopped."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say
        self.preset, self.simulations, self.seed = "improved", 0, 0
        self.state: ChessState | None = ChessState.of()
        self.rng = np.random.default_rng(self.seed)
        self._thread: threading.Thread | None = None
        self._stop, self._endless = Stop(), False

    def serve(self, lines: Iterable[str]) -> None:
        """Answer until `quit`; at the end of the input a search that has an end comes to it, if that is not far."""
        for line in lines:
            words = line.split()
            if words[:1] == ["quit"]:
                self._stop.set()
                break
            try:
                self.hear(words)
            except UserError as error:
                self.say(f"info string {' '.join(str(error).split())}")
        if self._thread is not None and not self._endless and not self._stop.is_set():
            self._thread.join(SECONDS_TO_ANSWER)
        self._stop.set()
        self._wait()

    def hear(self, words: list[str]) -> None:
        """Answer one line; one that is not known is ignored, as UCI wants it."""
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
                self.state = None  # what cannot be read is no position, and not the last one either
                self.state = ChessState.of(chess.STARTING_FEN if kind == "startpos" else " ".join(rest[:end]), rest[end + 1 :])
            case ["go", *rest]:
                self._go(Bounds.of(rest))
            case ["stop"]:
                self._stop.set()
                self._wait()

    def _set(self, name: str, value: str) -> None:
        if name == "preset":
            player(value)  # one that there is not is told now
            self.preset = value
        elif name == "simulations":
            self.simulations = _number(name, value, MOST_SIMULATIONS)
        elif name == "seed":
            self.seed = _number(name, value, MOST_SEED)
            self.rng = np.random.default_rng(self.seed)

    def _go(self, bounds: Bounds) -> None:
        self._stop.set()  # one search at a time
        self._wait()
        self._stop, self._endless = Stop(), bounds.infinite
        limit = bounds.limit(self.state is None or self.state.board.turn, self.simulations, self._stop)
        state = self.state
        if state is not None and bounds.searchmoves:
            state = state.among(bounds.searchmoves)
        self._thread = threading.Thread(target=self._answer, args=(state, limit, bounds.infinite), daemon=True)
        self._thread.start()

    def _wait(self) -> None:
        if self._thread is not None:
            self._thread.join()

    def _answer(self, state: ChessState | None, limit: Limit, endless: bool) -> None:
        with contextlib.suppress(OSError):  # nobody reads what we say
            self._think(state, limit, endless)

    def _think(self, state: ChessState | None, limit: Limit, endless: bool) -> None:
        """Search and answer; an endless search is answered only when it is stopped, even if there is nothing left to find."""
        decision = None
        if state is not None and state.moves:
            decision = player(self.preset).decide(state, limit, self.rng, lambda so_far: self.say(info(state, so_far)))
            self.say(info(state, decision))
        while endless and limit.stop is not None and not limit.stop.is_set():
            time.sleep(0.01)
        self.say(f"bestmove {'0000' if decision is None else decision.move.uci()}")


def info(state: ChessState, decision: ChessDecision) -> str:
    """What is known so far, as UCI tells it."""
    line, seconds = decision.line, decision.seconds
    words = f"info depth {len(line)} nodes {decision.simulations} time {int(1000 * seconds)}"
    words += f" nps {int(decision.simulations / seconds)}" if seconds else ""
    words += "" if decision.value is None else f" score {_score(state, decision.value, line)}"
    return f"{words} pv {' '.join(move.uci() for move in line)}"


def _score(state: ChessState, value: float, line: tuple[chess.Move, ...]) -> str:
    """The value in hundredths of a pawn, by which `judge` would see it so; or a mate, if the line ends with one."""
    if abs(value) == 1:
        for move in line:
            state = state.play(move)
        if state.ending == "checkmate":
            return f"mate {(len(line) + 1) // 2 if value > 0 else -(len(line) // 2)}"
    value = max(-SURE, min(value, SURE))
    return f"cp {round(100 * HALF * value / (1 - abs(value)))}"


def _number(name: str, value: str, most: int) -> int:
    if not is_number(value) or int(value) > most:
        raise UserError(f"{name} is a number from 0 to {most}, not {value!r}")
    return int(value)
