"""`fourlab match`: two agents, many games, and what can be concluded."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fourlab.cli.options import (
    DEFAULT_HOME,
    AccuracyOption,
    AddressOption,
    BoardOption,
    DepthOption,
    ExecutorOption,
    HomeOption,
    JsonOption,
    NodesOption,
    QuietOption,
    RunOption,
    SecondsOption,
    SeedOption,
    SimulationsOption,
    WorkersOption,
    positions_of,
    print_json,
)
from fourlab.errors import UserError

if TYPE_CHECKING:
    from fourlab.arena.tournament import Tournament
    from fourlab.cli.live import Conduct
    from fourlab.jobs.run import Run


def match(
    one: Annotated[str, typer.Argument(metavar="A", help="An agent (fourlab agents).")],
    other: Annotated[str, typer.Argument(metavar="B", help="Its opponent.")],
    games: Annotated[int, typer.Option(min=1, help="How many games; with --sprt at most so many.")] = 100,
    board: BoardOption = None,
    openings: Annotated[
        str,
        typer.Option(metavar="WHICH", help="empty, random:K, all:K, balanced:K (plies), a position, or file:FILE."),
    ] = "random:4",
    starts: Annotated[
        str, typer.Option(help="alternate: each opening twice, colours swapped; fixed: A is always red.")
    ] = "alternate",
    seconds: SecondsOption = None,
    simulations: SimulationsOption = None,
    nodes: NodesOption = None,
    depth: DepthOption = None,
    limit_a: Annotated[str, typer.Option("--limit-a", metavar="BOUNDS", help="A's own: seconds=0.1,nodes=500.")] = "",
    limit_b: Annotated[str, typer.Option("--limit-b", metavar="BOUNDS", help="B's own.")] = "",
    grace: Annotated[float, typer.Option(help="Seconds by which a move may exceed its limit before the game is lost.")] = 1.0,
    sprt: Annotated[
        tuple[float, float] | None, typer.Option(metavar="ELO0 ELO1", help="Stop when one of two normalized Elos is accepted.")
    ] = None,
    alpha: Annotated[float, typer.Option(help="The SPRT's chance to accept ELO1 wrongly.")] = 0.05,
    beta: Annotated[float, typer.Option(help="The SPRT's chance to accept ELO0 wrongly.")] = 0.05,
    sprt_model: Annotated[str, typer.Option("--sprt-model", help="normalized or logistic Elo.")] = "normalized",
    accuracy: AccuracyOption = False,
    seed: SeedOption = 0,
    workers: WorkersOption = None,
    executor: ExecutorOption = "local",
    address: AddressOption = None,
    name: Annotated[str | None, typer.Option(help="What the run is called.")] = None,
    run: RunOption = None,
    home: HomeOption = DEFAULT_HOME,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Let two agents play each other and say who is stronger, and how sure that is.

    Every opening is played twice with colours swapped, and statistics count such pairs. Games are stored as they end: the
    same command again goes on where it was stopped. The result does not depend on the number of workers.

    Example: fourlab match mcts:simulations=200 rules --games 200 --accuracy
    """
    from fourlab.agent import Limit
    from fourlab.arena.sprt import Sprt
    from fourlab.arena.tournament import Player, Tournament
    from fourlab.cli.live import Conduct
    from fourlab.game.rules import CLASSIC, Rules
    from fourlab.jobs.run import open_run

    if starts == "alternate" and games % 2:
        raise UserError(f"every opening is played twice, so the number of games must be even, not {games}")
    both: dict[str, Any] = {"seconds": seconds, "simulations": simulations, "nodes": nodes, "depth": depth}
    players = tuple(Player(spec, Limit(**{**both, **_bounds(own)})) for spec, own in ((one, limit_a), (other, limit_b)))
    if players[0] == players[1]:
        players = tuple(Player(each.spec, each.limit, f"{each.label} ({seat})") for seat, each in zip("AB", players, strict=True))
    tournament = Tournament(
        players,
        (str(CLASSIC if board is None else Rules.parse(board)),),
        read_openings(openings, Path(), board),
        games // 2 if starts == "alternate" else games,
        starts,  # type: ignore[arg-type]
        seed,
        grace,
        None if sprt is None else Sprt(*sprt, alpha=alpha, beta=beta, model=sprt_model),
    )
    check_agents(tournament)
    conduct = Conduct(workers or os.cpu_count() or 1, executor, address, accuracy, quiet)
    config = {"kind": "match", **tournament.as_data()}
    finish(open_run(home, name or f"{one}-vs-{other}", config, run, conduct.note), tournament, conduct, json)


def finish(run: "Run", tournament: "Tournament", conduct: "Conduct", json: bool) -> None:
    """Play what a run still lacks and print what came out."""
    from fourlab.cli.live import carry_out
    from fourlab.cli.standings import print_summary

    tell_repetitions(tournament, conduct)
    summary = carry_out(run, tournament, conduct)
    if json:
        print_json({"run": str(run.folder), **summary})
    else:
        print_summary(summary)
        print(f"run: {run.folder} (report.html shows it; fourlab games {run.folder} lists the games)")


def tell_repetitions(tournament: "Tournament", conduct: "Conduct") -> None:
    """Say so if there are fewer openings than rounds: games of players without chance will be the same."""
    for board, starts in zip(tournament.boards, tournament.starts_on, strict=True):
        if 1 < len(starts) < tournament.all_rounds:
            conduct.note(
                f"there are only {len(starts)} such openings on {board} for {tournament.all_rounds} rounds; they are repeated"
            )


def read_openings(asked: str, beside: Path, board: str | None) -> str | tuple[str, ...]:
    """Read file:FILE into a list of positions; everything else is left as it is."""
    if not asked.startswith("file:"):
        return asked
    positions = [line.position for line in positions_of(beside / asked.removeprefix("file:"), board)]
    if not positions:
        raise UserError(f"there are no positions in {asked.removeprefix('file:')}")
    return tuple(each.write("fen" if each.moves is None else "moves") for each in positions)


def check_agents(tournament: "Tournament") -> None:
    """Make every agent once, so that a wrong spec is told now and not by a worker."""
    import numpy as np

    from fourlab.agent import Learned, Limit
    from fourlab.agents.registry import make
    from fourlab.agents.simple.human import Human

    for player in tournament.players:
        agent = make(player.spec)
        if isinstance(agent, Human):
            raise UserError("people do not play in matches; fourlab play is for them")
        for starts in tournament.starts_on:  # openings that cannot be had are told now, too
            if isinstance(agent, Learned):  # it knows the board that it has learned on only
                agent.decide(starts[0], Limit(simulations=1), np.random.default_rng(0))


def _bounds(text: str) -> dict[str, Any]:
    from fourlab.arena.tournament import BOUNDS

    found: dict[str, Any] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        bound, _, value = part.partition("=")
        try:
            if bound not in BOUNDS:
                raise ValueError
            found[bound] = float(value) if bound == "seconds" else int(value)
        except ValueError:
            raise UserError(f"a limit is written bound=number, with {', '.join(BOUNDS)}, not {part!r}") from None
    return found
