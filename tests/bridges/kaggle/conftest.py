"""Kaggle's environment, which is not among our dependencies: `make kaggle` installs it."""

import contextlib
import importlib
import io
import os
import warnings
from typing import Any

import pytest

from fourlab.bridges.kaggle.player import INSTALL


@pytest.fixture(scope="session")
def environments() -> Any:
    """The package; where everything must be tested it must be there."""
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()):
            warnings.simplefilter("ignore")
            return importlib.import_module("kaggle_environments")
    except ImportError as error:
        missing = f"make kaggle, or: {INSTALL} ({error})"
        pytest.fail(missing) if os.environ.get("CI") else pytest.skip(missing)
