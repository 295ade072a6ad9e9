import numpy as np
import pytest

from fourlab import Limit, Position, Rules, UserError, make
from fourlab.engines.plain import serve_line, serve_pons, solver_of


def pons(
    text: str, board: Rules | None = None, limit: Limit | None = None
) -> tuple[list[str], list[str]]:
    """Return the answers and the complaints."""
    answers: list[str] = []
    complaints: list[str] = []
    chunks = iter([text.encode(), b""])
    solver = solver_of("perfect:book=0")
    serve_pons(
        solver,
        lambda: next(chunks),
        answers.append,
        complaints.append,
        board or Rules(),
        limit or Limit(),
    )
    return answers, complaints


def line(text: str, spec: str = "rules", board: Rules | None = None, seed: int = 0) -> list[str]:
    answers: list[str] = []
    chunks = iter([text.encode(), b""])
    serve_line(make(spec), lambda: next(chunks), answers.append, board or Rules(), Limit(), seed)
    return answers


def test_positions_are_answered_with_scores() -> None:
    answers, complaints = pons("23766176641753\n32751571231557\n121212")
    assert answers == ["23766176641753 2", "32751571231557 -3", "121212 18"]
    assert not complaints


def test_a_line_without_a_score_is_answered_with_an_empty_line_and_a_complaint() -> None:
    answers, complaints = pons("12\n12121\n8\n\n44x\n", Rules(3, 3, 3))
    assert [answer == "" for answer in answers] == [False, True, True, False, True]
    assert answers[3].startswith(" ")  # the empty board has a score
    assert [complaint.split(":")[0] for complaint in complaints] == ["line 2", "line 3", "line 5"]


def test_an_unproven_score_is_written_as_bounds() -> None:
    answers, _ = pons("44\n", limit=Limit(nodes=100))
    text, bounds = answers[0].split()
    low, high = map(int, bounds.split(".."))
    assert text == "44"
    assert -20 <= low < high <= 20


def test_only_the_perfect_agent_has_scores() -> None:
    with pytest.raises(UserError, match="only agent 'perfect' can be served"):
        solver_of("mcts")


def test_columns_are_answered_with_columns() -> None:
    position = Position()
    answers = line("go\n1\n1\n1\n")
    for own, other in zip(answers, [0, 0, 0, None], strict=True):
        expected = make("rules").decide(position, Limit(), np.random.default_rng()).column
        assert int(own) - 1 == expected
        position = position.play(expected)
        if other is not None and position.outcome() is None:
            position = position.play(other)


def test_a_new_game_can_start_after_the_end() -> None:
    answers = line("1\n1\n1\n5\n1\nnew\ngo\nquit\ngo\n")
    assert answers[0] == "4"
    assert answers[-1] == "4"
    assert all(answer.isdecimal() or answer.startswith(("over: ", "error: ")) for answer in answers)


def test_the_outcome_is_reported_after_the_last_column() -> None:
    # On a board with one column nobody can win, and all moves are forced.
    assert line("1\n1\ngo\n1\nnew\ngo\n", board=Rules(1, 4, 3)) == [
        "1",
        "1",
        "over: draw",
        "error: the game is over (draw): Position('1111', board='1x4x3')",
        "1",
    ]


@pytest.mark.parametrize("word", ["9", "0", "-1", "left", "4 4", "", "٣", "9" * 50])
def test_a_word_that_is_not_a_column_is_an_error_and_changes_nothing(word: str) -> None:
    answers = line(f"{word}\n4\n")
    assert answers[0].startswith("error: ")
    assert answers[1:] == line("4\n")


def test_the_same_seed_gives_the_same_game() -> None:
    games = [line("go\n1\n2\n3\n", "random", seed=seed) for seed in (1, 1, 2)]
    assert games[0] == games[1] != games[2]
