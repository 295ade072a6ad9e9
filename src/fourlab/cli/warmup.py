"""`fourlab warmup`: compile kernels ahead of time."""

import sys
import time
from typing import Annotated

import typer

from fourlab.cli.options import JsonOption, print_json
from fourlab.compiled.background import Background, Child, CompilationFailed, Here, Worker
from fourlab.processors import usable_processors

MAX_JOBS = 16
# Each process loads its own compiler, which takes memory.
DEFAULT_JOBS = min(2, usable_processors())
LOAD_SECONDS = 0.1
"""Estimated time to load a group from the cache."""

GroupsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="GROUP", help="Groups of kernels to compile (default all)."),
]
JobsOption = Annotated[
    int,
    typer.Option(
        "--jobs",
        min=1,
        max=MAX_JOBS,
        show_default=False,
        help="Number of processes (default 2); 1 compiles in this process.",
    ),
]


def warmup(
    names: GroupsArgument = None,
    jobs: JobsOption = DEFAULT_JOBS,
    json: JsonOption = False,
) -> None:
    """Compile kernels ahead of time.

    Kernels are compiled in groups, such as "tree search" and solver, and cached, so that no later
    command has to wait. Without a warmup, every command compiles what it needs.

    Example: fourlab warmup "tree search" solver
    """
    from fourlab.compiled._cache import CACHE_FOLDER, is_kept
    from fourlab.compiled.warmup import GROUPS, check_names, is_compiled

    chosen = list(dict.fromkeys(names or GROUPS))
    check_names(chosen)
    is_cached = is_kept(CACHE_FOLDER)
    # Without a cache, the work of other processes would be lost.
    jobs = min(jobs, len(chosen)) if is_cached else 1
    estimates = {
        name: LOAD_SECONDS if is_compiled(name) else GROUPS[name].seconds for name in chosen
    }
    # The longest group first, so that no process is left with a long one at the end.
    order = sorted(chosen, key=lambda name: -estimates[name]) if jobs > 1 else chosen
    seconds: dict[str, float] = {}
    cpu_seconds: dict[str, float] = {}
    started = time.perf_counter()

    def on_compiled(name: str, spent: float, cpu_spent: float) -> None:
        # Wall-clock and CPU seconds differ where processes share the cores.
        seconds[name] = round(spent, 3)
        cpu_seconds[name] = round(cpu_spent, 3)
        done = f"[{len(seconds)}/{len(order)}] {name}: {spent:.2f} s"
        print(f"fourlab: {done}{_remaining(background)}", file=sys.stderr)

    workers: list[Worker] = [Child() for _ in range(jobs)] if jobs > 1 else [Here()]
    background = Background(order, workers, estimates, on_compiled=on_compiled)
    plan = f"{len(order)} groups, {jobs} at a time"
    print(f"fourlab: {plan}{_remaining(background)}", file=sys.stderr)
    _run(background)
    if json:
        times = {
            "total_seconds": round(time.perf_counter() - started, 3),
            "seconds": {name: seconds[name] for name in chosen},
            "cpu_seconds": {name: cpu_seconds[name] for name in chosen},
        }
        print_json({"cache": str(CACHE_FOLDER), "jobs": jobs, **times})
    elif is_cached:
        print(f"groups of kernels ready in {CACHE_FOLDER}: {', '.join(chosen)}")
    else:
        print(
            "no cache folder is writable, so every process compiles again; "
            "set FOURLAB_CACHE_DIR to a writable folder"
        )


def _run(background: Background) -> None:
    """Compile all groups; exit with code 1 if one cannot be compiled."""
    from fourlab.compiled._jit import LOGGER

    LOGGER.disabled = True  # groups are reported instead of single kernels
    try:
        background.run()
    except CompilationFailed as error:
        print(f"fourlab: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    finally:
        LOGGER.disabled = False
        background.close()


def _remaining(background: Background) -> str:
    seconds = max(background.seconds_left().values())
    return f" (about {seconds:.0f} s left)" if seconds >= 1 else ""
