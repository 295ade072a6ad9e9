import json
import math
import subprocess
import sys
from collections.abc import Callable

import pytest

Run = Callable[..., subprocess.CompletedProcess[str]]


def test_wilson(fourlab: Run) -> None:
    done = fourlab("stats", "wilson", "98", "100")
    assert done.returncode == 0
    assert done.stdout == "98 of 100: 98.0 %, 95 % interval 93.0 % to 99.4 %\n"
    assert json.loads(fourlab("stats", "wilson", "0", "0", "--json").stdout)["share"] is None


def test_elo_of_pairs(fourlab: Run) -> None:
    done = fourlab("stats", "elo", "177", "1629", "3083", "1780", "221")
    assert done.returncode == 0
    assert "Elo             +6.0 [+2.5, +9.5]\nnormalized Elo  +10.0 [+4.2, +15.8]\n" in done.stdout


def test_three_counts_are_wins_draws_losses(fourlab: Run) -> None:
    data = json.loads(fourlab("stats", "elo", "70", "20", "10", "--json").stdout)
    assert data["unit"] == "game"
    assert data["counts"] == [10, 20, 70]
    assert data["score"] == pytest.approx(0.8)
    assert data["elo"]["value"] > 0


def test_a_clean_score_has_a_one_sided_bound(fourlab: Run) -> None:
    done = fourlab("stats", "elo", "0", "0", "0", "0", "12")
    assert done.returncode == 0
    assert "\nElo             at least +218.9 (95 %, one-sided)\n" in done.stdout
    data = json.loads(fourlab("stats", "elo", "10", "0", "0", "--json").stdout)
    assert data["elo"]["value"] is None
    assert data["elo"]["why"] == "a score of 100 % has no finite Elo"
    assert data["elo"]["low"] == pytest.approx(400 * math.log10(1 / (20**0.1 - 1)))


def test_sprt(fourlab: Run) -> None:
    counts = ("379", "10170", "21828", "10640", "343")
    done = fourlab("stats", "sprt", *counts, "--elo0", "0", "--elo1", "2")
    assert done.returncode == 0
    assert done.stdout.startswith("H1 accepted after 43360 pairs: ")
    assert "(LLR 2.95, bounds -2.94 to 2.94)" in done.stdout
    data = json.loads(
        fourlab("stats", "sprt", *counts, "--elo0", "-2", "--elo1", "0", "--json").stdout
    )
    assert (data["accepted"], data["bounds"]) == ("H1", pytest.approx([-2.944, 2.944], abs=1e-3))


@pytest.mark.parametrize(
    "arguments",
    [
        ("wilson", "3", "2"),
        ("wilson", "--", "-1", "2"),
        ("elo", "1", "2"),
        ("elo", "--", "1", "-2", "3"),
        ("elo", "1", "2", "x"),
        ("sprt", "1", "2", "3"),
        ("sprt", "1", "2", "3", "--elo0", "5", "--elo1", "0"),
        ("sprt", "1", "2", "3", "--elo0", "0", "--elo1", "5", "--alpha", "1"),
        ("sprt", "1", "2", "3", "--elo0", "0", "--elo1", "5", "--model", "other"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(fourlab: Run, arguments: tuple[str, ...]) -> None:
    done = fourlab("stats", *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_the_calculators_load_nothing_heavy() -> None:
    script = (
        "import sys; from fourlab.cli import main\n"
        "try: main(['stats', 'elo', '4', '20', '41', '26', '9'])\n"
        "except SystemExit: pass\n"
        "heavy = {'numba', 'numpy', 'scipy', 'matplotlib', 'torch'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
