"""Agents served as engines, line by line."""

import os
import queue
import re
import threading
import time
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourlab import Decision, Limit, Position, UserError, make
from fourlab.engines import serve as c4i
from fourlab.solver import Solver
from tests.conftest import ROOT


class Talk:
    """A served agent in a thread, and both ends of the conversation with it."""

    def __init__(self, spec: str, **settings: Any) -> None:
        self.input, self.output = os.pipe()
        self.said: queue.Queue[str] = queue.Queue()
        self.fault: Exception | None = None
        self.open = True
        self.thread = threading.Thread(target=self._serve, args=(spec, settings))
        self.thread.start()

    def _serve(self, spec: str, settings: dict[str, Any]) -> None:
        try:
            c4i.serve(spec, lambda: os.read(self.input, 4096), self._receive, **settings)
        except UserError as error:
            self.fault = error

    def _receive(self, text: str) -> None:
        for line in text.split("\n"):
            self.said.put(line)

    def say(self, *lines: str) -> None:
        os.write(self.output, "".join(f"{line}\n" for line in lines).encode())

    def read_until(self, first: str) -> list[str]:
        """Return the lines up to one that begins with a word."""
        lines = [self.said.get()]
        while lines[-1].split()[0] != first:
            lines.append(self.said.get())
        return lines

    def ask(self, *lines: str) -> list[str]:
        self.say(*lines)
        return self.read_until("bestmove")

    def ended(self) -> bool:
        self.thread.join()
        return True

    def hang_up(self) -> None:
        if self.open:
            os.close(self.output)
            self.open = False


@pytest.fixture
def talks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Yield a function that makes talks; check at the end that all have ended."""
    made: list[Talk] = []
    left: list[int] = []
    monkeypatch.setattr(c4i.os, "_exit", left.append)
    monkeypatch.setattr(c4i, "SECONDS_TO_GO", 600.0)  # a busy machine is no reason to exit
    monkeypatch.setattr(c4i, "SECONDS_TO_ANSWER", 600.0)

    def talk(spec: str, **settings: Any) -> Talk:
        made.append(Talk(spec, **settings))
        return made[-1]

    talk.left = left  # type: ignore[attr-defined]
    yield talk
    for talk_made in made:
        talk_made.hang_up()
        assert talk_made.ended()
        os.close(talk_made.input)


def column_of(lines: list[str]) -> int:
    return int(lines[-1].removeprefix("bestmove ")) - 1


def test_the_greeting_offers_the_agents_options(talks: Any) -> None:
    talk = talks("minimax:depth=2")
    talk.say("c4i", "isready")
    lines = talk.read_until("readyok")
    assert lines[0].startswith("id name Fourlab ")
    assert lines[0].endswith(" minimax:depth=2")
    assert lines[1] == "id author Fourlab"
    assert lines[2:-2] == [
        "option name depth type string default 2",
        "option name evaluation type string default lines",
        "option name ties type string default centre",
        "option name faithful type string default false",
    ]
    assert lines[-2:] == ["c4iok", "readyok"]
    assert not talks.left


def test_options_can_be_set_and_invalid_ones_change_nothing(talks: Any) -> None:
    talk = talks("mcts")
    talk.say("setoption name simulations value 50", "isready")
    assert "simulations 50 " in talk.ask("go")[-2]
    for wrong in (
        "name simulations value many",
        "name colour value red",
        'name c value "',
        "simulations 5",
    ):
        talk.say(f"setoption {wrong}")
        assert talk.read_until("info")[0].startswith("info string ")
    assert "simulations 50 " in talk.ask("go")[-2]


def test_old_names_of_options_are_understood(talks: Any) -> None:
    talk = talks("mcts:solver=0,simulations=5")
    talk.say("c4i")
    assert "option name proofs type string default 0" in talk.read_until("c4iok")
    talk.say("setoption name solver value 1", "c4i")
    assert "option name proofs type string default 1" in talk.read_until("c4iok")


def test_unknown_and_overlong_lines_are_ignored(talks: Any) -> None:
    talk = talks("rules")
    talk.say(
        "",
        "  ",
        "hello",
        "position startpos moves " + "4 " * c4i.LINE_BYTES,
        "ping",
        "debug on",
        "ping 3",
    )
    assert talk.read_until("pong") == ["pong 3"]


@given(
    st.lists(st.text("ab\r\n", max_size=12) | st.just("x" * (c4i.LINE_BYTES + 1)), max_size=8),
    st.integers(1, 5000),
)
def test_lines_do_not_depend_on_how_the_input_is_chunked(texts: list[str], size: int) -> None:
    whole = "\n".join(texts).encode()
    chunks = iter([*(whole[at : at + size] for at in range(0, len(whole), size)), b""])
    expected = [line for line in whole.decode().split("\n") if len(line) <= c4i.LINE_BYTES]
    if whole.endswith(b"\n") or not whole:
        expected.pop()
    assert list(c4i.read_lines(lambda: next(chunks))) == expected


def test_an_endless_line_takes_no_memory() -> None:
    longest = 0
    chunks = iter([b"x" * 1000] * 1000 + [b"\nping 1\n", b""])
    for line in c4i.read_lines(lambda: next(chunks)):
        longest = max(longest, len(line))
    assert longest == len("ping 1")


@pytest.mark.parametrize(
    "spec", ["mcts:simulations=60", "minimax:depth=3", "rules:otherwise=random", "perfect"]
)
def test_a_served_agent_plays_the_same_as_a_local_one(spec: str, talks: Any) -> None:
    talk = talks(spec)
    agent = make(spec)
    rng = np.random.default_rng(17)
    talk.say("isready", "newgame 5x4x4 seed 17")
    position = Position(board="5x4x4")
    while position.outcome() is None:
        moves = " ".join(str(column + 1) for column in position.moves or ())
        question = f"position startpos moves {moves}" if moves else "position startpos"
        column = column_of(talk.ask(question, "go"))
        assert column == agent.decide(position, Limit(), rng).column
        position = position.play(column)
    assert position.ply > 6


def test_positions_are_given_by_moves_by_fen_or_by_both_on_any_board(talks: Any) -> None:
    talk = talks("rules")
    for question, column in (
        ("position startpos moves 1 2 1 2 1 2", 1),
        # Red has blocked one end and must block the other.
        ("position fen 7/7/7/7/7/3yyy1 r 4 moves 7 7", 3),
        ("position fen 12/12/12/8rrrr y 5", 8),
    ):
        assert talk.ask(question, "go")[-1] == f"bestmove {column}"
    moves = "12 1 12 1 12 1 11 2 10 2 9 3"
    lines = talk.ask("newgame 12x4x5 seed 1", f"position startpos moves {moves}", "go")
    assert lines[-1] == "bestmove 8"


@pytest.mark.parametrize(
    "lines",
    [
        ("position startpos moves 9",),
        ("position fen r6/7/7/7/7/7 y 4",),
        ("position",),
        ("newgame 99x99x4", "position startpos"),
    ],
)
def test_a_malformed_position_is_never_answered_with_a_column(
    lines: tuple[str, ...], talks: Any
) -> None:
    talk = talks("rules")
    assert talk.ask(*lines, "go")[-2:] == [
        "info string there is no position to think about",
        "bestmove none",
    ]
    assert talk.ask("newgame", "position startpos", "go")[-1] == "bestmove 4"


def test_a_game_that_is_over_has_no_column(talks: Any) -> None:
    said = talks("rules").ask("position startpos moves 1 2 1 2 1 2 1", "go infinite", "stop")
    assert said == ["info string the game is over (red wins)", "bestmove none"]


@pytest.fixture
def resting(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """Set as soon as an agent that has finished its search waits for `stop`."""
    rests = threading.Event()

    def sleep(seconds: float) -> None:
        rests.set()
        time.sleep(seconds)

    monkeypatch.setattr(c4i, "time", SimpleNamespace(sleep=sleep, monotonic=time.monotonic))
    return rests


@pytest.mark.parametrize("spec", ["mcts", "rules", "minimax:depth=40", "perfect:book=0"])
def test_an_infinite_search_ends_at_stop_and_not_before(
    spec: str,
    talks: Any,
    resting: threading.Event,
) -> None:
    talk = talks(spec)
    talk.say("isready")
    talk.read_until("readyok")
    talk.say("newgame 8x6x4 seed 1", "go infinite", "isready")
    # `isready` is answered immediately, also while the agent is thinking.
    assert not any(line.startswith("bestmove") for line in talk.read_until("readyok"))
    if spec == "rules":  # the others never finish here
        resting.wait()
    assert not any(line.startswith("bestmove") for line in list(talk.said.queue))
    talk.say("stop", "ping 1")
    lines = talk.read_until("pong")
    assert sum(line.startswith("bestmove") for line in lines) == 1
    assert lines[-2].startswith("bestmove")


def test_every_question_gets_one_answer_in_order(talks: Any) -> None:
    talk = talks("rules")
    talk.say(
        "position startpos moves 1 2 1 2 1 2",
        "go infinite",
        "position startpos moves 7 6 7 6 7 6",
        "go infinite",
    )
    talk.say("position startpos moves 1 2 1 2 1", "go simulations 100", "ping 1")
    talk.say("stop", "stop")
    answers = [line for line in talk.read_until("pong") if not line.startswith("info")]
    assert answers == ["bestmove 1", "bestmove 7", "bestmove 1", "pong 1"]
    talk.say("stop", "ping 2")  # idle: there is nothing to stop
    assert talk.read_until("pong") == ["pong 2"]


@pytest.mark.parametrize("how", ["quit", "the end of the input"])
def test_the_server_ends_immediately(how: str, talks: Any) -> None:
    talk = talks("mcts")
    talk.say("isready")
    talk.read_until("readyok")
    talk.say("go infinite", *["go infinite"] * 10)
    if how == "quit":
        talk.say("quit", "ping 1")
    else:
        talk.hang_up()
    assert talk.ended()
    answers = [line for line in talk.said.queue if not line.startswith("info")]
    if how == "quit":
        assert answers == []
    else:  # they can no longer be stopped, but their answers may be read
        assert [line.split()[0] for line in answers] == ["bestmove"] * 11


def test_all_lines_of_a_file_are_answered(talks: Any) -> None:
    talk = talks("rules")
    talk.say(
        "c4i",
        "isready",
        "position startpos moves 4 4",
        "go",
        "position startpos moves 1 2 1 2 1 2",
        "go",
    )
    talk.hang_up()
    assert talk.ended()
    said = list(talk.said.queue)
    assert "readyok" in said
    assert [line for line in said if line.startswith("bestmove")][1:] == ["bestmove 1"]


def test_a_new_game_is_played_by_a_fresh_agent(talks: Any) -> None:
    talk = talks("mcts:simulations=50,reuse=games")
    games = [
        talk.ask("newgame 7x6x4 seed 3", "position startpos moves 4 4", "go")[-2:] for _ in range(2)
    ]
    assert games[0] == games[1]


def test_the_depth_of_a_search_is_reported(talks: Any) -> None:
    said = talks("minimax:depth=4").ask("position startpos moves 4 4", "go")
    assert said[-2].startswith("info depth 4 score ")


def test_an_agent_that_ignores_the_stop_flag_cannot_keep_the_process_alive(
    monkeypatch: pytest.MonkeyPatch, talks: Any
) -> None:
    thinking = threading.Event()
    enough = threading.Event()

    class Deaf:
        def decide(self, position: Position, limit: Limit, rng: Any) -> Decision:
            thinking.set()
            enough.wait()
            return Decision(0)

    def leave(code: int) -> None:
        talks.left.append(code)
        enough.set()

    monkeypatch.setattr(c4i.os, "_exit", leave)
    monkeypatch.setattr(c4i, "SECONDS_TO_GO", 0.2)
    monkeypatch.setattr(c4i, "make", lambda spec: Deaf())
    talk = talks("random")
    talk.say("go")
    assert thinking.wait()
    talk.say("quit")
    assert talk.ended()
    assert talks.left == [0]


def test_a_flood_of_questions_is_refused(talks: Any) -> None:
    talk = talks("mcts")
    talk.say("go infinite")
    for _ in range(c4i.MOST_WAITING // 100 + 1):
        talk.say(*["ping 1"] * 100)
    assert talk.ended()
    assert str(talk.fault) == "more than 1000 lines came while there was no answer yet"


def test_without_bounds_an_agent_uses_its_default_budget(talks: Any) -> None:
    talk = talks("mcts")
    for question in ("go", "go depth 3"):
        assert "simulations 10000 " in talk.ask(question)[-2]


def test_the_default_seconds_apply_if_the_question_has_no_limit(
    monkeypatch: pytest.MonkeyPatch,
    talks: Any,
) -> None:
    seconds: list[float | None] = []

    class Noting:
        def decide(self, position: Position, limit: Limit, rng: Any) -> Decision:
            seconds.append(limit.seconds)
            return Decision(0)

    monkeypatch.setattr(c4i, "make", lambda spec: Noting())
    talk = talks("random", seconds=0.01)
    talk.ask("go")
    talk.ask("go movetime 20")
    assert seconds == [0.01, 0.02]


def test_the_solver_evaluates_all_columns(talks: Any) -> None:
    position = Position("32751571231557")
    moves = " ".join("32751571231557")
    said = talks("perfect").ask(f"position startpos moves {moves}", "go multipv 7")
    lines = [line for line in said if line.startswith(("info multipv", "bestmove"))]
    *infos, answer = lines[-8:]
    truth = Solver().columns(position)
    words = {1: "win", 0: "draw", -1: "loss"}
    reported = {}
    for rank, line in enumerate(infos, 1):
        match = re.fullmatch(
            r"info multipv (\d) score (win|draw|loss)(?: (\d+))?(?: nodes \d+)? pv (\d)( .*)?", line
        )
        assert match, line
        assert int(match[1]) == rank
        reported[int(match[4]) - 1] = (match[2], None if match[3] is None else int(match[3]))
    assert reported == {
        column: (words[solution.result or 0], solution.plies if solution.result else None)
        for column, solution in truth.items()
    }
    scores = [truth[column].score for column in reported]
    assert scores == sorted(scores, reverse=True)  # best first, the quickest loss last
    assert answer == f"bestmove {next(iter(reported)) + 1}"


@pytest.mark.parametrize("option", ["", "setoption name threads value 1"])
def test_a_solver_without_time_for_a_proof_plays_a_central_column(option: str, talks: Any) -> None:
    talk = talks("perfect:book=0" if option else "perfect")
    said = talk.ask(
        "newgame 8x6x4",
        option or "xyzzy",
        "setoption name book value true",
        "go movetime 50 multipv 2",
    )
    assert said[-1] in ("bestmove 4", "bestmove 5")  # a central one, not the first
    said = talk.ask("newgame", "position startpos moves 4 4 4 4 4 4", "go multipv 6")
    assert len([line for line in said if " pv " in line]) >= 6


def test_several_columns_are_reported_if_the_agent_evaluates_them(talks: Any) -> None:
    said = talks("mcts:simulations=500").ask("position startpos moves 4 4", "go multipv 3")[-4:]
    assert [line.split()[:3] for line in said[:3]] == [
        ["info", "multipv", str(rank)] for rank in (1, 2, 3)
    ]
    columns = [re.findall(r" pv (\d)", line)[0] for line in said[:3]]
    assert len(set(columns)) == 3
    assert columns[0] == said[3].split()[1]
    assert talks("random").ask("go multipv 3", "stop")[0].startswith("info multipv 1 pv ")


def test_a_person_cannot_be_served() -> None:
    with pytest.raises(UserError, match="agent 'human' cannot be served"):
        c4i.serve("human", lambda: b"", print)


def test_an_agent_that_fails_ends_the_conversation(talks: Any) -> None:
    talk = talks("expectimax-random:positions=100")
    talk.say("isready", "go")
    assert talk.ended()
    assert talk.fault is not None


def test_the_conversation_in_the_documentation_is_real(
    talks: Any, resting: threading.Event
) -> None:
    page = (ROOT / "docs" / "reference" / "engine-protocol.md").read_text()
    transcript = re.findall(r"^```text\n(> c4i\n.*?)^```", page, re.DOTALL | re.MULTILINE)[0]
    talk = talks("minimax:depth=6")
    for line in transcript.splitlines():
        direction, text = line[0], line[2:]
        if direction == ">":
            talk.say(text)
            if text == "go infinite":
                resting.wait()  # it finishes its search before it is stopped
        else:
            said = talk.said.get()
            assert re.fullmatch(re.escape(text).replace("…", ".+"), said), said
    assert talk.ended()
