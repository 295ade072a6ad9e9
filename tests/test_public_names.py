"""The public names of the package and their lazy import."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import fourlab


def test_the_list_of_public_names() -> None:
    assert fourlab.__all__ == [
        "RED",
        "YELLOW",
        "Agent",
        "AgentInfo",
        "AgentList",
        "Analysis",
        "Batch",
        "ColumnAnalysis",
        "Decision",
        "Evaluation",
        "Evaluator",
        "Exact",
        "IllegalColumn",
        "ImpossiblePosition",
        "Limit",
        "MatchResult",
        "Outcome",
        "Position",
        "PositionAnalysis",
        "Progress",
        "Result",
        "Review",
        "Rules",
        "Solution",
        "Solver",
        "Stop",
        "StudyResult",
        "TournamentResult",
        "TrainingResult",
        "UserError",
        "add_position",
        "analyse",
        "analyze",
        "list_agents",
        "make",
        "match",
        "review",
        "solve",
        "study",
        "tournament",
        "train",
    ]


def test_the_public_names_are_sorted_and_exist() -> None:
    assert fourlab.__all__ == sorted(
        fourlab.__all__, key=lambda name: (not name.isupper(), name[0].islower(), name)
    )
    assert all(hasattr(fourlab, name) for name in fourlab.__all__)


def test_type_checkers_and_python_import_the_same_names() -> None:
    tree = ast.parse(Path(fourlab.__file__).read_text(encoding="utf-8"))
    (checked,) = (node for node in tree.body if isinstance(node, ast.If))
    assert ast.unparse(checked.test) == "TYPE_CHECKING"
    homes = {
        name.asname or name.name: f"{statement.module}:{name.name}"
        for statement in checked.body
        if isinstance(statement, ast.ImportFrom)
        for name in statement.names
    }
    assert homes == fourlab._HOMES
    assert sorted(homes) == sorted([*fourlab.__all__, "__version__"])


def test_public_names_are_listed_before_they_are_used() -> None:
    code = (
        "import fourlab; "
        "print('Position' in vars(fourlab), set(fourlab.__all__) <= set(dir(fourlab)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False True\n"


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'fourlab' has no attribute 'nothing'"):
        fourlab.nothing  # noqa: B018
    with pytest.raises(ImportError):
        from fourlab import nothing  # noqa: F401
