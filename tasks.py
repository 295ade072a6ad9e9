"""Run the tasks of development, with nothing but Python: for Windows, and wherever make is missing.

    python tasks.py                 # list the tasks
    python tasks.py setup           # make .venv and install everything
    python tasks.py quick           # any other task; sets up first if there is no .venv
    python tasks.py with ruff check # a program of .venv

The Makefile runs the same tasks, so that every command is written once, here. What it adds is that
steps are only repeated when something has changed, and that some run at the same time.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
LOCK = "requirements-dev.lock"
KAGGLE = "kaggle-environments==1.33.2"
"""Installed without what it depends on: it says that it needs gigabytes, but its ConnectX needs two
small packages, which are among those of the tests."""
BENCHMARKS = (
    *("playouts", "mcts", "guided", "q_learning", "alphazero", "arena", "envs", "web", "page"),
    *("solver", "ablation"),
)
LOCK_HEAD = f"""\
# Everything for development, with hashes: python tasks.py lock
#
#   pip install torch==2.13.0
#   pip install --no-deps --require-hashes -r {LOCK}
#   pip install --no-deps --editable .
#
# torch is not in this file. Its wheels on the public index bring gigabytes of CUDA libraries on
# Linux; builds without CUDA have the version 2.13.0+cpu and hashes of their own, from other places.
# Where one is offered, pip prefers it for the requirement torch==2.13.0 (constraints.txt).
"""


class Task(NamedTuple):
    """Something that developers do."""

    help: str
    work: Callable[[Sequence[str]], int]


def program(name: str) -> list[str]:
    """Return the command of a program of this environment."""
    if name == "python":
        return [sys.executable]
    beside = shutil.which(name, path=str(Path(sys.executable).parent))
    if beside is None and name == "uv":  # it needs no environment of its own
        beside = shutil.which(name)
    if beside is None:
        raise SystemExit(f"{name} is not installed here: python tasks.py setup")
    return [beside]


def run(*command: str, **variables: str) -> int:
    """Run a program of this environment in the root of the repository; return its exit code."""
    words = [*program(command[0]), *command[1:]]
    return subprocess.run(words, cwd=ROOT, env={**os.environ, **variables}).returncode


def in_turn(*commands: Sequence[str]) -> int:
    """Run commands until one fails; return its exit code."""
    return next((code for command in commands if (code := run(*command))), 0)


def check(arguments: Sequence[str]) -> int:
    """Run the linters and the type checker."""
    print("== ruff, mypy, import-linter, oxlint, words", flush=True)
    code = in_turn(
        ("ruff", "check", "."),
        ("ruff", "format", "--check", "."),
        ("mypy",),
        ("lint-imports",),
        ("oxlint", "--deny-warnings", "src/fourlab/web/static", "examples", "tests/javascript"),
        ("python", "tests/words.py"),
    )
    node = shutil.which("node")
    if code or node is None:
        return code
    tests = [node, "--test", "tests/javascript/"]
    done = subprocess.run(tests, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        print(done.stdout, done.stderr, sep="")
    return done.returncode


def imports(arguments: Sequence[str]) -> int:
    """Compile the modules that the tests import, in one process instead of in each worker."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        print(done.stdout, done.stderr, sep="")
    return done.returncode


def parts(arguments: Sequence[str]) -> int:
    """Find or install a browser, a C compiler and Node."""
    return run("python", "tests/system_parts.py")


def warmup(arguments: Sequence[str]) -> int:
    """Compile all kernels."""
    print("== compiling the kernels for this machine", flush=True)
    return run("python", "-m", "fourlab", "warmup", *arguments)


def core_tests(arguments: Sequence[str]) -> int:
    """Run the tests of the core and of what has changed."""
    return run("python", "-m", "pytest", "--quick", *arguments)


def all_tests(arguments: Sequence[str]) -> int:
    """Run all tests that must pass."""
    print("== tests", flush=True)
    # More workers than cores: many tests wait for processes they have started.
    workers = ("-n", "4", "--dist", "loadfile", "--no-loadscope-reorder")
    return run("python", "-m", "pytest", *workers, *arguments)


def quick(arguments: Sequence[str]) -> int:
    """Check, then run the tests of the core and of what has changed."""
    return check(()) or warmup(()) or core_tests(arguments)


def test(arguments: Sequence[str]) -> int:
    """Check, then run all tests that must pass."""
    return check(()) or parts(()) or warmup(()) or imports(()) or all_tests(arguments)


def kaggle(arguments: Sequence[str]) -> int:
    """Test submissions in Kaggle's own environment."""
    print("== submissions in Kaggle's own environment", flush=True)
    return run("python", "-m", "pytest", "tests/bridges/kaggle", *arguments, CI="true")


def soak(arguments: Sequence[str]) -> int:
    """Run the tests that take minutes, and print what is promised and measured."""
    print("== tests that take minutes, and every example of the properties", flush=True)
    selected = ("-m", "soak or hypothesis or sweep", "-o", "faulthandler_timeout=0")
    return run("python", "-m", "pytest", *selected, *arguments, FOURLAB_EXAMPLES="all")


def budget(arguments: Sequence[str]) -> int:
    """Print sizes, start-up and compile times beside their limits."""
    return run("python", "benchmarks/budget.py", *arguments)


def bench(arguments: Sequence[str]) -> int:
    """Measure Fourlab beside its peers, in one run."""
    print("== benchmarks: ours beside peers, in one run", flush=True)
    for name in BENCHMARKS:
        options = ()
        # Files of solved positions, if there are some: make bench TEST_SETS=... POSITIONS=...
        if name == "solver" and os.environ.get("TEST_SETS"):
            options = ("--positions", *os.environ["TEST_SETS"].split())
        if code := run("python", f"benchmarks/{name}.py", *options):
            return code
    if files := os.environ.get("POSITIONS", "").split():
        return run("python", "benchmarks/mistakes.py", *files)
    print("for mistake rates, set POSITIONS to names of files of positions, one a line")
    return 0


def speedrun(arguments: Sequence[str]) -> int:
    """Train from nothing, as the current record of the leaderboard does, and measure it."""
    return run("python", "benchmarks/speedrun.py", *arguments)


def docs(arguments: Sequence[str]) -> int:
    """Build the documentation as a website in site/."""
    os.environ["NO_MKDOCS_2_WARNING"] = "1"
    code = run("mkdocs", "build", "--quiet", "--strict", *arguments)
    if code == 0:
        print("== site/index.html (with search: python -m http.server --directory site)")
    return code


def release(arguments: Sequence[str]) -> int:
    """Build, inspect and install what would be published."""
    return run("python", "tools/release.py", *arguments)


def web(arguments: Sequence[str]) -> int:
    """Start the page."""
    return run("python", "-m", "fourlab", "web", *arguments)


def with_program(arguments: Sequence[str]) -> int:
    """Run a program of .venv."""
    if not arguments:
        raise SystemExit("name a program: python tasks.py with ruff check")
    return run(*arguments)


def lock(arguments: Sequence[str]) -> int:
    """Write the lock file of development again."""
    file = ROOT / LOCK
    with tempfile.TemporaryDirectory() as folder:
        without_torch = Path(folder) / "without-torch.txt"
        without_torch.write_text("torch; python_version < '3'\n", encoding="utf-8")
        code = run(
            *("uv", "pip", "compile", "pyproject.toml", "--extra", "all", "--extra", "dev"),
            *("--universal", "--python-version", "3.11", "--quiet", "--no-header"),
            *("--no-annotate", "--generate-hashes", "--no-emit-index-url"),
            *("--constraint", "constraints.txt", "--override", str(without_torch)),
            *("--output-file", str(file), *arguments),
        )
    if code == 0:
        file.write_text(LOCK_HEAD + file.read_text(encoding="utf-8"), encoding="utf-8")
    return code


def clean(arguments: Sequence[str]) -> int:
    """Delete everything that can be made again, except .venv."""
    names = (".pytest_cache", ".mypy_cache", ".ruff_cache", ".import_linter_cache", ".hypothesis")
    for name in (*names, "dist", "build", "site"):
        shutil.rmtree(ROOT / name, ignore_errors=True)
    for folder in ("src", "tests", "tools", "benchmarks"):
        for cache in list((ROOT / folder).rglob("__pycache__")):
            shutil.rmtree(cache, ignore_errors=True)
    return 0


def setup(arguments: Sequence[str]) -> int:
    """Make .venv and install everything that tests and checks need."""
    if sys.version_info < (3, 11):  # noqa: UP036  (nothing has checked it before)
        raise SystemExit("Python 3.11 or newer is needed")
    if not python_of_venv().exists():
        print(f"== making {VENV.name}", flush=True)
        subprocess.run([sys.executable, "-m", "venv", str(VENV)], check=True)
    print("== installing fourlab with all that the tests and checks need", flush=True)
    pip = [str(python_of_venv()), "-m", "pip", "--disable-pip-version-check", "--quiet", "install"]
    everything = ["--no-compile", "--constraint", "constraints.txt", "--editable", ".[all,dev]"]
    for wanted in (everything, ["--no-compile", "--no-deps", KAGGLE]):
        if code := subprocess.run([*pip, *wanted, *arguments], cwd=ROOT).returncode:
            return code
    return 0


TASKS: dict[str, Task] = {
    name: Task((work.__doc__ or "").strip(), work)
    for name, work in {
        "setup": setup,
        "run": web,
        "quick": quick,
        "test": test,
        "check": check,
        "core-tests": core_tests,
        "all-tests": all_tests,
        "parts": parts,
        "imports": imports,
        "warmup": warmup,
        "kaggle": kaggle,
        "soak": soak,
        "budget": budget,
        "bench": bench,
        "speedrun": speedrun,
        "docs": docs,
        "release": release,
        "lock": lock,
        "clean": clean,
        "with": with_program,
    }.items()
}
ANYWHERE = ("setup", "clean")
"""Tasks that need no environment."""
WITH_THE_CORE = ("run", "warmup", "speedrun")
"""Tasks that need no development tools."""


def python_of_venv() -> Path:
    """Return the interpreter of .venv, which may not exist yet."""
    return VENV / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def is_equipped(name: str) -> bool:
    """Return whether this interpreter has what a task needs: any environment will do."""
    needed = "fourlab" if name in WITH_THE_CORE else "ruff"
    return shutil.which(needed, path=str(Path(sys.executable).parent)) is not None


def main(arguments: Sequence[str]) -> int:
    """Run a task, in .venv if this interpreter lacks the tools."""
    if not arguments or arguments[0] in ("-h", "--help", "--list"):
        width = max(map(len, TASKS))
        print("\n".join(f"{name:{width}}  {task.help}" for name, task in TASKS.items()))
        return 0
    name, *rest = arguments
    if name not in TASKS:
        print(f"there is no task {name!r}; tasks are {', '.join(TASKS)}", file=sys.stderr)
        return 2
    if name in ANYWHERE or is_equipped(name):
        return TASKS[name].work(rest)
    # .venv may be half made, if its set-up was interrupted.
    if not python_of_venv().exists() and (code := setup(())):
        return code
    if Path(sys.executable) == python_of_venv():
        print(f"{VENV.name} lacks the tools: python tasks.py setup", file=sys.stderr)
        return 1
    return subprocess.run([str(python_of_venv()), __file__, *arguments], cwd=ROOT).returncode


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
