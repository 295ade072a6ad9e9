"""`fourlab accuracy`: how often agents play what the exact value demands."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fourlab.agent import Limit
from fourlab.agents.registry import make
from fourlab.cli.compiling import announce_compilation
from fourlab.cli.options import (
    BoardOption,
    DepthOption,
    JsonOption,
    NodesOption,
    SecondsOption,
    SeedOption,
    SimulationsOption,
    positions_of,
    print_json,
    progress,
)
from fourlab.errors import UserError

if TYPE_CHECKING:
    from fourlab.lab.accuracy import Accuracy


def accuracy(
    agents: Annotated[list[str], typer.Argument(metavar="AGENT...", help="Who is examined (fourlab agents).")],
    positions: Annotated[
        Path | None, typer.Option("--positions", metavar="FILE", help="Positions, one a line; - is standard input.")
    ] = None,
    random: Annotated[int | None, typer.Option("--random", metavar="N", min=1, help="N positions of random play.")] = None,
    plies: Annotated[str, typer.Option(metavar="A-B", help="How many discs the random positions have.")] = "8-30",
    board: BoardOption = None,
    seconds: SecondsOption = None,
    simulations: SimulationsOption = None,
    nodes: NodesOption = None,
    depth: DepthOption = None,
    seed: SeedOption = 0,
    json: JsonOption = False,
) -> None:
    """Count mistakes against the exact truth: columns of a lower class (win, draw, loss) than the best one.

    Also counts exactly best columns: those that win as soon, or lose as late, as possible. Intervals are Wilson's at 95 %.
    "Can go wrong" are the positions in which at least one column is a mistake.

    Example: fourlab accuracy mcts:simulations=1000 minimax rules --random 100
    """
    from fourlab.lab.accuracy import ask, count, exact_scores, random_positions
    from fourlab.solver import Solver

    limit = Limit(seconds=seconds, simulations=simulations, nodes=nodes, depth=depth)
    examined = {spec: make(spec) for spec in agents}
    if (positions is None) == (random is None):
        raise UserError("say where the positions come from: --positions FILE or --random N")
    if positions is not None:
        chosen = [line.position for line in positions_of(positions, board)]
        over = next((each for each in chosen if each.outcome() is not None), None)
        if over is not None or not chosen:
            raise UserError(f"{positions} holds a finished game: {over!r}" if over else f"{positions} holds no position")
    else:
        chosen = random_positions(random or 0, _range(plies), seed, board)
        if len(chosen) < (random or 0):
            raise UserError(f"there are only {len(chosen)} such positions with {plies} discs")
    announce_compilation()
    truth = [scores for scores, _ in zip(exact_scores(chosen, Solver()), progress(chosen, "solving"), strict=True)]
    results: dict[str, Accuracy] = {}
    if not json:
        print(f"{'agent':32}  positions  can go wrong  mistakes                 exactly best             ms a move")
    for spec, agent in examined.items():
        asked = ask(agent, chosen, truth, limit, seed)
        results[spec] = count([answer for answer, _ in zip(asked, progress(chosen, spec), strict=True)])
        if not json:
            print(_row(spec, results[spec]), flush=True)
    if json:
        print_json({"seed": seed, "agents": {spec: _as_data(found) for spec, found in results.items()}})


def _range(text: str) -> "tuple[int, int]":
    first, _, last = text.partition("-")
    if not first.isdecimal() or not (last or first).isdecimal() or int(first) > int(last or first):
        raise UserError(f"plies are written A-B, for example 8-30, not {text!r}")
    return int(first), int(last or first)


def _row(spec: str, found: "Accuracy") -> str:
    mistakes, best = (
        f"{rate:6.1%} [{low:6.1%}, {high:6.1%}]"
        for rate, (low, high) in (
            (found.mistake_rate, found.mistake_interval),
            (found.best_rate, found.best_interval),
        )
    )
    speed = 1000 * found.seconds
    return f"{spec:32}  {found.positions:9}  {found.can_go_wrong:12}  {mistakes}  {best}  {speed:9.2f}"


def _as_data(found: "Accuracy") -> dict[str, Any]:
    return {
        "positions": found.positions,
        "can_go_wrong": found.can_go_wrong,
        "mistakes": found.mistakes,
        "mistake_rate": found.mistake_rate,
        "mistake_interval": found.mistake_interval,
        "best": found.best,
        "best_rate": found.best_rate,
        "best_interval": found.best_interval,
        "seconds": found.seconds,
    }
