"""What document 003 leaves for the future: either side, the perfect player, the network in the selection."""

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from fourlab.agents.mcts.textbook import ConnectFour, TextbookSearch
from fourlab.arena.tables import Table
from fourlab.arena.tournament import Player, Tournament
from fourlab.evaluator import Batch
from fourlab.game.outcome import RED, SIDE_NAMES, YELLOW
from fourlab.game.position import Position
from fourlab.nets.evaluator import load
from fourlab.studies.compare import share
from fourlab.studies.experiment import Finding, Part, Picture, Text
from fourlab.studies.sewell import curves
from fourlab.studies.sewell.learner import Lessons, teach
from fourlab.studies.workbench import Workbench

PERFECT = "perfect:choice=random"
DOCUMENTS_OWN = "sewell"
CHALLENGERS = {
    "the document's search, a tree of its own each game": DOCUMENTS_OWN,
    "tree search, 10,000 simulations": "mcts:simulations=10000",
    "network of self-play in the selection, 200 simulations": "alphazero:simulations=200,method=puct",
}
SIMULATIONS = 100
SELECTIONS = {
    "the document's network in place of rollouts": "guided:net=sewell",
    "a network of all phases in place of rollouts": "guided:net=value",
    "policy and value of a self-play network, PUCT": "alphazero:method=puct",
}
C_PUCT = 2.0
FORMULAS = """\
UCT, the document's selection        Q/n + c · √(ln N / n)
PUCT, named for the future           Q + c_puct · P · √ΣN / (1 + n)

Q/n or Q: the mean result of the child for the side that chooses; n: its visits; N, ΣN: those of its parent;
P: how promising a network finds the column before it is tried. The leaf is judged by the value network,
in place of a rollout."""


def conduct(bench: Workbench) -> Iterator[Part]:
    """Each wish fulfilled, and measured."""
    yield from _either_side(bench)
    yield from _against_perfect(bench)
    yield from _in_the_selection(bench)
    yield Text("The formulas", FORMULAS)
    yield _by_hand(bench)


def _either_side(bench: Workbench) -> Iterator[Part]:
    """The document's experiment as first and as second player, and both trees against the perfect player."""
    size = bench.size
    sides = teach(
        bench,
        {
            side: Lessons(bench.seed, size["games"], side=side, opponents=(PERFECT,), afterwards=size["afterwards"])
            for side in (RED, YELLOW)
        },
    )
    told = f"as first player: {curves.told_won_from(sides[RED])}"
    yield Finding("as second player all games are won from point", "", curves.told_won_from(sides[YELLOW]), why=told)
    kinds = {"as first player": sides[RED], "as second player": sides[YELLOW]}
    yield Picture(
        "either-side",
        "Experiment 1 as either side: all runs and their average.",
        lambda: curves.draw_kinds(kinds),
        curves.data(kinds),
    )
    for side, told, truth in ((RED, "first", "red can always win"), (YELLOW, "second", "red always wins")):
        results = [result for run in sides[side] for result in run["afterwards"][PERFECT]]
        yield Finding(
            f"the tree so learned against the perfect player, as {told}: won",
            "",
            share(results.count(1), len(results)),
            truth=truth,
            why=f"{results.count(0)} drawn",
        )


def _against_perfect(bench: Workbench) -> Iterator[Part]:
    """Who can stand up to perfect play."""
    rows = []
    for place, (told, spec) in enumerate(CHALLENGERS.items()):
        players = Player(spec, name="challenger"), Player(PERFECT, name="perfect")
        games = bench.play(
            f"perfect-{place}", Tournament(players, openings="empty", rounds=bench.size["rounds"], seed=bench.seed)
        )
        for side in (RED, YELLOW):
            ours = [game for game in games if (game.red, game.yellow)[side] == "challenger"]
            scores = Counter((game.result or 0) * (1 if side == RED else -1) for game in ours)
            plies = sum(len(game.columns) for game in ours) / len(ours)
            rows.append((told, spec, SIDE_NAMES[side], scores[1], scores[0], scores[-1], f"{plies:.1f}"))
            if side == RED:
                won = share(scores[1], len(ours))
                yield Finding(
                    f"as first player against the perfect one: {told}",
                    "",
                    *((won, "") if spec == DOCUMENTS_OWN else ("", won)),
                    truth="red can always win",
                    why=f"{scores[0]} drawn",
                )
    yield Table(
        "Against the perfect player, from the empty board", ("who", "agent", "side", "won", "drawn", "lost", "plies"), tuple(rows)
    )


def _in_the_selection(bench: Workbench) -> Iterator[Finding]:
    """Networks where the document wishes them, against the search without, at equal simulations."""
    for place, (told, spec) in enumerate(SELECTIONS.items()):
        agents = (
            f"{spec}{',' if ':' in spec else ':'}simulations={SIMULATIONS}",
            f"mcts:rollouts=uniform,simulations={SIMULATIONS}",
        )
        players = Player(agents[0], name="network"), Player(agents[1], name="rollouts")
        games = bench.play(f"selection-{place}", Tournament(players, rounds=bench.size["pairs"], seed=bench.seed))
        won = Counter({1: game.red, -1: game.yellow}.get(game.result or 0, "draw") for game in games)
        yield Finding(
            f"{told}, against random rollouts at {SIMULATIONS} simulations each: won",
            "",
            "",  # the search is ours, even where the network is the document's
            share(won["network"], len(games)),
            why=f"{won['draw']} drawn; `{agents[0]}`; pairs of games from random openings of four plies",
        )


def puct(network: str, simulations: int, seed: int) -> list[tuple[int, float, int, float, float]]:
    """Search Figure 2's right board by PUCT in plain Python: column, P, visits, Q and the bound of each."""
    judge, rng = load(network), np.random.default_rng(seed)

    def asked(state: Position) -> tuple[float, np.ndarray]:
        found = judge.evaluate(Batch.of([state]))
        assert found.logits is not None
        return float(found.values[0]), found.logits[0]

    def priors(state: Position, columns: Sequence[int]) -> Sequence[float]:
        logits = asked(state)[1][list(columns)].astype(np.float64)
        weights = np.exp(logits - logits.max())
        shares: list[float] = (weights / weights.sum()).tolist()
        return shares

    search: TextbookSearch[Position, int] = TextbookSearch(
        ConnectFour(), lambda n: int(rng.integers(n)), c=C_PUCT, priors=priors, judge=lambda state: asked(state)[0], cut=0
    )
    root = search.search(Position("sewell-2r"), simulations)
    return [
        (
            edge.move,
            edge.prior,
            edge.visits,
            edge.total / max(edge.visits, 1),
            search.bound_by_prior(edge, root.visits, root.mean),
        )
        for edge in root.edges
    ]


def _by_hand(bench: Workbench) -> Table:
    simulations = bench.size["simulations"]
    found = bench.calculate("puct", lambda: puct("alphazero", simulations, bench.seed))
    rows = (
        (column + 1, f"{p:.3f}", visits, f"{q:+.3f}" if visits else "", f"{bound:+.3f}") for column, p, visits, q, bound in found
    )
    title = (
        f"Figure 2's right board by PUCT, {simulations} simulations, c_puct = {C_PUCT:g}; untried columns have their parent's Q"
    )
    return Table(title, ("column", "P", "visits", "Q", "Q + c·P·√ΣN/(1+n)"), tuple(rows))
