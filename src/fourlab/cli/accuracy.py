"""`fourlab accuracy`: how often agents play what the exact value demands."""

import re
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fourlab.agent import Agent, Limit
from fourlab.agents.registry import make
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
    from fourlab.arena.accuracy import Accuracy


def accuracy(
    agents: Annotated[list[str], typer.Argument(metavar="AGENT...", help="Who is examined (fourlab agents).")],
    positions: Annotated[
        Path | None, typer.Option("--positions", metavar="FILE", help="Positions, one a line; - is standard input.")
    ] = None,
    random: Annotated[int | None, typer.Option("--random", metavar="N", min=1, help="N positions of random play.")] = None,
    solved: Annotated[
        int | None,
        typer.Option(
            "--solved", metavar="N", min=1, max=960, help="N of the 960 solved positions of all phases that come with Fourlab."
        ),
    ] = None,
    budgets: Annotated[
        str | None,
        typer.Option(
            metavar="LIST", help="Ask with each of these: simulations (0: those who can do without), or a time as 10ms or 1s."
        ),
    ] = None,
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

    Example: fourlab accuracy alphazero mcts perfect --solved 960 --budgets 0,32,100,600,10ms,100ms,1s
    """
    from fourlab.arena.accuracy import ask, count, exact_scores, random_positions
    from fourlab.solver import Solver

    limit = Limit(seconds=seconds, simulations=simulations, nodes=nodes, depth=depth)
    examined = {spec: make(spec) for spec in agents}
    limits = {"": limit} if budgets is None else {text: _budget(text.strip(), limit) for text in budgets.split(",")}
    if budgets is not None:
        for spec, agent in examined.items():
            if bound := next((name for name in ("simulations", "seconds") if getattr(agent, name, None) is not None), None):
                raise UserError(
                    f"{spec} has a bound of its own, {bound}={getattr(agent, bound)}; budgets are for those who have none"
                )
    if solved is not None and board is not None:
        raise UserError("the solved positions that come with Fourlab are on 7x6x4; --board is for --positions and --random")
    if [positions, random, solved].count(None) != 2:
        raise UserError("say where the positions come from: --positions FILE, --random N or --solved N")
    if positions is not None:
        chosen = [line.position for line in positions_of(positions, board)]
        over = next((each for each in chosen if each.outcome() is not None), None)
        if over is not None or not chosen:
            raise UserError(f"{positions} holds a finished game: {over!r}" if over else f"{positions} holds no position")
    elif random is not None:
        chosen = random_positions(random or 0, _range(plies), seed, board)
        if len(chosen) < (random or 0):
            raise UserError(f"there are only {len(chosen)} such positions with {plies} discs")
    if solved is not None:
        from fourlab.training.test_set import some_positions

        chosen, truth = some_positions(solved)
    else:
        truth = [scores for scores, _ in zip(exact_scores(chosen, Solver()), progress(chosen, "solving"), strict=True)]
    results: dict[str, Accuracy] = {}
    if not json:
        print(f"{'agent':32}  positions  can go wrong  mistakes                 {_PHASES}  exactly best             ms a move")
    for (spec, agent), (budget, allowed) in product(examined.items(), limits.items()):
        name = f"{spec} {budget}".rstrip()
        if allowed is None:
            if (bare := _without_search(spec)) is None:
                continue
            agent, allowed = bare, limit
        asked = ask(agent, chosen, truth, allowed, seed)
        results[name] = count([answer for answer, _ in zip(asked, progress(chosen, name), strict=True)])
        if not json:
            print(_row(name, results[name]), flush=True)
    if json:
        print_json({"seed": seed, "agents": {name: _as_data(found) for name, found in results.items()}})


_PHASES = " early middle   late"


def _without_search(spec: str) -> Agent | None:
    """The agent with simulations=0, if it can do without search."""
    try:
        return make(f"{spec}{',' if ':' in spec else ':'}simulations=0")
    except UserError:
        return None


def _budget(text: str, limit: Limit) -> Limit | None:
    """A limit as it is written: a number of simulations, 10ms, 1s; None for no simulations."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s)|(\d+)", text)
    if match is None:
        raise UserError(f"a budget is a number of simulations, or a time like 10ms or 1s, not {text!r}")
    if match[3]:
        return None if int(match[3]) == 0 else replace(limit, simulations=int(match[3]))
    return replace(limit, seconds=float(match[1]) * (0.001 if match[2] == "ms" else 1))


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
    phases = " ".join(
        f"{found.phases[name]:6.1%}" if name in found.phases else f"{'-':>6}" for name in ("early", "middle", "late")
    )
    return f"{spec:32}  {found.positions:9}  {found.can_go_wrong:12}  {mistakes}  {phases}  {best}  {speed:9.2f}"


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
        "phases": found.phases,
        "seconds": found.seconds,
    }
