"""The cost of short commands: CPU seconds of the whole process, also as ratios to `import numpy`.

    python benchmarks/startup.py [--runs 15] [--json] [--all]

Every run is a new process, in turns with `import numpy`; medians are printed. User and system time
of the process and its workers count. CPU seconds grow on a busy machine, too, so compare ratios
across machines and days. `--all` adds commands that take longer and need compiled kernels: run
`fourlab warmup` before.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from budget import LIMITS as BUDGET

NUMPY = "import numpy"
LIMITS = {
    command: BUDGET["clock"][f"{command}, CPU s"]
    for command in ("import fourlab", "fourlab --help", "fourlab show 4453")
}
"""CPU seconds on a quiet machine."""
LONGER = {
    "fourlab agents": "",
    "fourlab runs": "",
    "fourlab match random rules --games 2": "",
    "fourlab tournament three.toml": "",
    "fourlab solve 4453": "",
    "fourlab play": "4\nquit\n",
    "fourlab play --red mcts:simulations=200": "quit\n",
    "fourlab play --red alphazero:simulations=8": "quit\n",
}
"""Commands and their input."""
THREE = 'openings = "random:4"\nrounds = 1\nseed = 1\nagents = ["random", "rules", "negamax"]\n'


def cpu_seconds(command: str, standard_input: str, folder: Path, number: int) -> float:
    """Return the CPU seconds of one process and of its children."""
    arguments = ["-m", *command.split()] if command.startswith("fourlab") else ["-c", command]
    environment = {**os.environ, "FOURLAB_RUNS": str(folder / f"runs{number}")}
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    assert process.stdin is not None
    try:
        process.stdin.write(standard_input.encode())
        process.stdin.close()
    except BrokenPipeError:
        pass  # it ended without reading its input
    # Resource usage includes the children that the process has waited for.
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{command} ended with exit code {process.returncode}")
    return used.ru_utime + used.ru_stime


def measure(commands: dict[str, str], runs: int) -> dict[str, float]:
    """Return the median CPU seconds of every command, run in turns."""
    seconds: dict[str, list[float]] = {command: [] for command in commands}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "three.toml").write_text(THREE)
        for number in range(-1, runs):  # round -1 fills caches and is not counted
            for command, standard_input in commands.items():
                used = cpu_seconds(command, standard_input, folder, number)
                if number >= 0:
                    seconds[command].append(used)
    return {command: statistics.median(used) for command, used in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=15, help="Runs of every command.")
    parser.add_argument("--json", action="store_true", help="Print one JSON value instead of text.")
    parser.add_argument(
        "--all", action="store_true", help="Also measure commands that take longer."
    )
    arguments = parser.parse_args()

    commands = {"pass": "", NUMPY: "", **dict.fromkeys(LIMITS, "")}
    if arguments.all:
        commands |= LONGER
    seconds = measure(commands, arguments.runs)
    rows = [
        {
            "command": command,
            "cpu_seconds": round(used, 4),
            "ratio_to_numpy": round(used / seconds[NUMPY], 3),
            "limit": LIMITS.get(command),
        }
        for command, used in seconds.items()
    ]
    if arguments.json:
        print(json.dumps({"runs": arguments.runs, "commands": rows}, indent=2))
        return
    print(f"{'':44}{'CPU s':>8}{'limit':>7}{'import numpy = 1':>18}")
    for row in rows:
        limit = "" if row["limit"] is None else f"{row['limit']:.1f}"
        print(
            f"{row['command']:44}{row['cpu_seconds']:8.3f}{limit:>7}{row['ratio_to_numpy']:18.2f}"
        )


if __name__ == "__main__":
    main()
