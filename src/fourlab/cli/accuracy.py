"""`fourlab accuracy`: how often agents play what the exact value demands."""

import re
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fourlab.agent import Agent, Limit
from fourlab.agents.registry import make
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

if TYPE_CHECKING:
    from fourlab.arena.accuracy import Accuracy
    from fourlab.game.position import Position


@dataclass(frozen=True)
class Sources:
    """Where the positions come from."""

    positions: Annotated[
        Path | None,
        typer.Option("--positions", metavar="FILE", help="Positions, one a line; - is standard input."),
    ] = None
    random: Annotated[int | None, typer.Option("--random", metavar="N", min=1, help="N positions of random play.")] = None
    solved: Annotated[
        int | None,
        typer.Option(
            "--solved",
            metavar="N",
            min=1,
            max=960,
            help="N of the 960 solved positions of all phases that come with Fourlab.",
        ),
    ] = None
    plies: Annotated[str, typer.Option(metavar="A-B", help="How many discs the random positions have.")] = "8-30"
    board: BoardOption = None
    seed: SeedOption = 0

    def check(self) -> None:
        """Refuse none or several."""
        if self.solved is not None and self.board is not None:
            raise UserError("the solved positions that come with Fourlab are on 7x6x4; --board is for --positions and --random")
        if [self.positions, self.random, self.solved].count(None) != 2:
            raise UserError("say where the positions come from: --positions FILE, --random N or --solved N")

    def read(self) -> "tuple[list[Position], list[dict[int, int]]]":
        """The positions, and the exact score of every column."""
        from fourlab.arena.accuracy import exact_scores
        from fourlab.solver import Solver
        from fourlab.training.test_set import some_positions

        if self.solved is not None:
            return some_positions(self.solved)
        chosen = self._drawn() if self.positions is None else self._read(self.positions)
        scores = exact_scores(chosen, Solver())
        return chosen, [each for each, _ in zip(scores, progress(chosen, "solving"), strict=True)]

    def _read(self, file: Path) -> "list[Position]":
        chosen = [line.position for line in positions_of(file, self.board)]
        over = next((each for each in chosen if each.outcome() is not None), None)
        if over is not None:
            raise UserError(f"{file} holds a finished game: {over!r}")
        if not chosen:
            raise UserError(f"{file} holds no position")
        return chosen

    def _drawn(self) -> "list[Position]":
        from fourlab.arena.accuracy import random_positions

        number = self.random or 0
        chosen = random_positions(number, _range(self.plies), self.seed, self.board)
        if len(chosen) < number:
            raise UserError(f"there are only {len(chosen)} such positions with {self.plies} discs")
        return chosen


@with_settings
def accuracy(
    agents: Annotated[list[str], typer.Argument(metavar="AGENT...", help="Who is examined (fourlab agents).")],
    sources: Sources,
    limits: LimitOptions,
    budgets: Annotated[
        str | None,
        typer.Option(
            metavar="LIST", help="Ask with each of these: simulations (0: those who can do without), or a time as 10ms or 1s."
        ),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Count mistakes against the exact truth: columns of a lower class (win, draw, loss) than the best one.

    Also counts exactly best columns: those that win as soon, or lose as late, as possible. Intervals are Wilson's at 95 %.
    "Can go wrong" are the positions in which at least one column is a mistake.

    Example: fourlab accuracy mcts:simulations=1000 minimax rules --random 100

    Example: fourlab accuracy alphazero mcts perfect --solved 960 --budgets 0,32,100,600,10ms,100ms,1s
    """
    from fourlab.arena.accuracy import ask, count

    limit = limits.limit()
    examined = {spec: make(spec) for spec in agents}
    if budgets is not None:
        _refuse_own_bounds(examined)
    sources.check()
    tried = _tried(examined, limit, budgets)
    chosen, truth = sources.read()
    results: dict[str, Accuracy] = {}
    if not json:
        print(f"{'agent':32}  positions  can go wrong  mistakes                 {_PHASES}  exactly best             ms a move")
    for name, agent, allowed in tried:
        asked = ask(agent, chosen, truth, allowed, sources.seed)
        results[name] = count([answer for answer, _ in zip(asked, progress(chosen, name), strict=True)])
        if not json:
            print(_row(name, results[name]), flush=True)
    if json:
        print_json({"seed": sources.seed, "agents": {name: _as_data(found) for name, found in results.items()}})


def _refuse_own_bounds(examined: dict[str, Agent]) -> None:
    for spec, agent in examined.items():
        for bound in ("simulations", "seconds"):
            if (value := getattr(agent, bound, None)) is not None:
                raise UserError(f"{spec} has a bound of its own, {bound}={value}; budgets are for those who have none")


def _tried(examined: dict[str, Agent], limit: Limit, budgets: str | None) -> list[tuple[str, Agent, Limit]]:
    """Each agent with each budget, by name; without simulations only those who can do without."""
    if budgets is None:
        return [(spec, agent, limit) for spec, agent in examined.items()]
    limits = {text: _budget(text.strip(), limit) for text in budgets.split(",")}
    tried = []
    for (spec, agent), (text, allowed) in product(examined.items(), limits.items()):
        name = f"{spec} {text}"
        if allowed is not None:
            tried.append((name, agent, allowed))
        elif (bare := _without_search(spec)) is not None:
            tried.append((name, bare, limit))
    return tried


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
