"""Make the networks of trainings of the preset `arya` small enough to ship.

    python -m fourlab.studies.arya.ship RUN [RUN …]

A run of `fourlab train alphazero --preset arya --faithful --keep 1000 --seed 1` gives three files
in the folder of networks, src/fourlab/nets/weights:

    arya-alphamcts-10-1.onnx    the network after 1,000 games, in 8-bit integers
    arya-alphamcts-50-1.onnx    the network after 5,000 games
    arya-alphamcts-1.json       how they were made, and the curve of Figure 33

Without --faithful they are called arya-1000-1, arya-5000-1 and arya-1. Of an unfinished run only
the network that was kept on the way is shipped, once there is one.
"""

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fourlab.errors import UserError
from fourlab.files import read_bounded, write_atomically
from fourlab.jobs.run import Run
from fourlab.nets.evaluator import MAX_BYTES, SHIPPED, OnnxEvaluator, probe_positions
from fourlab.training.listed_examples import listed_accuracy
from fourlab.training.loop import read_metrics

if TYPE_CHECKING:
    from fourlab.agents.alphazero.settings import AlphaZeroSettings
    from fourlab.nets.modules import Net

CALIBRATION = 2048
"""Positions of random games on which the ranges of 8-bit integers are measured."""
METRICS = ("games", "positions", "simulations", "policy_loss", "value_loss", "red_wins", "plies")
"""The columns of a training's metrics that its manifest keeps."""
FAITHFUL_NAME, CORRECTED_NAME = "arya-alphamcts", "arya"


def ship(run: Run, folder: Path) -> list[Path]:
    """Write the networks of a training and their manifest; return the files."""
    from fourlab.agents.alphazero.settings import TRAINING
    from fourlab.nets.weights import to_int8

    settings: AlphaZeroSettings = TRAINING.read_job(run.config).settings
    base = FAITHFUL_NAME if settings.faithful else CORRECTED_NAME
    files, networks = [], {}
    for games, net in _networks(run, settings).items():
        # The thesis counts in epochs of a hundred games.
        length = games // settings.simulations_games if settings.faithful else games
        name = f"{base}-{length}-{settings.seed}"
        data = to_int8(net, *probe_positions(net.network.rules, CALIBRATION))
        write_atomically(folder / f"{name}.onnx", data)
        files.append(folder / f"{name}.onnx")
        networks[name] = {
            "games": games,
            "bytes": len(data),
            "sha256": hashlib.sha256(data).hexdigest(),
            # Mean distance from the network in full precision.
            "differences": OnnxEvaluator(data, name).differences,
        }
    manifest = {
        **{name: run.manifest.get(name) for name in ("command", "created", "commit", "versions")},
        "seed": settings.seed,
        "precision": settings.precision,
        "networks": networks,
        "accuracy": _accuracy(run, settings),
        "metrics": _metrics(run),
    }
    file = folder / f"{base}-{settings.seed}.json"
    write_atomically(file, (json.dumps(manifest, indent=1) + "\n").encode())
    return [*files, file]


def _networks(run: Run, settings: "AlphaZeroSettings") -> "dict[int, Net]":
    """Return the networks of a run by games of training."""
    from fourlab.agents.alphazero.training import network_of
    from fourlab.nets.weights import load_net, read_weights

    if run.results is not None:
        kept = load_net(run.folder / f"alphazero-{settings.keep}-fp32.json")
        return {settings.keep: kept, settings.games: load_net(run.folder / "alphazero-fp32.json")}
    checkpoints = sorted(run.folder.glob("checkpoints/*/kept.safetensors"))
    if not checkpoints:
        raise UserError(f"{run.folder} is not finished and has kept no network yet")
    network = network_of(settings, settings.stages[0])
    data = read_bounded(checkpoints[-1], MAX_BYTES)
    return {settings.keep: read_weights(network, data, str(checkpoints[-1]))}


def _accuracy(run: Run, settings: "AlphaZeroSettings") -> dict[str, list[float]]:
    """Return the curve of Figure 33: games, and the shares of listed wins and blocks."""
    from fourlab.agents.alphazero.trainees import trainee_of

    points: list[tuple[int, dict[str, float]]] = []
    rows = [row for row in read_metrics(run) if "listed" in row]
    if rows:
        # The seed determines the untrained network.
        untrained = OnnxEvaluator(trainee_of(settings).playing, "the untrained network")
        points.append((0, listed_accuracy(untrained)))
        points += [(row["games"], row["listed"]) for row in rows]
    return {
        "games": [games for games, _ in points],
        "wins": [shares["wins"] for _, shares in points],
        "blocks": [shares["blocks"] for _, shares in points],
    }


def _metrics(run: Run) -> dict[str, list[float | None]]:
    """Return other metrics at the points of that curve, without the untrained network."""
    rows = [row for row in read_metrics(run) if "listed" in row]
    return {name: [row.get(name) for row in rows] for name in METRICS}


def manifest_of(base: str, seed: int) -> dict[str, Any] | None:
    """Return the manifest of a training, or None if it is not there."""
    file = SHIPPED / f"{base}-{seed}.json"
    if not file.is_file():
        return None
    manifest: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return manifest


def self_play_precision(base: str, seed: int) -> str:
    """Return the arithmetic of the network in the self-play of a training: int8 or fp32."""
    manifest = manifest_of(base, seed) or {}
    # Manifests of earlier versions have only the command, and the preset has fp32.
    given = "int8" if "precision=int8" in (manifest.get("command") or "") else "fp32"
    return str(manifest.get("precision", given))


def main(arguments: list[str] | None = None) -> None:
    """Ship the networks of the runs named on the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("run", nargs="+", type=Path, help="folder of a training")
    parser.add_argument("--folder", type=Path, default=Path(str(SHIPPED)), help="output folder")
    given = parser.parse_args(arguments)
    try:
        for run in given.run:
            for file in ship(Run(run), given.folder):
                print(f"{file}: {file.stat().st_size / 1e6:.2f} MB")
    except UserError as error:
        sys.exit(f"fourlab: {error}")


if __name__ == "__main__":
    main()
