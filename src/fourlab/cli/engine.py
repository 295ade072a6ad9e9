"""`fourlab engine`: our agents for other programs, and whether other programs keep the protocol."""

import os
import sys
from typing import Annotated

import typer

from fourlab.agent import Limit
from fourlab.cli.options import BoardOption, JsonOption, SecondsOption, SeedOption, print_json
from fourlab.errors import UserError
from fourlab.game.rules import CLASSIC, Rules

app = typer.Typer(help="Engines: our agents for other programs, and other programs examined.", rich_markup_mode=None)
PROTOCOLS = ("c4i", "pons", "line")
CHUNK = 64 * 1024
MOVE_SECONDS = 5
"""How long an engine that is examined may think where no clock runs."""


@app.command()
def serve(
    spec: Annotated[str, typer.Argument(metavar="AGENT", help="Who answers (fourlab agents).")],
    proto: Annotated[str, typer.Option("--proto", metavar="PROTOCOL", help="c4i, pons or line.")] = "c4i",
    board: BoardOption = None,
    seconds: SecondsOption = None,
    seed: SeedOption = 0,
) -> None:
    """Answer another program's questions, line by line, until quit or the end of the input.

    c4i is the engine protocol (docs/engine-protocol.md); board, time and seed hold until the other program says others. With
    pons a position a line comes in and its exact score goes out (AGENT is perfect); with line the opponent's column comes
    in and our own goes out, after `go` for the first move of a game.

    Examples:

      fourlab engine serve mcts:simulations=5000

      fourlab engine serve perfect --proto pons < positions.txt
    """
    if proto not in PROTOCOLS:
        raise UserError(f"there is no protocol {proto!r}; protocols are {', '.join(PROTOCOLS)}")
    from fourlab.engines import plain
    from fourlab.engines import serve as c4i

    rules = CLASSIC if board is None else Rules.parse(board)
    limit = Limit(seconds=seconds)
    if proto == "c4i":
        c4i.serve(spec, _read, _say, rules, seconds, seed)
    elif proto == "pons":
        plain.serve_pons(plain.solver_of(spec), _read, _say, _complain, rules, limit)
    else:
        plain.serve_line(c4i.agent_of(spec), _read, _say, rules, limit, seed)


@app.command()
def check(
    cmd: Annotated[str, typer.Argument(metavar="CMD", help="The program and its arguments, in quotes; no shell reads them.")],
    board: BoardOption = None,
    start_seconds: Annotated[float, typer.Option(help="How long it may take to start, and to get ready before a move.")] = 10,
    grace: Annotated[float, typer.Option(help="How many seconds late an answer may be.")] = 0.5,
    json: JsonOption = False,
) -> None:
    """Examine whether a program keeps the engine protocol, rule by rule; the exit code is 1 if it does not.

    Without --board it is examined on three boards.

    Example: fourlab engine check "python examples/engine.py"
    """
    from fourlab.engines import check as engine_check
    from fourlab.engines.program import Engine

    boards = engine_check.BOARDS if board is None else (Rules.parse(board),)
    engine = Engine(cmd, start_seconds=start_seconds, grace=grace, move_seconds=MOVE_SECONDS)
    findings = []
    for each in engine_check.check(engine, boards):
        findings.append(each)
        if not json:
            print(f"{'ok    ' if each.kept else 'BROKEN'}  {each.rule}{': ' if each.detail else ''}{each.detail}", flush=True)
    broken = sum(not each.kept for each in findings)
    if json:
        rules = [{"rule": each.rule, "kept": each.kept, "detail": each.detail} for each in findings]
        print_json({"cmd": cmd, "kept": not broken, "rules": rules})
    elif not broken:
        print(f"all {len(findings)} rules are kept")
    else:
        examined = "; the others were not examined" if len(findings) == 1 else ""
        print(f"{broken} of {len(findings)} rules are broken{examined}")
    if broken:
        raise typer.Exit(1)


def _read() -> bytes:
    """Some of the input, as soon as there is any; a thread may wait here while the process ends, so nothing is locked."""
    try:
        return os.read(sys.stdin.fileno(), CHUNK)
    except (OSError, ValueError):  # there is no input at all
        return b""


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _complain(text: str) -> None:
    print(f"fourlab: {' '.join(text.split())}", file=sys.stderr, flush=True)
