"""Arguments and options that several commands share, and how results are printed."""

import json
from typing import Annotated, Any

import typer

PositionArgument = Annotated[str, typer.Argument(metavar="POSITION", help="Moves (4453), a name, or any notation.")]
BoardOption = Annotated[
    str | None, typer.Option("--board", metavar="7x6x4", help="COLUMNSxROWSxINAROW; default 7x6x4 or what the position says.")
]
StartOption = Annotated[str, typer.Option("--start", metavar="POSITION", help="Where to start: moves, a name, any notation.")]
AnyCountsOption = Annotated[bool, typer.Option("--any-counts", help="Allow any numbers of discs (hand-made boards).")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON value instead of text.")]


def print_json(value: Any) -> None:
    """Print the value as JSON, readable and stable."""
    print(json.dumps(value, indent=2, ensure_ascii=False, default=str))
