"""`fourlab train value`: a network that tells the result of a position."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from fourlab.cli.options import DEFAULT_HOME, HomeOption, JsonOption, QuietOption, RunOption
from fourlab.cli.training import begin, require_torch
from fourlab.errors import UserError

LayersOption = Annotated[str | None, typer.Option(metavar="LAYERS", help='For example "conv 64, relu, residual 64".')]


def value(
    preset: Annotated[str, typer.Option(help="residual: the better network; sewell: document 003's.")] = "residual",
    data: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="uci8, book or solved positions (fourlab dataset); may be repeated.")
    ] = None,
    extra: Annotated[
        list[str] | None, typer.Option(metavar="FILE", help="More to learn from, not to be tested on; may be repeated.")
    ] = None,
    after: Annotated[bool | None, typer.Option(help="Learn also from the positions after each column of --extra.")] = None,
    labels: Annotated[
        str | None, typer.Option(help="signed (-1, 0, 1), unit (0, 1/2, 1) or results (chances to win, draw, lose).")
    ] = None,
    features: Annotated[str | None, typer.Option(help="What the network sees: cells, stones or threats.")] = None,
    body: LayersOption = None,
    head: LayersOption = None,
    epochs: Annotated[int | None, typer.Option(help="Passes over the training positions.")] = None,
    batch: Annotated[int | None, typer.Option(help="Positions a step; 0 for all at once.")] = None,
    optimiser: Annotated[str | None, typer.Option(help="sgd or adamw.")] = None,
    rate: Annotated[float | None, typer.Option(help="The learning rate; with adamw the highest of one cycle.")] = None,
    momentum: Annotated[float | None, typer.Option(help="Of sgd.")] = None,
    decay: Annotated[float | None, typer.Option(help="Weight decay of adamw.")] = None,
    mirror: Annotated[bool | None, typer.Option(help="Show positions also mirrored.")] = None,
    share: Annotated[float | None, typer.Option(help="The share of positions to train with; the others test.")] = None,
    threads: Annotated[int | None, typer.Option(help="Threads of torch.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, help="The same seed gives the same network.")] = None,
    name: Annotated[str | None, typer.Option(help="What the run is called.")] = None,
    run: RunOption = None,
    home: HomeOption = DEFAULT_HOME,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Train a network to tell the result of positions, from positions that the solver has labelled.

    A preset has all settings; every option changes one. The run's folder gets value.onnx for playing, value.safetensors and
    value.json for training on, the curves and a report.

    Example: fourlab train value --preset sewell --epochs 10000
    """
    require_torch()
    from fourlab.agents.value.training import PRESETS, ValueTrainee, config_of

    if preset not in PRESETS:
        raise UserError(f"there is no preset {preset!r}; presets are {', '.join(PRESETS)}")
    given: dict[str, Any] = {
        "data": sources(data),
        "extra": sources(extra),
        "after": after,
        "labels": labels,
        "features": features,
        "body": layers(body),
        "head": layers(head),
        "epochs": epochs,
        "batch": batch,
        "optimiser": optimiser,
        "rate": rate,
        "momentum": momentum,
        "decay": decay,
        "mirror": mirror,
        "share": share,
        "threads": threads,
        "seed": seed,
    }
    settings = replace(PRESETS[preset], **{field: value for field, value in given.items() if value is not None})
    begin(name or f"value-{preset}", config_of(settings), ValueTrainee(settings), run, home, quiet, json)


def layers(text: str | None) -> tuple[str, ...] | None:
    """Read a list of layers."""
    return None if text is None else tuple(" ".join(each.split()) for each in text.split(",") if each.strip())


def sources(given: list[str] | None) -> tuple[str, ...] | None:
    """Names of sets as they are, files by their full path, so that the run can go on from anywhere."""
    return tuple(each if each in ("uci8", "book") else str(Path(each).resolve()) for each in given or ()) or None
