"""The decorator: where compiled code is kept, and that every kernel is the Python it is written in."""

import importlib
import json
import os
import pkgutil
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import fourlab
import fourlab.kernels
from fourlab.kernels import _jit

PACKAGE = Path(fourlab.__file__).parent
SMALL_RUN = Path(__file__).with_name("small_run.py")


def python(*arguments: str, **environment: str) -> str:
    """Run Python in a process of its own; variables set to '' are removed."""
    merged = {**os.environ, **environment}
    merged = {name: value for name, value in merged.items() if value}
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, env=merged)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the package that a test may edit; returns the folder to put on PYTHONPATH."""
    shutil.copytree(PACKAGE, tmp_path / "site" / "fourlab", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "site"


ONE_PERFT = (
    "from fourlab.kernels.count import perft; from fourlab.kernels.geometry import geometry_of; "
    "print(perft(0, 0, geometry_of(4, 4, 4), 5))"
)


@pytest.mark.parametrize("setting", ["NUMBA_DISABLE_JIT", pytest.param("NUMBA_BOUNDSCHECK", marks=pytest.mark.soak)])
def test_every_kernel_gives_the_same_results(setting: str) -> None:
    changed, usual = (json.loads(python(str(SMALL_RUN), **settings)) for settings in ({setting: "1"}, {}))
    assert changed.keys() == usual.keys()
    for name, result in usual.items():
        assert changed[name] == result, name


def test_the_small_run_leaves_no_kernel_out() -> None:
    from tests.kernels.small_run import RESULTS

    kernels = set()
    for module in pkgutil.iter_modules(fourlab.kernels.__path__):
        loaded = importlib.import_module(f"fourlab.kernels.{module.name}")
        for name, value in vars(loaded).items():
            if hasattr(value, "py_func") and (loaded.__name__ == value.__module__ or module.name == "board"):
                kernels.add(f"{module.name}.{name}")
    assert kernels
    assert kernels <= set(RESULTS)


def test_an_edited_callee_is_noticed(copied: Path, tmp_path: Path) -> None:
    """Numba alone would answer from its cache: perft lives in another file than has_line."""
    settings = {"PYTHONPATH": str(copied), "FOURLAB_CACHE_DIR": str(tmp_path / "cache")}
    before = python("-c", ONE_PERFT, **settings)
    rules = copied / "fourlab" / "kernels" / "rules.py"
    rules.write_text(rules.read_text().replace("(mask + g.bottom) & g.cells", "(mask + g.bottom) & g.cells & 1"))
    after = python("-c", ONE_PERFT, **settings)
    assert int(before) == 4**5 - 4
    assert int(after) < int(before)


def test_the_second_process_compiles_nothing(tmp_path: Path) -> None:
    settings = {"FOURLAB_CACHE_DIR": str(tmp_path)}
    python("-c", ONE_PERFT, **settings)
    count = "; from fourlab.kernels.count import perft; print(sum(perft.stats.cache_misses.values()))"
    assert python("-c", ONE_PERFT + count, **settings).split()[1] == "0"


def test_a_read_only_package_is_left_alone(copied: Path, tmp_path: Path) -> None:
    for folder in copied.rglob("*"):
        folder.chmod(folder.stat().st_mode & ~0o222)
    output = python("-B", "-c", ONE_PERFT, PYTHONPATH=str(copied), FOURLAB_CACHE_DIR=str(tmp_path / "cache"))
    for folder in copied.rglob("*"):
        folder.chmod(folder.stat().st_mode | stat.S_IWUSR)
    assert int(output) == 4**5 - 4
    assert not list(copied.rglob("*.nbi"))  # nothing was even tried there, though root could have written
    assert list((tmp_path / "cache").rglob("*.nbi"))


NOWHERE = os.path.join(os.devnull, "home")


def test_no_home_works_from_a_private_temporary_folder(tmp_path: Path) -> None:
    where = "; from fourlab.kernels import _jit; print(_jit.CACHE_FOLDER)"
    settings = {"HOME": NOWHERE, "XDG_CACHE_HOME": "", "FOURLAB_CACHE_DIR": "", "NUMBA_CACHE_DIR": "", "TMPDIR": str(tmp_path)}
    count, folder = python("-c", ONE_PERFT + where, **settings).split()
    assert int(count) == 4**5 - 4
    assert Path(folder).parent == tmp_path
    assert not Path(folder).exists()  # removed at exit


def test_nowhere_to_write_compiles_without_a_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise OSError

    monkeypatch.setattr(_jit, "cache_places", lambda: iter([Path(NOWHERE)]))
    monkeypatch.setattr(_jit.tempfile, "mkdtemp", refuse)
    assert _jit.choose_cache_folder() is None
    monkeypatch.setattr(_jit, "CACHE_FOLDER", None)

    @_jit.kernel
    def double(x: int) -> int:
        return 2 * x

    assert double(21) == 42


@pytest.mark.skipif(sys.platform == "win32", reason="modes are a matter of POSIX")
def test_a_folder_others_can_write_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOURLAB_CACHE_DIR", str(tmp_path))
    chosen = _jit.choose_cache_folder()
    assert chosen is not None
    assert chosen.parent == tmp_path
    chosen.chmod(0o777)
    assert _jit.choose_cache_folder() != chosen


def test_bounds_are_really_checked_when_asked_for(tmp_path: Path) -> None:
    """Also when the unchecked code is in the cache already: the folder's name must tell them apart."""
    code = (
        "import numpy as np; from fourlab.kernels._jit import kernel\n"
        "from fourlab.kernels.count import goes_on; from fourlab.kernels.geometry import geometry_of\n"
        "from fourlab.kernels import _jit; print(_jit.CACHE_FOLDER.name)"
    )
    settings = {"FOURLAB_CACHE_DIR": str(tmp_path)}
    assert python("-c", code, **settings) != python("-c", code, NUMBA_BOUNDSCHECK="1", **settings)


def test_a_folder_of_another_user_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOURLAB_CACHE_DIR", str(tmp_path))
    assert _jit.choose_cache_folder() == tmp_path / _jit.source_hash(Path(_jit.__file__).parent)
    monkeypatch.setattr(os, "getuid", lambda: 54321)
    assert _jit.choose_cache_folder() != tmp_path / _jit.source_hash(Path(_jit.__file__).parent)
