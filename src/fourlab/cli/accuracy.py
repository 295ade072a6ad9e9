"""`fourlab accuracy`: measure how often agents keep the game-theoretic value."""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fourlab.agent import Agent, Limit, Startable
from fourlab.agents.registry import make
from fourlab.agents.simple.human import Human
from fourlab.cli.generated import with_settings
from fourlab.cli.options import (
    BoardOption,
    JsonOption,
    LimitOptions,
    SeedOption,
    positions_of,
    print_json,
    progress,
)
from fourlab.errors import UserError
from fourlab.options import values_of

if TYPE_CHECKING:
    from fourlab.arena.accuracy import Accuracy
    from fourlab.game.position import Position

MOST_POSITIONS = 100_000
"""Most positions of a file; solving them takes longer than reading."""
# The widths are those of `_row`.
HEADER = (
    f"{'agent':32}  positions  can go wrong  {'mistakes':23}   early middle   late  "
    f"{'exactly best':23}  ms per move"
)


@dataclass(frozen=True)
class Sources:
    """Where the positions come from: a file, random play or the shipped test set."""

    positions: Annotated[
        Path | None,
        typer.Option(
            "--positions", metavar="FILE", help="File of positions, one per line; - is stdin."
        ),
    ] = None
    random: Annotated[
        int | None,
        typer.Option(
            "--random", metavar="N", min=1, max=1_000_000, help="Use N positions from random games."
        ),
    ] = None
    solved: Annotated[
        int | None,
        typer.Option(
            "--solved",
            metavar="N",
            min=1,
            max=960,
            help="Use N of the 960 solved positions that come with Fourlab.",
        ),
    ] = None
    plies: Annotated[
        str, typer.Option(metavar="A-B", help="Range of discs on the random positions.")
    ] = "8-30"
    board: BoardOption = None
    seed: SeedOption = 0

    def check(self) -> None:
        """Raise UserError unless exactly one source is chosen."""
        if self.solved is not None and self.board is not None:
            raise UserError(
                "the solved positions that come with Fourlab are on 7x6x4; "
                "--board is for --positions and --random"
            )
        if [self.positions, self.random, self.solved].count(None) != 2:
            raise UserError("choose one of --positions FILE, --random N and --solved N")

    def read(self) -> "tuple[list[Position], list[dict[int, int]]]":
        """Return the positions, and for each the exact score of every legal column."""
        from fourlab.arena.accuracy import exact_scores
        from fourlab.solver import Solver
        from fourlab.training.test_set import solved_positions

        if self.solved is not None:
            return solved_positions(self.solved)  # which come with their scores
        positions = self._random() if self.positions is None else self._read(self.positions)
        return positions, list(exact_scores(progress(positions, "solving"), Solver()))

    def _read(self, file: Path) -> "list[Position]":
        lines = islice(positions_of(file, self.board), MOST_POSITIONS + 1)
        positions = [line.position for line in lines]
        if len(positions) > MOST_POSITIONS:
            raise UserError(f"{file} holds more than {MOST_POSITIONS:,} positions")
        for position in positions:
            if position.outcome() is not None:
                raise UserError(f"{file} holds a finished game: {position!r}")
        if not positions:
            raise UserError(f"{file} holds no position")
        return positions

    def _random(self) -> "list[Position]":
        from fourlab.arena.accuracy import random_positions

        count = self.random or 0
        # Mirror images count once, so small boards and few discs may not have enough.
        positions = random_positions(count, _range(self.plies), self.seed, self.board)
        if len(positions) < count:
            raise UserError(
                f"there are only {len(positions)} such positions with {self.plies} discs"
            )
        return positions


@with_settings
def accuracy(
    specs: Annotated[
        list[str], typer.Argument(metavar="AGENT", help="Agents to test (fourlab agents).")
    ],
    sources: Sources,
    limits: LimitOptions,
    budgets: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help=(
                "Test with each of these budgets: a number of simulations (0: network only), "
                "or a time such as 10ms or 1s."
            ),
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Count the mistakes of agents in solved positions.

    A mistake is a column with a worse result (win, draw, loss) than the best one; "can go wrong"
    counts the positions in which a mistake is possible. An exactly best column also wins as soon,
    or loses as late, as possible. Intervals are Wilson's at 95 %.

    An illegal column, or an exception in an agent of your own, is a mistake, too; such answers are
    also counted and shown separately.

    Example: fourlab accuracy mcts:simulations=1000 minimax rules --random 100

    Example: fourlab accuracy alphazero mcts perfect --solved 960 --budgets 0,32,600,10ms,1s
    """
    from fourlab.arena.accuracy import ask, count

    # Everything is checked before the positions are solved, which takes longest.
    agents = {spec: make(spec) for spec in specs}
    if budgets is not None:
        _refuse_own_limits(agents)
    sources.check()
    contestants = _contestants(agents, limits.limit(), budgets)
    for agent in agents.values():
        if isinstance(agent, Human):
            raise UserError(
                "a human cannot be tested here; use fourlab play, which offers a review"
            )
        if isinstance(agent, Startable):
            agent.start()
    positions, scores = sources.read()
    results: dict[str, Accuracy] = {}
    if not json:
        print(HEADER)
    for name, agent, limit in contestants:
        answers = ask(agent, positions, scores, limit, sources.seed)
        shown = zip(answers, progress(positions, name), strict=True)
        results[name] = count([answer for answer, _ in shown])
        if not json:
            print("\n".join([_row(name, results[name]), *_faults(results[name])]), flush=True)
    if json:
        data = {name: _as_data(result) for name, result in results.items()}
        print_json({"seed": sources.seed, "agents": data})


def _refuse_own_limits(agents: dict[str, Agent]) -> None:
    """Raise UserError if an agent's spec sets a limit, which would overrule the budgets."""
    for spec, agent in agents.items():
        values = values_of(agent)
        for bound in ("simulations", "seconds"):
            if (value := values.get(bound)) is not None:
                raise UserError(
                    f"{spec} has a bound of its own, {bound}={value}; "
                    "--budgets is for agents without one"
                )


def _contestants(
    agents: dict[str, Agent], limit: Limit, budgets: str | None
) -> list[tuple[str, Agent, Limit]]:
    """Return every agent with every budget, as (name, agent, limit).

    A budget of 0 simulations leaves out the agents that cannot play without search.
    """
    if budgets is None:
        return [(spec, agent, limit) for spec, agent in agents.items()]
    limits = {text: _budget(text.strip(), limit) for text in budgets.split(",")}
    contestants = []
    for (spec, agent), (text, budget) in product(agents.items(), limits.items()):
        name = f"{spec} {text}"
        if budget is not None:
            contestants.append((name, agent, budget))
        elif (network := _without_search(spec)) is not None:
            contestants.append((name, network, limit))
    return contestants


def _without_search(spec: str) -> Agent | None:
    """Return the agent with simulations=0, or None if it cannot play without search."""
    try:
        return make(f"{spec}{',' if ':' in spec else ':'}simulations=0")
    except UserError:
        return None


def _budget(text: str, limit: Limit) -> Limit | None:
    """Parse a budget such as 600, 10ms or 1s; return None for 0 simulations."""
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,9})?)(ms|s)|(\d{1,15})", text)
    if match is None:
        raise UserError(
            f"a budget is a number of simulations, or a time like 10ms or 1s, not {text!r}"
        )
    if match[3]:
        return None if int(match[3]) == 0 else replace(limit, simulations=int(match[3]))
    # The other bounds of --seconds and so on stay in force.
    return replace(limit, seconds=float(match[1]) * (0.001 if match[2] == "ms" else 1))


def _range(text: str) -> "tuple[int, int]":
    """Parse a range of plies: A-B, or A alone."""
    first, _, last = text.partition("-")
    last = last or first
    is_readable = all(ply.isdecimal() and len(ply) < 4 for ply in (first, last))
    if not is_readable or int(first) > int(last):
        raise UserError(f"plies are written A-B, for example 8-30, not {text!r}")
    return int(first), int(last)


def _row(name: str, result: "Accuracy") -> str:
    """Return the line of an agent, in the columns of HEADER."""
    mistakes = _share(result.mistake_rate, result.mistake_interval)
    best = _share(result.best_rate, result.best_interval)
    phases = " ".join(
        f"{result.phases[phase]:6.1%}" if phase in result.phases else f"{'-':>6}"
        for phase in ("early", "middle", "late")
    )
    milliseconds = 1000 * result.seconds
    return (
        f"{name:32}  {result.positions:9}  {result.can_go_wrong:12}  {mistakes}  {phases}  "
        f"{best}  {milliseconds:11.2f}"
    )


def _faults(result: "Accuracy") -> Iterator[str]:
    """Yield a line for every cause of answers that cannot be played."""
    for fault in result.faults:
        noun = "mistake" if fault.positions == 1 else "mistakes"
        yield f"  {fault.positions} {noun} by {fault.cause}, the first in {fault.example}"


def _share(rate: float, interval: tuple[float, float]) -> str:
    low, high = interval
    return f"{rate:6.1%} [{low:6.1%}, {high:6.1%}]"


def _as_data(result: "Accuracy") -> dict[str, Any]:
    return {
        "positions": result.positions,
        "can_go_wrong": result.can_go_wrong,
        "mistakes": result.mistakes,
        "mistake_rate": result.mistake_rate,
        "mistake_interval": result.mistake_interval,
        "best": result.best,
        "best_rate": result.best_rate,
        "best_interval": result.best_interval,
        "faults": [asdict(fault) for fault in result.faults],
        "phases": result.phases,
        "seconds": result.seconds,
    }
