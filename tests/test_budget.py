"""The limits of benchmarks/budget.toml that do not depend on the clock."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from tests.conftest import ROOT


@pytest.fixture(scope="module")
def budget() -> ModuleType:
    spec = importlib.util.spec_from_file_location("budget", ROOT / "benchmarks" / "budget.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_wheel_is_small(budget: ModuleType, tmp_path: Path) -> None:
    megabytes = budget.wheel_megabytes(tmp_path)
    assert 1 < megabytes <= budget.LIMITS["size"]["wheel, MB"]


def test_few_functions_are_compiled(budget: ModuleType) -> None:
    entries, kernels = budget.kernel_counts()
    assert 20 < entries <= budget.LIMITS["size"]["kernels that Python calls"]
    assert entries < kernels <= budget.LIMITS["size"]["kernels in all"]
