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
from fourlab.studies.compare import share
from fourlab.studies.sewell import curves
from fourlab.studies.sewell.learner import TreeTraining, train_all
from fourlab.studies.workbench import Finding, Part, Picture, Table, Text, Workbench

PERFECT = "perfect:ties=random"
SEWELLS_AGENT = "sewell"
CHALLENGERS = {
    "SeWell's search, with a new tree each game": SEWELLS_AGENT,
    "tree search, 10,000 simulations": "mcts:simulations=10000",
    "self-play network in the selection, 200 simulations": "alphazero:simulations=200,method=puct",
}
"""Agents that meet the perfect player, by description."""
SIMULATIONS = 100
SELECTIONS = {
    "SeWell's network in place of rollouts": "guided:net=sewell",
    "a network trained on all phases in place of rollouts": "guided:net=value",
    "policy and value of a self-play network (PUCT)": "alphazero:method=puct",
}
"""Searches that use a network instead of rollouts, by description."""
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
    yield Finding(
        "point from which all games are won as second player",
        "",
        curves.describe_won_from(runs[YELLOW]),
        why=f"as first player: {curves.describe_won_from(runs[RED])}",
    )
    kinds = {"as first player": runs[RED], "as second player": runs[YELLOW]}
    yield Picture(
        "either-side",
        "Experiment 1 on either side: all runs and their average.",
        lambda: curves.draw_kinds(kinds),
        curves.data(kinds),
    )
    for side, order, exact in (
        (RED, "first", "red can always win"),
        (YELLOW, "second", "red always wins"),
    ):
        # From the learner's point of view.
        results = [result for run in runs[side] for result in run["afterwards"][PERFECT]]
        yield Finding(
            f"games won by the trained tree against the perfect player, as {order} player",
            "",
            share(results.count(1), len(results)),
            exact=exact,
            why=f"{results.count(0)} drawn",
        )


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
                won = share(results[1], len(own_games))
                # Only SeWell's own search counts as faithful; the others answer its plan.
                is_sewells = spec == SEWELLS_AGENT
                yield Finding(
                    f"as first player against the perfect player: {description}",
                    "",
                    won if is_sewells else "",
                    "" if is_sewells else won,
                    exact="red can always win",
                    why=f"{results[0]} drawn",
                )
    yield Table(
        "Against the perfect player, from the empty board",
        ("who", "agent", "side", "won", "drawn", "lost", "plies"),
        tuple(rows),
    )


def _in_the_selection(bench: Workbench) -> Iterator[Finding]:
    """Play searches with networks against random rollouts, at equal numbers of simulations."""
    for place, (description, spec) in enumerate(SELECTIONS.items()):
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
        yield Finding(
            f"{description}, against random rollouts at {SIMULATIONS} simulations each: won",
            "",
            "",  # the search is ours, even where the network is SeWell's
            share(winners["network"], len(games)),
            why=f"{winners['draw']} drawn; `{network}`; "
            "pairs of games from random openings of four plies",
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
