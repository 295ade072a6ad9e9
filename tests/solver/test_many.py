"""Solving many positions: answers agree with the solver, and stopped work is resumed."""

import json
from functools import cache
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from fourlab import Position, Rules, UserError
from fourlab.jobs.executors.local import Local
from fourlab.jobs.executors.threads import Threads
from fourlab.solver import Solver
from fourlab.solver.build import unfinished_positions
from fourlab.solver.many import (
    CHUNK,
    OnProgress,
    Question,
    column_scores,
    result,
    score,
    solve_all,
    solve_chunk,
)
from fourlab.solver.solution import CLOSED

SMALL = Rules(4, 4)
ABOUT: dict[str, object] = {"what": "a test"}


@cache
def keys() -> np.ndarray:
    """Return 40 positions of ply 9."""
    level = next(islice(unfinished_positions(SMALL), 9, None))
    return level[:40]


def solve(
    question: Question, journal: Path, on_progress: OnProgress = lambda done, total: None
) -> np.ndarray:
    """Answer a question for all positions with two worker processes."""
    answers = solve_all(keys(), SMALL, question, journal, ABOUT, Local(2), on_progress)
    assert answers is not None
    return answers


def test_every_question_is_answered_for_every_position() -> None:
    solver = Solver(book=None)
    scores, results, columns = (
        np.array(solve_chunk(keys(), str(SMALL), question), np.int8)
        for question in (score, result, column_scores)
    )
    for i, key in enumerate(keys()):
        position = Position.from_key(key, SMALL)
        assert scores[i] == solver.solve(position).score == columns[i].max()
        assert results[i] == np.sign(scores[i])
        solutions = solver.columns(position)
        assert columns[i].tolist() == [
            solutions[column].score if column in solutions else CLOSED for column in range(4)
        ]
    assert CLOSED in columns


def test_positions_in_the_journal_are_not_solved_again(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    whole = solve(column_scores, journal)
    heading, *chunks = journal.read_text().splitlines(keepends=True)
    # Chunks are written in the order in which they are finished.
    lines = [heading, *sorted(chunks, key=lambda line: json.loads(line)["start"])]
    assert len(lines) == 1 + 3
    assert np.array_equal(whole, solve_chunk(keys(), str(SMALL), column_scores))
    assert whole.dtype == np.int8
    journal.write_text("".join(lines[:2]) + lines[2][:-9])  # a power failure
    events: list[tuple[int, int]] = []
    again = solve(
        column_scores, journal, on_progress=lambda done, total: events.append((done, total))
    )
    assert np.array_equal(again, whole)
    assert events[0] == (CHUNK, 40)
    assert events[-1] == (40, 40)
    assert sorted(journal.read_text().splitlines()) == sorted("".join(lines).splitlines())
    altered = json.loads(lines[1])
    altered["scores"] = [[5, 5, 5, 5]] * CHUNK
    journal.write_text(lines[0] + json.dumps(altered) + "\n" + "".join(lines[2:]))
    answers = solve(column_scores, journal)
    assert answers[0].tolist() == [5, 5, 5, 5]  # from the journal


def test_a_journal_of_other_work_is_refused(tmp_path: Path) -> None:
    journal = tmp_path / "journal"
    solve_all(keys()[:1], SMALL, score, journal, ABOUT, Threads(1))
    with pytest.raises(UserError, match="belongs to another book or data set"):
        solve_all(keys()[:1], SMALL, score, journal, {"what": "another test"}, Threads(1))
    journal.write_text(journal.read_text() + '{"start": 16, "scores": [[1, 2], [3]]}\n')
    with pytest.raises(UserError, match="is not the journal"):
        solve(score, journal)


NUMBERS = [0] * CHUNK


@pytest.mark.parametrize(
    "line",
    [
        *("null", "7", "[]", "{}", '"x"', "NaN", "[" * 99_999, "9" * 5_000, ""),
        json.dumps({"start": "0", "scores": NUMBERS}),
        json.dumps({"start": 1e999, "scores": NUMBERS}),
        json.dumps({"start": 0.0, "scores": NUMBERS}),
        json.dumps({"start": True, "scores": NUMBERS}),
        json.dumps({"start": 0, "scores": None}),
        json.dumps({"start": 0, "scores": {}}),
        json.dumps({"start": 0, "scores": [0.5] * CHUNK}),
        json.dumps({"start": 0, "scores": ["0"] * CHUNK}),
        json.dumps({"start": 0, "scores": [True] * CHUNK}),
        json.dumps({"start": 0, "scores": [10**9] * CHUNK}),
        json.dumps({"start": 0, "scores": [10**30] * CHUNK}),
        json.dumps({"start": 0, "scores": [[0], 1]}),
        json.dumps({"start": 0}),
    ],
)
def test_a_line_that_is_no_chunk_is_refused_and_nothing_is_lost(tmp_path: Path, line: str) -> None:
    journal = tmp_path / "journal"
    journal.write_text(json.dumps({**ABOUT, "chunk": CHUNK}) + f"\n{line}\n")
    before = journal.read_bytes()
    with pytest.raises(UserError, match="is not the journal of a book or data set"):
        solve_all(keys(), SMALL, score, journal, ABOUT, Threads(1))
    assert journal.read_bytes() == before


@pytest.mark.parametrize("first", ["[" * 99_999, "null", "[]", "9" * 5_000, "\xff", '{"x": [[]]}'])
def test_a_first_line_of_something_else_is_refused(tmp_path: Path, first: str) -> None:
    journal = tmp_path / "journal"
    journal.write_text(f"{first}\n", encoding="latin-1")
    with pytest.raises(UserError, match="move it away to begin anew"):
        solve_all(keys(), SMALL, score, journal, ABOUT, Threads(1))


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (score, [0]),
        (score, [0, 0, 0, 0]),
        (score, 9),
        (score, CLOSED),
        (result, 2),
        (column_scores, 0),
        (column_scores, [0, 0, 0]),
        (column_scores, [9, 0, 0, 0]),
        (column_scores, [[0], [0], [0], [0]]),
    ],
)
def test_answers_that_do_not_fit_the_question_are_computed_again(
    tmp_path: Path, question: Question, answer: object
) -> None:
    journal = tmp_path / "journal"
    heading = json.dumps({**ABOUT, "chunk": CHUNK})
    chunk = json.dumps({"start": 0, "scores": [answer] * CHUNK})
    journal.write_text(f"{heading}\n{chunk}\n")
    answers = solve_all(keys(), SMALL, question, journal, ABOUT, Threads(1))
    expected = np.array(solve_chunk(keys(), str(SMALL), question), np.int8)
    assert answers is not None
    assert answers.tolist() == expected.tolist()


@pytest.mark.parametrize("content", [b"\xff\n", b"[" * 99_999, b"", b"null\n"])
def test_a_file_beside_the_product_that_is_no_journal_is_left_alone(
    tmp_path: Path, content: bytes
) -> None:
    earlier = tmp_path / "book.npz.journal"
    earlier.write_bytes(content)
    solve_all(keys()[:1], SMALL, score, tmp_path / "j", ABOUT, Threads(1), earlier=earlier)
    assert earlier.read_bytes() == content
