"""The decorator: the cache of compiled code, and that kernels compute what plain Python does."""

import importlib
import json
import os
import pickle
import shutil
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

import fourlab
import fourlab.compiled
from fourlab import modules
from fourlab.compiled import _cache, _jit, warmup
from fourlab.compiled._jit import Kernel
from fourlab.compiled.warmup import GROUPS, load
from fourlab.modules import closure
from tests.conftest import ROOT

PACKAGE = Path(fourlab.__file__).parent
SMALL_RUN = ("-m", "tests.compiled.small_run")


def python(*arguments: str, **environment: str) -> str:
    """Run Python in a separate process; variables set to '' are removed."""
    merged = {**os.environ, **environment}
    merged = {name: value for name, value in merged.items() if value}
    command = [sys.executable, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, env=merged, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the package that a test may edit; returns the folder to put on PYTHONPATH."""
    shutil.copytree(
        PACKAGE, tmp_path / "site" / "fourlab", ignore=shutil.ignore_patterns("__pycache__")
    )
    return tmp_path / "site"


ONE_PERFT = (
    "from fourlab.compiled.counting import perft; from fourlab.game.geometry import geometry_of; "
    "print(perft(0, 0, geometry_of(4, 4, 4), 5))"
)


def assert_the_same_results(setting: str, *names: str) -> None:
    changed = json.loads(python(*SMALL_RUN, *names, **{setting: "1"}))
    usual = json.loads(python(*SMALL_RUN, *names))
    assert changed.keys() == usual.keys()
    for name, result in usual.items():
        assert changed[name] == result, name


def test_kernels_that_python_calls_give_the_same_results_without_compilation() -> None:
    """Other kernels are linked into these; `make soak` also compiles and calls them directly."""
    names = sorted(kernels_of_the_warm_up())
    assert len(names) > 20
    assert_the_same_results("NUMBA_DISABLE_JIT", *names)


@pytest.mark.soak
@pytest.mark.parametrize("setting", ["NUMBA_DISABLE_JIT", "NUMBA_BOUNDSCHECK"])
def test_every_kernel_gives_the_same_results(setting: str) -> None:
    assert_the_same_results(setting)


def all_kernels() -> dict[str, Kernel]:
    """Return every kernel by its module, without "fourlab.", and name."""
    kernels = {}
    for file in PACKAGE.rglob("*.py"):
        if "compiled._jit import" not in file.read_text():
            continue
        home = ".".join(file.relative_to(PACKAGE).with_suffix("").parts)
        loaded = importlib.import_module(f"fourlab.{home}")
        for name, value in vars(loaded).items():
            if isinstance(value, Kernel) and (
                loaded.__name__ == value.__module__ or home == "compiled.board"
            ):
                kernels[f"{home}.{name}"] = value
    return kernels


def kernels_of_the_warm_up() -> set[str]:
    """Return the names of the kernels that a warm-up compiles for calls from Python."""
    for group in GROUPS:
        load(group)
    return {name for name, value in all_kernels().items() if value.overloads}


def test_the_small_run_calls_every_kernel() -> None:
    from tests.compiled.small_run import RESULTS

    kernels = set(all_kernels())
    assert kernels
    assert kernels <= set(RESULTS)


def test_an_edited_callee_is_recompiled(copied: Path, tmp_path: Path) -> None:
    """Numba's own cache would miss the edit, since perft is in another file than has_line."""
    settings = {"PYTHONPATH": str(copied), "FOURLAB_CACHE_DIR": str(tmp_path / "cache")}
    before = python("-c", ONE_PERFT, **settings)
    rules = copied / "fourlab" / "game" / "bitboard.py"
    rules.write_text(
        rules.read_text().replace("(mask + g.bottom) & g.cells", "(mask + g.bottom) & g.cells & 1")
    )
    after = python("-c", ONE_PERFT, **settings)
    assert int(before) == 4**5 - 4
    assert int(after) < int(before)


def test_the_second_process_compiles_nothing(tmp_path: Path) -> None:
    settings = {"FOURLAB_CACHE_DIR": str(tmp_path)}
    python("-c", ONE_PERFT, **settings)
    assert python("-c", ONE_PERFT + MISSES, **settings).split()[1] == "0"


def test_a_read_only_package_is_left_alone(copied: Path, tmp_path: Path) -> None:
    for folder in copied.rglob("*"):
        folder.chmod(folder.stat().st_mode & ~0o222)
    output = python(
        "-B", "-c", ONE_PERFT, PYTHONPATH=str(copied), FOURLAB_CACHE_DIR=str(tmp_path / "cache")
    )
    for folder in copied.rglob("*"):
        folder.chmod(folder.stat().st_mode | stat.S_IWUSR)
    assert int(output) == 4**5 - 4
    assert not list(copied.rglob("*.kernel"))  # not even as root, who could have written there
    assert list((tmp_path / "cache").rglob("*.kernel"))


NOWHERE = os.path.join(os.devnull, "home")


def test_without_a_home_the_cache_is_a_private_temporary_folder(tmp_path: Path) -> None:
    where = "; from fourlab.compiled import _cache; print(_cache.CACHE_FOLDER)"
    settings = {
        "HOME": NOWHERE,
        "XDG_CACHE_HOME": "",
        "FOURLAB_CACHE_DIR": "",
        "NUMBA_CACHE_DIR": "",
        "TMPDIR": str(tmp_path),
    }
    count, folder = python("-c", ONE_PERFT + where, **settings).split()
    assert int(count) == 4**5 - 4
    assert Path(folder).parent == tmp_path
    assert not Path(folder).exists()  # removed at exit


def test_without_a_writable_folder_there_is_no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*arguments: object, **options: object) -> None:
        raise OSError

    monkeypatch.setattr(_cache, "cache_places", lambda: iter([Path(NOWHERE)]))
    monkeypatch.setattr(_cache.tempfile, "mkdtemp", refuse)
    assert _cache.choose_cache_folder() is None
    monkeypatch.setattr(_jit, "CACHE_FOLDER", None)

    @_jit.kernel
    def double(x: int) -> int:
        return 2 * x

    assert double(21) == 42


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no POSIX modes")
def test_a_folder_others_can_write_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOURLAB_CACHE_DIR", str(tmp_path))
    chosen = _cache.choose_cache_folder()
    assert chosen is not None
    assert chosen.parent == tmp_path
    chosen.chmod(0o777)
    assert _cache.choose_cache_folder() != chosen


def test_bounds_checking_has_cache_entries_of_its_own(tmp_path: Path) -> None:
    """Otherwise unchecked code in the cache would be used although checking is on."""
    settings = {"FOURLAB_CACHE_DIR": str(tmp_path)}
    python("-c", ONE_PERFT, **settings)
    unchecked = entries(tmp_path)
    python("-c", ONE_PERFT, NUMBA_BOUNDSCHECK="1", **settings)
    assert len(entries(tmp_path)) == 2 * len(unchecked)


def test_a_folder_of_another_user_is_not_trusted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOURLAB_CACHE_DIR", str(tmp_path))
    assert _cache.choose_cache_folder() == tmp_path / "kernels"
    monkeypatch.setattr(os, "getuid", lambda: 54321)
    assert _cache.choose_cache_folder() != tmp_path / "kernels"


def entries(cache: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in (cache / "kernels").glob("*.kernel")}


MISSES = (
    "; from fourlab.compiled.counting import perft; print(sum(perft.stats.cache_misses.values()))"
)


def test_a_second_installation_compiles_nothing(copied: Path, tmp_path: Path) -> None:
    """Entries are found by content: neither the path nor the date of the sources matters."""
    settings = {"FOURLAB_CACHE_DIR": str(tmp_path / "cache")}
    python("-c", ONE_PERFT, **settings)
    for source in copied.rglob("*.py"):
        os.utime(source, (1, 1))
    output = python("-c", ONE_PERFT + MISSES, PYTHONPATH=str(copied), **settings)
    assert output.split() == ["1020", "0"]


def test_an_edit_recompiles_only_what_depends_on_it(copied: Path, tmp_path: Path) -> None:
    settings = {"PYTHONPATH": str(copied), "FOURLAB_CACHE_DIR": str(tmp_path / "cache")}
    python("-c", ONE_PERFT, **settings)
    # perft depends on popcount, but not on Q-learning.
    for module, misses in (("agents/q/kernel.py", "0"), ("compiled/bits.py", "1")):
        with (copied / "fourlab" / module).open("a") as source:
            source.write("# edited\n")
        assert python("-c", ONE_PERFT + MISSES, **settings).split()[1] == misses


def test_a_damaged_stamp_counts_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stamp = tmp_path / "perft.ready"
    monkeypatch.setattr(warmup, "stamp_of", lambda name: stamp)
    stamp.write_bytes(b"")
    assert warmup.is_compiled("perft")
    for content in (b"\xff\xfe", b"gone.kernel", b"nul\0.kernel"):
        stamp.write_bytes(content)
        assert not warmup.is_compiled("perft")


def test_threads_that_store_one_entry_use_names_of_their_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = threading.Barrier(2, timeout=60)
    names = []
    replace = os.replace

    def slowly(source: str, target: Path) -> None:
        names.append(str(source))
        together.wait()  # both have written, neither has its entry in place
        replace(source, target)

    monkeypatch.setattr(os, "replace", slowly)
    assert misses_of_two_savers(tmp_path) == 0
    assert len(set(names)) == 2
    assert [file.suffix for file in tmp_path.iterdir()] == [".kernel"]


def misses_of_two_savers(folder: Path) -> int:
    """Let two threads store the same entry; return how often it must then be compiled."""

    def double(x: int) -> int:
        return 2 * x

    compiled = _jit.Kernel(double, inlined=False)

    class Unsaved(_cache.KernelCache):
        def save_overload(self, signature: Any, result: Any) -> None:
            kept.append((signature, result))

    kept: list[tuple[Any, Any]] = []
    compiled._cache = Unsaved(double, folder)
    assert compiled(21) == 42
    stores = [_cache.KernelCache(double, folder) for _ in range(2)]
    threads = [threading.Thread(target=store.save_overload, args=kept[0]) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    again = _jit.Kernel(double, inlined=False)
    again._cache = _cache.KernelCache(double, folder)
    assert again(21) == 42
    return sum(again.stats.cache_misses.values())


TINY = """
import sys
from fourlab.compiled import _jit

@_jit.kernel
def double(x):
    return 2 * x

print("ready", flush=True)
sys.stdin.readline()
print(double(21), sum(double.stats.cache_misses.values()), flush=True)
"""


def test_two_processes_that_begin_with_an_empty_cache_both_succeed(tmp_path: Path) -> None:
    (tmp_path / "tiny.py").write_text(TINY)
    environment = {
        **os.environ,
        "FOURLAB_CACHE_DIR": str(tmp_path),
        "PYTHONPATH": os.pathsep.join([str(tmp_path), str(PACKAGE.parent)]),
    }

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-c", "import tiny"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )

    def finish(process: subprocess.Popen[str]) -> str:
        output, errors = process.communicate("go\n")
        assert (process.returncode, errors) == (0, "")
        return output

    both = [start() for _ in range(2)]
    for process in both:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    assert entries(tmp_path) == {}
    for process in both:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    # The one that is faster may leave its entry for the other.
    assert sorted(finish(process) for process in both) in (["42 0\n", "42 1\n"], ["42 1\n"] * 2)
    (file,) = (tmp_path / "kernels").iterdir()
    assert file.suffix == ".kernel"
    later = start()
    assert finish(later) == "ready\n42 0\n"


def test_entries_unused_for_a_month_are_deleted(tmp_path: Path) -> None:
    now = time.time()
    for name, days in (
        ("used.kernel", 20),
        ("unused.kernel", 40),
        ("killed.1.tmp", 40),
        ("else", 400),
    ):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (now - days * 86_400,) * 2)
    _cache.prune(tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {"used.kernel", "else"}


def test_folders_of_the_first_version_are_deleted_and_nobody_else_s(tmp_path: Path) -> None:
    long_ago = time.time() - 40 * 86_400
    for name, inside in (
        ("0123456789abcdef", "kernels_1"),
        ("fedcba9876543210", "letters"),
        ("kernels", "x.kernel"),
    ):
        (tmp_path / name / inside).mkdir(parents=True)
        os.utime(tmp_path / name, (long_ago, long_ago))
    (tmp_path / "00000000000000aa" / "kernels_2").mkdir(parents=True)  # used today
    _cache.prune(tmp_path / "kernels")
    left = {folder.name for folder in tmp_path.iterdir()}
    assert left == {"fedcba9876543210", "kernels", "00000000000000aa"}


def test_the_closure_of_a_module_has_all_it_imports() -> None:
    endgame = set(closure("fourlab.solver.endgame"))
    assert {"fourlab.solver.kernel", "fourlab.solver.table", "fourlab.game.bitboard"} <= endgame
    assert "fourlab.agents.mcts.kernel" not in endgame
    learning = set(closure("fourlab.agents.q.kernel"))
    # Imported as modules, by `from package import module`.
    assert {"fourlab.agents.mcts.kernel", "fourlab.game.bitboard"} <= learning


def test_a_long_compilation_is_announced(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Slow:
        """A compiler that finishes only after the announcement."""

        def compile(self, arguments: object, return_type: object) -> str:
            announced.wait()
            return "compiled"

    def announce(self: _jit._Announced) -> None:
        real(self)
        announced.set()

    real = _jit._Announced._announce
    announced = threading.Event()
    monkeypatch.setattr(_jit, "NOTICE_SECONDS", 0.0)
    monkeypatch.setattr(_jit._Announced, "_announce", announce)
    assert _jit._Announced(Slow(), python).compile((), None) == "compiled"
    (record,) = caplog.records
    assert record.message.startswith("compiling tests.compiled.test_jit.python for this machine")


def test_kernels_are_pickled_by_name() -> None:
    from fourlab.compiled.board import has_line
    from fourlab.compiled.counting import perft

    assert pickle.loads(pickle.dumps(perft)) is perft
    assert pickle.loads(pickle.dumps(has_line))(0b1111, 7, 4)


def test_a_parenthesised_import_belongs_to_the_closure(monkeypatch: pytest.MonkeyPatch) -> None:
    sources = {"fourlab.a": b"from fourlab.b import (\n    c,\n    d,\n)\n", "fourlab.b.d": b""}
    monkeypatch.setattr(modules, "source_of", sources.get)
    assert set(closure("fourlab.a")) == {"fourlab.a", "fourlab.b.d"}
    replaced = {"fourlab.a": b"import fourlab.e\n", "fourlab.e": b""}
    assert set(closure("fourlab.a", replaced=replaced)) == {"fourlab.a", "fourlab.e"}
