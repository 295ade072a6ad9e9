"""Measure everything that has a limit in budget.toml.

    python benchmarks/budget.py [--fast] [--json]

Installing the core into an empty environment, and a clone and a wheel up to their first reply, take
minutes; `--fast` skips them. The duration of `make test` is that of its last run here that started
without an environment; that of `make quick`, of its last run. Exits with 1 if a limit is exceeded.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
LIMITS: dict[str, dict[str, float]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text())
MB = 1e6
PAGE = """
from fourlab.agents import registry
from fourlab.agents.levels import LEVELS
specs = [level.spec for level in LEVELS]
names = [name for spec in specs for name in registry.kernels_of(registry.parse_spec(spec)[0])]
print(*dict.fromkeys(names), sep="\\n")
"""

COUNT = """
import sys
from fourlab.compiled import _jit, warmup
for name in warmup.GROUPS:
    warmup.load(name)
modules = [module for name, module in sys.modules.items() if name.startswith("fourlab.")]
values = [value for module in modules for value in vars(module).values()]
kernels = {id(value): value for value in values if isinstance(value, _jit.Kernel)}
print(sum(len(kernel.signatures) for kernel in kernels.values()), len(kernels))
"""
"""Runs in a new process, in which nothing else has called a kernel."""


def wheel_megabytes(folder: Path) -> float:
    """Build the wheel and return its size; needs hatchling."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as content:
        assert any(name.endswith("fourlab/__init__.py") for name in content.namelist())
    return wheel.stat().st_size / MB


def kernel_counts() -> tuple[int, int]:
    """Return the number of compiled signatures that Python calls, and of all kernels."""
    done = subprocess.run([sys.executable, "-c", COUNT], check=True, capture_output=True, text=True)
    entries, kernels = map(int, done.stdout.split())
    return entries, kernels


def compile_seconds() -> dict[str, float]:
    """Return the CPU seconds to compile every group of kernels with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "FOURLAB_CACHE_DIR": cache}
        command = [sys.executable, "-m", "fourlab", "warmup", "--jobs", "1", "--json"]
        done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    seconds: dict[str, float] = json.loads(done.stdout)["cpu_seconds"]
    return seconds


def installed(folder: Path) -> tuple[float, float]:
    """Install the core; returns the seconds, and the MB without pip and compiled modules."""
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    python = folder / "venv" / "bin" / "python"
    script = "import sysconfig; print(sysconfig.get_path('purelib'))"
    done = subprocess.run([python, "-c", script], check=True, capture_output=True, text=True)
    packages = Path(done.stdout.strip())
    before = set(packages.iterdir())
    started = time.monotonic()
    pip = [python, "-m", "pip", "--quiet", "--disable-pip-version-check", "install", "--no-compile"]
    subprocess.run([*pip, str(ROOT)], check=True)
    seconds = time.monotonic() - started
    new = [path for path in packages.iterdir() if path not in before]
    size = sum(
        file.stat().st_size
        for path in new
        for file in ([path] if path.is_file() else path.rglob("*"))
    )
    return seconds, size / MB


def benchmark(name: str, *arguments: str) -> dict[str, Any]:
    """Run another benchmark of this folder; returns its JSON."""
    command = [sys.executable, str(ROOT / "benchmarks" / name), *arguments, "--json"]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def last_seconds(target: str) -> float | None:
    """Return the duration of the last complete run of a Makefile target, if there was one."""
    file = ROOT / ".venv" / f".{target}-seconds"
    return float(file.read_text()) if file.exists() else None


def measure(everything: bool) -> dict[str, float]:
    """Measure what has a limit; what cannot be measured is left out."""
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        figures["wheel, MB"] = wheel_megabytes(folder / "dist")
        entries, kernels = kernel_counts()
        figures["kernels that Python calls"] = entries
        figures["kernels in all"] = kernels
        seconds = compile_seconds()
        needed = subprocess.run(
            [sys.executable, "-c", PAGE], check=True, capture_output=True, text=True
        )
        figures["compile all kernels, CPU s"] = sum(seconds.values())
        page = (seconds[group] for group in needed.stdout.splitlines())
        figures["compile what the page needs, CPU s"] = sum(page)
        for row in benchmark("startup.py")["commands"]:
            if row["limit"] is not None:
                figures[f"{row['command']}, CPU s"] = row["cpu_seconds"]
        if everything:
            spent, size = installed(folder)
            figures["install the core, s"] = spent
            figures["installed core without compiled modules, MB"] = size
            figures |= benchmark("first_minute.py")["figures"]
            figures |= benchmark("first_minute.py", "--wheel")["figures"]
    for target, title, unit in (("test", "make test, min", 60), ("quick", "make quick, s", 1)):
        took = last_seconds(target)
        if took is not None:
            figures[title] = took / unit
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--fast", action="store_true", help="Skip installing and cloning.")
    parser.add_argument("--json", action="store_true", help="Print one JSON value instead of text.")
    options = parser.parse_args()
    figures = measure(not options.fast)
    limits = LIMITS["clock"] | LIMITS["size"]
    over = [title for title, figure in figures.items() if figure > limits[title]]
    if options.json:
        print(json.dumps({"figures": figures, "limits": limits, "over": over}))
        sys.exit(1 if over else 0)
    for title, limit in limits.items():
        measured = figures.get(title)
        shown = "not measured" if measured is None else f"{measured:.3g}"
        mark = "" if measured is None else "OVER" if title in over else "ok"
        print(f"{title:48} {shown:>12}  limit {limit:<6g} {mark}")
    sys.exit(1 if over else 0)


if __name__ == "__main__":
    main()
