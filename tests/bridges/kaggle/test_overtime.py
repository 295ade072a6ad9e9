"""How a submission uses its books, its overtime, the compiler and the processor."""

import contextlib
import ctypes
import itertools
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fourlab import Position
from fourlab.bridges.kaggle.replies import shipped_replies
from fourlab.solver import Solver
from tests.bridges.kaggle.plain import namespace, plain_agent
from tests.bridges.kaggle.test_runtime import column_of


def asked_seconds(names: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let a submission's agents answer at once, and list the seconds that each would have had."""
    seconds_given: list[float] = []

    def decision(agent: Any, position: Any, seconds: float) -> Any:
        seconds_given.append(seconds)
        nothing = SimpleNamespace(from_book=False)
        return SimpleNamespace(column=2, proven=None, analysis=nothing)

    monkeypatch.setattr(names["PLAYERS"][0], "decision", decision)
    return seconds_given


def test_a_proof_may_take_a_share_of_the_overtime(monkeypatch: pytest.MonkeyPatch) -> None:
    names = namespace("perfect:book=0")
    seconds = asked_seconds(names, monkeypatch)
    for bank, overtime in ((60, 50 / 3), (13, 1), (10, 0), (0, 0)):
        seconds.clear()
        assert column_of(names["agent"], Position(), bank=bank) == 2
        # 0.8 of two seconds, 0.6 of them for the proof; the rest is for alpha-beta, whose share is
        # longer here only because the proof was given up at once.
        assert seconds == pytest.approx([0.96 + overtime, 1.6], abs=0.2)


def test_other_searches_take_no_overtime(monkeypatch: pytest.MonkeyPatch) -> None:
    names = namespace("mcts:seconds=5")
    seconds = asked_seconds(names, monkeypatch)
    assert column_of(names["agent"], Position(), bank=60) == 2
    assert seconds == pytest.approx([1.6], abs=0.2)


class Compiler:
    """Stands for the thread that compiles: it is never done."""

    def __init__(self) -> None:
        self.waits: list[float] = []

    def is_alive(self) -> bool:
        return True

    def join(self, seconds: float) -> None:
        self.waits.append(seconds)


def test_what_no_book_has_waits_for_the_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    names = namespace("perfect")
    compiler = Compiler()
    monkeypatch.setitem(names, "COMPILER", compiler)
    seconds = asked_seconds(names, monkeypatch)
    assert column_of(names["agent"], Position(), bank=60) == 3
    assert column_of(names["agent"], Position("44"), bank=60) == 3
    assert compiler.waits == seconds == [], "the book knows"
    unknown = Position("121212")
    assert column_of(names["agent"], unknown, bank=40) == 2
    assert compiler.waits == pytest.approx([10])
    assert column_of(names["agent"], unknown, bank=0) == 2
    assert len(compiler.waits) == 1


def test_replies_are_only_for_those_who_always_reply_so() -> None:
    roles = {
        spec: [agent[3] for agent in namespace(spec)["AGENTS"]]
        for spec in ("perfect", "perfect:book=0", "perfect:ties=random", "perfect:mistakes=0.5")
    }
    assert roles.pop("perfect") == ["book", "proof", "search"]
    assert set(map(tuple, roles.values())) == {("proof", "search")}


def test_the_plain_file_keeps_every_result_that_its_book_knows() -> None:
    submission, solver, rng = plain_agent("perfect"), Solver(), np.random.default_rng(8)
    book = shipped_replies()
    assert book is not None
    moves = 0
    for game in range(8):
        position = Position()
        while position.outcome() is None and position.ply <= book.plies:
            if position.to_move == game % 2:
                column = column_of(submission, position)
                if position.ply > 8:
                    assert column in solver.best_columns(position, weak=True)[1], position
                    moves += 1
            else:
                column = int(rng.choice(position.legal_columns()))
            position = position.play(column)
    assert moves >= 8


def test_numpy_multiplies_in_one_thread() -> None:
    namespace("alphazero:simulations=8")["use_one_thread"]()
    folder = Path(np.__file__).parent.parent
    threads = []
    for library in folder.glob("numpy.libs/*openblas*"):
        names = ctypes.CDLL(str(library))
        for prefix, suffix in itertools.product(("scipy_", ""), ("64_", "")):
            with contextlib.suppress(AttributeError):
                threads.append(names[f"{prefix}openblas_get_num_threads{suffix}"]())
    assert set(threads) <= {1}
