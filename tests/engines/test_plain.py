import numpy as np
import pytest

from fourlab import Limit, Position, Rules, UserError, make
from fourlab.engines.plain import serve_line, serve_pons, solver_of


def pons(text: str, board: Rules | None = None, limit: Limit | None = None) -> tuple[list[str], list[str]]:
    """What is said and what is complained of."""
    said: list[str] = []
    complaints: list[str] = []
    chunks = iter([text.encode(), b""])
    solver = solver_of("perfect:book=0")
    serve_pons(solver, lambda: next(chunks), said.append, complaints.append, board or Rules(), limit or Limit())
    return said, complaints


def line(text: str, spec: str = "rules", board: Rules | None = None, seed: int = 0) -> list[str]:
    said: list[str] = []
    chunks = iter([text.encode(), b""])
    serve_line(make(spec), lambda: next(chunks), said.append, board or Rules(), Limit(), seed)
    return said


def test_positions_come_in_and_scores_go_out() -> None:
    said, complaints = pons("23766176641753\n32751571231557\n121212")
    assert said == ["23766176641753 2", "32751571231557 -3", "121212 18"]
    assert not complaints


def test_what_has_no_score_is_an_empty_line_and_a_complaint() -> None:
    said, complaints = pons("12\n12121\n8\n\n44x\n", Rules(3, 3, 3))
    assert [each == "" for each in said] == [False, True, True, False, True]
    assert said[3].startswith(" ")  # the empty board has a score
    assert [complaint.split(":")[0] for complaint in complaints] == ["line 2", "line 3", "line 5"]


def test_a_score_that_is_not_proven_is_told_by_its_bounds() -> None:
    said, _ = pons("44\n", limit=Limit(nodes=100))
    text, bounds = said[0].split()
    low, high = map(int, bounds.split(".."))
    assert text == "44"
    assert -20 <= low < high <= 20


def test_only_the_solver_knows_scores() -> None:
    with pytest.raises(UserError, match="only agent 'perfect' can be served"):
        solver_of("mcts")


def test_columns_come_in_and_columns_go_out() -> None:
    position, said = Position(), line("go\n1\n1\n1\n")
    for own, other in zip(said, [0, 0, 0, None], strict=True):
        expected = make("rules").decide(position, Limit(), np.random.default_rng()).column
        assert int(own) - 1 == expected
        position = position.play(expected)
        if other is not None and position.outcome() is None:
            position = position.play(other)


def test_the_end_of_a_game_is_told_and_a_new_one_begins() -> None:
    said = line("1\n1\n1\n5\n1\nnew\ngo\nquit\ngo\n")
    assert said[0] == "4"
    assert said[-1] == "4"
    assert all(each.isdecimal() or each.startswith(("over: ", "error: ")) for each in said)


def test_who_wins_is_told_after_the_last_column() -> None:
    # On a board of one column nobody can win, and all columns are known.
    assert line("1\n1\ngo\n1\nnew\ngo\n", board=Rules(1, 4, 3)) == [
        "1",
        "1",
        "over: draw",
        "error: the game is over (draw): Position('1111', board='1x4x3')",
        "1",
    ]


@pytest.mark.parametrize("word", ["9", "0", "-1", "left", "4 4", "", "٣", "9" * 50])
def test_what_is_no_column_is_said_to_be_none_and_changes_nothing(word: str) -> None:
    said = line(f"{word}\n4\n")
    assert said[0].startswith("error: ")
    assert said[1:] == line("4\n")


def test_the_same_seed_plays_the_same() -> None:
    games = [line("go\n1\n2\n3\n", "random", seed=seed) for seed in (1, 1, 2)]
    assert games[0] == games[1] != games[2]
