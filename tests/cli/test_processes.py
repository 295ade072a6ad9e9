"""Run every command once in a real process; the other tests run commands in their own process."""

import gzip
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from fourlab.cli.commands import COMMANDS, load
from tests.conftest import ROOT, Result
from tests.in_process import run_in_process

Q_VALUES = '"((0, 0, 0, 0, 0), (0, 0, 0, 0, 0), (0, 0, 0, 0, 0), (0, 0, 1, 2, 0))",-2.0\n'
LEAGUE = 'rounds = 1\nworkers = 1\nagents = ["random", "rules", "minimax:depth=1"]\n'

ROWS: dict[str, tuple[tuple[str, ...], str, int, str]] = {
    # command: arguments, standard input, exit code, text in standard output
    "accuracy": (("rules", "--solved", "3"), "", 0, "can go wrong"),
    "agents": (("rules",), "", 0, "otherwise=centre"),
    "analyse": (("121212", "--agent", "rules", "--proof", "0"), "", 0, "plays 1"),
    "analyze": (("121212", "--agent", "minimax", "--proof", "0"), "", 0, "plays 1"),
    "bench": (("--json",), "", 0, "5716239"),
    "book check": (("book.npz",), "", 0, "solved again, 0 wrong"),
    "book info": ((), "", 0, "board: 7x6x4"),
    "book replies": (
        ("--plies", "3", "--board", "4x4x3", "--file", "replies.npz", "--quiet"),
        "",
        0,
        "replies up to 3 plies on 4x4x3",
    ),
    "chess match": (("random", "random", "--games", "2", "--simulations", "1"), "", 0, "2 games"),
    "chess play": (("--black", "random"), "e4\nquit\n", 0, "moves: e2e4"),
    "completion": (("words", "--", "match", "mc"), "", 0, "mcts"),
    "dataset boards": (("-o", "boards.csv", "--nodes", "10", "--quiet"), "", 0, "solved: 5"),
    "dataset uci8": (("-o", "uci.data"), "", 0, "positions: 67557"),
    "engine check": (("./nothing", "--json"), "", 1, "No such file or directory"),
    "engine serve": (("rules",), "c4i\ngo\n", 0, "bestmove 4"),
    "export kaggle": (("random", "-o", "main.py", "--quiet"), "", 0, "main.py"),
    "games": (("random-vs-rules",), "", 0, "result  cause"),
    "help": (("train", "alphazero"), "", 0, "Usage: fourlab train alphazero"),
    "match": (("random", "rules", "--games", "2", "--workers", "1", "--quiet"), "", 0, "2 games"),
    "open": (("random-vs-rules", "--no-browser"), "", 0, "report.html"),
    "perft": (("3",), "", 0, "perft 3: 343"),
    "play": (("--red", "rules", "--yellow", "rules", "--start", "121212"), "", 0, "red wins"),
    "positions": ((), "", 0, "vannucci-abril"),
    "qtable cut": (("values.q", "-o", "early.q"), "", 0, "early.q: 1 of 1 positions on 5x4x4"),
    "qtable export": (("values.q", "-o", "again.gz"), "", 0, "again.gz: 1 positions"),
    "qtable import": (("values.gz", "-o", "again.q"), "", 0, "again.q: 1 positions on 5x4x4"),
    "qtable info": ((), "", 0, "board: 5x4x4"),
    "reproduce": (("list",), "", 0, "vannucci-abril exact"),
    "resume": (("random-vs-rules", "--workers", "1"), "", 0, "2 games"),
    "review": (("1212121",), "", 0, "red: accuracy "),
    "runs": ((), "", 0, "2 of 2 games"),
    "study": (("list", "bhat"), "", 0, "bhat table-5"),
    "settings": (("q",), "", 0, "gamma = "),
    "show": (("4453",), "", 0, "4 discs on the board"),
    "solve": (("121212",), "", 0, "121212 18"),
    "stats elo": (("70", "20", "10"), "", 0, "normalized Elo"),
    "stats sprt": (("70", "20", "10", "--elo0", "0", "--elo1", "5"), "", 0, "LLR"),
    "stats wilson": (("98", "100"), "", 0, "93.0 % to 99.4 %"),
    "tournament": (("league.toml", "--quiet"), "", 0, "score of row against column"),
    "verify": (("random-vs-rules",), "", 0, "sound (2 games compared"),
    "warmup": (("--json",), "", 0, '"cache"'),
}
ELSEWHERE = {
    # command: file and name of a test that starts a real process, to talk to it or interrupt it
    "book build": (
        "test_book.py",
        "test_an_interrupted_build_can_be_resumed",
    ),
    "chess uci": (
        "test_chess.py",
        "test_python_chess_drives_the_engine_through_a_game",
    ),
    "dataset solved": (
        "test_dataset.py",
        "test_stopped_work_resumes_and_gives_the_same_file",
    ),
    "train alphazero": (
        "test_train_alphazero.py",
        "test_a_training_stopped_by_ctrl_c_resumes_to_the_same_result",
    ),
    "train dqn": (
        "test_train_dqn.py",
        "test_a_training_stopped_by_ctrl_c_resumes_and_its_network_plays",
    ),
    "train patterns": (
        "test_train_patterns.py",
        "test_a_training_stopped_by_ctrl_c_resumes_to_the_same_result",
    ),
    "train q": (
        "test_train_q.py",
        "test_a_training_stopped_by_ctrl_c_resumes_to_the_same_result",
    ),
    "train value": (
        "test_train_value.py",
        "test_a_training_stopped_by_ctrl_c_resumes_to_the_same_result",
    ),
    "web": (
        "test_web.py",
        "test_ctrl_c_stops_the_server_cleanly",
    ),
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a book, a Q-table and a tournament file, as input for commands."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "values.gz").write_bytes(gzip.compress(Q_VALUES.encode()))
    (folder / "league.toml").write_text(LEAGUE)
    for command in (
        ("book", "build", "--plies", "1", "--board", "3x3x3", "--file", "book.npz"),
        ("qtable", "import", "values.gz", "-o", "values.q"),
    ):
        done = run_in_process(command, folder)
        assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.usefixtures("small_match")
@pytest.mark.parametrize("command", ROWS)
def test_a_command_runs_in_a_process_of_its_own(
    command: str, made: Path, fourlab_process: Callable[..., Result], tmp_path: Path
) -> None:
    shutil.copytree(made, tmp_path, dirs_exist_ok=True)
    arguments, stdin, code, words = ROWS[command]
    done = fourlab_process(*command.split(), *arguments, stdin=stdin)
    assert done.returncode == code, done.stderr
    assert words in done.stdout
    assert "Traceback" not in done.stderr


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the names of all commands and subcommands, as they are typed."""
    for name, command in group.items():
        if hasattr(command, "commands"):
            yield from commands(command.commands, (*path, name))
        else:
            yield " ".join((*path, name))


def test_every_command_is_run_in_a_real_process_by_one_test() -> None:
    top = {name: load(name) for name in COMMANDS}
    assert sorted([*ROWS, *ELSEWHERE]) == sorted(commands(top))


@pytest.mark.parametrize(("file", "name"), ELSEWHERE.values(), ids=ELSEWHERE)
def test_the_tests_in_elsewhere_exist_and_are_not_soak_tests(file: str, name: str) -> None:
    text = (ROOT / "tests" / "cli" / file).read_text()
    decorated = re.search(rf"((?:^@.*\n)*)^def {name}\(", text, re.MULTILINE)
    assert decorated is not None
    assert "soak" not in decorated[1]
