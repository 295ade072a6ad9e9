"""The values of empty boards: exact, resumable, and no board is tried in vain."""

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fourlab import Position, Rules, UserError
from fourlab.datasets.boards import SIZES, Value, as_csv, is_hopeless, solve_board
from fourlab.datasets.job import BoardsJob
from fourlab.jobs.job import Conduct, Event, Progress, Session
from fourlab.jobs.kinds import job_of
from fourlab.jobs.runner import begin, work
from tests.solver.brute_force import score
from tools import board_page


def job(folder: Path, nodes: int = 60) -> BoardsJob:
    return BoardsJob(folder / "boards.csv", 3, nodes, 1)


def threads(on_event: Any = lambda event: None) -> Session:
    return Session(Conduct(1, "threads"), on_event)


def without_seconds(file: Path) -> list[list[str]]:
    return [row[:-1] for row in csv.reader(file.read_text().splitlines())]


@pytest.mark.parametrize("in_a_row", [3, 4])
def test_values_agree_with_brute_force(in_a_row: int) -> None:
    for size in SIZES:
        if size[0] * size[1] <= 12:
            value = solve_board(size, in_a_row, 10**9, 1)
            assert value.score == score(Position(board=Rules(*size, in_a_row))), size


def test_distances_and_results_are_those_of_the_score() -> None:
    won, lost, drawn = (solve_board(size, 3, 10**9, 1) for size in ((4, 3), (4, 2), (2, 4)))
    assert (won.result, won.plies) == ("win", 9)
    assert (drawn.result, drawn.plies) == ("draw", 8)
    assert lost.result == Value(4, 2, lost.score, 0, 0.0).result
    unknown = Value(7, 7, None, 100, 1.5)
    assert (unknown.result, unknown.plies) == ("", None)
    assert as_csv([won, unknown], 3).splitlines()[2] == "7,7,3,,,,100,1.5"


def test_all_sizes_are_boards_by_their_number_of_cells() -> None:
    assert all(Rules(*size) for size in SIZES)
    assert (9, 6) in SIZES
    cells = [columns * rows for columns, rows in SIZES]
    assert cells == sorted(cells)
    assert cells[-1] == 60


def test_no_board_is_tried_that_is_larger_than_one_that_was_too_hard(tmp_path: Path) -> None:
    results = work(job(tmp_path), begin(job(tmp_path), tmp_path), threads())
    assert results is not None
    rows = [tuple(row[:2]) for row in without_seconds(tmp_path / "boards.csv")[1:]]
    tried = [(int(columns), int(height)) for columns, height in rows]
    assert results["solved"] + results["not_solved"] == len(tried) < len(SIZES)
    values = [Value(*size, 0, 1, 0.0) for size in tried]
    hard = [
        Value(int(row[0]), int(row[1]), None, 60, 0.0)
        for row in without_seconds(tmp_path / "boards.csv")[1:]
        if row[3] == ""
    ]
    assert len(hard) == results["not_solved"] > 0
    assert not any(is_hopeless(size, values) for size in SIZES)
    assert {size for size in SIZES if not is_hopeless(size, hard)} == {
        size for size in tried if size not in {(value.columns, value.rows) for value in hard}
    }


def test_a_stopped_run_resumes_and_more_nodes_extend_it(tmp_path: Path) -> None:
    run = begin(job(tmp_path), tmp_path)

    def stop(event: Event) -> None:
        if isinstance(event, Progress) and event.done >= 10:
            session.stop()

    session = threads(stop)
    assert work(job(tmp_path), run, session) is None
    stored = json.loads((run.folder / "boards.json").read_text())["boards"]
    assert 10 <= len(stored) < 20
    assert work(job_of(run), run, threads()) is not None
    assert json.loads((run.folder / "boards.json").read_text())["boards"][: len(stored)] == stored
    more = job(tmp_path, nodes=500)
    assert begin(more, tmp_path) == run
    assert work(more, run, threads()) is not None

    straight = replace(more, file=tmp_path / "straight.csv")
    assert work(straight, begin(straight, tmp_path / "other"), threads()) is not None
    assert without_seconds(straight.file) == without_seconds(tmp_path / "boards.csv")


def test_the_published_tables_agree_with_ours() -> None:
    rows = board_page.read(board_page.REFERENCE / "board-values-4.csv")
    solved = [row for row in rows if row.result]
    agreed = [is_same for row in solved for _, is_same in board_page.published(row)]
    assert len(agreed) >= 20
    assert all(agreed)
    for row in solved:
        if row.nodes < 20_000:
            value = solve_board((row.columns, row.rows), 4, 10**9, 64)
            assert (value.result, value.plies, value.nodes) == (row.result, row.plies, row.nodes)


@pytest.mark.parametrize(
    "boards",
    [
        "[]",
        '{"boards": 3}',
        '{"boards": [{"columns": 2}]}',
        '{"boards": [{"columns": 99, "rows": 2, "score": 0, "nodes": 1, "seconds": 1}]}',
        '{"boards": [{"columns": 3, "rows": 2, "score": 9, "nodes": 1, "seconds": 1}]}',
        '{"boards": [{"columns": 3, "rows": 2, "score": "x", "nodes": 1, "seconds": 1}]}',
        '{"boards": [{"columns": [], "rows": 2, "score": 0, "nodes": 1, "seconds": 1}]}',
    ],
)
def test_boards_that_this_job_did_not_write_are_refused(tmp_path: Path, boards: str) -> None:
    run = begin(job(tmp_path), tmp_path)
    run.write("boards.json", boards)
    with pytest.raises(UserError, match=r"does not hold the values of boards"):
        work(job(tmp_path), run, threads())


@pytest.mark.parametrize(
    "changed", [{"in_a_row": 2}, {"nodes": 0}, {"nodes": "many"}, {"memory_mb": -1}]
)
def test_a_job_that_cannot_be_is_refused(tmp_path: Path, changed: dict[str, Any]) -> None:
    run = begin(job(tmp_path), tmp_path)
    manifest = {**run.manifest, "config": {**run.config, **changed}}
    run.write("manifest.json", manifest)
    del run.__dict__["manifest"]
    with pytest.raises(UserError):
        job_of(run).check()
