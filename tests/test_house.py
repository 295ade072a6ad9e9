"""Structural limits: no import cycles, no overlong parameter lists, files or functions."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import grimp

from tests.conftest import ROOT

MAX_PARAMETERS = 12
MAX_LINES_OF_A_FILE = 500
MAX_LINES_OF_A_FUNCTION = 60
LOOPS = {
    "agents/alphazero/forest_kernel.py simulate",
    "agents/mcts/kernel.py search",
    "agents/mcts/kernel.py search_together",
    "agents/minimax/kernel.py minimax",
    "agents/patterns/search.py enter",
    "agents/patterns/search.py search",
    "agents/q/kernel.py play_games",
    "solver/kernel.py exceeds",
}
"""Search and training loops in numbered steps, which may be longer."""

SOURCES = sorted((ROOT / "src" / "fourlab").rglob("*.py"))


def functions(file: Path) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield every function of a file with its name."""
    name = file.relative_to(ROOT / "src" / "fourlab").as_posix()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{name} {node.name}", node


def test_no_function_has_too_many_parameters() -> None:
    long = set()
    for file in SOURCES:
        for name, node in functions(file):
            parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            if len(parameters) > MAX_PARAMETERS:
                long.add(name)
    assert long == set()


def test_only_search_and_training_loops_are_long() -> None:
    long = set()
    for file in SOURCES:
        for name, node in functions(file):
            assert node.end_lineno is not None
            if node.end_lineno - node.lineno + 1 > MAX_LINES_OF_A_FUNCTION:
                long.add(name)
    assert long == LOOPS


def test_no_file_is_too_long() -> None:
    files = [
        *SOURCES,
        *(ROOT / "tests").rglob("*.py"),
        *(ROOT / "benchmarks").rglob("*.py"),
        *(ROOT / "tools").rglob("*.py"),
        *(ROOT / "src").rglob("*.js"),
    ]
    long = [
        file.name
        for file in files
        if len(file.read_text(encoding="utf-8").splitlines()) > MAX_LINES_OF_A_FILE
    ]
    assert long == []


def test_there_are_no_import_cycles() -> None:
    """Imports inside functions count, imports for type checkers do not."""
    graph = grimp.build_graph("fourlab", exclude_type_checking_imports=True, cache_dir=None)
    imports = {module: graph.find_modules_directly_imported_by(module) for module in graph.modules}
    try:
        TopologicalSorter(imports).prepare()
    except CycleError as error:
        raise AssertionError(f"import cycle: {' -> '.join(error.args[1])}") from None
