"""Gao's wish for parallel search: strength at equal simulations, then speed and strength by time.

Whatever depends on the clock is measured only while two processors are idle, and refused otherwise:
two threads that share one processor show nothing but the load of the machine.
"""

import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from fourlab.agent import Limit, close
from fourlab.agents.registry import make
from fourlab.arena.results import Results
from fourlab.arena.tally import Tally
from fourlab.arena.tournament import GamePlayer, Player, Tournament
from fourlab.game.position import Position
from fourlab.studies.claims import COUNTS, Claim, Source, mean_of
from fourlab.studies.gao.future import gain, stronger
from fourlab.studies.verdicts import larger_than
from fourlab.studies.workbench import Part, Table, Workbench, completed

THREADS = 2
WAYS = {
    "one tree for all": "mcts:simulations={},threads={}",
    "a tree each": "gao:simulations={},threads={},runs={}",
}
"""Two ways to use threads; the names are keys of stored results."""
WHY = {
    "one tree for all": "Two threads can be more than twice as fast: each runs a batch of "
    "simulations below one node and so saves the way there, which one thread goes every time",
    "a tree each": "",
}
SLUGS = {"one tree for all": "one-tree", "a tree each": "trees"}
TURNS = 5
"""Timed turns."""
FEWEST_TURNS = 3
"""With fewer usable turns the speeds say nothing."""
SECONDS = 0.01
"""Time per move of the games by the clock."""
IDLE = 1.8
"""Processors that two independent threads must get, of 2, for a measurement by the clock."""
PROBE = "gao:simulations={},threads=2,runs=2"
"""Two searches without anything in common: they are held up by other programs only."""
HALF = 0.5
"""Below this share of usable pairs the machine was too busy for a statement."""
REFUSED = "not measured: too few idle processors"
SPEED_UP = 0.3
"""Margin of the ratio of speeds: two threads may be useless if they gain less."""
LEAST_ERROR = 0.01
"""Standard error that a mean ratio has at least: turns that agree by chance prove nothing."""


def conduct(bench: Workbench) -> Iterator[Part]:
    """Compare two threads with one: games at equal simulations, speed, games at equal time."""
    simulations = bench.size["simulations"]
    half = simulations // THREADS
    for slug, quantity, specs, why in (
        (
            "one-tree",
            f"{THREADS} threads against 1, our own search (mcts) on one tree, {simulations:,} "
            "simulations per move",
            (
                f"mcts:simulations={simulations},threads={THREADS}",
                f"mcts:simulations={simulations}",
            ),
            "threads on one tree meet in another order every time, so these games are repeatable "
            "only statistically. Our threads share a tree only if both sides choose in it, so this "
            "is not the report's search",
        ),
        (
            "trees",
            f"{THREADS} threads against 1, the report's search (gao) with a tree each, "
            f"{simulations:,} simulations per move in total",
            (
                f"gao:simulations={half},threads={THREADS},runs={THREADS}",
                f"gao:simulations={simulations}",
            ),
            "the values of two trees of half the size are averaged; repeatable to the last move. "
            "The next row shows how much of the gain comes from the smaller tree alone: a tree "
            "that expects random replies relies on them more the longer it searches, so fewer "
            "simulations can play better against a player that chooses",
        ),
        (
            "half",
            f"the report's search (gao), one tree of {half:,} simulations against one of "
            f"{simulations:,}",
            (f"gao:simulations={half}", f"gao:simulations={simulations}"),
            "no threads: this is what half of the simulations cost the report's search",
        ),
    ):
        tally = _games(bench, f"equal-{slug}", specs)
        yield Claim(
            f"parallel-equal-{slug}",
            f"{quantity}: gain{'' if slug == 'half' else ' at equal simulations'}",
            "",
            Source.OURS,
            corrected=gain(tally),
            why=why,
            labels={"corrected": "gain"},
        )
    yield from _speed(bench)
    yield from _strength(bench)


def _games(bench: Workbench, name: str, specs: tuple[str, str]) -> Tally:
    """Let the first player meet the second, every opening with both colours."""
    players = tuple(Player(spec, name=str(place)) for place, spec in enumerate(specs))
    tournament = Tournament(
        players, openings="random:4", rounds=bench.size["rounds"], seed=bench.seed
    )
    results = Results(tournament)
    for game in bench.play(name, tournament):
        results.add(game)
    return results.tally("0", "1")


def processors(simulations: int) -> float:
    """Return how many processors two independent busy threads get now, at most 2.

    CPU seconds per second of a search on two trees. Unlike the load average it also notices other
    limits, such as the quota of a container.
    """
    agent = make(PROBE.format(simulations))
    # Threads start at the first search.
    agent.decide(Position(), Limit(simulations=2), np.random.default_rng(0))
    wall_before = time.perf_counter()
    cpu_before = time.process_time()
    agent.decide(Position(), Limit(), np.random.default_rng(0))
    had = (time.process_time() - cpu_before) / (time.perf_counter() - wall_before)
    close(agent)
    return had


def _speed(bench: Workbench) -> Iterator[Part]:
    """Measure what threads gain in simulations per second."""
    # One piece of work, since several would compete for the processors.
    (measured,) = bench.repeat("speeds", _speeds, 1, bench.size["timed"], bench.size["probe"])
    rows = []
    for way, turns in measured.items():
        usable = len(turns) >= FEWEST_TURNS
        ratios = [turn["two"] / turn["one"] for turn in turns]
        yield Claim(
            f"parallel-speed-{SLUGS[way]}",
            f"speed with {THREADS} threads relative to 1, {way}",
            "",
            Source.OURS,
            corrected=mean_of(ratios, 2, within=COUNTS) if usable else REFUSED,
            true=larger_than(ratios, 1, SPEED_UP, what="turns", least_error=LEAST_ERROR)
            if usable
            else None,
            labels={"corrected": "ratio"},
            why=f"wall-clock time on one machine, up to {TURNS} turns. {WHY[way]}".rstrip(),
        )
        rows += [
            (way, round(turn["one"]), round(turn["two"]), f"{turn['idle']:.2f}") for turn in turns
        ]
    if rows:
        head = ("search", "one thread", f"{THREADS} threads", "idle processors")
        yield Table("Simulations per second on the empty board", head, tuple(rows))


def _speeds(simulations: int, probe: int, number: int) -> dict[str, list[dict[str, float]]]:
    """Return by way, for every usable turn, the simulations per second with one and two threads.

    A turn times one thread, then two, and is usable if two processors are idle before, between and
    after. All do the same work: the same number of trees of the same size.
    """
    measured: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    for way, spec in WAYS.items():
        # With a tree each, there are as many trees for one thread as for two.
        trees = THREADS if "runs" in spec else 1
        agents = [
            make(spec.format(max(simulations // trees, 1), threads, trees))
            for threads in (1, THREADS)
        ]
        for agent in agents:
            # Load what is slow at first, and start the threads.
            agent.decide(Position(), Limit(simulations=trees), np.random.default_rng(0))
        for turn in range(TURNS):
            idle = [processors(probe)]
            speeds = []
            for agent in agents:
                before = time.perf_counter()
                decision = agent.decide(Position(), Limit(), np.random.default_rng(turn))
                seconds = time.perf_counter() - before
                speeds.append((decision.analysis.simulations or 0) / seconds)
                idle.append(processors(probe))
            if min(idle) >= IDLE:
                measured[way].append({"one": speeds[0], "two": speeds[1], "idle": min(idle)})
        for agent in agents:
            close(agent)
    return measured


def _timed_pair(seed: int, rounds: int, probe: int, number: int) -> dict[str, Any]:
    """Play a pair of games by the clock, two threads against one.

    Returns the results of two threads, moving first and second (1, 0 or -1), and how many
    processors were idle before, between and after the games.
    """
    players = tuple(Player(f"mcts:seconds={SECONDS},threads={threads}") for threads in (THREADS, 1))
    tournament = Tournament(players, openings="random:4", rounds=rounds, seed=seed)
    play = GamePlayer(tournament, make)
    idle = [processors(probe)]
    games = []
    for swapped in (0, 1):
        games.append(play(2 * number + swapped))
        idle.append(processors(probe))
    completed("games by the clock", games)
    # A stored result is the first player's.
    results = [(game.result or 0) * sign for game, sign in zip(games, (1, -1), strict=True)]
    return {"results": results, "idle": idle}


def _strength(bench: Workbench) -> Iterator[Part]:
    """Let two threads play one thread with the same time per move."""
    rounds = bench.size["pairs"]
    pairs = list[dict[str, Any]]()
    # One pair after another: games in parallel would compete for the threads' processors.
    for played in range(1, rounds + 1):
        pairs = bench.repeat(
            "threads", _timed_pair, played, bench.seed, rounds, bench.size["probe"]
        )
        busy = sum(min(pair["idle"]) < IDLE for pair in pairs)
        if busy > (1 - HALF) * rounds:
            break  # too few can be usable by now
    tally = usable_pairs(pairs)
    yield Claim(
        "parallel-equal-time",
        f"{THREADS} threads against 1 on one tree, {SECONDS:g} s per move: gain at equal time",
        "",
        Source.OURS,
        corrected=REFUSED if tally is None else gain(tally),
        true=None if tally is None else stronger(tally),
        labels={"corrected": "gain"},
        why=f"only pairs of games count before, between and after which two busy threads had "
        f"{IDLE:g} processors or more; games by the clock are not repeatable. {_started()}",
    )


def _started() -> str:
    """Return why two threads lost at short times, with numbers measured before and after."""
    file = files("fourlab.studies").joinpath("gao", "thread_start.toml")
    numbers = tomllib.loads(file.read_text(encoding="utf-8"))
    return (
        "An earlier version started its threads at every move, and a start waits until the new "
        f"thread runs. On a busy machine, two threads with {numbers['milliseconds']} ms per move "
        f"made {numbers['started_at_every_move']:,} simulations in the median of "
        f"{numbers['moves']:,} moves, against {numbers['one_thread']:,} of one thread; with "
        f"threads that keep running between moves they make {numbers['kept_running']:,}. A start "
        f"itself takes about {numbers['start_milliseconds']:g} ms, so it matters little on an idle "
        "machine"
    )


def usable_pairs(pairs: Sequence[Mapping[str, Any]]) -> Tally | None:
    """Return the results of the pairs that had two idle processors; None if those are too few."""
    usable = [pair["results"] for pair in pairs if min(pair["idle"]) >= IDLE]
    if len(usable) < HALF * len(pairs):
        return None
    # Scores of 0, ½ and 1 from results of -1, 0 and 1.
    return Tally.of_pairs([((one + 1) / 2, (other + 1) / 2) for one, other in usable])
