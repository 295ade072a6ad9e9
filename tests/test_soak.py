"""`make soak` selects every test that has more cases there than in `make test`."""

import ast
import re
from collections.abc import Iterator

from tests.conftest import ROOT

SELECTED = ("soak", "hypothesis", "sweep")
"""The markers that `make soak` selects; @given sets the second."""


def with_more_cases() -> Iterator[tuple[str, bool]]:
    """Yield the tests that use FULL, or a constant made from it, and whether they are selected."""
    for file in sorted((ROOT / "tests").rglob("test_*.py")):
        source = file.read_text(encoding="utf-8")
        if not re.search(r"from tests.strategies import .*\bFULL\b", source):
            continue
        body = ast.parse(source).body
        names = {"FULL"}
        for node in body:
            if isinstance(node, ast.Assign) and names & names_in(node.value):
                names |= {target.id for target in node.targets if isinstance(target, ast.Name)}
        for node in body:
            if isinstance(node, ast.FunctionDef) and names & names_in(node):
                assert node.name.startswith("test_"), f"{file}: {node.name} is no test"
                markers = " ".join(ast.unparse(decorator) for decorator in node.decorator_list)
                yield node.name, bool(re.search(r"mark\.(soak|sweep)\b|\bgiven\(", markers))


def names_in(node: ast.AST) -> set[str]:
    return {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}


def test_every_test_with_more_cases_in_soak_is_selected() -> None:
    selected = dict(with_more_cases())
    assert len(selected) >= 6
    assert [name for name, is_selected in selected.items() if not is_selected] == []


def test_make_soak_selects_them_with_all_their_cases() -> None:
    tasks = (ROOT / "tasks.py").read_text(encoding="utf-8")
    (soak,) = re.findall(r"^def soak\(.*?^\n", tasks, re.DOTALL | re.MULTILINE)
    assert f'"-m", "{" or ".join(SELECTED)}"' in soak
    assert 'FOURLAB_EXAMPLES="all"' in soak
