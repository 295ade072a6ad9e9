"""What the faults of Arya's programs cost, one fix at a time.

Faults of AlphaMCTS at play are measured with the networks that were trained as the thesis lists,
each of which plays against itself, with and without the fault; those of training with short
trainings of a small network.
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import eq
from pathlib import Path
from typing import Any

from fourlab.agents.alphazero.settings import TRAINING
from fourlab.agents.registry import make
from fourlab.arena.statistics import elo_of
from fourlab.arena.tournament import GamePlayer, Player, Tournament
from fourlab.jobs.executors.threads import Threads
from fourlab.nets.evaluator import load
from fourlab.studies.ablation import (
    ARM,
    CLASSIC,
    FAITHFUL,
    MARGIN,
    MOST_ELO,
    OPENING_PLIES,
    OPPONENT,
    Arm,
    Program,
    Row,
    Trained,
    compare_trained,
    fixed,
    games_of,
    keeps,
    measure,
    present,
)
from fourlab.studies.arya.alpha import (
    AS_PLAYED,
    ITERATIONS,
    LISTED,
    LISTED_NETWORKS,
    WITHOUT_FAULTS,
    alpha,
    trainings,
)
from fourlab.studies.arya.bouts import match, play, score, too_few
from fourlab.studies.claims import (
    TRAININGS,
    Claim,
    Estimate,
    Source,
    Verdict,
    over_trainings,
    share,
)
from fourlab.studies.compare import moments
from fourlab.studies.rules import Difference, directed
from fourlab.studies.trainings import train_in
from fourlab.studies.verdicts import FEWEST_TRAININGS
from fourlab.studies.workbench import Part, Workbench
from fourlab.training.kind import TrainingJob

ROLLOUTS = 10_500
"""Rollouts of the vanilla search in one second, by the thesis (Experiment 2)."""
LISTED_VANILLA = f"arya-vanilla:seconds=none,simulations={ROLLOUTS},faithful=1"
VANILLA = Program(
    "vanilla",
    f"vanilla search, {ROLLOUTS:,} rollouts",
    (
        Arm("vanilla-faithful", "", LISTED_VANILLA, "nothing (the search as listed)"),
        Arm(
            "b15",
            "B15",
            fixed(LISTED_VANILLA, credit="winner"),
            "credit a rollout to its winner",
        ),
        Arm(
            "b16",
            "B16",
            fixed(LISTED_VANILLA, draw_credit="both", draw="0.5"),
            "count a draw as one half everywhere",
        ),
        Arm(
            "vanilla-corrected",
            "B15, B16",
            f"arya-vanilla:seconds=none,simulations={ROLLOUTS}",
            "both",
        ),
    ),
    "minimax:depth=4,ties=random",
    "minimax(4)",
)
WINDOW = "arya-minimax:faithful=1"
# With colours that alternate but the listed stop, depth 4 would search the whole game tree.
MINIMAX = Program(
    "minimax",
    "minimax of the window, depth 4",
    (
        Arm("minimax-faithful", "", WINDOW, "nothing (the minimax of Figure 40)"),
        Arm(
            "b18-depth",
            "B18",
            # The listing stops where a depth that counts down reaches 6.
            fixed(WINDOW, depth=10),
            "stop after four plies",
        ),
        Arm(
            "b18-colours",
            "B18",
            "arya-minimax:evaluation=terminal,ties=random",
            "stop after four plies, and let the colours alternate",
        ),
        Arm(
            "minimax-corrected",
            "B18",
            "arya-minimax:ties=random",
            "both, and evaluate lines and threats",
        ),
    ),
    "minimax:depth=2,evaluation=terminal,ties=random",
    "minimax(2) without a heuristic",
)
CAPTION = (
    "What each fix of Arya's programs gains: Elo against the program as listed, with the same "
    "budget, and the share of moves that keep the exact value in solved positions where it can be "
    "lost, both with 95 % intervals; an arrow stands for a score of 100 %, which has no upper "
    "bound. The vanilla search has the rollouts that the thesis counts in one second. AlphaMCTS "
    "plays with networks trained as listed, against the same network. The trainings are far "
    "shorter than Arya's, and of a far smaller network, so they have no verdict; where a network "
    "plays or is trained, intervals are over trainings"
)
TRAINED = "training of AlphaMCTS, {network} network, {games:,} games"
MET = "rules"
"""The common opponent of trained networks: wins, else blocks, else plays near the centre."""
TRAINED_ARMS = (
    Arm("training-faithful", "", "", "nothing (trained as listed)"),
    Arm("b17-trained-masks", "B17", "", "in training: priors from the node's own open columns"),
    Arm("b17-trained-finished", "B17", "", "in training: use a finished game's result at once"),
    Arm("b17-trained-unvisited", "B17", "", "in training: value an unvisited column as its parent"),
    Arm("b17-discs", "B17", "", "play training games to the 42nd disc"),
    Arm("b17-target", "B17", "", "learn the result of the game, not the search's value"),
    Arm("b17-target-mixed", "B17", "", "learn the mean of the result and the search's value"),
    Arm("training-corrected", "B17", "", "train without all faults"),
)
FIXED = {
    "b17-trained-masks": "priors",
    "b17-trained-finished": "finished",
    "b17-trained-unvisited": "unvisited",
}
"""The fault of the search that is fixed in training, by arm."""
SEARCH_SHARE = {"b17-target": 0.0, "b17-target-mixed": 0.5}
"""The share of the search's value in the value target, by arm; as listed it is 1."""
CHESS_POSITIONS = 50 * 40
"""Positions of a game of chess with 50 rollouts per move and 40 moves."""
HASH_BITS = 32


def alpha_program(net: str, iterations: int) -> Program:
    """Return the arms of AlphaMCTS at play with one network."""
    listed = alpha(net, iterations, LISTED, AS_PLAYED)
    return Program(
        net,
        f"AlphaMCTS at play, {iterations:,} simulations",
        (
            Arm("alpha-faithful", "", listed, "nothing (AlphaMCTS as listed)"),
            Arm(
                "b17-masks",
                "B17",
                fixed(listed, fixed="priors"),
                "take priors from the node's own open columns",
            ),
            Arm(
                "b17-finished",
                "B17",
                fixed(listed, fixed="finished"),
                "use a finished game's result at the first visit",
            ),
            Arm(
                "b17-unvisited",
                "B17",
                fixed(listed, fixed="unvisited"),
                "value an unvisited column as its position",
            ),
            Arm(
                "b17-temperature",
                "B17",
                fixed(listed, temperature=0.0),
                "play the most visited column (T = 0)",
            ),
            Arm(
                "alpha-corrected",
                "B17",
                alpha(net, iterations, WITHOUT_FAULTS),
                "all of these, and see immediate wins on the board",
            ),
        ),
        "minimax:depth=4,ties=random",
        "minimax(4)",
        no_verdict=""
        if iterations == ITERATIONS
        else f"no verdict: {iterations} simulations per move; the program's default is "
        f"{ITERATIONS:,}, and the thesis does not say how many it used",
    )


def conduct(bench: Workbench) -> Iterator[Part]:
    """Measure B15 to B18 in games, the trainings of B17, and the numbers of B17, B19 and B20."""
    rows = [
        *measure(bench, VANILLA),
        *measure(bench, MINIMAX),
        *measure_networks(bench),
    ]
    results = _trainings(bench)
    rows += _trained_rows(bench, results)
    yield from present(rows, CAPTION)
    yield _last_disc(bench)
    yield _blocks(results[0])
    yield _axis()
    yield _hashes()


def measure_networks(bench: Workbench) -> list[Row]:
    """Play and test all arms of AlphaMCTS with every network that was trained as listed."""
    size = bench.size
    nets = list(trainings(LISTED_NETWORKS[5000]).values())[: size["networks"]]
    programs = [alpha_program(net, size["iterations"]) for net in nets]
    count, pairs = size["positions"]["alpha"], size["pairs"]["alpha"]
    # The verdict is on the games against the faithful program, so half as many do for the other.
    games = {FAITHFUL: 2 * pairs, OPPONENT: 2 * max(1, pairs // 2)}
    specs = tuple(arm.spec for program in programs for arm in program.arms)
    kept = iter(bench.repeat("alpha-answers", _keeps, len(specs), specs, count, bench.seed))
    # By network: for each arm the matches against the common opponent and the faithful program.
    pairings = [
        (arm, other, spec)
        for program in programs
        for place, arm in enumerate(program.arms)
        for other, spec in ((OPPONENT, program.opponent), (FAITHFUL, program.arms[0].spec))
        if other == OPPONENT or place
    ]
    openings = f"balanced:{OPENING_PLIES}"
    matches = [
        match(bench, (arm.spec, spec), (ARM, other), games[other], openings=openings)
        for arm, other, spec in pairings
    ]
    points: dict[tuple[str, str], list[tuple[float, int]]] = {}
    for (arm, other, _), played in zip(pairings, play(bench, "alpha", matches), strict=True):
        result = score(played, ARM)
        points.setdefault((arm.name, other), []).append(
            (result.won + result.drawn / 2, result.games)
        )
    shares: dict[str, list[float]] = {}
    for program in programs:
        for arm in program.arms:
            answers = next(kept)
            shares.setdefault(arm.name, []).append(100 * sum(answers) / max(1, len(answers)))
    first = programs[0]
    rows = []
    for place, arm in enumerate(first.arms):
        gain, verdict = over_networks(points[arm.name, FAITHFUL]) if place else (None, None)
        against, _ = over_networks(points[arm.name, OPPONENT])
        accuracy = over_trainings(shares[arm.name], "%", 1)
        if first.no_verdict:
            verdict = None
        note = first.no_verdict or f"networks trained as listed: {len(nets)}"
        rows.append(
            Row(first.title, arm, gain, first.met, against, accuracy, verdict, note, not place)
        )
    return rows


def _keeps(specs: tuple[str, ...], count: int, seed: int, number: int) -> list[bool]:
    return keeps(make(specs[number]), CLASSIC, count, seed)


def over_networks(points: Sequence[tuple[float, int]]) -> tuple[Estimate | None, Verdict]:
    """Return the Elo over several networks, and the test of a gain.

    There is a pair of points and games for every network. The error of the mean score is that over
    networks, and at least that of the games alone: networks that agree by chance do not make the
    score certain.
    """
    if len(points) < FEWEST_TRAININGS:
        return None, too_few(len(points))
    scores = [won / of for won, of in points]
    n = sum(of for _, of in points)
    # Half a point more on either side keeps the Elo finite.
    elo = elo_of((sum(won for won, _ in points) + 0.5) / (n + 1))
    middle, spread = moments(scores)
    games = math.sqrt(max(middle * (1 - middle), len(points) / (4 * n)) * len(points) / n)
    error = max(spread, games) / math.sqrt(len(points))
    difference = Difference(100 * (middle - 0.5), 100 * error, len(points) - 1)
    least = 1 / (1 + 10 ** (MOST_ELO / 400))
    low, high = (
        elo_of(min(max(0.5 + end / 100, least), 1 - least)) for end in difference.interval(0.95)
    )
    # In points: the score that the margin is worth between equal players.
    margin = 100 * (1 / (1 + 10 ** (-MARGIN / 400)) - 0.5)
    test = f"t-test of the score over {len(points)} networks"
    verdict = directed(test, difference, margin, "points")
    return (
        Estimate(
            elo, min(low, elo), max(high, elo), n, None, "Elo", 0, f"{len(points)} {TRAININGS}"
        ),
        replace(verdict, margin=f"{margin:.1f} points, {MARGIN:g} Elo"),
    )


SAME = 100 * (1 - math.exp(-(CHESS_POSITIONS**2) / 2 / 2**HASH_BITS))
"""Probability in per cent that two of this many random hashes are equal: the birthday problem."""


def _last_disc(bench: Workbench) -> Claim:
    """Count games whose result depends on the 42nd disc (B17)."""
    games = games_of(bench, VANILLA, VANILLA.arms[-1], OPPONENT)
    decided = sum(game.plies == 42 and game.result != 0 for game in games)
    full = sum(game.plies == 42 for game in games)
    return Claim(
        "ablation-b17-discs-play",
        "games of the corrected vanilla search against minimax(4) that the 42nd disc decides: "
        "ended after 41 discs they would be draws",
        "",
        Source.OURS,
        faithful=share(0, len(games)),
        corrected=share(decided, len(games)),
        why=f"B17: Arya's games end one disc early; {full} of {len(games)} games filled the board",
        labels={"faithful": "ended after 41 discs", "corrected": "ended after 42 discs"},
    )


def _blocks(runs: Sequence[Mapping[str, Any]]) -> Claim:
    """Compare the accuracy on the listed "blocks" with that on real ones (B17)."""
    listed, real = (
        over_trainings([100 * run[kind] for run in runs], "%", 1)
        for kind in ("listed blocks", "blocks")
    )
    return Claim(
        "ablation-b17-blocks",
        "blocks that the networks trained as listed find without search: the thesis's examples "
        "of blocks, and real blocks",
        "",
        Source.OURS,
        faithful=listed,
        corrected=real,
        why="B17: the listed blocks are wins of the second player, so blocking is never measured. "
        "The examples only test the network: with real ones the same network is trained, so the "
        "fix gains 0 Elo",
        labels={"faithful": "listed examples", "corrected": "real blocks"},
    )


def _axis() -> Claim:
    """State the end of Figure 33's axis, as drawn and as it should be (B19)."""
    return Claim(
        "ablation-b19",
        "Figure 33: games at the last point of 50 epochs of 100 games",
        "",
        Source.OURS,
        # The listed axis goes from 0 to 101 times the number of points, one before training.
        faithful=Estimate(101 * 51, digits=0, unit="games"),
        corrected=Estimate(100 * 50, digits=0, unit="games"),
        why="B19: the axis counts 101 games per point, and the point before training, too",
    )


def _hashes() -> Claim:
    """State how often two chess positions are taken for the same (B20)."""
    return Claim(
        "ablation-b20",
        f"chess: probability that two different ones of {CHESS_POSITIONS:,} positions, those of a "
        "long game, are taken for the same",
        "",
        Source.OURS,
        faithful=Estimate(SAME, unit="%", digits=2, note=f"{HASH_BITS} bits"),
        corrected=Estimate(0.0, unit="%", digits=0, note="compared in full"),
        why="B20: so rare that the fault is not kept, and no games were played with it",
    )


def training_settings(arm: Arm, size: Mapping[str, Any], seed: int) -> Any:
    """Return the settings of a training; `b17-discs` and FIXED are attributes of the trainee."""
    is_corrected = arm.name == "training-corrected"
    preset = TRAINING.preset("arya", faithful=not is_corrected)
    return replace(
        preset,
        networks=(size["network"],),
        games=size["training"],
        simulations=size["searched"],
        simulations_end=size["searched"],
        exam_every=10**6,
        exam_games=0,
        keep=0,
        precision="fp32",
        search_share=SEARCH_SHARE.get(arm.name, preset.search_share),
        seed=seed,
    )


def _train(folder: Path, size: Mapping[str, Any], seed: int, number: int) -> dict[str, Any]:
    """Train one arm with one seed, then let the network play and answer."""
    from fourlab.agents.alphazero.listed_training import ListedTrainee  # loads torch
    from fourlab.agents.alphazero.training import AlphaZeroTrainee
    from fourlab.studies.arya.evaluator import accuracy

    run, place = divmod(number, len(TRAINED_ARMS))
    arm = TRAINED_ARMS[place]
    job = TrainingJob(TRAINING, training_settings(arm, size, 1000 * seed + run), "network")
    trainee = job.trainee
    assert isinstance(trainee, AlphaZeroTrainee)
    trainee.executor = Threads(1)  # other trainings use the other processors
    if isinstance(trainee, ListedTrainee):
        trainee.ends_early = arm.name != "b17-discs"
        trainee.fixed = FIXED.get(arm.name, "nothing")
    here = folder / f"{arm.name}-{run}"
    train_in(here, job)
    # The same sound search for all networks.
    net = here / "alphazero.onnx"
    spec = f"alphazero:net={net},{WITHOUT_FAULTS},fpu=0,simulations={size['played']}"
    players = (Player(spec, name="network"), Player(MET, name="opponent"))
    openings = f"balanced:{OPENING_PLIES}"
    tournament = Tournament(players, (CLASSIC,), openings, size["trained_pairs"], seed=seed)
    play = GamePlayer(tournament, make)
    points = 0.0
    for game in map(play, range(len(tournament))):
        sign = 1 if game.red == "network" else -1
        points += 0.5 + 0.5 * sign * (game.result or 0)
    policy = make(f"alphazero:net={here / 'alphazero.onnx'},simulations=0")
    kept = keeps(policy, CLASSIC, size["trained_positions"], seed)
    shares = accuracy(load(str(here / "alphazero.onnx")))
    return {
        "points": points,
        "games": len(tournament),
        "kept": sum(kept),
        "of": len(kept),
        "listed blocks": shares["listed blocks"],
        "blocks": shares["blocks"],
    }


def _trainings(bench: Workbench) -> list[list[dict[str, Any]]]:
    """Return the results of the trainings of each arm."""
    size = bench.size
    number = size["seeds"] * len(TRAINED_ARMS)
    folder = bench.folder.resolve() / "training"
    results = bench.repeat("trainings", _train, number, folder, size, bench.seed)
    return [results[place :: len(TRAINED_ARMS)] for place in range(len(TRAINED_ARMS))]


def _trained_rows(bench: Workbench, results: Sequence[Sequence[Mapping[str, Any]]]) -> list[Row]:
    size = bench.size
    arms: list[Trained] = []
    for arm, runs in zip(TRAINED_ARMS, results, strict=True):
        scores = [(run["points"], run["games"]) for run in runs]
        kept = [(run["kept"], run["of"]) for run in runs]
        equal = sum(map(eq, runs, results[0])) if arms else 0
        note = f"{equal} of {len(runs)} trainings have the faithful one's results" if equal else ""
        arms.append(Trained(arm, scores, kept, note))
    return compare_trained(
        TRAINED.format(network=size["network"], games=size["training"]),
        MET,
        arms,
        f"no verdict: {len(results[0])} trainings per arm, each of {size['training']:,} games, "
        f"{size['searched']} simulations per move and a {size['network']} network; Arya's has "
        "5,000 games, 50 to 100 simulations and a 128x8 network",
        # Training number n has the same seed in all arms.
        same_seeds=True,
    )
