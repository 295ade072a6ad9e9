"""What keeps the house easy to live in: no cycles, no endless parameter lists, no endless files or functions."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp

from tests.conftest import ROOT

MOST_PARAMETERS = 12
MOST_LINES_OF_A_FILE = 500
MOST_LINES_OF_A_FUNCTION = 60
LOOPS = {
    "agents/alphazero/forest_kernel.py walk",
    "agents/mcts/kernel.py search",
    "agents/mcts/kernel.py search_together",
    "agents/q/kernel.py play_games",
    "solver/kernel.py exceeds",
}
"""Searches and trainings told in numbered steps, which may be longer."""

SOURCES = sorted((ROOT / "src" / "fourlab").rglob("*.py"))


def functions(file: Path) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Every function of a file, by file and name."""
    name = file.relative_to(ROOT / "src" / "fourlab").as_posix()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{name} {node.name}", node


def test_no_function_has_too_many_parameters() -> None:
    long = set()
    for file in SOURCES:
        for name, node in functions(file):
            given = node.args
            if len([*given.posonlyargs, *given.args, *given.kwonlyargs]) > MOST_PARAMETERS:
                long.add(name)
    assert long == set()


def test_only_loops_told_in_steps_are_long() -> None:
    long = set()
    for file in SOURCES:
        for name, node in functions(file):
            assert node.end_lineno is not None
            if node.end_lineno - node.lineno + 1 > MOST_LINES_OF_A_FUNCTION:
                long.add(name)
    assert long == LOOPS


def test_no_file_is_too_long() -> None:
    files = [*SOURCES, *(ROOT / "tests").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py"), *(ROOT / "src").rglob("*.js")]
    long = [file.name for file in files if len(file.read_text(encoding="utf-8").splitlines()) > MOST_LINES_OF_A_FILE]
    assert long == []


def test_no_module_imports_itself_by_way_of_others() -> None:
    """Imports inside functions count, those for types alone do not."""
    graph = grimp.build_graph("fourlab", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        raise AssertionError(f"a cycle: {' -> '.join(error.args[1])}") from None
