"""`fourlab warmup`: compile everything now."""

import sys
import time

from fourlab.cli.options import JsonOption, print_json


def warmup(json: JsonOption = False) -> None:
    """Compile every kernel for this machine and keep the result, so that no later command waits."""
    print("fourlab: loading the compiler …", file=sys.stderr)
    from fourlab.kernels._cache import CACHE_FOLDER, is_kept
    from fourlab.kernels.warmup import WARMUPS

    seconds = {}
    for number, (name, call) in enumerate(WARMUPS.items(), 1):
        before = time.perf_counter()
        call()
        seconds[name] = round(time.perf_counter() - before, 3)
        print(f"fourlab: [{number}/{len(WARMUPS)}] {name}: {seconds[name]:.2f} s", file=sys.stderr)
    if json:
        print_json({"cache": str(CACHE_FOLDER), "seconds": seconds})
    elif is_kept(CACHE_FOLDER):
        print(f"{len(seconds)} kernels ready in {CACHE_FOLDER}")
    else:
        print("no cache folder can be written, so every process compiles anew; FOURLAB_CACHE_DIR names one that can")
