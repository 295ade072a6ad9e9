"""The lines of the protocol: what one side writes, the other reads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourlab import Exact, Limit, Position, Rules, UserError
from fourlab.engines import protocol as c4i
from tests.strategies import boards, positions

COUNTS = st.none() | st.integers(1, 10**12)
LINES = st.lists(st.integers(0, 30), max_size=40).map(tuple)
PROOFS = st.sampled_from([-1, 1]).flatmap(
    lambda result: st.builds(Exact, st.just(result), st.none() | st.integers(1, 62))
)


@given(positions())
def test_a_position_is_read_as_it_was_written(position: Position) -> None:
    without_moves = Position(position.write("fen"), check_counts=False)
    for written in (position, without_moves):
        word, *words = c4i.write_position(written).split()
        assert word == "position"
        read = c4i.read_position(words, written.rules)
        assert (read, read.moves) == (written, written.moves)


@given(positions())
def test_moves_may_follow_a_fen(position: Position) -> None:
    fen = Position(board=position.rules).write("fen")
    moves = [str(column + 1) for column in position.moves or ()]
    assert c4i.read_position(["fen", *fen.split(), "moves", *moves], Rules()) == position


@given(boards(), st.integers(0, 2**31 - 1))
def test_a_new_game_is_read_as_it_was_written(rules: Rules, seed: int) -> None:
    assert c4i.read_newgame(c4i.write_newgame(rules, seed).split()[1:]) == (rules, seed)


def test_board_and_seed_may_be_left_out() -> None:
    assert c4i.read_newgame([]) == (Rules(), None)
    assert c4i.read_newgame(["seed", "7"]) == (Rules(), 7)
    assert c4i.read_newgame(["5x4x4"]) == (Rules(5, 4, 4), None)


@given(st.none() | st.integers(1, 10**9), COUNTS, COUNTS, COUNTS, st.booleans(), st.integers(1, 20))
def test_a_question_is_read_as_it_was_written(
    ms: int | None,
    simulations: int | None,
    nodes: int | None,
    depth: int | None,
    infinite: bool,
    multipv: int,
) -> None:
    limit = Limit(None if ms is None else ms / 1000, simulations, nodes, depth)
    go = c4i.Go(limit, infinite, multipv)
    assert c4i.Go.read(go.write().split()[1:]) == go


def test_words_of_a_question_that_cannot_be_read_are_ignored() -> None:
    words = [
        "ponder",
        "movetime",
        "x",
        "nodes",
        "0",
        "wtime",
        "5",
        "depth",
        "-3",
        "simulations",
        "7",
        "multipv",
    ]
    assert c4i.Go.read(words) == c4i.Go(Limit(nodes=1, simulations=7))


@given(
    st.none() | st.integers(1, 9),
    COUNTS,
    COUNTS,
    COUNTS,
    st.none() | st.integers(-500, 500) | PROOFS,
    LINES,
)
def test_an_info_line_is_read_as_it_was_written(
    multipv: int | None,
    depth: int | None,
    nodes: int | None,
    simulations: int | None,
    evaluation: int | Exact | None,
    line: tuple[int, ...],
) -> None:
    proven = None
    value = None
    if isinstance(evaluation, Exact):
        proven = evaluation
        value = float(evaluation.result)
    elif evaluation is not None:
        value = evaluation / 500
    info = c4i.Info(multipv, depth, nodes, simulations, value, proven, line)
    assert c4i.Info.read(info.write().split()[1:]) == info


def test_scores_are_written_in_words() -> None:
    assert c4i.Info(proven=Exact(1, 7), value=1.0).write() == "info score win 7"
    assert c4i.Info(proven=Exact(-1)).write() == "info score loss"
    assert c4i.Info(proven=Exact(0, 12)).write() == "info score draw"
    assert (
        c4i.Info(value=0.256, depth=3, nodes=9, line=(3, 11)).write()
        == "info depth 3 score wdl 628 0 372 nodes 9 pv 4 12"
    )


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("option name Hash type spin default 1", "Hash"),
        ("option name Own Book type check", "Own Book"),
        ("option name c", "c"),
        ("option", None),
        ("id name option name x", None),
    ],
)
def test_offered_options_are_read(line: str, name: str | None) -> None:
    assert c4i.read_option(line) == name


def test_an_option_is_set_as_it_was_written() -> None:
    for name, value in (("c", "2"), ("Own Book", "a b"), ("Style", "")):
        assert c4i.read_option(c4i.write_option(name, value)) == name
        assert c4i.read_setoption(c4i.write_setoption(name, value).split()[1:]) == (name, value)


@pytest.mark.parametrize(
    "words",
    [
        *(
            "",
            "middle",
            "fen",
            "fen 7/7/7/7/7/7 r",
            "fen 7/7/7/7/7/r r 4",
            "fen 99/7 r 4",
            "fen r6/7/7/7/7/7 y 4",
        ),
        *(
            "startpos 4 4",
            "startpos moves x",
            "startpos moves 0",
            "startpos moves 8",
            "startpos moves 4 4 4 4 4 4 4",
        ),
        "startpos moves 1 2 1 2 1 2 1 2",
    ],
)
def test_malformed_positions_are_refused(words: str) -> None:
    with pytest.raises(UserError):
        c4i.read_position(words.split(), Rules())


@pytest.mark.parametrize("words", ["seven", "99x99x4", "7x6x4 seed x", "7x6x4 5x4x4"])
def test_malformed_games_are_refused(words: str) -> None:
    with pytest.raises(UserError):
        c4i.read_newgame(words.split())


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    words = c4i.words_of(text)
    c4i.Info.read(words)
    c4i.Go.read(words)
    assert len(words) <= c4i.MOST_WORDS
