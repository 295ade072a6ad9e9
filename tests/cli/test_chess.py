import json
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from pathlib import Path

import chess
import chess.engine
import pytest

from tests.conftest import Result

Fourlab = Callable[..., Result]
UCI = [sys.executable, "-m", "fourlab", "chess", "uci"]


@pytest.fixture(scope="module")
def engine() -> Iterator[chess.engine.SimpleEngine]:
    """The engine as any chess program starts it."""
    with chess.engine.SimpleEngine.popen_uci(UCI, timeout=None) as started:
        yield started


@pytest.mark.parametrize("preset", ["improved", "arya"])
def test_python_chess_drives_the_engine_through_a_game(
    engine: chess.engine.SimpleEngine, preset: str
) -> None:
    board = (
        chess.Board()
        if preset == "improved"
        else chess.Board("4k3/2pp4/8/8/8/8/3PP3/4K3 w - - 0 1")
    )
    engine.configure({"Seed": 5})
    while not board.is_game_over(claim_draw=True):
        engine.configure({"Preset": preset if board.turn else "random"})
        played = engine.play(
            board, chess.engine.Limit(nodes=8 if preset == "improved" else 2), game=preset
        )
        assert played.move in board.legal_moves
        board.push(played.move)
    if preset == "improved":
        assert board.result() == "1-0"


@pytest.mark.parametrize(
    "limit",
    [
        chess.engine.Limit(time=0.1),
        chess.engine.Limit(white_clock=3, black_clock=3, white_inc=0.1, black_inc=0.1),
        chess.engine.Limit(depth=2),
        chess.engine.Limit(nodes=40),
    ],
    ids=["movetime", "clock", "depth", "nodes"],
)
def test_the_engine_keeps_to_every_kind_of_limit(
    engine: chess.engine.SimpleEngine, limit: chess.engine.Limit
) -> None:
    engine.configure({"Preset": "improved"})
    result = engine.play(chess.Board(), limit, info=chess.engine.INFO_ALL)
    assert result.move in chess.Board().legal_moves
    assert result.info["pv"][0] == result.move
    assert abs(result.info["score"].relative.score(mate_score=10000)) < 9999


def test_an_infinite_search_reports_progress_and_can_be_stopped(
    engine: chess.engine.SimpleEngine,
) -> None:
    board = chess.Board()
    engine.configure({"Preset": "improved"})
    with engine.analysis(board) as analysis:
        first = next(info for info in analysis if "pv" in info)
        assert first["nodes"] > 0
        analysis.stop()
        assert analysis.wait().move in board.legal_moves
    engine.ping()


def test_a_game_between_players_is_drawn_and_printed(fourlab: Fourlab, tmp_path: Path) -> None:
    arguments = (
        "--white",
        "improved",
        "--black",
        "random",
        "--simulations",
        "30",
        "--seed",
        "1",
        "--svg",
        "board.svg",
    )
    done = fourlab("chess", "play", *arguments)
    assert done.returncode == 0, done.stderr
    assert "white plays " in done.stdout
    assert "   a b c d e f g h" in done.stdout
    assert "1-0: checkmate" in done.stdout
    picture = ElementTree.parse(tmp_path / "board.svg").getroot()
    assert picture.get("width") == "300"
    again = fourlab("chess", "play", *arguments)
    assert again.stdout == done.stdout


def test_people_type_moves_take_them_back_and_quit(fourlab: Fourlab) -> None:
    done = fourlab(
        "chess",
        "play",
        "--black",
        "random",
        "--seed",
        "1",
        stdin="back\ne2e4\nback\nd4\nd9\nquit\n",
    )
    assert done.returncode == 0, done.stderr
    assert "there is no move to take back" in done.stdout
    assert "'d9' is not a legal move here" in done.stdout
    moves = done.stdout.partition("moves: ")[2].splitlines()[0].split()
    assert (moves[0], len(moves)) == ("d2d4", 2)
    assert "resume with: fourlab chess play --white human --black random --fen" in done.stdout
    both = fourlab("chess", "play", "--black", "human", stdin="e4\ne5\nback\nc5\n").stdout
    assert "moves: e2e4 c7c5\n" in both


def test_json_prints_the_game_and_the_board_goes_to_standard_error(fourlab: Fourlab) -> None:
    done = fourlab("chess", "play", "--black", "human", "--json", stdin="f3\ne5\ng4\nQh4\n")
    game = json.loads(done.stdout)
    assert game["moves"] == ["f2f3", "e7e5", "g2g4", "d8h4"]
    assert (game["result"], game["ending"]) == ("0-1", "checkmate")
    assert "white, your move" in done.stderr
    start = "8/4P1k1/8/8/8/8/8/K7 w - - 0 1"
    game = json.loads(
        fourlab(
            "chess", "play", "--black", "human", "--fen", start, "--json", stdin="e8=N+\nquit\n"
        ).stdout
    )
    assert (game["start"], game["moves"], game["result"]) == (
        start,
        ["e7e8n"],
        "1/2-1/2",
    )  # a knight cannot mate


def test_ctrl_c_prints_the_resume_command(tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-u", "-m", "fourlab", "chess", "play"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    assert process.stdout is not None
    while "white to move" not in process.stdout.readline():
        pass
    process.send_signal(signal.SIGINT)
    rest = process.communicate()[0]
    assert process.returncode == 130
    assert "resume with: fourlab chess play" in rest


def test_a_match_does_not_depend_on_the_number_of_workers(fourlab: Fourlab, tmp_path: Path) -> None:
    command = (
        "chess",
        "match",
        "improved",
        "random",
        "--games",
        "4",
        "--simulations",
        "15",
        "--keep",
        "games.jsonl",
        "--json",
    )
    done = fourlab(*command, "--workers", "2")
    assert done.returncode == 0, done.stderr
    assert "4/4 games" in done.stderr
    summary = json.loads(done.stdout)
    assert (summary["games"], sum(summary["counts"])) == (4, 2)
    lines = (tmp_path / "games.jsonl").read_text().splitlines()
    # Earlier versions could leave a file with only some of the games.
    (tmp_path / "games.jsonl").write_text("\n".join(lines[:3]) + "\n")
    alone = fourlab(*command, "--workers", "1", "--quiet", "--run", "other")
    assert ({**json.loads(alone.stdout), "run": summary["run"]}, alone.stderr) == (summary, "")
    assert sorted(lines) == sorted((tmp_path / "games.jsonl").read_text().splitlines())


def test_a_match_prints_elo_and_endings(fourlab: Fourlab) -> None:
    done = fourlab(
        "chess", "match", "random", "random", "--games", "20", "--workers", "1", "--quiet"
    )
    assert done.returncode == 0, done.stderr
    assert "random against random: 20 games" in done.stdout
    assert "Elo: " in done.stdout
    assert "endings: " in done.stdout


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["play", "--fen", "nonsense"], "is not a FEN"),
        (["play", "--fen", "8/8/8/8/8/8/8/8 w - - 0 1"], "empty"),
        (["play", "--white", "stockfish"], "there is no chess player 'stockfish'"),
        (["play", "--seconds", "-1"], "greater than 0"),
        (["play", "--white", "random", "--svg", "none/board.svg"], "cannot write"),
        (["match", "human", "random"], "there is no chess player 'human'"),
        (["match", "improved", "random", "--games", "3"], "even"),
        (
            ["match", "improved", "random", "--simulations", "0"],
            "whole number from 1",
        ),
        (["match", "random", "random", "--keep", "none/games.jsonl"], "none/games.jsonl"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], word: str, fourlab: Fourlab) -> None:
    done = fourlab("chess", *arguments)
    assert done.returncode == 2
    assert word in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("command", [["play"], ["uci"], ["match", "improved", "random"]])
def test_without_python_chess_the_install_command_is_printed(
    command: list[str], fourlab: Fourlab, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.startswith("fourlab.chess")]:
        monkeypatch.delitem(sys.modules, name)  # so that it is imported again without chess
    monkeypatch.setitem(sys.modules, "chess", None)  # as if it were not installed
    done = fourlab("chess", *command)
    assert done.returncode == 2
    assert done.stderr == "fourlab: chess needs python-chess: pip install 'fourlab[chess]'\n"
    assert fourlab("chess", *command[:1], "--help").returncode == 0
