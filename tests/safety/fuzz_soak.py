"""Run very many cases of `fuzz.py`, in chunks, several at once, and resume where a run ended.

    python -m tests.safety.fuzz_soak [CASES] [FOLDER]

The result of a chunk is a small file in the folder. A chunk that has one is not run again, unless
the sources have changed since. Variables:

    FOURLAB_FUZZ_CASES     cases in all (1,000,000)
    FOURLAB_FUZZ_FOLDER    where results are kept; without it, nothing is resumed
    FOURLAB_FUZZ_WORKERS   chunks at once (one per processor)
    NUMBA_BOUNDSCHECK=1    check every index; kernels and results have folders of their own
"""

import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from fourlab.processors import usable_processors

ROOT = Path(__file__).parents[2]
CASES = int(os.environ.get("FOURLAB_FUZZ_CASES", "1000000"))
WORKERS = int(os.environ.get("FOURLAB_FUZZ_WORKERS", usable_processors()))
CHUNK = 10_000
FIRST_SEED = 1000
"""The seeds of chunks count from here; smaller ones are those of `make test`."""


def digest_of_sources() -> str:
    """Return a short hash of all that the results depend on."""
    digest = hashlib.sha256()
    for path in (*sorted((ROOT / "src").rglob("*.py")), ROOT / "tests" / "safety" / "fuzz.py"):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def last_case(file: Path) -> str:
    """Return the case in a file that FOURLAB_FUZZ_LAST has named."""
    return file.read_text(encoding="utf-8").partition("\n")[0] if file.exists() else ""


def run_chunk(seed: int, cases: int, folder: Path, **environment: str) -> dict[str, Any]:
    """Run cases in a process of their own; return its summary, and what went wrong."""
    last = folder / f"last-{seed}"
    result = subprocess.run(
        [sys.executable, "-m", "tests.safety.fuzz", str(seed), str(cases)],
        cwd=ROOT,
        env={**os.environ, "FOURLAB_FUZZ_LAST": str(last), **environment},
        capture_output=True,
        text=True,
    )
    *faults, summary = result.stdout.splitlines() or [""]
    try:
        numbers = json.loads(summary)
    except ValueError:  # a crash ends the process before it prints one
        crash = f"exit code {result.returncode} in {last_case(last)}"
        faults += [summary, result.stderr[-3000:], crash]
        numbers = {"cases": 0, "answered": 0, "decisions": 0, "faults": 1, "slowest": 0.0}
    last.unlink(missing_ok=True)
    return {**numbers, "output": "\n".join(faults)}


def run_chunks(cases: int, folder: Path) -> dict[str, Any]:
    """Run all chunks that have no result yet; print a line for each, and return the sums."""
    checked = os.environ.get("NUMBA_BOUNDSCHECK", "0") == "1"
    results = folder / f"{digest_of_sources()}{'-checked' if checked else ''}"
    results.mkdir(parents=True, exist_ok=True)
    environment = {"FOURLAB_CACHE_DIR": str(folder / "checked-kernels")} if checked else {}
    chunks = [
        (FIRST_SEED + start // CHUNK, min(CHUNK, cases - start)) for start in range(0, cases, CHUNK)
    ]

    def result_of(chunk: tuple[int, int]) -> dict[str, Any]:
        seed, size = chunk
        file = results / f"{seed}-{size}.json"
        if not file.exists():
            result = run_chunk(seed, size, results, **environment)
            part = file.with_suffix(".part")
            part.write_text(json.dumps(result), encoding="utf-8")
            part.replace(file)
        loaded: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
        return loaded

    totals: Counter[str] = Counter()
    slowest = 0.0
    output = []
    with ThreadPoolExecutor(WORKERS) as pool:
        for (seed, _), result in zip(chunks, pool.map(result_of, chunks), strict=True):
            for name in ("cases", "answered", "decisions", "faults"):
                totals[name] += result[name]
            slowest = max(slowest, result["slowest"])
            if result["output"]:
                output.append(result["output"])
            print(
                f"seed {seed}: {totals['cases']:,} of {cases:,} cases, {totals['answered']:,} "
                f"answered, {totals['faults']} faults, slowest case {slowest:.2f} s, "
                f"{_child_seconds():,.0f} s of processor time in this run",
                flush=True,
            )
    return {**totals, "slowest": slowest, "output": "\n".join(output)}


def _child_seconds() -> float:
    """Return the processor time of all chunks that this process has run."""
    times = os.times()
    return times.children_user + times.children_system


def main() -> int:
    """Run the cases and print what is wrong; return the exit code."""
    cases = int(sys.argv[1]) if len(sys.argv) > 1 else CASES
    folder = Path(sys.argv[2] if len(sys.argv) > 2 else os.environ["FOURLAB_FUZZ_FOLDER"])
    result = run_chunks(cases, folder)
    print(result["output"] or "no faults")
    return 1 if result["faults"] else 0


if __name__ == "__main__":
    sys.exit(main())
