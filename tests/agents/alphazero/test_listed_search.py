"""The compiled form of Arya's search against a literal one, node by node."""

import numpy as np
import pytest

from fourlab import Position, Rules
from fourlab.agents.alphazero.agent import AlphaZero
from fourlab.agents.alphazero.choosing import FIXES, Switches
from fourlab.agents.alphazero.forest import ForestSearch
from fourlab.agents.alphazero.self_play import switches_of
from fourlab.agents.alphazero.settings import preset
from fourlab.evaluator import Batch, Evaluation
from tests.agents.alphazero import listed_twin as twin

LISTED = Switches(gumbel=False, c=2.0, scale=1.0, fpu=0.2, noise=0.25, proving=False, faithful=True)


class Arbitrary:
    """An evaluator with arbitrary answers, whose values are multiples of 1/256.

    Sums of such values are exact in float32, so both searches compare the same numbers.
    """

    def __init__(self, rules: Rules) -> None:
        self.rules = rules

    def evaluate(self, batch: Batch) -> Evaluation:
        rows = [
            np.random.default_rng([own, mask]).normal(size=self.rules.columns + 1)
            for own, mask in zip(batch.own.tolist(), batch.mask.tolist(), strict=True)
        ]
        outputs = np.array(rows, np.float32)
        values = np.round(256 * np.tanh(outputs[:, -1] / 2)) / 256
        return Evaluation(values, np.ascontiguousarray(outputs[:, :-1]))

    def network(self, board: twin.Board) -> tuple[float, list[float]]:
        """Answer for a board of the twin."""
        g = self.rules.geometry
        own = mask = 0
        for row, cells in enumerate(board):
            for column, cell in enumerate(cells):
                bit = 1 << (column * g.height + g.rows - 1 - row)
                mask |= bit if cell else 0
                own |= bit if cell == 1 else 0
        answer = self.evaluate(Batch(np.array([own]), np.array([mask]), self.rules))
        assert answer.logits is not None
        return float(answer.values[0]), answer.logits[0].tolist()


def board_of(position: Position) -> twin.Board:
    """Return a position as a board of the twin, by playing its discs one by one."""
    g = position.rules.geometry
    board = [[0] * g.columns for _ in range(g.rows)]
    for column in range(g.columns):
        for row in range(g.rows):
            bit = 1 << (column * g.height + row)
            if position.mask & bit:
                board[g.rows - 1 - row][column] = 1 if position.own & bit else -1
    return board


def random_positions(rules: Rules, count: int, seed: int) -> list[Position]:
    """Return unfinished positions of random games of all lengths."""
    rng = np.random.default_rng(seed)
    positions: list[Position] = []
    while len(positions) < count:
        position = Position(board=rules)
        for _ in range(int(rng.integers(rules.columns * rules.rows))):
            following = position.play(int(rng.choice(position.legal_columns())))
            if following.outcome() is not None:
                break
            position = following
        positions.append(position)
    return positions


def compare(search: ForestSearch, node: twin.Node, path: tuple[int, ...] = ()) -> int:
    """Compare a node of the first tree and everything below; return the number of nodes."""
    compiled = search.node_after(path) if path else search.roots(np.array([0]))
    assert compiled is not None
    count = 1
    for column in range(search.rules.columns):
        child = node.children.get(column)
        if child is None:
            assert compiled.visits[0, column] == 0
            continue
        assert compiled.visits[0, column] == child.visits
        assert compiled.priors[0, column] == pytest.approx(child.prior, rel=1e-6)
        # A child's value is for the other side.
        assert compiled.means[0, column] == pytest.approx(-child.value, abs=1e-6)
        if child.children:
            count += compare(search, child, (*path, column))
        else:
            # Unvisited, or a finished game that both visited without looking further.
            assert search.node_after((*path, column)) is None
    return count


@pytest.mark.parametrize("board", ["7x6x4", "4x4x3", "5x4x4", "4x3x3"])
@pytest.mark.parametrize("simulations", [1, 50, 300])
def test_every_node_of_the_compiled_search_equals_the_listing(board: str, simulations: int) -> None:
    compare_searches(board, simulations, "nothing")


@pytest.mark.parametrize("fixed", ["priors", "finished", "unvisited"])
@pytest.mark.parametrize("board", ["7x6x4", "4x4x3"])
def test_every_node_equals_the_listing_with_one_fault_fixed(board: str, fixed: str) -> None:
    compare_searches(board, 300, fixed)


def compare_searches(board: str, simulations: int, fixed: str) -> None:
    rules = Rules.parse(board)
    evaluator = Arbitrary(rules)
    rng = np.random.default_rng(simulations)
    nodes = 0
    filling = 0
    for position in random_positions(rules, 12, seed=simulations):
        # float32 numbers, as the compiled search has them.
        noise = rng.dirichlet(np.ones(rules.columns)).astype(np.float32)
        switches = LISTED._replace(fixed=FIXES[fixed])
        search = ForestSearch(evaluator, rules, 1, simulations, switches)
        search.reset(np.array([position.own]), np.array([position.mask]), simulations, noise[None])
        search.run()
        in_a_row = rules.geometry.in_a_row
        root = twin.search(
            board_of(position),
            evaluator.network,
            simulations,
            2.0,
            noise.tolist(),
            0.25,
            in_a_row,
            fixed,
            LISTED.fpu,
        )
        nodes += compare(search, root)
        assert root.visits == simulations + 1
        assert search.backed_up()[0] == pytest.approx(root.value, abs=1e-6)
        filling += any(
            len(child.children) not in (0, len(root.children)) for child in root.children.values()
        )
    if simulations == 300 and fixed != "priors":
        assert nodes > 400
        assert filling  # priors that belong to other columns were among them


def test_the_first_of_equal_columns_is_chosen() -> None:
    rules = Rules.parse("5x4x4")

    class Even(Arbitrary):
        def evaluate(self, batch: Batch) -> Evaluation:
            return Evaluation(np.zeros(len(batch)), np.zeros((len(batch), 5), np.float32))

    evaluator = Even(rules)
    for position in random_positions(rules, 6, seed=2):
        search = ForestSearch(evaluator, rules, 1, 120, LISTED._replace(noise=0.0))
        search.reset(np.array([position.own]), np.array([position.mask]), 120)
        search.run()
        assert compare(search, twin.search(board_of(position), evaluator.network, 120)) >= 1


def test_the_four_differences_from_a_plain_search() -> None:
    """Each of them shows in a small search."""
    rules = Rules.parse("7x6x4")

    class Constant(Arbitrary):
        def evaluate(self, batch: Batch) -> Evaluation:
            logits = np.tile(np.arange(7, dtype=np.float32), (len(batch), 1))
            return Evaluation(np.full(len(batch), 0.5), logits)

    def searched(moves: str, simulations: int) -> ForestSearch:
        position = Position(moves)
        search = ForestSearch(Constant(rules), rules, 1, 500, LISTED._replace(noise=0.0))
        search.reset(np.array([position.own]), np.array([position.mask]), simulations)
        search.run()
        return search

    # 1. An unvisited column counts 0: with a position worth 0.5 the first one visited, at -0.5, has
    #    less than the others and is left at once although its prior is the greatest.
    roots = searched("", 2).roots()
    assert roots.visits[0].tolist() == [0, 0, 0, 0, 0, 1, 1]
    # 2. The first visit to a won game adds the network's value to the result: 1 - 0.5 in all.
    search = searched("7171717"[:6], 1)
    roots = search.roots()
    assert roots.visits[0].tolist() == [0, 0, 0, 0, 0, 0, 1]
    assert roots.means[0, 6] == pytest.approx(1 - 0.5)
    assert search.backed_up()[0] == pytest.approx((0.5 - 0.5) / 2)
    # 3. Below a column that fills up, priors go to columns further left and do not sum to 1.
    search = searched("7777711", 60)
    node = search.node_after((6,))
    assert node is not None
    powers = np.exp(np.arange(7.0))
    assert node.priors[0, :6] == pytest.approx((powers / powers.sum())[:6])
    assert node.priors[0].sum() < 0.4
    # 4. Inside the tree a game ends with the last disc, not one before.
    position = Position()
    rng = np.random.default_rng(3)
    while position.ply < 40:
        position = Position()
        while position.ply < 40 and position.outcome() is None:
            position = position.play(int(rng.choice(position.legal_columns())))
        if position.outcome() is not None or any(
            position.play(column).outcome() for column in position.legal_columns()
        ):
            position = Position()
    search = ForestSearch(Constant(rules), rules, 1, 50, LISTED._replace(noise=0.0))
    search.reset(np.array([position.own]), np.array([position.mask]), 50)
    search.run()
    assert int(search.forest.nodes.used[0]) > 1


def test_a_position_and_its_mirror_image_are_evaluated_separately() -> None:
    rules = Rules.parse("7x6x4")
    position = Position("4435")
    visits = []
    for image in (position, position.mirror()):
        search = ForestSearch(Arbitrary(rules), rules, 1, 100, LISTED._replace(noise=0.0))
        search.reset(np.array([image.own]), np.array([image.mask]), 100)
        search.run()
        visits.append(search.roots().visits[0].tolist())
    assert visits[0] != visits[1][::-1]


def test_the_agent_and_self_play_make_the_listed_search() -> None:
    assert switches_of(preset("arya", faithful=True))._replace(fpu=0.2) == LISTED._replace(
        scale=0.3
    )
    rules = Rules.parse("7x6x4")
    evaluator = Arbitrary(rules)
    agent = AlphaZero(faithful=True, proofs=False, simulations=200, evaluator=evaluator)
    for position in random_positions(rules, 5, seed=9):
        decision = agent.decide(position)
        root = twin.search(board_of(position), evaluator.network, 200)
        visits = [root.children[c].visits if c in root.children else 0 for c in range(7)]
        assert decision.analysis is not None
        assert list(decision.analysis.visits) == visits
        assert decision.column == visits.index(max(visits))
