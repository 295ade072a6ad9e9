"""Search with a network, many trees in step."""

import math

import numpy as np
import pytest

from fourlab import Position, Rules
from fourlab.agents.alphazero import forest_kernel as forest
from fourlab.agents.alphazero.forest import ForestSearch, Roots
from fourlab.agents.mcts import nodes
from fourlab.evaluator import Batch, Evaluation
from fourlab.game.rules import CLASSIC
from fourlab.solver import Solver
from tests.agents.alphazero.forest_twin import Twin

PUCT = forest.Switches(gumbel=False, c=2.0, scale=1.0, fpu=0.2, noise=0.0, proving=True)
GUMBEL = PUCT._replace(gumbel=True)
POSITIONS = ["", "44", "4435", "444444", "435252", "44455554", "2252576253462244111563365343671351441", "323121"]
RESULTS = {nodes.UNPROVEN: None, nodes.WIN: 1, nodes.DRAW: 0, nodes.LOSS: -1}


class Dreamer:
    """Judges positions by numbers that look random, the same for the same position."""

    def __init__(self, columns: int = 7) -> None:
        self.columns, self.asked = columns, 0

    def evaluate(self, batch: Batch) -> Evaluation:
        self.asked += len(batch)
        words = np.stack([batch.own, batch.mask], axis=1).astype(np.int64)
        rows = [np.random.default_rng([*map(int, each)]).normal(size=self.columns + 1) for each in words]
        found = np.array(rows, np.float32)
        return Evaluation(np.tanh(found[:, -1] / 2), np.ascontiguousarray(found[:, :-1]))


def searched(
    positions: list[Position], s: forest.Switches, simulations: int, noise: np.ndarray, leaves: int = 1, cache: int = 1024
) -> ForestSearch:
    rules = positions[0].rules
    search = ForestSearch(Dreamer(rules.columns), rules, len(positions), simulations, s, leaves, cache)
    search.plant(np.array([each.own for each in positions]), np.array([each.mask for each in positions]), simulations, noise)
    while search.grow():
        pass
    return search


def noise(count: int, columns: int = 7) -> np.ndarray:
    return np.random.default_rng(5).gumbel(size=(count, columns)).astype(np.float32)


@pytest.mark.parametrize("s", [PUCT, GUMBEL], ids=["puct", "gumbel"])
@pytest.mark.parametrize("simulations", [1, 16, 150])
def test_trees_in_step_are_the_twins(s: forest.Switches, simulations: int) -> None:
    positions, lots = [Position(each) for each in POSITIONS], noise(len(POSITIONS))
    roots = searched(positions, s, simulations, lots).roots()
    for tree, position in enumerate(positions):
        twin = Twin(position, Dreamer(), s, simulations, lots[tree])
        assert RESULTS[int(roots.proven[tree])] == twin.proof
        if hasattr(twin, "root"):
            for column in position.legal_columns():
                assert roots.visits[tree, column] == twin.root.visits[column]
                assert RESULTS[int(roots.proofs[tree, column])] == twin.root.proven.get(column)
                if roots.visits[tree, column]:
                    assert roots.means[tree, column] == pytest.approx(twin.root.mean(column), abs=1e-4)


@pytest.mark.parametrize("s", [PUCT, GUMBEL], ids=["puct", "gumbel"])
def test_what_is_proven_is_true(s: forest.Switches) -> None:
    solver, rng, proven = Solver(16), np.random.default_rng(1), 0
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
        truth = {column: each.result for column, each in solver.columns(position, weak=True).items()}
        if roots.proven[tree]:
            proven += 1
            assert RESULTS[int(roots.proven[tree])] == max(truth.values())
            assert truth[int(roots.most_visited()[tree])] == max(truth.values())
        for column in position.legal_columns():
            if roots.proofs[tree, column]:
                assert RESULTS[int(roots.proofs[tree, column])] == truth[column]
    assert proven > 30


def test_several_leaves_at_once_lose_no_simulation() -> None:
    positions = [Position(each) for each in ("", "44", "4435")]
    for s in (PUCT, GUMBEL):
        search = searched(positions, s, 200, noise(3), leaves=8)
        roots = search.roots()
        assert (roots.visits.sum(axis=1) == 200).all()
        assert (abs(roots.means) <= 1 + 1e-5).all()
        leads = search.forest.words[: search.size, 7:14]
        assert not (leads == nodes.PENDING).any()


def test_a_mirror_image_is_searched_alike() -> None:
    position = Position("4435")
    one, other = (searched([each], PUCT, 100, noise(1)).roots() for each in (position, position.mirror()))
    assert (one.visits[0] == other.visits[0][::-1]).all()
    assert one.visits[0].tolist() != one.visits[0][::-1].tolist()


def test_what_was_answered_is_not_asked_again() -> None:
    search = searched([Position("44")], PUCT, 100, noise(1), cache=1 << 20)
    before, asked = search.roots(), search.evaluations
    search.plant(np.array([Position("44").own]), np.array([Position("44").mask]), 100)
    while search.grow():
        pass
    assert search.evaluations == asked
    assert (search.roots().visits == before.visits).all()


def test_a_tree_goes_on_from_one_of_its_positions() -> None:
    search = searched([Position("44")], PUCT, 300, noise(1))
    column = int(search.roots().most_visited()[0])
    block = search.leads(0, column)
    assert block is not None
    new = ForestSearch(Dreamer(), CLASSIC, 1, 500, PUCT)
    after = Position("44").play(column)
    new.plant(np.array([after.own]), np.array([after.mask]), -1)
    new.take_over(search, block)
    visits = new.roots().visits[0]
    assert (visits == search.forest.words[block, :7]).all()
    assert visits.sum() == search.roots().visits[0, column] - 1
    new.forest.goal[0] = new.forest.done[0] + 50
    while new.grow():
        pass
    assert new.roots().visits[0].sum() == visits.sum() + 50


def test_other_boards_and_tiny_games() -> None:
    for board in ("4x3x3", "12x4x5", "4x4x3"):
        rules = Rules.parse(board)
        roots = searched([Position(board=rules)], PUCT, 4000, noise(1, rules.columns)).roots()
        assert 0 < roots.visits.sum() <= 4000
        if board != "12x4x5":  # small enough to be proven
            assert RESULTS[int(roots.proven[0])] == Solver(1).solve(Position(board=rules), weak=True).result


def test_sequential_halving_gives_the_better_half_the_rest() -> None:
    left = forest.schedule(7, 32)
    assert left[4].tolist() == [4] * 16 + [2] * 16
    assert left[7].tolist() == [7] * 7 + [3] * 9 + [2] * 16
    assert left[1].tolist() == [1] * 32
    search = searched([Position("4435")], GUMBEL, 64, noise(1))
    visits = sorted(search.roots().visits[0].tolist())
    assert sum(visits) == 64
    assert visits[-1] - visits[-2] <= 1  # the last two get the same


def test_what_is_proven_on_the_way_does_not_disturb_the_halving() -> None:
    """Some columns turn out to lose; the two best that are left share most of the simulations."""
    position = Position("53313647655714642133772")
    roots = searched([position], GUMBEL, 300, noise(1)).roots()
    assert not roots.proven[0]
    found_out = [column for column in range(7) if roots.proofs[0, column] == nodes.LOSS and roots.visits[0, column]]
    assert len(found_out) == 3
    *others, second, first = sorted(set(roots.visits[0].tolist()) - set(roots.visits[0, found_out].tolist()))
    assert (first - second) <= 1
    assert second > 3 * max(others)


def test_noise_is_mixed_into_the_priors_of_columns_that_do_not_lose_at_once() -> None:
    noisy = PUCT._replace(noise=0.25)
    lots = np.zeros((1, 7), np.float32)
    lots[0, 2] = 1
    plain, mixed = (searched([Position("44")], s, 1, lots).roots().priors[0] for s in (PUCT, noisy))
    assert mixed == pytest.approx(0.75 * plain + 0.25 * lots[0])
    lots = np.zeros((1, 7), np.float32)
    lots[0, 3] = 1  # where red would have to block, all of it falls on a column that loses
    roots = searched([Position("12121")], noisy, 30, lots).roots()
    assert roots.priors[0].tolist() == [1, 0, 0, 0, 0, 0, 0]
    assert roots.visits[0].tolist() == [30, 0, 0, 0, 0, 0, 0]


def test_what_is_proven_to_lose_does_not_count_in_what_an_unplayed_column_is_worth() -> None:
    proofs = np.array([[nodes.LOSS, nodes.UNPROVEN, nodes.UNPROVEN]])
    means, priors = np.array([[-1.0, 0.5, 0.0]]), np.array([[0.5, 0.3, 0.2]])
    values, unproven = np.array([0.1]), np.array([0])
    for lost in (0, 40):
        roots = Roots(np.array([[lost, 9, 0]]), means, priors, proofs, values, unproven)
        unplayed = (0.1 + 9 * 0.5) / 10
        expected = np.array([0, 0.3 * math.exp((50 + 9) / 2 * 0.5), 0.2 * math.exp((50 + 9) / 2 * unplayed)])
        assert roots.improved(1.0)[0] == pytest.approx(expected / expected.sum())


def test_the_improved_policy_prefers_what_was_good() -> None:
    roots = searched([Position("4435")], GUMBEL, 200, noise(1)).roots()
    policy = roots.improved(1.0)
    assert policy.sum() == pytest.approx(1)
    best = int(np.where(roots.visits[0] > 0, roots.means[0], -1).argmax())
    assert policy[0, best] > roots.priors[0, best]


def test_document_004s_faults() -> None:
    """A win at once is first worth what the network dreams of it, and games end one disc early."""

    class Pessimist(Dreamer):
        def evaluate(self, batch: Batch) -> Evaluation:
            return Evaluation(np.full(len(batch), 0.75), np.zeros((len(batch), 7)))

    faithful = PUCT._replace(proving=False, faithful=True, fpu=0.0)
    position = Position("121212")  # column 1 wins
    for s, first in ((faithful, -0.75), (faithful._replace(faithful=False), 1.0)):
        search = ForestSearch(Pessimist(), CLASSIC, 1, 400, s)
        search.plant(np.array([position.own]), np.array([position.mask]), 1)
        search.forest.goal[0] = 2  # the root, and the first column
        while search.grow():
            pass
        roots = search.roots()
        assert roots.visits[0].tolist() == [1, 0, 0, 0, 0, 0, 0]
        assert search.forest.numbers[0, 7 * nodes.SUMS] == pytest.approx(first)
        search.forest.goal[0] = 400
        while search.grow():
            pass
        assert search.roots().most_visited()[0] == 0

    rng = np.random.default_rng(0)
    position = Position()
    while position.ply < 40 or any(each.result for each in Solver(1).columns(position, weak=True).values()):
        position = Position()
        while position.ply < 40 and position.outcome() is None:
            position = position.play(int(rng.choice(position.legal_columns())))
        if position.outcome() is not None:
            position = Position()
    search = ForestSearch(Pessimist(), CLASSIC, 1, 50, faithful)
    search.plant(np.array([position.own]), np.array([position.mask]), 50)
    while search.grow():
        pass
    roots = search.roots()
    assert (roots.proofs[0][roots.visits[0] > 0] == nodes.DRAW).all()
