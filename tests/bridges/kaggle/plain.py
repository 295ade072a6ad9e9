"""Load submissions as if Numba were missing, so that tests need not wait until they compile."""

import sys
from functools import cache
from typing import Any

import pytest

from fourlab.bridges.kaggle.export import source_of


@cache
def namespace(spec: str) -> dict[str, Any]:
    """A submission's names."""
    names: dict[str, Any] = {}
    source = source_of(spec)
    with (
        pytest.MonkeyPatch.context() as patch
    ):  # patch.dict would also forget what the submission imports
        patch.setitem(sys.modules, "numba", None)
        exec(source, names)
    return names


def plain_agent(spec: str) -> Any:
    """A submission's agent."""
    return namespace(spec)["agent"]
