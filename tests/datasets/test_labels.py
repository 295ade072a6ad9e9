"""Labelled positions: those of the UCI data set, correct labels, and files read back or refused."""

import gzip
import io
import json
import lzma
import zipfile
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fourlab import Position, Rules, UserError
from fourlab.datasets import labels
from fourlab.datasets.labels import (
    Labelled,
    as_text,
    compress,
    load,
    parse_text,
    quiet_positions,
    save,
    split,
    uci8,
)
from fourlab.datasets.teacher import random_positions, solve_positions
from fourlab.jobs.executors.threads import Threads
from fourlab.solver import Solver
from tests.datasets.test_sample import makes_line
from tests.naive import NaiveGame

EMPTY_LINE = "b," * 42


@pytest.fixture(scope="module")
def uci() -> Labelled:
    return uci8()


def solved() -> Labelled:
    """Return five positions with the scores of their columns."""
    solver = Solver(book=None)
    rules = Rules(4, 4, 3)
    positions = [Position(moves, rules) for moves in ("1234", "44441", "1111", "1", "11122")]
    columns = np.full((len(positions), rules.columns), -128, np.int8)
    for row, position in enumerate(positions):
        for column, solution in solver.columns(position).items():
            columns[row, column] = solution.score
    keys = np.array([position.key for position in positions], np.int64)
    return Labelled(rules, keys, np.sign(columns.max(axis=1)), columns)


def assert_same(one: Labelled, other: Labelled) -> None:
    assert one.rules == other.rules
    for first, second in (
        (one.keys, other.keys),
        (one.results, other.results),
        (one.columns, other.columns),
    ):
        assert (first is None) == (second is None)
        if first is not None and second is not None:
            assert first.dtype == second.dtype
            assert np.array_equal(first, second)


def test_the_uci_set_has_the_published_counts(uci: Labelled) -> None:
    assert len(uci) == 67_557
    assert uci.counts == {"win": 44_473, "draw": 6_449, "loss": 16_635}


def test_the_uci_set_has_no_duplicates_or_mirror_images(uci: Labelled) -> None:
    positions = [Position.from_key(key) for key in uci.keys[::50]]
    assert all(position.canonical_key == position.key for position in positions)
    assert len(np.unique(uci.keys)) == len(uci)


def test_a_sample_of_the_uci_set_agrees_with_the_solver(uci: Labelled) -> None:
    solver = Solver(book=None)
    for place in np.random.default_rng(1).choice(len(uci), 6, replace=False):
        position = Position.from_key(uci.keys[place])
        assert solver.solve(position, weak=True).result == uci.results[place]


@pytest.mark.parametrize(("board", "plies"), [("4x4x3", 4), ("4x5x4", 5), ("5x4x3", 3)])
def test_quiet_positions_are_those_of_a_naive_search(board: str, plies: int) -> None:
    rules = Rules.parse(board)
    is_quiet: dict[int, bool] = {}

    def search(game: NaiveGame, left: int) -> None:
        if left == 0:
            key = Position(game.grid(), rules).canonical_key
            if key not in is_quiet:
                is_quiet[key] = not any(
                    makes_line(game, column, side) for column in game.legal() for side in (0, 1)
                )
            return
        for column in game.legal():
            after = deepcopy(game)
            after.play(column)
            if not after.is_over():
                search(after, left - 1)

    search(NaiveGame(rules.columns, rules.rows, rules.in_a_row), plies)
    expected = sorted(key for key, quiet in is_quiet.items() if quiet)
    assert quiet_positions(rules, plies).tolist() == expected
    assert set(is_quiet.values()) == {True, False}


def test_more_plies_than_cells_have_no_positions() -> None:
    assert len(quiet_positions(Rules(3, 3), 30)) == 0


def test_cells_are_those_of_the_positions(uci: Labelled) -> None:
    for labelled in (solved(), uci.take(np.arange(0, len(uci), 9999))):
        for key, cells in zip(labelled.keys, labelled.cells, strict=True):
            position = Position.from_key(key, labelled.rules)
            side = {0: 0, 1: 1 + position.to_move, 2: 2 - position.to_move}
            grid = [[side[int(cell)] for cell in row] for row in cells.T[::-1]]
            assert grid == position.grid()


def test_a_split_has_the_published_sizes_and_every_position_once(uci: Labelled) -> None:
    train, test = split(uci, seed=3)
    assert (len(train), len(test)) == (54_045, 13_512)
    assert np.array_equal(np.sort(np.concatenate([train.keys, test.keys])), uci.keys)
    order = np.argsort(train.keys)
    assert np.array_equal(train.results[order], uci.results[np.isin(uci.keys, train.keys)])
    assert_same(split(uci, seed=3)[0], train)
    assert not np.array_equal(split(uci, seed=4)[0].keys, train.keys)
    first, rest = split(solved(), 0.5)
    assert (len(first), len(rest)) == (2, 3)
    assert first.columns is not None
    assert np.array_equal(np.sign(first.columns.max(axis=1)), first.results)


def test_the_text_has_the_uci_format(uci: Labelled) -> None:
    lines = as_text(uci).decode().splitlines()
    assert len(lines) == 67_557
    for line, key, result in list(zip(lines, uci.keys, uci.results, strict=True))[::3000]:
        position = Position(line)  # the notation accepts this format
        assert position.key == key
        assert line.endswith({1: ",win", 0: ",draw", -1: ",loss"}[int(result)])


def test_the_label_is_for_the_first_player_whoever_is_to_move() -> None:
    position = Position("1212153")  # yellow to move, red wins with its next disc
    labelled = Labelled(position.rules, np.array([position.key]), np.array([-1], np.int8))
    text = as_text(labelled)
    assert text.decode() == position.write("uci") + ",win\n"
    assert_same(parse_text(text), labelled)


@pytest.mark.parametrize("name", ["a.data", "a.data.gz", "a.data.xz"])
def test_text_files_are_read_back(uci: Labelled, tmp_path: Path, name: str) -> None:
    labelled = uci.take(np.arange(500))
    text = as_text(labelled)
    file = tmp_path / name
    file.write_bytes(compress(text, file.suffix))
    assert_same(load(file), labelled)
    assert compress(text, file.suffix) == file.read_bytes()
    assert (file.read_bytes() == text) == (name == "a.data")


def test_text_with_other_line_ends_is_read_too(uci: Labelled) -> None:
    labelled = uci.take(np.arange(9))
    assert_same(parse_text(as_text(labelled).replace(b"\n", b"\r\n") + b"\n\n"), labelled)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("", "line 2 is not 42 cells"),
        ("hello", "line 2 is not 42 cells"),
        (EMPTY_LINE, "line 2 is not 42 cells"),
        ("b," + EMPTY_LINE + "win", "line 2 is not 42 cells"),
        ("z," + EMPTY_LINE[2:] + "win", "line 2 is not 42 cells"),
        # wrong numbers of discs
        ("x,x," + EMPTY_LINE[4:] + "win", "line 2 is not a position"),
        ("o," + EMPTY_LINE[2:] + "win", "line 2 is not a position"),
        # a floating disc
        ("b,x," + EMPTY_LINE[4:] + "win", "line 2 is not a position"),
        # red has won, with yellow and with red to move
        ("x,x,x,x,b,b,o,o,o," + EMPTY_LINE[18:] + "win", "line 2 is not a position"),
        ("x,x,x,x,b,b,o,o,o,b,b,b,o," + EMPTY_LINE[26:] + "win", "line 2 is not a position"),
        # a full board
        ((("x,x,x,o,o,o," * 2 + "o,o,o,x,x,x," * 2) * 2)[:84] + "draw", "line 2 is not a position"),
    ],
)
def test_lines_that_are_not_positions_are_refused(tmp_path: Path, line: str, words: str) -> None:
    file = tmp_path / "bad.data"
    file.write_text(f"{EMPTY_LINE}win\n{line}\n{EMPTY_LINE}win\n")
    with pytest.raises(UserError, match=rf"bad\.data.* {words}"):
        load(file)


def test_columns_are_read_back(tmp_path: Path) -> None:
    file = tmp_path / "a.npz"
    about = save(solved(), file, {"seed": 7})
    assert_same(load(file), solved())
    before = file.read_bytes()
    save(solved(), file, {"seed": 7})
    assert file.read_bytes() == before
    with np.load(file, allow_pickle=False) as parts:  # without our reader
        assert json.loads(parts["about"].tobytes()) == about
        assert np.array_equal(parts["columns"], solved().columns)
        assert np.array_equal(parts["scores"], parts["columns"].max(axis=1))
    assert about["positions"] == 5
    assert about["seed"] == 7
    assert about["win"] + about["draw"] + about["loss"] == 5


def test_damaged_files_are_refused(tmp_path: Path) -> None:
    save(solved(), tmp_path / "good.npz", {})
    text = as_text(uci8().take(np.arange(20)))
    (tmp_path / "good.gz").write_bytes(gzip.compress(text, mtime=0))
    (tmp_path / "good.xz").write_bytes(lzma.compress(text))
    for suffix in (".npz", ".gz", ".xz"):
        whole = (tmp_path / f"good{suffix}").read_bytes()
        bad = tmp_path / f"bad{suffix}"
        for data in (b"", b"hello", whole[:-10], whole[: len(whole) // 2]):
            bad.write_bytes(data)
            with pytest.raises(UserError, match="bad"):
                load(bad)
        rng = np.random.default_rng(1)
        for _ in range(150):
            flipped = bytearray(whole)
            flipped[int(rng.integers(len(whole)))] ^= 1 << int(rng.integers(8))
            bad.write_bytes(flipped)
            try:
                # Some bits have no meaning.
                assert_same(load(bad), load(tmp_path / f"good{suffix}"))
            except UserError as error:
                assert str(bad) in str(error)
    with pytest.raises(UserError, match="cannot read"):
        load(tmp_path / "none.npz")


def changed(file: Path, **arrays: Any) -> Path:
    with np.load(file) as parts:
        merged = {**parts, **arrays}
    np.savez_compressed(
        file.with_name("changed.npz"),
        **{name: array for name, array in merged.items() if array is not None},
    )
    return file.with_name("changed.npz")


def test_inconsistent_files_are_refused(tmp_path: Path) -> None:
    good = tmp_path / "good.npz"
    columns = solved().columns
    assert columns is not None
    about = save(solved(), good, {})

    def described(**changes: Any) -> np.ndarray:
        return np.frombuffer(json.dumps({**about, **changes}).encode(), np.uint8)

    assert_same(load(changed(good)), solved())
    for arrays, words in (
        ({"columns": -columns}, "checksum"),
        ({"scores": np.zeros(5, np.int8)}, "checksum"),
        ({"keys": solved().keys[:4]}, "differ in length"),
        ({"keys": solved().keys.astype(np.int32)}, "keys is int32"),
        ({"columns": columns[:, :3]}, r"columns is int8\[5, 3\]"),
        ({"columns": np.asfortranarray(columns)}, "columns is int8"),
        ({"columns": None}, "not a .npz file of 4 arrays"),
        ({"keys": np.int64(3)}, "damaged"),
        ({"about": described(format=2)}, "format 2"),
        ({"about": described(board="99x99")}, "too large"),
        ({"about": described(positions=6)}, "differ in length"),
        ({"about": np.frombuffer(b"[]", np.uint8)}, "damaged"),
    ):
        with pytest.raises(UserError, match=words):
            load(changed(good, **arrays))


def test_a_small_file_cannot_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = tmp_path / "good.npz"
    save(solved(), good, {})
    bomb = changed(good, keys=np.zeros(3_000_000, np.int64))
    assert bomb.stat().st_size < 40_000
    with pytest.raises(UserError, match=r"keys is int64\[3000000\]"):
        load(bomb)
    header = io.BytesIO()  # of an array of a terabyte, which does not follow
    np.lib.format.write_array_header_1_0(
        header, {"descr": "<i8", "fortran_order": False, "shape": (1 << 37,)}
    )
    with zipfile.ZipFile(good) as source, zipfile.ZipFile(bomb, "w") as target:
        for name in source.namelist():
            data = header.getvalue() if name == "keys.npy" else source.read(name)
            target.writestr(name, data)
    with pytest.raises(UserError, match="keys has another size than it says"):
        load(bomb)
    monkeypatch.setattr(labels, "MAX_TEXT_BYTES", 1000)
    for suffix, compress_bytes in (
        (".gz", gzip.compress),
        (".xz", lzma.compress),
        (".data", bytes),
    ):
        (tmp_path / f"bomb{suffix}").write_bytes(
            compress_bytes(f"{EMPTY_LINE}win\n".encode() * 100)
        )
        with pytest.raises(UserError, match="more than 1,000 bytes"):
            load(tmp_path / f"bomb{suffix}")


@pytest.mark.parametrize(
    ("suffix", "compress_bytes"), [(".gz", gzip.compress), (".xz", lzma.compress)]
)
def test_compressed_files_may_have_many_parts_but_not_millions(
    tmp_path: Path, suffix: str, compress_bytes: Callable[[bytes], bytes]
) -> None:
    text = labels.as_text(labels.uci8().take(np.arange(100)))
    pieces = [text[start : start + 50] for start in range(0, len(text), 50)]
    many = tmp_path / f"many{suffix}"
    # Some programs end a file with an empty part.
    many.write_bytes(b"".join(map(compress_bytes, [*pieces, b""])))
    assert labels.as_text(load(many)) == text
    many.write_bytes(compress_bytes(b"") * (labels.MAX_MEMBERS + 1))
    with pytest.raises(UserError, match="more than 10,000 compressed parts"):
        load(many)
    many.write_bytes(compress_bytes(text)[:-5])
    with pytest.raises(UserError, match="ends too early"):
        load(many)


def test_several_sources_are_merged(tmp_path: Path) -> None:
    (tmp_path / "some.data").write_bytes(labels.as_text(labels.uci8().take(np.arange(100))))
    together = labels.gather(["uci8", str(tmp_path / "some.data")])
    assert together.counts == labels.uci8().counts
    book = labels.gather(["book", "uci8"])  # the book contains the UCI set
    assert len(book) == 129_498
    assert np.array_equal(book.results[np.searchsorted(book.keys, together.keys)], together.results)
    with pytest.raises(UserError, match="one board"):
        labels.gather([])


def test_discs_are_those_of_the_positions() -> None:
    labelled = labels.uci8().take(np.arange(0, 67_557, 5000))
    for key, own, mask in zip(labelled.keys, *labelled.discs, strict=True):
        position = Position.from_key(int(key))
        assert (own, mask) == (position.own, position.mask)


def test_positions_after_each_column_have_their_exact_results(tmp_path: Path) -> None:
    """Compare with the solver, on a small board, to the last disc."""
    rules = Rules(4, 4, 3)
    solver = Solver(book=None)
    keys = random_positions(rules, 60, (4, 15), 1)
    journal = tmp_path / "journal"
    labelled = solve_positions(rules, keys, journal, Threads(1), lambda done, total: None)
    assert labelled is not None
    after = labelled.after_each_column()
    expected = {}
    for key in labelled.keys.tolist():
        position = Position.from_key(key, rules)
        for column in position.legal_columns():
            child = position.play(column)
            if child.outcome() is None:
                expected[child.key] = solver.solve(child).result
    assert dict(zip(after.keys.tolist(), after.results.tolist(), strict=True)) == expected
    remaining = labels.without(after, after.take(np.arange(10)))
    assert 0 < len(remaining) < len(after)
    assert not set(remaining.keys.tolist()) & set(after.keys[:10].tolist())
