"""`fourlab warmup`: compile kernels in advance."""

import os
import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from fourlab.cli.options import JsonOption, print_json

if TYPE_CHECKING:
    from fourlab.compiled.background import Background, Worker

MOST_JOBS = 16
DEFAULT_JOBS = min(2, os.cpu_count() or 1)


GroupsArgument = Annotated[
    list[str] | None,
    typer.Argument(metavar="[GROUP]...", help="Groups of kernels to compile (default: all)."),
]
JobsOption = Annotated[
    int,
    typer.Option(
        "--jobs",
        min=1,
        max=MOST_JOBS,
        show_default=False,
        help="Compile in this many processes (default 2); 1: in this one.",
    ),
]


def warmup(
    names: GroupsArgument = None,
    jobs: JobsOption = DEFAULT_JOBS,
    json: JsonOption = False,
) -> None:
    """Compile kernels now, so that no later command waits.

    Kernels are compiled in groups, such as "tree search" and solver, and the result is kept.
    Every other command compiles what it needs when it needs it.
    """
    from fourlab.compiled._cache import CACHE_FOLDER, is_kept
    from fourlab.compiled._jit import LOGGER
    from fourlab.compiled.background import Background, Child, CompilationFailed, Here
    from fourlab.compiled.warmup import GROUPS, check_names, is_compiled

    chosen = list(dict.fromkeys(names or GROUPS))
    check_names(chosen)
    kept = is_kept(CACHE_FOLDER)
    jobs = min(jobs, len(chosen)) if kept else 1  # what is not kept is of use to this process alone
    # The longest first, so that no process is left with a long one at the end.
    # A group that is compiled already is only loaded.
    left = {name: 0.1 if is_compiled(name) else GROUPS[name].seconds for name in chosen}
    order = sorted(chosen, key=lambda name: -left[name]) if jobs > 1 else chosen
    seconds: dict[str, float] = {}
    cpu_seconds: dict[str, float] = {}
    started = time.perf_counter()

    def compiled(name: str, spent: float, cpu_spent: float) -> None:
        seconds[name], cpu_seconds[name] = round(spent, 3), round(cpu_spent, 3)
        print(
            f"fourlab: [{len(seconds)}/{len(order)}] {name}: {spent:.2f} s{_rest(background)}",
            file=sys.stderr,
        )

    workers: list[Worker] = [Child() for _ in range(jobs)] if jobs > 1 else [Here()]
    background = Background(order, workers, left, on_compiled=compiled)
    print(f"fourlab: {len(order)} groups, {jobs} at a time{_rest(background)}", file=sys.stderr)
    LOGGER.disabled = True  # the lines below say it better
    try:
        background.run()
    except CompilationFailed as error:
        print(f"fourlab: {error}", file=sys.stderr)
        raise typer.Exit(1) from None
    finally:
        LOGGER.disabled = False
        background.close()
    if json:
        spent = {
            "total_seconds": round(time.perf_counter() - started, 3),
            "seconds": {name: seconds[name] for name in chosen},
            "cpu_seconds": {name: cpu_seconds[name] for name in chosen},
        }
        print_json({"cache": str(CACHE_FOLDER), "jobs": jobs, **spent})
    elif kept:
        print(f"groups of kernels ready in {CACHE_FOLDER}: {', '.join(chosen)}")
    else:
        print("no cache folder can be written, so every process compiles anew; FOURLAB_CACHE_DIR names one that can")


def _rest(background: "Background") -> str:
    seconds = max(background.seconds_left().values())
    return f" (about {seconds:.0f} s left)" if seconds >= 1 else ""
