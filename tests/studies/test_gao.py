"""Gao's experiments at the smallest scale, and the exact facts they rest on."""

import itertools
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

from fourlab.agent import Agent
from fourlab.agents.registry import make
from fourlab.arena.tally import Tally
from fourlab.game.position import Position
from fourlab.jobs.executors import Work
from fourlab.jobs.executors.threads import Threads
from fourlab.reporting.figures import render
from fourlab.studies.catalogue import all_experiments, chosen, items_of
from fourlab.studies.claims import Claim, Counts, Estimate
from fourlab.studies.gao import algorithm, convergence, future, games, parallel, root
from fourlab.studies.pages import fill
from fourlab.studies.trainings import ONE_TRAINING
from fourlab.studies.workbench import Part, Picture, Table, Text, Workbench

SIZES = {
    "002-algorithm-1": {"runs": 3},
    "002-games": {"games": 6, "weak_games": 3},
    "002-table-1": {"sets": 4},
    "002-convergence": {"runs": 12, "simulations": 500, "positions": 6},
    "002-future": {"simulations": 10, "rounds": 1},
    "002-parallel": {
        **{"simulations": 100, "rounds": 1, "timed": 300, "pairs": 1},
        "probe": 100,
    },
    "002-ablation": {"pairs": 1, "positions": 4},
}
"""As small as smoke, or smaller."""
CLAIMS = {
    "002-algorithm-1": 2,
    "002-games": 3,
    "002-table-1": 13,
    "002-convergence": 13,
    "002-future": 9,
    "002-parallel": 6,
    "002-ablation": 3,
}
"""The number of claims by experiment."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("gao")


def conducted(folder: Path, name: str) -> list[Part]:
    """Return the parts of an experiment; its work is done once for all tests."""
    experiment = all_experiments()[name]
    return list(experiment.conduct(Workbench(folder / name, "smoke", SIZES[name], 0, Threads(1))))


def claims(folder: Path, name: str) -> dict[str, Claim]:
    parts = conducted(folder, name)
    return {part.name: part for part in parts if isinstance(part, Claim)}


def answers(claim: Claim) -> tuple[str | None, str | None]:
    """Return what the tests say: reproduced, true."""
    reproduced, true = (verdict and verdict.answer for verdict in (claim.reproduced, claim.true))
    return reproduced, true


@pytest.mark.parametrize("name", SIZES)
def test_every_experiment_repeats_its_results_and_its_pictures_can_be_drawn(
    folder: Path, name: str
) -> None:
    parts = conducted(folder, name)
    again = conducted(folder, name)
    assert [part for part in parts if not isinstance(part, Picture)] == [
        part for part in again if not isinstance(part, Picture)
    ]
    number = sum(isinstance(part, Claim) for part in parts)
    assert number == len(claims(folder, name)) == CLAIMS[name]
    for picture in (part for part in parts if isinstance(part, Picture)):
        assert render(picture.draw(), "svg").startswith(b"<svg")
        assert picture.data.rows
        assert all(len(row) == len(picture.data.head) for row in picture.data.rows)


def test_every_item_of_the_report_is_covered() -> None:
    experiments = chosen(["gao"])
    assert [experiment.name for experiment in experiments] == list(SIZES)
    assert {item for experiment in experiments for item in experiment.ids} == {
        f"D2-{number:02}" for number in range(1, 9)
    }
    assert [item.name for item in items_of("gao")] == [
        "algorithm-1",
        "figure-1",
        "table-1",
        "figure-2",
        "figure-3",
    ]


def test_the_summary_finds_all_its_values(folder: Path) -> None:
    everything = {key: claim for name in SIZES for key, claim in claims(folder, name).items()}
    file = Path(root.__file__).with_name("summary.md")
    text = fill(file.read_text(encoding="utf-8"), everything)
    assert text is not None
    assert "{" not in text


# --- Algorithm 1 and the games --------------------------------------------------------------------


def test_the_first_seven_simulations_try_the_seven_columns(folder: Path) -> None:
    (text,) = [part for part in conducted(folder, "002-algorithm-1") if isinstance(part, Text)]
    lines = text.lines.splitlines()[2 : 2 + algorithm.SHOWN]
    for number, line in enumerate(lines, 1):
        counts = line.split()[-7:]
        visits = [0 if count == "." else int(count.partition("/")[2]) for count in counts]
        assert sum(visits) == number
    assert visits.count(0) == 0
    assert sorted(visits[:7]) == sorted(visits)


def test_the_plain_program_and_the_compiled_search_agree() -> None:
    plain = [algorithm._plain_value(0, number) for number in range(12)]
    compiled = [algorithm._compiled_value(0, number) for number in range(200)]
    error = np.std(compiled) / np.sqrt(len(plain))
    assert abs(np.mean(plain) - np.mean(compiled)) < 4 * error


def test_discs_do_not_go_to_the_top(folder: Path) -> None:
    cell = claims(folder, "002-algorithm-1")["algorithm-1-cell"]
    assert answers(cell) == (None, "differs")
    assert Position("4").grid()[-1][3] == 1


def test_the_results_of_all_games_are_counted(folder: Path) -> None:
    results = claims(folder, "002-games")
    for simulations, number in ((500, 6), (50, 3)):
        claim = results[f"games-{simulations}"]
        assert isinstance(claim.faithful, Counts)
        assert isinstance(claim.corrected, Counts)
        assert claim.faithful.n == claim.corrected.n == number
        assert claim.faithful.counts["won"] >= number - 1


def test_the_example_game_ends_with_a_horizontal_line_of_x(folder: Path) -> None:
    (text,) = [part for part in conducted(folder, "002-games") if isinstance(part, Text)]
    assert text.lines.startswith(" 1. X column ")
    assert any("X X X X" in line for line in text.lines.splitlines())
    assert text.lines.splitlines()[-1] == "red wins", "no side is to move"


@pytest.mark.parametrize(
    ("moves", "direction"),
    [
        ("1122334", "horizontal"),
        ("1213141", "vertical"),
        ("12233434414", "diagonal, or several lines"),
    ],
)
def test_the_direction_of_a_winning_line(moves: str, direction: str) -> None:
    assert games.direction(Position(moves)) == direction


# --- Table I --------------------------------------------------------------------------------------


def test_table_1_is_neither_near_nor_symmetric(folder: Path) -> None:
    results = claims(folder, "002-table-1")
    assert answers(results["table-1-column-4"])[0] == "differs"
    assert answers(results["table-1-distance"])[0] == "differs"
    for left, right in ((1, 7), (2, 6), (3, 5)):
        claim = results[f"table-1-mirror-{left}-{right}"]
        assert answers(claim)[1] == "differs"
        assert claim.why.endswith("p = 0.0007, 0.002, 2e-08")
    assert answers(results["table-1-best"]) == ("agrees", "agrees")


def test_no_margin_of_mirror_images_says_anything() -> None:
    # The reported differences are smaller than any that one run of 500 simulations can show.
    noise = np.random.default_rng(0).normal(0.5, 1, (400, 7))
    for claim in root._mirrored(50 + 9 * noise):
        assert answers(claim)[0] == "no verdict"
        assert claim.kind == "diagnostic"


def test_random_rollouts_win_as_often_as_in_other_programs(folder: Path) -> None:
    (table,) = [part for part in conducted(folder, "002-table-1") if isinstance(part, Table)]
    expected = (0.512, 0.544, 0.575, 0.640, 0.570, 0.543, 0.511)
    for row, share in zip(table.rows, expected, strict=True):
        assert float(str(row[-2])) == pytest.approx(share, abs=0.006)
    assert [str(row[-1]).split()[0] for row in table.rows] == [
        "loses",
        "loses",
        "draw",
        "wins",
        "draw",
        "loses",
        "loses",
    ]


# --- Figures 2 and 3 ------------------------------------------------------------------------------


def test_visits_follow_values(folder: Path) -> None:
    results = claims(folder, "002-convergence")
    assert answers(results["figure-3-rank"]) == ("agrees", "agrees")
    values = np.array([0.5, 0.2, 0.2, 0.9])
    visits = np.array([3.0, 1.0, 2.0, 8.0])
    assert convergence.rank_correlation(values, visits) == pytest.approx(
        spearmanr(values, visits).statistic
    )


def test_means_of_convergence_have_intervals(folder: Path) -> None:
    results = claims(folder, "002-convergence")
    for name in ("figure-2-change-early", "figure-2-change-late", "figure-3-centre"):
        for value in (results[name].faithful, results[name].corrected):
            assert isinstance(value, Estimate)
            assert value.low is not None
            assert value.high is not None
            assert value.low < value.value < value.high


def traces(best: list[int]) -> convergence.Traces:
    """Return one run per entry, whose best column at marks 50, 500 and 1000 is that one."""
    values = np.zeros((len(best), 3, 7))
    values[:, 0, 0] = 1  # at first, all prefer column 1
    for run, column in enumerate(best):
        values[run, 1:, column] = 1
    return convergence.Traces(np.array([50, 500, 1000]), values, values)


@pytest.mark.parametrize(
    ("faithful", "corrected", "expected"),
    [
        ([3] * 200, [3] * 200, ("agrees", "agrees")),
        ([3] * 100 + [2] * 100, [3] * 100 + [2] * 100, ("agrees", "differs")),
        ([2] * 200, [3] * 200, ("differs", "agrees")),
        ([3] * 2, [3] * 2, ("cannot tell", "cannot tell")),
    ],
)
def test_a_strategy_is_optimal_if_the_runs_end_at_column_4(
    faithful: list[int], corrected: list[int], expected: tuple[str, str]
) -> None:
    *_, last = convergence._optimal(traces(faithful), traces(corrected))
    assert last.name == "optimal-last"
    assert answers(last) == expected
    assert str(last.faithful).startswith(f"{100 * faithful.count(3) / len(faithful):.1f} %")


def test_a_move_that_loses_the_value_is_a_mistake() -> None:
    specs = ("random", "perfect")
    judged = [convergence._keeps(specs, 40, 0, number) for number in range(40)]
    possible = [rows for rows in judged if rows]
    assert 0 < len(possible) < 40
    assert all(perfect for _, perfect in possible)
    assert 0 < sum(random for random, _ in possible) < len(possible)


# --- future work ----------------------------------------------------------------------------------


def test_every_player_meets_every_other(folder: Path) -> None:
    tables = [part for part in conducted(folder, "002-future") if isinstance(part, Table)]
    assert [row[1] for row in tables[1].rows] == [18] * 10
    assert [row[0] for row in tables[0].rows] == list(future.WHY) == list(future.SLUGS)


def test_a_gain_has_an_interval_and_one_pair_has_none(folder: Path) -> None:
    assert future.gain(Tally((0, 0, 1, 0, 0))) == "no Elo: too few pairs: 10 are needed"
    clean = Tally((0, 0, 0, 0, 15))
    assert future.gain(clean) == "no Elo: a score of 100 % has no finite Elo"
    # A score of 0.65 ± 1.96 · √(1.475 / 15 / 15).
    gain = future.gain(Tally((1, 2, 4, 3, 5)))
    assert isinstance(gain, Estimate)
    assert gain.n == 30
    assert [gain.value, gain.low, gain.high] == pytest.approx([107.5, -6.0, 250.4], abs=0.05)
    unbounded = future.gain(Tally((0, 0, 0, 1, 14)))
    assert isinstance(unbounded, Estimate)
    assert "no bound" in str(unbounded)
    stronger = {
        tally: future.stronger(tally).answer
        for tally in (
            clean,
            Tally((1, 2, 4, 3, 5)),
            Tally((20, 5, 4, 0, 0)),
            Tally((1, 0, 0, 0, 0)),
        )
    }
    assert list(stronger.values()) == ["agrees", "cannot tell", "differs", "cannot tell"]
    results = claims(folder, "002-future")
    gains = [results[f"future-gain-{slug}"].corrected for slug in future.SLUGS.values()]
    judged = {slug for slug in future.SLUGS.values() if results[f"future-gain-{slug}"].true}
    assert judged == set(future.SLUGS.values()) - {"network"}, "one training cannot decide"
    assert results["future-gain-network"].why == ONE_TRAINING
    # Of one pair that one side won, or of one that ended otherwise.
    reasons = ("no Elo: too few pairs", "no Elo: a score of ")
    assert all(str(gain).startswith(reasons) for gain in gains)


def test_threads_are_measured_by_the_same_work(monkeypatch: pytest.MonkeyPatch) -> None:
    specs = list[str]()

    def recorded(spec: str) -> Agent:
        specs.append(spec)
        return make(spec)

    monkeypatch.setattr(parallel, "make", recorded)
    monkeypatch.setattr(parallel, "processors", lambda simulations: 1.9)
    measured = parallel._speeds(400, 100, 0)
    assert list(measured) == list(parallel.WAYS)
    for turns in measured.values():
        assert len(turns) == parallel.TURNS
        assert all(turn["one"] > 0 and turn["two"] > 0 for turn in turns)
        assert {turn["idle"] for turn in turns} == {1.9}
    simulations = [spec.split("simulations=")[1].split(",")[0] for spec in specs]
    assert simulations == ["400", "400", "200", "200"]
    assert [spec.partition(",runs=")[2] for spec in specs] == ["", "", "2", "2"]


def test_speed_is_not_measured_on_a_busy_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for probes in ([1.3], [1.9, 1.9, 1.3]):  # busy all the time, or only after a turn
        had = itertools.cycle(probes)
        monkeypatch.setattr(parallel, "processors", lambda simulations, had=had: next(had))
        assert parallel._speeds(100, 100, 0) == {way: [] for way in parallel.WAYS}


def test_two_busy_threads_get_at_most_two_processors() -> None:
    had = parallel.processors(2000)
    # CPU clocks tick more coarsely than the wall clock.
    assert 0 <= had < 3


@pytest.mark.parametrize(("idle", "refused"), [(1.3, True), (1.95, False)])
def test_a_busy_machine_gives_no_number(idle: float, refused: bool, tmp_path: Path) -> None:
    at_once = list[int]()
    speeds = [{"one": 100.0, "two": two, "idle": idle} for two in (180.0, 190.0, 200.0)]
    if refused:
        del speeds[1:]  # one usable turn is too few

    class Counting(Threads):
        def map(self, work: Work, items: Iterable[int]) -> Iterator[list[tuple[int, Any]]]:
            numbers = list(items)
            at_once.append(len(numbers))
            pair = {"results": [1, -1], "idle": [2.0, idle, 2.0]}
            speed = dict.fromkeys(parallel.WAYS, speeds)
            timed = "timed_pair" in repr(work)
            yield [(number, pair if timed else speed) for number in numbers]

    size = {"pairs": 3, "timed": 100, "probe": 100}
    bench = Workbench(tmp_path, "smoke", size, 0, Counting(2))
    (strength,) = parallel._strength(bench)
    assert isinstance(strength, Claim)
    assert (strength.corrected == parallel.REFUSED) == refused
    # One pair after another; no more of them once too many were useless.
    assert at_once == ([1, 1] if refused else [1, 1, 1])
    parts = list(parallel._speed(bench))
    measured = [part for part in parts if isinstance(part, Claim)]
    assert [claim.corrected == parallel.REFUSED for claim in measured] == [refused, refused]
    if refused:
        assert all(claim.true is None for claim in (strength, *measured))
    else:
        ratio = "1.90 [1.65, 2.15] of 3, sd 0.10"
        assert [str(claim.corrected) for claim in measured] == [ratio, ratio]
        assert answers(measured[0]) == (None, "agrees")


def test_only_pairs_with_idle_processors_count() -> None:
    won = {"results": [1, 1], "idle": [2.0, 1.9]}
    busy = {"results": [-1, -1], "idle": [2.0, 0.7]}
    assert parallel.usable_pairs([won, won, busy]) == Tally((0, 0, 0, 0, 2))
    assert parallel.usable_pairs([won, busy, busy]) is None


def test_arms_at_equal_simulations_name_their_search_and_their_size(folder: Path) -> None:
    results = claims(folder, "002-parallel")
    assert "our own search (mcts)" in results["parallel-equal-one-tree"].quantity
    assert "the report's search (gao)" in results["parallel-equal-trees"].quantity
    half = results["parallel-equal-half"]
    assert "one tree of 50 simulations against one of 100: gain" in half.quantity
    assert not half.verdicts()


def test_what_starting_threads_cost_is_quoted_from_data() -> None:
    words = parallel._started()
    for number in ("10 ms", "400 moves", "2 simulations", "5,414", "2,634", "0.1 ms"):
        assert number in words
