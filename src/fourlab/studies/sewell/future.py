"""SeWell's future work: playing either side, the perfect player, the network in the selection."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from fourlab.agents.mcts.textbook import ConnectFour, TextbookSearch
from fourlab.arena.tournament import Player, Tournament
from fourlab.evaluator import Batch
from fourlab.game.outcome import RED, SIDE_NAMES, YELLOW
from fourlab.game.position import Position
from fourlab.nets.evaluator import load
from fourlab.studies.claims import Claim, Kind, Source, shares
from fourlab.studies.sewell import curves
from fourlab.studies.sewell.curves import over_trainings
from fourlab.studies.sewell.learner import TreeTraining, train_all
from fourlab.studies.trainings import ONE_TRAINING
from fourlab.studies.workbench import Part, Picture, Table, Text, Workbench

PERFECT = "perfect:ties=random"
PUCT = "alphazero:method=puct,solver_nodes=0"
CHALLENGERS = {
    "tree search, 10,000 simulations": "mcts:simulations=10000",
    "self-play network in the selection, 200 simulations": f"{PUCT},simulations=200",
}
"""Agents that meet the perfect player, by description."""
SIMULATIONS = 100
SELECTIONS = {
    "sewell": ("SeWell's network in place of rollouts", "guided:net=sewell"),
    "value": ("a network trained on all phases in place of rollouts", "guided:net=value"),
    "puct": ("policy and value of a self-play network (PUCT)", PUCT),
}
"""Searches that use a network instead of rollouts: a description and a spec."""
SIDES = {"faithful": "as first player", "corrected": "as second player"}
"""What the two columns hold where the learner plays either side."""
C_PUCT = 2.0
FORMULAS = """\
UCT, SeWell's selection              Q/n + c · √(ln N / n)
PUCT, planned as future work         Q + c_puct · P · √ΣN / (1 + n)

Q/n or Q: mean result of the child, from the point of view of the side that chooses;
n: visits of the child; N, ΣN: visits of its parent; P: prior probability that the policy network
gives to the column. The value network evaluates the leaf in place of a rollout."""


def conduct(bench: Workbench) -> Iterator[Part]:
    """Carry out each item of the future work and measure it."""
    yield from _either_side(bench)
    yield from _against_perfect(bench)
    yield from _in_the_selection(bench)
    yield Text("The formulas", FORMULAS)
    yield _puct_table(bench)


def _either_side(bench: Workbench) -> Iterator[Part]:
    """Repeat Experiment 1 on either side, and play both trees against the perfect player."""
    size = bench.size
    trainings = {
        side: TreeTraining(
            bench.seed,
            size["games"],
            side=side,
            opponents=(PERFECT,),
            games_after=size["afterwards"],
        )
        for side in (RED, YELLOW)
    }
    runs = train_all(bench, trainings)
    yield Claim(
        "future-second-player",
        "iterations before all games are won, by the side of the learner",
        "planned",
        Source.TEXT,
        faithful=curves.mean_iterations(runs[RED]),
        corrected=curves.mean_iterations(runs[YELLOW]),
        labels=SIDES,
        why="one tree for 500 games, as in Experiment 1",
    )
    wins = {
        side: [_share_won(run["afterwards"][PERFECT]) for run in runs[side]]
        for side in (RED, YELLOW)
    }
    yield Claim(
        "future-perfect",
        "games won by the trained tree against the perfect player",
        "planned",
        Source.TEXT,
        faithful=over_trainings(wins[RED], 1, "%"),
        corrected=over_trainings(wins[YELLOW], 1, "%"),
        exact="the first player can win every game",
        labels=SIDES,
        why="a line that beats negamax is no strategy: the perfect player leaves the tree after a "
        "few moves",
    )
    kinds = {"as first player": runs[RED], "as second player": runs[YELLOW]}
    yield Picture(
        "either-side",
        "Experiment 1 on either side: all runs and their average.",
        lambda: curves.draw_kinds(kinds),
        curves.data(kinds),
    )


def _share_won(results: Sequence[int]) -> float:
    """Return the share of won games in per cent; results are the learner's."""
    return 100 * results.count(1) / len(results)


def _against_perfect(bench: Workbench) -> Iterator[Part]:
    """Play several agents against the perfect player, from the empty board."""
    rows = []
    for place, (description, spec) in enumerate(CHALLENGERS.items()):
        players = Player(spec, name="challenger"), Player(PERFECT, name="perfect")
        games = bench.play(
            f"perfect-{place}",
            Tournament(players, openings="empty", rounds=bench.size["rounds"], seed=bench.seed),
        )
        # Stored results are red's; the sign makes them the challenger's.
        for side, sign in ((RED, 1), (YELLOW, -1)):
            own_games = [game for game in games if (game.red, game.yellow)[side] == "challenger"]
            results = Counter((game.result or 0) * sign for game in own_games)
            counts = (results[1], results[0], results[-1])
            plies = sum(len(game.columns) for game in own_games) / len(own_games)
            rows.append((description, spec, SIDE_NAMES[side], *counts, f"{plies:.1f}"))
            if side == RED:
                yield Claim(
                    f"future-perfect-{spec.partition(':')[0]}",
                    f"as first player against the perfect player: {description}: "
                    "won / lost / drawn",
                    "planned",
                    Source.TEXT,
                    corrected=shares(results[1], results[-1], results[0]),
                    labels={"corrected": "ours"},
                    exact="the first player can win every game",
                    why="searches of ours, for comparison with SeWell's trained tree",
                    kind=Kind.DIAGNOSTIC,
                )
    yield Table(
        "Against the perfect player, from the empty board",
        ("who", "agent", "side", "won", "drawn", "lost", "plies"),
        tuple(rows),
    )


def _in_the_selection(bench: Workbench) -> Iterator[Claim]:
    """Play searches with networks against random rollouts, at equal numbers of simulations."""
    for place, (name, (description, spec)) in enumerate(SELECTIONS.items()):
        network = f"{spec},simulations={SIMULATIONS}"
        # Uniform rollouts, since SeWell's have no heuristics either.
        rollouts = f"mcts:rollouts=uniform,simulations={SIMULATIONS}"
        players = Player(network, name="network"), Player(rollouts, name="rollouts")
        games = bench.play(
            f"selection-{place}", Tournament(players, rounds=bench.size["pairs"], seed=bench.seed)
        )
        winners = Counter(
            {1: game.red, -1: game.yellow}.get(game.result or 0, "draw") for game in games
        )
        won, lost = winners["network"], winners["rollouts"]
        yield Claim(
            f"future-selection-{name}",
            f"{description}, against random rollouts: won / lost / drawn",
            "networks can drastically cut down on computational resources",
            Source.TEXT,
            corrected=shares(won, lost, winners["draw"]),
            labels={"corrected": "with the network"},
            why=f"{SIMULATIONS} simulations each, pairs of games from random openings of four "
            f"plies. In each row {ONE_TRAINING}",
            statement="future-selection",
        )


def puct(network: str, simulations: int, seed: int) -> list[tuple[int, float, int, float, float]]:
    """Search the right board of Figure 2 by PUCT in plain Python.

    Returns for every legal column: its number from 0, prior, visits, mean result for the side to
    move (-1 to +1), and upper bound.
    """
    evaluator = load(network)
    rng = np.random.default_rng(seed)

    def evaluate(state: Position) -> tuple[float, np.ndarray]:
        evaluation = evaluator.evaluate(Batch.of([state]))
        assert evaluation.logits is not None
        return float(evaluation.values[0]), evaluation.logits[0]

    def priors(state: Position, columns: Sequence[int]) -> Sequence[float]:
        logits = evaluate(state)[1][list(columns)].astype(np.float64)
        # Softmax over the legal columns; the shift avoids overflow.
        weights = np.exp(logits - logits.max())
        softmax: list[float] = (weights / weights.sum()).tolist()
        return softmax

    search: TextbookSearch[Position, int] = TextbookSearch(
        ConnectFour(),
        lambda n: int(rng.integers(n)),
        c=C_PUCT,
        priors=priors,
        evaluate=lambda state: evaluate(state)[0],
        cut=0,  # the network's value replaces the whole rollout
    )
    root = search.search(Position("sewell-2r"), simulations)
    return [
        (
            edge.move,
            edge.prior,
            edge.visits,
            # Totals are from the point of view of the side that plays the edge.
            edge.total / max(edge.visits, 1),
            search.bound_by_prior(edge, root.visits, root.mean),
        )
        for edge in root.edges
    ]


def _puct_table(bench: Workbench) -> Table:
    simulations = bench.size["simulations"]
    columns = bench.calculate("puct", lambda: puct("alphazero", simulations, bench.seed))
    rows = (
        (column + 1, f"{prior:.3f}", visits, f"{mean:+.3f}" if visits else "", f"{bound:+.3f}")
        for column, prior, visits, mean, bound in columns
    )
    title = (
        f"The right board of Figure 2 by PUCT, {simulations} simulations, c_puct = {C_PUCT:g}; "
        "untried columns take their parent's Q"
    )
    return Table(title, ("column", "P", "visits", "Q", "Q + c·P·√ΣN/(1+n)"), tuple(rows))
