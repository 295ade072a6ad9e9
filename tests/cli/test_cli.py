"""What all commands have in common, and the small ones."""

import json
import os
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from pathlib import Path

import pytest

import fourlab as package
from fourlab import Position
from tests.processes import children, runs, wait_until

Run = Callable[..., subprocess.CompletedProcess[str]]
COMMANDS = ["play", "show", "agents", "positions", "perft", "bench", "warmup"]


def test_every_command_has_help(fourlab: Run) -> None:
    top = fourlab("--help")
    assert top.returncode == 0
    for command in COMMANDS:
        assert re.search(rf"^  {command} ", top.stdout, re.MULTILINE)
        page = fourlab(command, "--help")
        assert page.returncode == 0
        assert "--json" in page.stdout


def test_help_loads_nothing_heavy() -> None:
    code = (
        "import sys\nfrom fourlab.cli import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "heavy = {'numba', 'torch', 'scipy', 'matplotlib', 'numpy', 'onnxruntime'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_show_loads_no_compiler() -> None:
    code = (
        "import sys\nfrom fourlab.cli import main\n"
        "try: main(['show', '4453'])\nexcept SystemExit: pass\nprint('numba' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "False"


def test_version(fourlab: Run) -> None:
    assert fourlab("--version").stdout == f"fourlab {package.__version__}\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("show", "44x"),
        ("show", "44444444"),
        ("show", "--board", "99x99"),
        ("show", "--unknown"),
        ("show", "44", "--svg", "no/such/folder/board.svg"),
        ("nonsense",),
        ("agents", "nobody"),
        ("play", "--red", "nobody"),
        ("play", "--seconds", "0"),
        ("play", "--seconds", "soon"),
        ("play", "--seed", "-1"),
        ("perft", "-1"),
        ("perft", "deep"),
        ("perft", "3", "--start", "1212121"),
        ("perft",),
    ],
)
def test_bad_input_is_one_line_and_exit_code_2(fourlab: Run, arguments: tuple[str, ...]) -> None:
    done = fourlab(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("fourlab: ")
    assert done.stderr.count("\n") == 1


def test_show_draws_the_board_and_every_notation(fourlab: Run) -> None:
    done = fourlab("show", "4453")
    assert "  .  .  O  X  X  .  . \n" in done.stdout
    assert "red (X) to move, 4 discs on the board" in done.stdout
    for notation in (
        "moves    4453",
        "moves0   0:3342",
        "letters  ddec",
        "fen      7/7/7/7/3y3/2yrr2 r 4",
    ):
        assert notation in done.stdout


def test_show_marks_the_winning_line_without_colour(fourlab: Run) -> None:
    done = fourlab("show", "1212121")
    assert done.stdout.count("(X)") == 4
    assert "red wins with a1 a2 a3 a4" in done.stdout
    assert "\x1b" not in done.stdout


def test_show_as_json(fourlab: Run) -> None:
    shown = json.loads(fourlab("show", "vannucci-abril", "--json").stdout)
    assert shown["legal_columns"] == [5, 7]
    assert shown["to_move"] == "red"
    assert shown["outcome"] is None
    assert "moves" not in shown["notations"]
    assert Position(shown["notations"]["fen"]) == Position("vannucci-abril")


def test_show_accepts_hand_made_boards_with_any_counts(fourlab: Run) -> None:
    assert fourlab("show", "7/7/7/7/7/rrr4 y 4").returncode == 2
    assert fourlab("show", "7/7/7/7/7/rrr4 y 4", "--any-counts").returncode == 0


def test_show_draws_a_picture(fourlab: Run, tmp_path: Path) -> None:
    assert fourlab("show", "4453", "--svg", "board.svg").returncode == 0
    assert ElementTree.parse(tmp_path / "board.svg").getroot().tag.endswith("svg")


def test_agents_lists_names_and_options(fourlab: Run) -> None:
    text = fourlab("agents").stdout
    assert re.search(r"^rules +Wins if it can", text, re.MULTILINE)
    assert "otherwise=centre" in text
    listed = {agent["name"]: agent for agent in json.loads(fourlab("agents", "--json").stdout)}
    assert {"human", "random", "rules"} <= set(listed)
    assert listed["arya-examples"]["preset_of"] == "rules:otherwise=random"
    assert [agent["name"] for agent in json.loads(fourlab("agents", "rules", "--json").stdout)] == [
        "rules"
    ]


def test_positions_lists_names(fourlab: Run, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('my-own = "44"\n')
    assert "vannucci-abril" in fourlab("positions").stdout
    listed = json.loads(fourlab("positions", "--json", FOURLAB_POSITIONS=str(file)).stdout)
    assert {"vannucci-abril", "my-own"} <= {position["name"] for position in listed}
    assert fourlab("show", "my-own", FOURLAB_POSITIONS=str(file)).returncode == 0


def test_perft_counts_by_first_column(fourlab: Run) -> None:
    counted = json.loads(fourlab("perft", "8", "--json").stdout)
    assert counted["count"] == 5673234
    assert sum(counted["by_column"].values()) == 5673234
    assert "perft 3: 343" in fourlab("perft", "3").stdout
    assert json.loads(fourlab("perft", "0", "--json").stdout)["count"] == 1


def test_perft_splits_deep_counts_without_losing_any(fourlab: Run) -> None:
    whole = json.loads(fourlab("perft", "11", "--board", "4x4", "--json").stdout)
    parts = json.loads(fourlab("perft", "10", "--board", "4x4", "--start", "1", "--json").stdout)
    assert whole["by_column"]["1"] == parts["count"]


def test_perft_of_distinct_positions(fourlab: Run) -> None:
    counted = json.loads(fourlab("perft", "99", "--board", "4x4", "--distinct", "--json").stdout)
    assert counted["total"] == 161029
    assert "ply 2: 49" in fourlab("perft", "2", "--distinct").stdout


def test_warmup_reports_the_cache_and_the_times(fourlab: Run) -> None:
    done = fourlab("warmup", "planes", "minimax", "--jobs", "2", "--json")
    warmed = json.loads(done.stdout)
    assert Path(warmed["cache"]).is_dir()
    assert warmed["jobs"] == 2
    assert list(warmed["seconds"]) == list(warmed["cpu_seconds"]) == ["planes", "minimax"]
    assert [line.split(":")[1][:7] for line in done.stderr.splitlines()] == [
        " 2 grou",
        " [1/2] ",
        " [2/2] ",
    ]
    assert (
        fourlab("warmup", "planes").stdout
        == f"groups of kernels ready in {warmed['cache']}: planes\n"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["tree", "solver"], "there is no group of kernels 'tree'; groups are "),
        (["--jobs", "0"], "--jobs must be a whole number from 1 to 16"),
        (["--jobs", "17"], "--jobs must be a whole number from 1 to 16"),
    ],
)
def test_bad_arguments_of_warmup_are_reported_in_one_line(
    fourlab: Run, arguments: list[str], message: str
) -> None:
    done = fourlab("warmup", *arguments)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert message in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="processes are counted in /proc")
def test_ctrl_c_ends_a_warmup_and_its_children(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "fourlab", "warmup", "tree search", "solver", "--jobs", "2"]
    environment = {**os.environ, "FOURLAB_CACHE_DIR": str(tmp_path)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as process:
        wait_until(lambda: len(children(process.pid)) == 2)
        started = children(process.pid)
        process.send_signal(signal.SIGINT)
        _, printed = process.communicate()
        assert process.returncode == 130
        assert "Traceback" not in printed
        wait_until(lambda: not any(map(runs, started)))


def test_the_first_compilation_is_announced_and_the_second_run_is_silent(tmp_path: Path) -> None:
    program = (
        "from fourlab.compiled import _jit; _jit.NOTICE_SECONDS = 0\n"
        "from fourlab.cli import main; main(['perft', '3'])"
    )
    environment = {**os.environ, "FOURLAB_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-c", program]
    first = subprocess.run(command, capture_output=True, text=True, env=environment)
    again = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert first.stderr.startswith(
        "fourlab: compiling compiled.counting.perft for this machine, once"
    )
    assert first.stderr.count("\n") == 1
    assert again.stderr == ""


def test_bench_prints_ratios_and_a_signature(fourlab: Run) -> None:
    measured = json.loads(fourlab("bench", "--json").stdout)
    assert measured["signature"] == 5716239
    assert all(row["ratio"] > 0 for row in measured["rates"])


def test_a_closed_pipe_is_not_an_error() -> None:
    done = subprocess.run(
        f"{sys.executable} -m fourlab perft 6 --distinct | head -1",
        shell=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "ply 0: 1\n"
    assert "Traceback" not in done.stderr


def test_without_a_command_the_help_is_printed(fourlab: Run) -> None:
    done = fourlab()
    assert done.returncode == 0
    assert done.stdout == fourlab("--help").stdout


def test_perft_deeper_than_the_board_is_zero_at_once(fourlab: Run) -> None:
    assert json.loads(fourlab("perft", "99", "--board", "4x4", "--json").stdout)["count"] == 0
    assert (
        json.loads(fourlab("perft", "9" * 30, "--board", "3x2x3", "--distinct", "--json").stdout)[
            "total"
        ]
        > 1
    )


def test_perft_of_a_hand_made_board(fourlab: Run) -> None:
    done = fourlab("perft", "1", "--start", "7/7/7/7/7/rrr4 y 4", "--any-counts", "--json")
    assert json.loads(done.stdout)["count"] == 7


@pytest.mark.parametrize("redirection", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_give_no_traceback(redirection: str) -> None:
    command = f"{sys.executable} -m fourlab play --red rules --yellow human {redirection}"
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.returncode == 0
    assert "Traceback" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        "match random rules --games 2 --run NAME",
        "match random rules --games 2 --runs NAME",
        "tournament NAME",
        "resume NAME",
        "verify NAME",
        "games NAME",
        "runs NAME",
        "open NAME",
        "study verify NAME",
        "play --yellow alphazero:net=NAME",
        "train alphazero --preset smoke --start NAME",
        "export kaggle alphazero:net=NAME",
        "dataset solved --positions 2 --output NAME",
    ],
)
def test_a_name_that_no_file_can_have_is_refused_in_one_line(
    fourlab: Run, tmp_path: Path, arguments: str
) -> None:
    done = fourlab(*arguments.replace("NAME", "x" * 400).split())
    assert done.returncode == 2
    assert "too long" in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_is_reported_in_one_line() -> None:
    done = subprocess.run(
        f"{sys.executable} -m fourlab show 44 > /dev/full",
        shell=True,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr == "fourlab: [Errno 28] No space left on device\n"


def test_characters_that_the_terminal_cannot_encode_are_escaped(
    fourlab_process: Run, tmp_path: Path
) -> None:
    file = str(tmp_path / "é.toml")
    done = fourlab_process("positions", FOURLAB_POSITIONS=file, PYTHONIOENCODING="ascii")
    assert done.returncode == 0
