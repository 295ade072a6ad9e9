"""`fourlab engine`: serve agents to other programs, and check engines against the protocol."""

import os
import sys
from typing import Annotated

import typer

from fourlab.agent import Limit
from fourlab.cli.options import BoardOption, JsonOption, SecondsOption, SeedOption, print_json
from fourlab.errors import UserError
from fourlab.game.rules import CLASSIC, Rules

app = typer.Typer(
    help="Serve agents as engines, and check other engines.",
    rich_markup_mode=None,
)
PROTOCOLS = ("c4i", "pons", "line")
# Linux pipes hold this much, so one read empties a full pipe.
CHUNK = 64 * 1024
"""Bytes to read from standard input at a time."""
MOVE_SECONDS = 5
"""Time limit per move, in seconds, of a checked engine where no clock runs."""


@app.command()
def serve(
    spec: Annotated[
        str, typer.Argument(metavar="AGENT", help="Agent that answers (fourlab agents).")
    ],
    proto: Annotated[
        str, typer.Option("--proto", metavar="PROTOCOL", help="c4i, pons or line.")
    ] = "c4i",
    board: BoardOption = None,
    seconds: SecondsOption = None,
    seed: SeedOption = 0,
) -> None:
    """Serve an agent on standard input and output.

    The engine answers line by line until quit or the end of the input. c4i is the engine protocol
    (docs/reference/engine-protocol.md); board, time and seed are defaults that the client may
    change. With pons, each input line is a position and the output its exact score (AGENT must be
    perfect). With line, each input line is the opponent's column and the output the agent's reply;
    `go` asks for the first move of a game.

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
    # Every protocol reads bytes, because a client may send anything.
    if proto == "c4i":
        c4i.serve(spec, _read, _send, rules, seconds, seed)
    elif proto == "pons":
        plain.serve_pons(plain.solver_of(spec), _read, _send, _print_error, rules, limit)
    else:
        plain.serve_line(c4i.agent_of(spec), _read, _send, rules, limit, seed)


@app.command()
def check(
    cmd: Annotated[
        str,
        typer.Argument(
            metavar="CMD", help="Program and its arguments, in quotes; run without a shell."
        ),
    ],
    board: BoardOption = None,
    start_seconds: Annotated[
        float, typer.Option(help="Time limit to start, and to get ready before a move.")
    ] = 10,
    grace: Annotated[
        float, typer.Option(help="Seconds by which an answer may exceed its limit.")
    ] = 0.5,
    json: JsonOption = False,
) -> None:
    """Check whether a program follows the engine protocol.

    Reports every rule separately, by default on three boards. The exit code is 1 if a rule is
    broken.

    Example: fourlab engine check "python examples/engine.py"
    """
    from fourlab.engines import check as engine_check
    from fourlab.engines.program import Engine

    boards = engine_check.BOARDS if board is None else (Rules.parse(board),)
    engine = Engine(cmd, start_seconds=start_seconds, grace=grace, move_seconds=MOVE_SECONDS)
    engine.overtime = 1.0
    rules = []
    for finding in engine_check.check(engine, boards):
        rules.append(vars(finding))
        if not json:
            detail = f": {finding.detail}" if finding.detail else ""
            print(f"{'ok    ' if finding.kept else 'BROKEN'}  {finding.rule}{detail}", flush=True)
    broken = sum(not rule["kept"] for rule in rules)
    if json:
        print_json({"cmd": cmd, "kept": not broken, "rules": rules})
    elif not broken:
        print(f"all {len(rules)} rules are kept")
    else:
        # An engine that does not start fails the first rule, and the check ends there.
        unchecked = "; the others were not checked" if len(rules) == 1 else ""
        print(f"{broken} of {len(rules)} rules are broken{unchecked}")
    if broken:
        raise typer.Exit(1)


def _read() -> bytes:
    """Return the next bytes of standard input as soon as there are any, b"" at its end.

    Reads the file descriptor: a thread that waits here must not hold the lock of `sys.stdin`, or
    the process could not exit.
    """
    try:
        return os.read(sys.stdin.fileno(), CHUNK)
    except (OSError, ValueError):  # standard input is closed
        return b""


def _send(text: str) -> None:
    # One write per line: print would write the newline separately, and threads could come between.
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _print_error(text: str) -> None:
    print(f"fourlab: {' '.join(text.split())}", file=sys.stderr, flush=True)
