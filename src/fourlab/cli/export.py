"""`fourlab export`: agents as files for other platforms."""

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fourlab.cli.options import JsonOption, QuietOption, print_json

if TYPE_CHECKING:
    from fourlab.bridges.kaggle.export import Exported

app = typer.Typer(help="Write an agent as a file for another platform.", rich_markup_mode=None)


@app.callback()
def _group() -> None:
    """Write an agent as a file for another platform."""


@app.command()
def kaggle(
    spec: Annotated[str, typer.Argument(metavar="AGENT", help="alphazero, dqn, mcts, minimax, perfect, random, rules or value.")],
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write it.")] = Path("main.py"),
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Write an agent as one file for Kaggle's ConnectX competition, ready to be submitted.

    The file contains the modules of the agent, its network and its book as text, and needs no other file and no installed
    Fourlab. It searches as fast as in the lab where Numba is installed, plays on boards of any size, and keeps Kaggle's clock
    (2 seconds a move). Every option of the agent can be set.

    Before the file is written it is examined in a process of its own, with Numba and without: legal columns on several boards
    from both seats, wins taken and blocked, the time of the first and of the slowest move. One that fails is not written.

    Examples:

      fourlab export kaggle perfect -o main.py

      fourlab export kaggle mcts:seconds=1.5 -o main.py

      fourlab match kaggle:file=main.py kaggle:agent=negamax --games 20
    """
    from fourlab.bridges.kaggle.export import export

    def begin() -> None:
        if not quiet:
            print("fourlab: examining the file with Kaggle's clock, which takes a while …", file=sys.stderr, flush=True)

    exported = export(spec, output, begin)
    if json:
        print_json(asdict(exported))
    else:
        _print(exported)


def _print(exported: "Exported") -> None:
    print(f"{exported.file}: {exported.spec}, {exported.bytes / 1000:,.0f} kB")
    for each in exported.examined:
        print(f"  {'with' if each.numba else 'without'} Numba:")
        print(f"    legal moves        {each.moves} of {each.moves}")
        print(f"    wins taken         {each.wins} of {each.tactics}")
        print(f"    wins blocked       {each.blocks} of {each.tactics}")
        print(f"    first move         {each.first_move:.2f} s, {each.loading:.2f} s of it for loading")
        if each.numba:
            print(f"    all is compiled    after {each.ready:.1f} s, in the background")
        print(f"    slowest move       {each.slowest:.2f} s")
    print(f"  Kaggle allows        {exported.seconds_a_move:g} s a move and {exported.bank:g} s more in the whole game")
    for note in exported.notes:
        print(f"  note: {note}")
