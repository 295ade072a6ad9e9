"""Builds the documentation's website for tests, as `make docs` does."""

import os
import subprocess
import sys
from pathlib import Path

from tests.conftest import ROOT


def build(folder: Path) -> None:
    """Build the site into a folder; every warning is an error."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "WARNING" not in done.stderr
