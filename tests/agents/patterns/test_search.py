"""The pattern search beside plain minimax, and the agents that use it."""

import numpy as np
import pytest

from fourlab.agent import Limit, Stop
from fourlab.agents.anytime import Anytime
from fourlab.agents.patterns import entries, search
from fourlab.agents.patterns.agent import PatternPlayer
from fourlab.agents.patterns.deepening import PatternSearch
from fourlab.agents.patterns.thinking import Thinking
from fourlab.arena.openings import openings, random_play
from fourlab.errors import UserError
from fourlab.game.outcome import Result
from fourlab.game.position import Position
from fourlab.game.rules import CLASSIC, Rules
from fourlab.nets.patterns import PatternNetwork, load
from fourlab.solver import Solver
from fourlab.solver.book import shipped_book
from tests.agents.patterns import twin
from tests.nets.test_patterns import network_of, random_game


def quiet_positions(rules: Rules, count: int, seed: int = 0) -> list[Position]:
    """Return positions of random games in which nobody wins with one of the next two discs."""
    quiet: list[Position] = []
    while len(quiet) < count:
        seed += 1
        game = random_game(rules, seed)
        position = game[seed * 7919 % len(game)]
        after = [position.play(column) for column in position.legal_columns()]
        if position.ply < rules.columns * rules.rows - 2 and not any(
            twin.wins_at_once(near) for near in (position, *after)
        ):
            quiet.append(position)
    return quiet


def searched(
    network: PatternNetwork, position: Position, depth: int, memory_mb: float = 1
) -> tuple[int, dict[int, tuple[int, bool]]]:
    """Return the score of the best column, and all scores with whether they are exact."""
    deepening = PatternSearch(network, memory_mb).begin(position, np.zeros(1, np.uint8))
    for _ in range(depth):
        deepening.think(1 << 40, depth)
    assert deepening.best is not None
    scores = {column: (entry.score, entry.is_exact) for column, entry in deepening.scores.items()}
    return deepening.scores[deepening.best].score, scores


@pytest.mark.parametrize("rules", [Rules(4, 4, 3), Rules(5, 4, 4), Rules(4, 5, 4)], ids=str)
def test_the_score_is_that_of_plain_minimax(rules: Rules) -> None:
    network = network_of(rules)
    weights = network.patterns.weights
    compared = 0
    for position in quiet_positions(rules, 12):
        for depth in (1, 2, 3):
            expected = twin.score(network.shape, weights, position, depth)
            assert searched(network, position, depth)[0] == expected
            compared += 1
    assert compared > 15


def test_a_tiny_table_changes_no_score_of_a_shallow_search() -> None:
    network = network_of(CLASSIC, tuples=3)
    for position in quiet_positions(CLASSIC, 5, seed=50):
        small = searched(network, position, 3, memory_mb=0.001)[0]
        assert small == searched(network, position, 3, memory_mb=4)[0]


def test_proven_scores_are_those_of_the_solver() -> None:
    network = network_of(CLASSIC, tuples=3)
    solver = Solver(8)
    proven = 0
    for position in quiet_positions(CLASSIC, 150, seed=100):
        if position.ply < 18:
            continue
        deepening = PatternSearch(network, 1).begin(position, np.zeros(1, np.uint8))
        deepening.think(20_000)
        for column, entry in deepening.scores.items():
            if (result := entry.proven) is not None:
                after = position.play(column)
                solution = solver.solve(after)
                assert solution.result == -result
                if entry.is_exact and column == deepening.best:
                    # A win is the fastest one once nothing shallower is left to find; its end is
                    # never before the exact one.
                    assert solution.plies is not None
                    assert entry.end is not None
                    distance = after.ply + solution.plies
                    assert entry.end >= distance if result > 0 else entry.end <= distance
                proven += 1
    assert proven > 5


def test_excluded_columns_are_not_searched() -> None:
    network = network_of(CLASSIC, tuples=3)
    deepening = PatternSearch(network, 1).begin(Position("44"), np.zeros(1, np.uint8))
    deepening.think(1000, 2)
    best = deepening.best
    assert best is not None
    deepening.exclude([best])
    assert deepening.best != best
    deepening.think(10_000, 4)
    assert deepening.best is not None
    assert deepening.best != best


def test_nodes_end_a_search_that_then_goes_on() -> None:
    network = network_of(CLASSIC, tuples=3)
    whole = PatternSearch(network, 4).begin(Position("4453"), np.zeros(1, np.uint8))
    whole.think(1 << 40, 7)
    cut = PatternSearch(network, 4).begin(Position("4453"), np.zeros(1, np.uint8))
    slices = 0
    while cut.depth < 7:
        before = cut.nodes
        cut.think(400 << slices // 8, 7)
        assert cut.nodes - before <= (400 << slices // 8) + 1
        slices += 1
    assert slices > 3
    assert whole.best is not None
    assert cut.best is not None
    assert cut.scores[cut.best].score == whole.scores[whole.best].score


# --- the agents -----------------------------------------------------------------------------------


def test_anytime_is_right_about_what_it_calls_proven() -> None:
    """Proven results of positions and of columns are those of the solver, at any budget."""
    solver = Solver(16)
    agent = Anytime(book=False)
    proven = 0
    for seed, nodes in enumerate((50, 500, 5000, 50_000) * 12):
        game = random_game(CLASSIC, 1000 + seed)
        position = game[min(len(game) - 1, 14 + seed % 20)]
        if position.ply < 14:
            continue
        decision = agent.decide(position, Limit(nodes=nodes))
        exact = solver.columns(position)
        if decision.proven is not None:
            best = max(solution.score or 0 for solution in exact.values())
            assert decision.proven.result == Result.of_score(best)
            assert exact[decision.column].result == decision.proven.result
            if decision.proven.plies is not None:
                assert decision.proven.plies == solver.solve(position).plies
            proven += 1
        for entry in decision.analysis.columns:
            if entry.proven is not None:
                assert entry.proven == exact[entry.column].result
    assert proven > 25


def test_anytime_with_enough_nodes_keeps_the_value() -> None:
    solver = Solver(16)
    agent = Anytime(book=False)
    for seed in range(12):
        game = random_game(CLASSIC, 2000 + seed)
        position = game[min(len(game) - 1, 18)]
        if position.ply < 16:
            continue
        decision = agent.decide(position, Limit(nodes=5_000_000))
        exact = solver.columns(position)
        best = max(solution.score or 0 for solution in exact.values())
        assert exact[decision.column].result == Result.of_score(best)


def test_a_proven_draw_is_preferred_to_a_hoped_one() -> None:
    # The third column draws, and the search hoped for the sixth, which loses.
    position = Position("3436475456334665224364")
    for nodes in (2000, 20_000):
        decision = Anytime(book=False).decide(position, Limit(nodes=nodes))
        assert decision.column == 2
    assert decision.proven is not None
    assert decision.proven.result == Result.DRAW


def test_among_draws_the_search_chooses() -> None:
    """The chosen column draws, and it is the best one by the estimates of a longer search."""
    solver = Solver(16)
    several = 0
    for position in openings("balanced:16", "7x6x4", 12, seed=1):
        exact = {column: one.result for column, one in solver.columns(position).items()}
        search = PatternSearch(load("7x6x4"), 1)
        thinking = Thinking(position, Limit(nodes=10**7), search, Solver(16))
        decision = thinking.decide()
        assert exact[decision.column] == Result.DRAW
        if list(exact.values()).count(Result.DRAW) > 1:
            assert decision.proven is not None
            assert decision.column == thinking.search.best
            assert thinking.search.nodes >= 10_000 or thinking.search.is_finished
            several += 1
    assert several > 2


def test_a_decision_within_a_time_uses_earlier_proofs() -> None:
    position = random_game(CLASSIC, 3000)[8]
    agent = Anytime(book=False)
    limit = Limit(seconds=600)
    first = agent.decide(position, limit)
    again = agent.decide(position, limit)
    assert first.column == again.column
    assert first.analysis.nodes is not None
    assert again.analysis.nodes is not None
    assert again.analysis.nodes < first.analysis.nodes


def test_anytime_plays_the_opening_from_the_book() -> None:
    decision = Anytime().decide(Position(), Limit(seconds=10))
    assert decision.column == 3
    assert decision.analysis.from_book
    assert decision.proven is not None
    assert decision.proven.result == Result.WIN
    assert decision.proven.plies == 41


def test_the_last_positions_of_the_book_bound_their_columns() -> None:
    book = shipped_book()
    assert book is not None
    rng = np.random.default_rng(8)
    seen: set[Result] = set()
    while len(seen) < 2:
        position = random_play(Position(), book.plies, rng)
        score = None if position.outcome() else book.score(position)
        if score is None or score < 0 or Result.of_score(score) in seen:
            continue
        thinking = Thinking(position, Limit(nodes=1), PatternSearch(load("7x6x4"), 1), Solver())
        thinking.look_at_the_board()
        thinking.look_into_the_book()
        assert thinking.value == Result.of_score(score)
        assert max(thinking.high.values()) == thinking.value
        # If every other column is worse, the last one has the result of the position.
        last, *others = [column for column, high in thinking.high.items() if high > Result.LOSS]
        thinking.high.update(dict.fromkeys(others, Result.LOSS))
        thinking.use_value()
        assert thinking.low[last] == thinking.value
        assert thinking.is_decided
        seen.add(Result.of_score(score))


def test_decisions_by_nodes_do_not_depend_on_earlier_ones() -> None:
    positions = [random_game(CLASSIC, seed)[6] for seed in range(3000, 3006)]
    agent = Anytime()
    limit = Limit(nodes=20_000)
    first = [agent.decide(position, limit) for position in positions]
    again = [agent.decide(position, limit) for position in reversed(positions)]
    fresh = [Anytime().decide(position, limit) for position in positions]
    for one, two, three in zip(first, reversed(again), fresh, strict=True):
        assert one.column == two.column == three.column
        assert one.value == two.value == three.value
        assert one.analysis.nodes == two.analysis.nodes == three.analysis.nodes


@pytest.mark.parametrize("make", [Anytime, PatternPlayer])
def test_limits_are_kept(make: type[Anytime] | type[PatternPlayer]) -> None:
    position = Position("44534")
    agent = make(book=False) if make is Anytime else make()
    for nodes in (1, 10, 1000, 30_000):
        decision = agent.decide(position, Limit(nodes=nodes))
        assert decision.analysis.nodes is not None
        assert decision.analysis.nodes <= nodes + 1
        assert decision.column in position.legal_columns()
    assert agent.decide(position, Limit(depth=5)).analysis.depth == 5
    stop = Stop()
    stop.set()
    assert agent.decide(position, Limit(stop=stop)).analysis.nodes == 0


def test_a_single_safe_column_needs_no_thinking() -> None:
    # Red has three in the corner of the bottom row: yellow must block at once.
    decision = Anytime(book=False).decide(Position("17273"), Limit(nodes=1000))
    assert decision.column == 3
    assert decision.analysis.nodes == 0
    # With four open cells at both ends nothing helps, which is proven at once, too.
    lost = Anytime(book=False).decide(Position("37475"), Limit(nodes=1000))
    assert lost.proven is not None
    assert lost.proven.result == Result.LOSS


def test_a_loss_that_only_the_solver_proves_has_no_distance() -> None:
    # Yellow must answer in one column, and all others lose at once.
    agent = Anytime(book=False)
    lost = 0
    for seed in range(4000, 4400):
        for position in random_game(CLASSIC, seed)[24:]:
            decision = agent.decide(position, Limit(nodes=3000))
            if decision.proven is not None and decision.proven.result == Result.LOSS:
                lost += 1
    assert lost > 20


def test_a_win_at_once_is_taken_and_proven() -> None:
    decision = PatternPlayer().decide(Position("414242"))
    assert decision.column == 3
    assert decision.proven is not None
    assert decision.proven.plies == 1


def test_boards_without_patterns_are_refused_in_one_line() -> None:
    with pytest.raises(UserError, match=r"no patterns for the board 6x4x3, only for .*7x6x4"):
        Anytime().decide(Position(board="6x4x3"))


def test_packed_results_are_unpacked_again() -> None:
    for score in (-search.WIN + 7, -5, 0, 1234, search.WIN - 42):
        for kind in (search.EXACT, search.AT_LEAST, search.AT_MOST):
            word = entries.packed(score, kind, 17, 6, 255)
            assert entries.entry_score(word) == score
            assert entries.entry_kind(word) == kind
            assert entries.entry_depth(word) == 17
            assert entries.entry_column(word) == 6
            assert entries.entry_generation(word) == 255


# --- weaker play ----------------------------------------------------------------------------------


@pytest.mark.parametrize("rules", [Rules(4, 4, 3), Rules(5, 4, 4)], ids=str)
def test_a_wide_search_has_the_exact_score_of_every_column(rules: Rules) -> None:
    network = network_of(rules, tuples=3)
    for position in quiet_positions(rules, 5):
        deepening = PatternSearch(network, 1).begin(position, np.zeros(1, np.uint8), wide=True)
        for depth in range(1, 4):
            deepening.think(1 << 40, depth)
        for column, score in deepening.scores.items():
            assert score.is_exact
            assert score.score == -twin.score(
                network.shape, network.patterns.weights, position.play(column), 2
            )


@pytest.mark.parametrize("make", [Anytime, PatternPlayer])
def test_temperature_samples_columns_by_their_values(
    make: type[Anytime] | type[PatternPlayer],
) -> None:
    position = Position("4453442631")
    rng = np.random.default_rng(3)
    cold = make(nodes=500, temperature=1e-9).decide(position, rng=rng)
    values = {entry.column: entry.value or 0.0 for entry in cold.analysis.columns}
    assert len(set(values.values())) > 3
    assert values[cold.column] == max(values.values())
    hot = make(nodes=500, temperature=100)
    chosen = [hot.decide(position, rng=rng) for _ in range(300)]
    counts = np.bincount([decision.column for decision in chosen], minlength=7)
    assert counts.min() > 20
    # A proof is one of the best column.
    win = Position("112233")
    slips = [hot.decide(win, rng=rng) for _ in range(50)]
    assert {decision.proven is not None for decision in slips if decision.column == 3} == {True}
    assert {decision.proven for decision in slips if decision.column not in (3,)} == {None}
