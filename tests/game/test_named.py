"""Named positions: built in, added from Python, and from the user's file."""

from pathlib import Path

import pytest

from fourlab import Outcome, Position, UserError, add_position
from fourlab.game import named


@pytest.fixture(autouse=True)
def no_users_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("FOURLAB_POSITIONS", str(tmp_path / "positions.toml"))
    monkeypatch.setattr(named, "_added", {})
    return tmp_path / "positions.toml"


def test_the_position_of_vannucci_and_abril() -> None:
    position = Position("vannucci-abril")
    assert position.grid() == [
        [2, 2, 2, 1, 0, 1, 0],
        [2, 1, 1, 1, 0, 2, 0],
        [1, 2, 2, 2, 0, 1, 0],
        [2, 1, 1, 1, 0, 2, 0],
        [1, 1, 1, 2, 0, 2, 0],
        [2, 2, 1, 2, 0, 1, 0],
    ]
    assert position.ply == 30
    assert position.to_move == 0
    assert position.legal_columns() == (4, 6)


def test_it_has_313_reachable_positions_of_which_105_are_final() -> None:
    seen = set()
    pending = [Position("vannucci-abril")]
    while pending:
        position = pending.pop()
        if position not in seen:
            seen.add(position)
            pending.extend(position.play(column) for column in position.legal_columns())
    assert len(seen) == 313
    assert sum(position.outcome() is not None for position in seen) == 105


@pytest.mark.parametrize("name", sorted(named.BUILT_IN))
def test_every_named_position_can_be_set_up(name: str) -> None:
    position = Position(name)
    assert position.outcome() is None
    assert position.ply == {"empty": 0, "vannucci-abril": 30}.get(name, 8)


def test_a_name_can_be_added() -> None:
    add_position("my-trap", "1212121", "a win for red")
    assert Position("my-trap").outcome() is Outcome.RED_WINS
    assert "my-trap" in named.named_positions()


def test_a_users_file_adds_names(no_users_file: Path) -> None:
    no_users_file.write_text('my-opening = "4453"\n')
    assert Position("my-opening") == Position("4453")


@pytest.mark.parametrize(
    "content", ["not toml at all [", "name-1 = 3\n", '"a b" = "44"\n', 'abc = "44"\n']
)
def test_a_bad_file_is_refused_by_name(no_users_file: Path, content: str) -> None:
    no_users_file.write_text(content)
    with pytest.raises(UserError, match=r"positions\.toml|name"):
        Position("my-opening")
    assert Position("4453").ply == 4  # only names need the file


@pytest.mark.parametrize("name", ["", "two words", "1234", "dad", "a/b", "[x", "a,b-c", "key:1"])
def test_a_name_that_reads_as_a_position_cannot_be_added(name: str) -> None:
    with pytest.raises(UserError, match="name"):
        add_position(name, "44")


def test_a_name_on_another_board_is_refused() -> None:
    with pytest.raises(UserError, match="on a 7x6x4 board, not 5x4x4"):
        Position("vannucci-abril", "5x4")


def test_a_built_in_name_cannot_be_replaced() -> None:
    with pytest.raises(UserError, match="built in"):
        add_position("vannucci-abril", "44")


def test_a_name_for_an_unreadable_text_is_refused_when_used() -> None:
    add_position("my-nonsense", "what?")
    with pytest.raises(UserError, match="named my-nonsense cannot be read"):
        Position("my-nonsense")


def test_an_unreadable_home_folder_is_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> str:
        raise PermissionError

    monkeypatch.setattr(Path, "read_text", refuse)
    assert "vannucci-abril" in named.named_positions()
