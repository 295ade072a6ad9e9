"""Network search in many trees at a time."""

import math

import numpy as np
import pytest

from fourlab import Position, Rules
from fourlab.agents.alphazero.choosing import Switches, schedule
from fourlab.agents.alphazero.forest import ForestSearch, Roots
from fourlab.agents.mcts import nodes
from fourlab.evaluator import Batch, Evaluation
from fourlab.game.rules import CLASSIC
from fourlab.solver import Solver
from tests.agents.alphazero.forest_twin import Twin

PUCT = Switches(gumbel=False, c=2.0, scale=1.0, fpu=0.2, noise=0.0, proving=True)
GUMBEL = PUCT._replace(gumbel=True)
SOLVING = GUMBEL._replace(solver_nodes=1 << 40)
"""Solves every leaf, however long that takes."""
LATER = [
    "6724772136625432",
    "266137535664243165",
    "525675545465771744",
    "17737733772251633443",
    "37525162642677556274",
    "5377647255671757441243",
]
"""Positions in which columns win, draw and lose."""
POSITIONS = [
    "",
    "44",
    "4435",
    "444444",
    "435252",
    "44455554",
    "2252576253462244111563365343671351441",
    "323121",
]
RESULTS = {nodes.UNPROVEN: None, nodes.WIN: 1, nodes.DRAW: 0, nodes.LOSS: -1}


class FakeNetwork:
    """An evaluator with arbitrary values and logits, the same for the same position."""

    def __init__(self, columns: int = 7) -> None:
        self.columns = columns

    def evaluate(self, batch: Batch) -> Evaluation:
        rows = []
        for own, mask in zip(batch.own.tolist(), batch.mask.tolist(), strict=True):
            rng = np.random.default_rng([own, mask])
            rows.append(rng.normal(size=self.columns + 1))
        outputs = np.array(rows, np.float32)
        return Evaluation(np.tanh(outputs[:, -1] / 2), np.ascontiguousarray(outputs[:, :-1]))


def searched(
    positions: list[Position],
    s: Switches,
    simulations: int,
    noise: np.ndarray,
    leaves: int = 1,
    cache: int = 1024,
) -> ForestSearch:
    rules = positions[0].rules
    search = ForestSearch(
        FakeNetwork(rules.columns), rules, len(positions), simulations, s, leaves, cache
    )
    search.reset(
        np.array([position.own for position in positions]),
        np.array([position.mask for position in positions]),
        simulations,
        noise,
    )
    search.run()
    return search


def noise(count: int, columns: int = 7) -> np.ndarray:
    return np.random.default_rng(5).gumbel(size=(count, columns)).astype(np.float32)


@pytest.mark.parametrize("simulations", [1, 16, 150])
@pytest.mark.parametrize(
    ("s", "games"),
    [(PUCT, POSITIONS), (GUMBEL, POSITIONS), (SOLVING, LATER)],
    ids=["puct", "gumbel", "solving"],
)
def test_trees_in_step_equal_the_reference(s: Switches, games: list[str], simulations: int) -> None:
    positions = [Position(moves) for moves in games]
    gumbel = noise(len(games))
    roots = searched(positions, s, simulations, gumbel).roots()
    for tree, position in enumerate(positions):
        twin = Twin(position, FakeNetwork(), s, simulations, gumbel[tree])
        assert RESULTS[int(roots.proven[tree])] == twin.proof
        if hasattr(twin, "root"):
            for column in position.legal_columns():
                assert roots.visits[tree, column] == twin.root.visits[column]
                assert RESULTS[int(roots.proofs[tree, column])] == twin.root.proven.get(column)
                if roots.visits[tree, column]:
                    assert roots.means[tree, column] == pytest.approx(
                        twin.root.mean(column), abs=1e-4
                    )


@pytest.mark.parametrize("s", [PUCT, GUMBEL], ids=["puct", "gumbel"])
def test_what_is_proven_is_true(s: Switches) -> None:
    solver = Solver(16)
    rng = np.random.default_rng(1)
    proven = 0
    positions = []
    while len(positions) < 60:
        position = Position()
        for _ in range(int(rng.integers(20, 36))):
            if position.outcome() is None:
                position = position.play(int(rng.choice(position.legal_columns())))
        if position.outcome() is None:
            positions.append(position)
    roots = searched(positions, s, 300, noise(60)).roots()
    for tree, position in enumerate(positions):
        solved = solver.columns(position, weak=True)
        results = {column: solution.result for column, solution in solved.items()}
        if roots.proven[tree]:
            proven += 1
            assert RESULTS[int(roots.proven[tree])] == max(results.values())
            assert results[int(roots.most_visited()[tree])] == max(results.values())
        for column in position.legal_columns():
            if roots.proofs[tree, column]:
                assert RESULTS[int(roots.proofs[tree, column])] == results[column]
    assert proven > 30


def test_several_leaves_at_once_lose_no_simulation() -> None:
    positions = [Position(moves) for moves in ("", "44", "4435")]
    for s in (PUCT, GUMBEL):
        search = searched(positions, s, 200, noise(3), leaves=8)
        roots = search.roots()
        assert (roots.visits.sum(axis=1) == 200).all()
        assert (abs(roots.means) <= 1 + 1e-5).all()
        blocks = search.forest.nodes
        leads = blocks.words.reshape(-1, blocks.size)[:, 7 * nodes.LEADS : 7 * nodes.PRIORS]
        assert not ((leads < 0) & (-leads & 7 == nodes.PENDING)).any()


def test_a_mirror_image_is_searched_alike() -> None:
    position = Position("4435")
    one, other = (
        searched([image], PUCT, 100, noise(1)).roots() for image in (position, position.mirror())
    )
    assert (one.visits[0] == other.visits[0][::-1]).all()
    assert one.visits[0].tolist() != one.visits[0][::-1].tolist()


def test_cached_evaluations_are_used_again() -> None:
    search = searched([Position("44")], PUCT, 100, noise(1), cache=1 << 20)
    before, evaluations = search.roots(), search.evaluations
    search.reset(np.array([Position("44").own]), np.array([Position("44").mask]), 100)
    search.run()
    assert search.evaluations == evaluations
    assert (search.roots().visits == before.visits).all()


def test_a_search_can_adopt_a_subtree() -> None:
    search = searched([Position("44")], PUCT, 300, noise(1))
    column = int(search.roots().most_visited()[0])
    block = search.child(0, column)
    assert block is not None
    new = ForestSearch(FakeNetwork(), CLASSIC, 1, 500, PUCT)
    after = Position("44").play(column)
    new.reset(np.array([after.own]), np.array([after.mask]), -1)
    new.adopt(search, block)
    visits = new.roots().visits[0]
    blocks = search.forest.nodes
    assert (visits == blocks.words.reshape(-1, blocks.size)[block, :7]).all()
    assert visits.sum() == search.roots().visits[0, column] - 1
    new.forest.trees.goal[0] = new.forest.trees.done[0] + 50
    new.run()
    assert new.roots().visits[0].sum() == visits.sum() + 50


def test_other_boards_and_tiny_games() -> None:
    for board in ("4x3x3", "9x6x5", "4x4x3"):
        rules = Rules.parse(board)
        roots = searched([Position(board=rules)], PUCT, 4000, noise(1, rules.columns)).roots()
        assert 0 < roots.visits.sum() <= 4000
        if board != "9x6x5":  # small enough to be proven
            exact = Solver(1).solve(Position(board=rules), weak=True).result
            assert RESULTS[int(roots.proven[0])] == exact


def test_sequential_halving_gives_the_better_half_the_rest() -> None:
    left = schedule(7, 32)
    assert left[4].tolist() == [4] * 16 + [2] * 16
    assert left[7].tolist() == [7] * 7 + [3] * 9 + [2] * 16
    assert left[1].tolist() == [1] * 32
    search = searched([Position("4435")], GUMBEL, 64, noise(1))
    visits = sorted(search.roots().visits[0].tolist())
    assert sum(visits) == 64
    assert visits[-1] - visits[-2] <= 1  # the last two get the same


def test_columns_proven_on_the_way_do_not_disturb_the_halving() -> None:
    """Some columns turn out to lose; the best two of the rest share most of the simulations."""
    position = Position("53313647655714642133772")
    roots = searched([position], GUMBEL, 300, noise(1)).roots()
    assert not roots.proven[0]
    refuted = [
        column
        for column in range(7)
        if roots.proofs[0, column] == nodes.LOSS and roots.visits[0, column]
    ]
    assert len(refuted) == 3
    *rest, second, first = sorted(
        set(roots.visits[0].tolist()) - set(roots.visits[0, refuted].tolist())
    )
    assert (first - second) <= 1
    assert second > 3 * max(rest)


def test_noise_is_mixed_into_the_priors_of_columns_that_do_not_lose_at_once() -> None:
    noisy = PUCT._replace(noise=0.25)
    dirichlet = np.zeros((1, 7), np.float32)
    dirichlet[0, 2] = 1
    plain, mixed = (
        searched([Position("44")], s, 1, dirichlet).roots().priors[0] for s in (PUCT, noisy)
    )
    assert mixed == pytest.approx(0.75 * plain + 0.25 * dirichlet[0])
    # Red must block in column 1, and all the noise falls on a column that loses.
    dirichlet = np.zeros((1, 7), np.float32)
    dirichlet[0, 3] = 1
    roots = searched([Position("12121")], noisy, 30, dirichlet).roots()
    assert roots.priors[0].tolist() == [1, 0, 0, 0, 0, 0, 0]
    assert roots.visits[0].tolist() == [30, 0, 0, 0, 0, 0, 0]


def test_proven_losses_do_not_count_in_the_mixed_value() -> None:
    proofs = np.array([[nodes.LOSS, nodes.UNPROVEN, nodes.UNPROVEN]])
    means, priors = np.array([[-1.0, 0.5, 0.0]]), np.array([[0.5, 0.3, 0.2]])
    values, unproven = np.array([0.1]), np.array([0])
    for lost in (0, 40):
        roots = Roots(np.array([[lost, 9, 0]]), means, priors, proofs, values, unproven)
        mixed = (0.1 + 9 * 0.5) / 10
        expected = np.array(
            [0, 0.3 * math.exp((50 + 9) / 2 * 0.5), 0.2 * math.exp((50 + 9) / 2 * mixed)]
        )
        assert roots.improved(1.0)[0] == pytest.approx(expected / expected.sum())


def test_the_improved_policy_prefers_columns_with_good_results() -> None:
    roots = searched([Position("4435")], GUMBEL, 200, noise(1)).roots()
    policy = roots.improved(1.0)
    assert policy.sum() == pytest.approx(1)
    best = int(np.where(roots.visits[0] > 0, roots.means[0], -1).argmax())
    assert policy[0, best] > roots.priors[0, best]
