"""`fourlab export`: write agents as files for other platforms."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fourlab.cli.options import JsonOption, QuietOption, print_json

if TYPE_CHECKING:
    from fourlab.bridges.kaggle.export import Exported

app = typer.Typer(rich_markup_mode=None)


@app.callback()  # without a callback, typer would make the only subcommand the command itself
def _group() -> None:
    """Export agents to other platforms."""


@app.command()
def kaggle(
    spec: Annotated[
        str,
        typer.Argument(
            metavar="AGENT",
            help="alphazero, anytime, dqn, mcts, minimax, patterns, perfect, random, rules or "
            "value.",
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Output file.")
    ] = Path("main.py"),
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Write an agent as one file for Kaggle's ConnectX.

    The file contains the agent's modules, its network and its book as text; it needs no other file
    and no installed Fourlab. With Numba it searches as fast as Fourlab does, it plays on boards of
    any size, and it keeps Kaggle's time limit (2 seconds per move). Every option of the agent can
    be set.

    The file is tested before it is written, in a separate process, with Numba and without: legal
    moves on several boards as both players, wins taken and blocked, results kept in positions that
    are solved, the time of the first and of the slowest move. A file that fails is not written.

    Examples:

      fourlab export kaggle perfect -o main.py

      fourlab export kaggle mcts:seconds=1.5 -o main.py

      fourlab match kaggle:file=main.py kaggle:agent=negamax --games 20
    """
    from fourlab.bridges.kaggle.export import export

    # The test takes up to a minute, and nothing else is printed meanwhile.
    def announce_test() -> None:
        if not quiet:
            text = "testing the file with Kaggle's time limits, which takes a while …"
            print(f"fourlab: {text}", file=sys.stderr, flush=True)

    exported = export(spec, output, on_test=announce_test)
    if json:
        print_json(asdict(exported))
    else:
        _print(exported)


def _print(exported: "Exported") -> None:
    # Sizes are in kB of 1,000 bytes.
    print(f"{exported.file}: {exported.spec}, {exported.bytes / 1000:,.0f} kB")
    for test in exported.examined:
        print(f"  {'with' if test.numba else 'without'} Numba:")
        print(f"    legal moves        {test.moves} of {test.moves}")
        print(f"    wins taken         {test.wins} of {test.tactics}")
        print(f"    wins blocked       {test.blocks} of {test.tactics}")
        kept = test.solved - len(test.mistakes)
        print(f"    results kept       {kept} of {test.solved}")
        for mistake in test.mistakes:
            print(f"      not in {mistake}")
        print(f"    first move         {test.first_move:.2f} s, {test.loading:.2f} s for loading")
        if test.numba:
            print(f"    fully compiled     after {test.ready:.1f} s, in the background")
        print(f"    slowest move       {test.slowest:.2f} s")
    print(
        f"  Kaggle allows        {exported.seconds_a_move:g} s per move and "
        f"{exported.bank:g} s more in the whole game"
    )
    for note in exported.notes:
        print(f"  note: {note}")
