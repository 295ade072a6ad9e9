import ast
import sys

import pytest

from fourlab.bridges.kaggle.export import KINDS, source_of
from fourlab.bridges.kaggle.stitch import stitch
from fourlab.bridges.kaggle.submission import load

ALLOWED = {*sys.stdlib_module_names, "numpy", "numba"}


@pytest.mark.parametrize("spec", sorted(KINDS))
def test_a_submission_imports_nothing_of_ours_and_nothing_later(spec: str) -> None:
    source = source_of(spec)
    tree = ast.parse(source)
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {name.name for node in imports if isinstance(node, ast.Import) for name in node.names}
    names |= {node.module or "" for node in imports if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} <= ALLOWED
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    assert not any(isinstance(inner, ast.Import | ast.ImportFrom) for function in functions for inner in ast.walk(function))
    assert "type: ignore" not in source
    assert len({node.name for node in tree.body if isinstance(node, ast.FunctionDef)}) == sum(
        isinstance(node, ast.FunctionDef) for node in tree.body
    )


@pytest.mark.parametrize("spec", ["random", "rules", "value"])
def test_the_last_callable_is_the_agent(spec: str) -> None:
    assert load(source_of(spec).replace("import numba\n", "raise ImportError\n")).__name__ == "agent"


def test_the_same_spec_gives_the_same_file() -> None:
    assert source_of("perfect") == source_of("perfect")


def test_settings_are_filled_in() -> None:
    source = stitch("rules", {"OTHERWISE": "random"}, "a player")
    assert source.startswith('"""a player"""\n\nimport random\n')
    assert '\nOTHERWISE = "' not in source
    assert "\nOTHERWISE = 'random'\n" in source


def test_long_texts_are_written_in_lines() -> None:
    source = stitch("perfect", {"BOOK": "x" * 1000}, "a player")
    assert max(map(len, source.splitlines())) <= 132  # lines of comments are our own, and two longer
    statements = [node for node in ast.parse(source).body if isinstance(node, ast.Assign)]
    (book,) = [node for node in statements if isinstance(node.targets[0], ast.Name) and node.targets[0].id == "BOOK"]
    assert ast.literal_eval(book.value) == "x" * 1000
