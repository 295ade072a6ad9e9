"""The contract of evaluators, and searches driven by user-written ones."""

from collections.abc import Callable

import numpy as np
import pytest

from fourlab import Evaluation, Evaluator, Limit, Position, Rules, UserError
from fourlab.agents.alphazero.agent import AlphaZero
from fourlab.agents.mcts.guided import Guided
from fourlab.bridges.kaggle.weights import read
from fourlab.evaluator import Batch, evaluate_checked
from fourlab.nets.evaluator import ONLY_IN_THE_REPOSITORY, SHIPPED, load
from fourlab.nets.numpy_evaluator import NumpyEvaluator, parse
from fourlab.nets.pattern_evaluator import PatternEvaluator


class TinyNetwork:
    """A network with one hidden layer and random weights, as a user would write it."""

    def __init__(self, rules: Rules, seed: int = 0) -> None:
        rng = np.random.default_rng(seed)
        inputs = 2 * rules.rows * rules.columns
        self.rules = rules
        self.hidden = rng.normal(size=(inputs, 16)) / inputs**0.5
        self.value = rng.normal(size=16)
        self.policy = rng.normal(size=(16, rules.columns))

    def evaluate(self, batch: Batch) -> Evaluation:
        if batch.rules != self.rules:
            raise UserError(f"this network knows {self.rules}, not {batch.rules}")
        inputs = batch.planes().reshape(len(batch), -1)
        hidden = np.maximum(inputs @ self.hidden, 0)
        return Evaluation(np.tanh(hidden @ self.value), hidden @ self.policy)


class DiscCounter:
    """An evaluator without a policy, for any board: more discs in the centre are better."""

    def evaluate(self, batch: Batch) -> Evaluation:
        own, other = np.moveaxis(batch.planes(), 1, 0)
        centre = batch.rules.columns // 2
        return Evaluation((own - other)[:, :, centre].sum(axis=1) / batch.rules.rows)


BOARDS = ["7x6x4", "5x4x4", "4x4x3", "9x6x5"]
NETWORKS = sorted(
    name
    for file in SHIPPED.iterdir()
    if file.name.endswith(".onnx")
    and (name := file.name.removesuffix(".onnx")) not in ONLY_IN_THE_REPOSITORY
)
EVALUATORS: dict[str, Callable[[], Evaluator]] = {
    "tiny network": lambda: TinyNetwork(Rules()),
    "disc counter": DiscCounter,
    **{name: (lambda name=name: load(name)) for name in NETWORKS},
    "patterns": PatternEvaluator,
    "alphazero by NumPy": lambda: NumpyEvaluator(*parse(*read("alphazero"))),
}
SEARCHES = {
    "alphazero": lambda evaluator: AlphaZero(evaluator=evaluator, simulations=40),
    "alphazero by PUCT": lambda evaluator: AlphaZero(
        evaluator=evaluator, simulations=40, method="puct"
    ),
    "guided": lambda evaluator: Guided(evaluator=evaluator, simulations=40),
    "guided rollouts": lambda evaluator: Guided(evaluator=evaluator, simulations=40, depth=None),
}


def some_positions(board: str) -> list[Position]:
    positions = [Position(board=board)]
    while len(positions) < 8:
        last = positions[-1]
        nexts = [last.play(column) for column in last.legal_columns()]
        positions.append(next(position for position in nexts if position.outcome() is None))
    return positions


@pytest.mark.parametrize("board", BOARDS)
@pytest.mark.parametrize("search", SEARCHES)
def test_a_network_of_twenty_lines_drives_every_search(search: str, board: str) -> None:
    agent = SEARCHES[search](TinyNetwork(Rules.parse(board)))
    for position in some_positions(board):
        decision = agent.decide(position, Limit(), np.random.default_rng(1))
        assert decision.column in position.legal_columns()
        again = agent.decide(position, Limit(), np.random.default_rng(1))
        assert again.column == decision.column
        assert again.value == decision.value
        assert again.policy == decision.policy


def test_another_network_leads_to_another_search() -> None:
    columns = set()
    for seed in range(20):
        agent = AlphaZero(evaluator=TinyNetwork(Rules(), seed), simulations=0)
        columns.add(agent.decide(Position("44"), Limit(), np.random.default_rng(1)).column)
    assert len(columns) > 2


@pytest.mark.parametrize("search", SEARCHES)
def test_guided_search_works_without_a_policy_and_alphazero_refuses(search: str) -> None:
    agent = SEARCHES[search](DiscCounter())
    if search.startswith("alphazero"):
        with pytest.raises(UserError, match="needs an evaluator that returns logits"):
            agent.decide(Position(), Limit(), np.random.default_rng(1))
    else:
        decision = agent.decide(Position(), Limit(), np.random.default_rng(1))
        assert decision.column == 3 if search == "guided" else decision.column in range(7)


@pytest.mark.parametrize("name", EVALUATORS)
def test_every_evaluator_keeps_the_contract(name: str) -> None:
    evaluator = EVALUATORS[name]()
    assert isinstance(evaluator, Evaluator)
    positions = some_positions("7x6x4")
    together = evaluate_checked(evaluator, Batch.of(positions))
    for number, position in enumerate(positions):
        alone = evaluate_checked(evaluator, Batch.of([position]))
        assert alone.values[0] == pytest.approx(together.values[number], abs=1e-4)
        assert (alone.logits is None) == (together.logits is None)
        if alone.logits is not None and together.logits is not None:
            assert alone.logits[0] == pytest.approx(together.logits[number], abs=1e-3)


@pytest.mark.parametrize(
    ("search", "name"),
    [
        *((search, name) for search in SEARCHES for name in ("alphazero", "tiny network")),
        *(("guided", name) for name in NETWORKS),
    ],
)
def test_an_unsupported_board_is_refused_in_one_line(search: str, name: str) -> None:
    agent = SEARCHES[search](EVALUATORS[name]())
    with pytest.raises(UserError, match=r"^[^\n]*7x6x4, not 5x4x4$"):
        agent.decide(Position(board="5x4x4"), Limit(), np.random.default_rng(1))


@pytest.mark.parametrize(
    ("values", "logits", "why"),
    [
        (lambda n: np.zeros(n + 1), lambda n: np.zeros((n, 7)), "a value from -1 to 1"),
        (lambda n: np.full(n, np.nan), lambda n: np.zeros((n, 7)), "a value from -1 to 1"),
        (lambda n: np.full(n, 1.5), lambda n: np.zeros((n, 7)), "a value from -1 to 1"),
        (lambda n: np.zeros((n, 1)), lambda n: np.zeros((n, 7)), "a value from -1 to 1"),
        (lambda n: np.zeros(n), lambda n: np.zeros((n, 6)), "7 finite logits"),
        (lambda n: np.zeros(n), lambda n: np.full((n, 7), np.nan), "7 finite logits"),
        (lambda n: np.zeros(n), lambda n: np.full((n, 7), -np.inf), "7 finite logits"),
    ],
)
@pytest.mark.parametrize("search", SEARCHES)
def test_invalid_answers_are_refused_before_they_reach_compiled_code(
    search: str, values: Callable[[int], np.ndarray], logits: Callable[[int], np.ndarray], why: str
) -> None:
    class Broken:
        def evaluate(self, batch: Batch) -> Evaluation:
            return Evaluation(values(len(batch)), logits(len(batch)))

    with pytest.raises(UserError, match=why):
        SEARCHES[search](Broken()).decide(Position(), Limit(), np.random.default_rng(1))


@pytest.mark.parametrize("search", ["alphazero", "guided rollouts"])
def test_an_evaluator_that_stops_returning_a_policy_is_refused(search: str) -> None:
    class Moody(TinyNetwork):
        calls = 0

        def evaluate(self, batch: Batch) -> Evaluation:
            self.calls += 1
            answer = super().evaluate(batch)
            return answer if self.calls < 3 else Evaluation(answer.values)

    with pytest.raises(UserError, match="logits"):
        SEARCHES[search](Moody(Rules())).decide(Position(), Limit(), np.random.default_rng(1))


@pytest.mark.parametrize("search", SEARCHES)
def test_patterns_drive_every_search(search: str) -> None:
    agent = SEARCHES[search](PatternEvaluator())
    for position in some_positions("7x6x4"):
        decision = agent.decide(position, Limit(), np.random.default_rng(1))
        assert decision.column in position.legal_columns()
    with pytest.raises(UserError, match=r"^there are no patterns for the board 6x4x4[^\n]*$"):
        agent.decide(Position(board="6x4x4"), Limit(), np.random.default_rng(1))


def test_networks_of_other_kinds_are_refused_by_alphazero() -> None:
    for name in ("value", "dqn"):
        with pytest.raises(UserError, match="has no policy and value"):
            AlphaZero(evaluator=load(name))


def test_all_kinds_of_planes_of_a_batch() -> None:
    batch = Batch.of([Position("445", board="5x3x3")])  # yellow is to move and has one disc
    own, other = batch.planes()[0]
    assert own.tolist() == [[0, 0, 0, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 0]]
    assert other.tolist() == [[0, 0, 0, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 1, 1]]
    assert (batch.planes("empty")[0, 2] == 1 - own - other).all()
    assert (batch.planes("cells")[0, 0] == own + 2 * other).all()
    assert batch.planes("threats").shape == (1, 6, 3, 5)
    with pytest.raises(UserError, match="planes are discs, empty, threats, cells"):
        batch.planes("stones")  # type: ignore[arg-type]


def test_a_batch_has_positions_of_one_board() -> None:
    with pytest.raises(UserError, match="one board"):
        Batch.of([Position(), Position(board="5x4x4")])
    with pytest.raises(UserError, match="at least one"):
        Batch.of([])
