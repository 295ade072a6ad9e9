"""Arya's Experiment 4, vanilla search against AlphaMCTS, and the cost of sampling moves."""

from collections.abc import Iterator, Mapping

import numpy as np

from fourlab.agent import Limit
from fourlab.agents.registry import make
from fourlab.game.outcome import Result
from fourlab.nets.evaluator import SHIPPED
from fourlab.studies.arya.bouts import (
    CORRECTED,
    FAITHFUL,
    Bout,
    Reading,
    Score,
    conduct,
    match,
    play,
    score,
)
from fourlab.studies.arya.matches import CORRECTED_SEARCH, describe_budget, vanilla
from fourlab.studies.compare import share
from fourlab.studies.workbench import Finding, Part, Table, Workbench
from fourlab.training.test_set import solved_positions

NETWORKS = {1000: "arya-1000", 5000: "arya-5000"}
"""Networks in Fourlab's repository, by the number of `arya` preset games they were trained on."""
LISTED_NETWORKS = {1000: "arya-alphamcts-10", 5000: "arya-alphamcts-50"}
"""Networks trained with `--preset arya --faithful`, if they are there; else `NETWORKS` play."""
LISTED_PROVING = "faithful=1,batch=1,fpu=0"
"""Arya's search, except that immediate wins are found on the board."""
LISTED = f"{LISTED_PROVING},proofs=0"
"""Arya's search as coded."""
WITHOUT_FAULTS = "method=puct"
"""The same search with its faults fixed."""
ITERATIONS = 1000
"""Default number of simulations per move in Arya's program."""
AS_PLAYED = 1.25
"""Temperature at which Arya's agent samples its moves, in matches too."""


def alpha(net: str, iterations: int, search: str, temperature: float = 0.0) -> str:
    """Return the spec of an AlphaMCTS agent; `search` is one of the option strings above."""
    return f"alphazero:net={net},simulations={iterations},{search},temperature={temperature}"


def listed_network(games: int) -> str | None:
    """Return the network trained by Arya's program on `games` games; None without its weights."""
    name = LISTED_NETWORKS[games]
    return name if (SHIPPED / f"{name}.onnx").is_file() else None


def experiment_4(bench: Workbench) -> Iterator[Part]:
    """Play the vanilla search against AlphaMCTS trained on 1,000 and on 5,000 games."""
    bouts = (
        _against_alpha(bench, "experiment-4a", 1000, "MCTS 5 s", Score(66, 34, 0)),
        _against_alpha(bench, "experiment-4b", 5000, "AlphaMCTS(50)", Score(81, 19, 0)),
    )
    yield from conduct(bench, bouts, bench.size["games"])


def _against_alpha(
    bench: Workbench, name: str, games: int, scored_player: str, reported: Score
) -> Bout:
    """Return one part of Experiment 4; `games` is the amount of training of the network."""
    rollouts = bench.size["rollouts"]
    iterations = bench.size["iterations"]
    # None unless searches run by the clock; rollouts stand in for it.
    seconds = bench.seconds(5)
    net = NETWORKS[games]
    trained_as_listed = listed_network(games)
    faithful_net = trained_as_listed or net
    # The vanilla search with fault B15 and without it.
    listed = vanilla(rollouts, True, seconds)
    sound = vanilla(rollouts, False, seconds)
    readings = {
        # As faithful as our networks allow.
        FAITHFUL: Reading(listed, alpha(faithful_net, iterations, LISTED, AS_PLAYED)),
        "immediate wins are seen": Reading(
            listed, alpha(faithful_net, iterations, LISTED_PROVING, AS_PLAYED)
        ),
        CORRECTED_SEARCH: Reading(sound, alpha(faithful_net, iterations, LISTED, AS_PLAYED)),
        CORRECTED: Reading(sound, alpha(net, iterations, WITHOUT_FAULTS)),
    }
    if trained_as_listed:
        why = (
            f"{faithful_net} was trained on {games:,} games with Arya's program, in one run: the "
            "interval does not cover what another run would have learned. It makes "
        )
    else:
        why = (
            f"no verdict, because the network is not Arya's: {net} was trained on {games:,} games "
            "without Arya's faults (B17), so it never had to recognise immediate wins. It makes "
        )
    why += (
        f"{iterations:,} simulations per move (the thesis gives no number, the program's default "
        f"is {ITERATIONS:,}); {describe_budget(rollouts, seconds)}"
    )
    if not trained_as_listed:
        why += (
            ". Reproducing Arya's result would take networks trained with `fourlab train alphazero "
            "--preset arya --faithful`; the one that arya figure-33 trains at full scale is not "
            "used here"
        )
    # Trained on 1,000 games the agent is called AlphaMCTS(10).
    players = ("MCTS 5 s", f"AlphaMCTS({games // 100})")
    comparable = trained_as_listed is not None
    return Bout(name, players, scored_player, reported, readings, why, comparable=comparable)


def _answer(specs: tuple[str, ...], count: int, seed: int, number: int) -> dict[str, bool]:
    """Test whether one agent keeps the value of one of `count` solved positions.

    Numbers go through all positions of an agent first.
    """
    agent, place = divmod(number, count)
    positions, scores = solved_positions(count)
    rng = np.random.default_rng([seed, number])
    chosen = make(specs[agent]).decide(positions[place], Limit(), rng).column
    mistake, can_go_wrong = judged(chosen, scores[place])
    return {"mistake": mistake, "open": can_go_wrong}


def judged(chosen: int, scores: Mapping[int, int]) -> tuple[bool, bool]:
    """Return whether a column gives away a win or a draw, and whether any column would.

    `scores` are the exact ones of the legal columns, for the side to move.
    """
    values = {column: Result.of_score(score) for column, score in scores.items()}
    best = max(values.values())
    return values[chosen] < best, min(values.values()) < best


def temperature(bench: Workbench) -> Iterator[Part]:
    """Measure what Arya's search faults and temperature cost, by mistakes and by games."""
    net = NETWORKS[5000]
    iterations = bench.size["iterations"]
    agents = {
        "as listed, temperature 1.25": alpha(net, iterations, LISTED, AS_PLAYED),
        "as listed, temperature 0": alpha(net, iterations, LISTED),
        "corrected, temperature 1.25": alpha(net, iterations, WITHOUT_FAULTS, AS_PLAYED),
        "corrected, temperature 0": alpha(net, iterations, WITHOUT_FAULTS),
    }
    yield _mistakes(bench, agents)
    listed_sampled, listed_best, corrected_sampled, corrected_best = agents
    # Sampling against the best move, with the faults and without, then both at once.
    duels = [
        (listed_sampled, listed_best),
        (corrected_sampled, corrected_best),
        (listed_sampled, corrected_best),
    ]
    matches = [
        match(
            bench,
            (agents[one], agents[other]),
            (one, other),
            bench.size["games"],
            openings="random:2",
        )
        for one, other in duels
    ]
    for (one, other), games in zip(duels, play(bench, "games", matches), strict=True):
        result = score(games, one)
        shares = "; ".join(share(count, result.games) for count in result)
        # The first player decides in which column the result belongs.
        is_listed = one.startswith("as listed")
        yield Finding(
            f"{one}, against {other}: wins, losses, draws",
            "",
            shares if is_listed else "",
            "" if is_listed else shares,
            why="B17: moves are sampled in proportion to visits to the power of 1 / 1.25, "
            "so an inferior move is played now and then",
        )


def _mistakes(bench: Workbench, agents: dict[str, str]) -> Table:
    """Tabulate how often each agent gives away a win or a draw, in positions where it can."""
    count = bench.size["positions"]
    specs = tuple(agents.values())
    answers = bench.repeat("mistakes", _answer, count * len(agents), specs, count, bench.seed)
    # Where all columns have one value, no move can be a mistake.
    mistakes = [
        [answer["mistake"] for answer in answers[begin : begin + count] if answer["open"]]
        for begin in range(0, len(answers), count)
    ]
    rows = [(name, share(sum(own), len(own))) for name, own in zip(agents, mistakes, strict=True)]
    return Table(
        "Moves that give away a win or a draw, in positions where that is possible, "
        f"{bench.size['iterations']:,} simulations per move",
        ("AlphaMCTS", "mistakes"),
        tuple(rows),
    )
