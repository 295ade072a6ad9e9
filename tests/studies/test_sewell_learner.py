"""SeWell's learner: its tree, its rollouts, and the points of its curve."""

from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from fourlab.agent import Agent, Limit
from fourlab.agents.minimax.negamax import Negamax
from fourlab.agents.registry import make
from fourlab.game.outcome import RED, YELLOW
from fourlab.game.position import Position
from fourlab.studies.sewell import curves, learner
from fourlab.studies.sewell.learner import GuidedRollouts, Learner, TreeTraining, fixed_values

FIRST = Negamax(ties="first")
THREAT = Position("121212")
"""Red wins with column 1."""


def negamax_reply(position: Position) -> int:
    return FIRST.decide(position, Limit(), np.random.default_rng(0)).column


@pytest.mark.parametrize("side", [RED, YELLOW])
def test_kept_replies_of_deterministic_negamax_are_its_real_replies(
    side: int,
) -> None:
    learner = Learner(TreeTraining(0, 3, side=side), np.random.default_rng(1))
    for _ in range(3):
        end = learner.play()
        position = Position()
        for column in end.moves or ():
            if position.to_move != side:
                assert column == negamax_reply(position)
            position = position.play(column)
        assert position.outcome() is not None


def test_learner_makes_five_rollouts_before_each_move_and_one_at_the_start() -> None:
    learner = Learner(TreeTraining(0, 4), np.random.default_rng(2))
    games = [learner.play() for _ in range(4)]
    assert learner.rollouts == 1 + 5 * sum((game.ply + 1) // 2 for game in games)
    # Rollouts from later positions are not backed up to the root.
    assert learner.root.visits == 1 + 5 * 4


def test_shown_games_are_played_after_training_and_not_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ends = list[Position]()
    play = Learner.play

    def recorded(self: Learner, opponent: Agent | None = None) -> Position:
        ends.append(play(self, opponent))
        return ends[-1]

    monkeypatch.setattr(Learner, "play", recorded)
    result = TreeTraining(0, 4)(0)
    assert len(ends) == 4 + 5
    assert result["shown"] == [end.write("moves") for end in ends[4:]]
    assert result["rollouts"] == 1 + 5 * sum((end.ply + 1) // 2 for end in ends[:4])
    assert len(result["results"]) == 4


@pytest.mark.parametrize("side", [RED, YELLOW])
def test_resampled_negamax_replies_in_the_tree_and_in_rollouts(
    side: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = dict[Position, set[int]]()
    ask_negamax = Learner._ask_negamax

    def recorded(self: Learner, position: Position) -> int:
        assert position.to_move != side
        column = ask_negamax(self, position)
        answers.setdefault(position, set()).add(column)
        return column

    monkeypatch.setattr(Learner, "_ask_negamax", recorded)
    learner = Learner(
        TreeTraining(0, 0, "random", keep_replies=False, side=side), np.random.default_rng(1)
    )
    games = [learner.play() for _ in range(12)]
    for game in games:
        position = Position()
        for column in game.moves or ():
            assert position.to_move == side or column in answers[position]
            position = position.play(column)
    tried = [edge.node for edge in learner.root.edges if edge.node is not None]
    replies = [{edge.move for edge in node.edges if edge.visits} for node in tried]
    assert any(len(columns) > 1 for columns in replies), "the tree holds more than one reply"
    assert all(columns <= answers[node.state] for columns, node in zip(replies, tried, strict=True))


def test_rollouts_are_backed_up_to_the_move_that_led_to_the_position_and_no_further() -> None:
    learner = Learner(TreeTraining(0, 10), np.random.default_rng(3))
    for _ in range(10):
        learner.play()
    into = max(learner.root.edges, key=lambda edge: edge.visits)
    assert into.node is not None
    node = into.node.edges[0].node
    assert node is not None
    assert node.visits == into.visits
    for _ in range(50):
        total_before = into.total
        below_before = sum(edge.total for edge in node.edges)
        root_before = learner.root.visits
        learner._roll_out(node, into)
        below = sum(edge.total for edge in node.edges)
        assert into.total - total_before == below - below_before
        assert node.visits == into.visits
        assert learner.root.visits == root_before


def test_runs_are_reproducible_and_differ_from_each_other() -> None:
    training = TreeTraining(7, 2, "random", opponents=("random",), games_after=2)
    result = training(3)
    assert result == training(3) != training(4)
    assert len(result["afterwards"]["random"]) == 2


def test_runs_take_several_networks_in_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []

    def values(net: str) -> learner.Values:
        loaded.append(net)
        return learner.fixed_values(0)

    monkeypatch.setattr(learner, "raw_values", values)
    training = TreeTraining(0, 1, nets=("a", "b", "c"))
    for run in range(5):
        training(run)
    assert loaded == ["a", "b", "c", "a", "b"]
    assert learner.by_network(range(5)) == [range(0, 5, 3), range(1, 5, 3), range(2, 5, 3)]
    assert learner.by_network([7]) == [[7]], "fewer runs than networks"


def test_real_opponent_may_leave_the_tree() -> None:
    learner = Learner(TreeTraining(0, 0), np.random.default_rng(5))
    ends = [learner.play(make("random")) for _ in range(5)]
    assert all(end.outcome() is not None for end in ends)
    assert len({end.moves for end in ends}) == 5


def test_second_player_accepts_any_first_move_of_a_real_opponent() -> None:
    learner = Learner(TreeTraining(0, 0, side=YELLOW), np.random.default_rng(6))
    games = [learner.play(make("random")) for _ in range(8)]
    first_moves = {game.moves[0] for game in games if game.moves}
    assert len(first_moves) > 1


# --- rollouts with a network, and with a look at finished games -----------------------------------


def prefers(column: int) -> Callable[..., NDArray[np.float64]]:
    """Return a network that prefers positions with many own discs in one column."""

    def values(own: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.array([(int(discs) >> 7 * column & 127).bit_count() / 10 for discs in own])

    return values


def same_column(position: Position, below: Callable[[int], int]) -> int:
    """Reply in the column that was played first."""
    return (position.moves or (0,))[0]


def by_negamax(position: Position, below: Callable[[int], int]) -> int:
    return negamax_reply(position)


def below(n: int) -> int:
    return n - 1  # never below epsilon < 1


@pytest.mark.parametrize("looks", [False, True])
def test_network_rollouts_choose_the_column_with_the_best_value(looks: bool) -> None:
    for column in range(7):
        game = GuidedRollouts(prefers(column), same_column, 0.0, looks)
        assert game.rollout_move(Position(), below) == column


def test_only_the_look_takes_a_win_that_the_network_does_not_value() -> None:
    column = [
        GuidedRollouts(prefers(6), by_negamax, 0.0, looks).rollout_move(THREAT, below)
        for looks in (False, True)
    ]
    assert column == [6, 0]


def test_a_blind_network_gives_a_finished_game_the_value_of_the_position_before() -> None:
    # Asked about the won board, the network sees four discs in the first column, before it three.
    seeing, blind = (
        GuidedRollouts(prefers_four, by_negamax, 0.0, False, is_blind) for is_blind in (False, True)
    )
    assert seeing.rollout_move(THREAT, below) == 0
    assert blind.rollout_move(THREAT, below) == 1


def prefers_four(own: NDArray[np.int64], mask: NDArray[np.int64]) -> NDArray[np.float64]:
    """Prefer four own discs in the first column, then own discs in the second."""
    discs = [((int(one) & 127).bit_count(), (int(one) >> 7 & 127).bit_count()) for one in own]
    return np.array([10.0 * (first == 4) + second for first, second in discs])


def test_the_look_needs_no_network_and_avoids_a_reply_that_loses() -> None:
    rng = np.random.default_rng(0)
    game = GuidedRollouts(None, by_negamax, 0.0, looks=True)
    # Yellow threatens column 1; any other column of red loses to it.
    lost_unless_blocked = Position("213171")
    assert {
        game.rollout_move(lost_unless_blocked, lambda n: int(rng.integers(n))) for _ in range(30)
    } == {0}
    without = GuidedRollouts(None, by_negamax, 0.0, looks=False)
    columns = {without.rollout_move(THREAT, lambda n: int(rng.integers(n))) for _ in range(100)}
    assert columns == set(range(7))


def test_fixed_preferences_depend_on_the_position_and_the_seed_alone() -> None:
    keys = np.arange(1, 2001, dtype=np.int64)
    mask = keys << 21
    values = fixed_values(1)(keys, mask)
    assert (values == fixed_values(1)(keys, mask)).all()
    assert not (values == fixed_values(2)(keys, mask)).any()
    assert np.abs(np.corrcoef(values[:-1], values[1:])[0, 1]) < 0.1
    assert (values.min() < -0.49, values.max() > 0.49) == (True, True)
    assert (values >= -0.5).all()
    assert (values < 0.5).all()


def test_epsilon_1_plays_at_random() -> None:
    rng = np.random.default_rng(0)
    game = GuidedRollouts(prefers(6), by_negamax, 1.0, looks=True)
    columns = {game.rollout_move(THREAT, lambda n: int(rng.integers(n))) for _ in range(100)}
    assert columns == set(range(7))


# --- the curve ------------------------------------------------------------------------------------


def test_iterations_before_all_games_are_won() -> None:
    assert curves.blocks([1] * 10 + [-1] * 5 + [1] * 5) == [1.0, 0.0]
    assert curves.won_from([1.0] * 3) == 0
    assert curves.won_from([-1.0, 1.0, 1.0]) == 1
    assert curves.won_from([1.0, 1.0, 0.8]) is None
    runs = [{"results": [-1] + [1] * 29}, {"results": [1] * 30}, {"results": [0] * 30}]
    assert curves.iterations(runs) == [1, 0, 3]
    assert curves.winners(runs) == 2
    mean = curves.mean_iterations(runs)
    assert mean.value == pytest.approx(4 / 3)
    assert mean.note == "1 never, counted as 3"
    assert curves.mean_iterations(runs[:2]).note == ""
    assert curves.mean_iterations(runs[2:]).note == "one run, 1 never, counted as 3"


def test_a_single_training_has_no_interval() -> None:
    assert curves.over_trainings([0.5]).low is None
    assert curves.over_trainings([0.4, 0.6]).half > 0


def test_steps_of_the_curve_end_where_all_games_are_won() -> None:
    assert curves.mean_step([0.0, 1.0, 1.0, 1.0]) == 1.0
    assert curves.mean_step([0.0, 0.5, 0.0]) == 0.5
    assert curves.mean_step([1.0, 1.0]) == 0.0


def test_the_reported_curve_is_won_from_iteration_17_on() -> None:
    points = curves.reported_curve()
    assert len(points) == 50
    assert curves.won_from(points) == 17
    # Averages of ten results, read off: multiples of 0.1.
    assert all(round(10 * point, 6).is_integer() for point in points)
