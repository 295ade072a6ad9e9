"""A submission contains the lab's own modules, and needs nothing that Kaggle does not have."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fourlab import make, modules
from fourlab.bridges.kaggle.bundle import PLAIN, STANDINS
from fourlab.bridges.kaggle.export import KINDS, source_of
from fourlab.bridges.kaggle.submission import load
from fourlab.nets.patterns import PatternNetwork
from fourlab.nets.patterns import load as load_patterns
from tests.bridges.kaggle.plain import namespace

ALLOWED = {*sys.stdlib_module_names, "numpy", "numba", "llvmlite", "fourlab"}


def imports(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """All imports, those in functions too, but for types."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        yield from imports(child)


def imported(source: str) -> set[str]:
    names = set()
    for node in imports(ast.parse(source)):
        if isinstance(node, ast.Import):
            names |= {name.name for name in node.names}
        else:
            names.add(node.module or "")
    return names


NEVER_IMPORTED = {"fourlab.nets.patterns", "fourlab.nets.pattern_evaluator"}
"""Modules that are imported only with options that cannot be exported: leaves=patterns of mcts,
net=patterns of alphazero."""


@pytest.mark.parametrize("spec", sorted(KINDS))
def test_a_submission_imports_only_what_it_contains_and_what_kaggle_has(spec: str) -> None:
    source = source_of(spec)
    names = namespace(spec)
    contained = {**names["MODULES"], **names["PLAIN"]}
    wanted = imported(source)
    assert not any(name.startswith("fourlab") for name in wanted)
    for module in contained.values():
        wanted |= imported(module)
    assert {name.partition(".")[0] for name in wanted} <= ALLOWED
    own = {name for name in wanted if name.partition(".")[0] == "fourlab"}
    assert own - contained.keys() <= NEVER_IMPORTED


@pytest.mark.parametrize("spec", sorted(KINDS))
def test_the_modules_are_the_lab_s_own(spec: str) -> None:
    names = namespace(spec)
    for name, source in names["MODULES"].items():
        original = modules.source_of(name)
        assert original is not None
        assert (source == original.decode()) == (name not in STANDINS), name
    assert names["PLAIN"].keys() <= PLAIN.keys()
    assert f"{type(make(spec)).__module__}" in names["MODULES"]


@pytest.mark.parametrize("spec", ["random", "rules", "value"])
def test_the_last_callable_is_the_agent(spec: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "numba", None)
    assert load(source_of(spec)).__name__ == "agent"


def test_the_same_spec_gives_the_same_file() -> None:
    assert source_of("perfect") == source_of("perfect")


def test_files_are_written_in_lines() -> None:
    data = namespace("perfect")["MODULES"]["fourlab.shipped"]
    assert max(map(len, data.splitlines())) <= 120
    assert len(data) > 100_000, "the book is in it"
    for spec in ("perfect", "anytime"):
        assert "fourlab.solver/book.npz" in source_of(spec)
        assert "fourlab.solver/book.npz" not in source_of(f"{spec}:book=0")


def embedded(spec: str) -> Any:
    """The pattern network of a submission."""
    (player,) = namespace(spec)["PLAYERS"]
    return player.module("fourlab.nets.patterns").load("7x6x4")


def test_patterns_are_the_lab_s_own() -> None:
    ours = load_patterns("7x6x4")
    for spec in ("patterns", "anytime"):
        theirs = embedded(spec)
        assert theirs.shape.tuples == ours.shape.tuples
        for mine, other in zip(ours.patterns, theirs.patterns, strict=True):
            assert mine.dtype == other.dtype
            assert (mine == other).all()


def test_patterns_of_a_file_replace_them(tmp_path: Path) -> None:
    ours = load_patterns("7x6x4")
    network = PatternNetwork(ours.shape, ours.patterns.weights // 2)
    file = tmp_path / "half.npz"
    network.save(file)
    theirs = embedded(f'patterns:file="{file}"')
    assert (theirs.patterns.weights == network.patterns.weights).all()
    assert namespace(f'patterns:file="{file}"')["PLAYERS"][0].agents[0].file is None


def test_a_submission_with_patterns_is_far_smaller_than_kaggle_allows() -> None:
    assert len(source_of("anytime").encode()) < 4_000_000


@pytest.mark.parametrize(
    ("spec", "options"),
    [
        (
            "mcts:transpositions=1,c=2,final=mean",
            {"transpositions": True, "c": 2.0, "final": "mean", "simulations": 10_000},
        ),
        ("mcts:seconds=0.5", {"seconds": 0.5, "simulations": None}),
        ("bhat-mc40", {"scale": "wins", "proofs": False}),
        ("minimax:depth=6,ties=random", {"depth": 6, "ties": "random"}),
        ("perfect:mistakes=0.5,book=0", {"mistakes": 0.5, "book": False}),
        ("alphazero:method=puct,c=3", {"method": "puct", "c": 3.0, "simulations": 600}),
        ("dqn:epsilon=0.25", {"epsilon": 0.25}),
        ("patterns:depth=5", {"depth": 5, "nodes": None}),
        ("patterns", {"nodes": 10_000}),
        (
            "anytime:seconds=0.5,book=0,memory_mb=8",
            {"seconds": 0.5, "nodes": None, "book": False, "memory_mb": 8},
        ),
        ("anytime", {"nodes": 100_000}),
        ("arya-examples", {"otherwise": "random"}),
    ],
)
def test_every_option_is_carried(spec: str, options: dict[str, object]) -> None:
    agent = namespace(spec)["PLAYERS"][0].agents[0]
    assert {name: getattr(agent, name) for name in options} == options


def test_submissions_in_one_process_share_nothing() -> None:
    first, second = (namespace(spec)["PLAYERS"][0] for spec in ("mcts:c=1", "mcts:c=2"))
    assert first.package != second.package
    assert type(first.agents[0]) is not type(second.agents[0])
    assert (first.agents[0].c, second.agents[0].c) == (1.0, 2.0)
