"""The replication of SeWell's experiments, and the learner they use."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fourlab.agent import Agent, Limit
from fourlab.agents.minimax.negamax import Negamax
from fourlab.agents.registry import make
from fourlab.errors import UserError
from fourlab.evaluator import Batch, Evaluation
from fourlab.game.outcome import RED, YELLOW
from fourlab.game.position import Position
from fourlab.jobs.executors.threads import Threads
from fourlab.studies.catalogue import all_experiments
from fourlab.studies.sewell import experiment_1, experiment_3, future, network, predictions
from fourlab.studies.sewell.curves import blocks, describe_won_from, won_from
from fourlab.studies.sewell.learner import Learner, NetworkRollouts, TreeTraining
from fourlab.studies.workbench import Finding, Part, Picture, Table, Text, Workbench

FIRST = Negamax(ties="first")


def bench(folder: Path, size: dict[str, Any]) -> Workbench:
    return Workbench(folder, "smoke", size, 0, Threads(1))


def conducted(name: str, folder: Path, size: dict[str, Any]) -> list[Part]:
    return list(all_experiments()[name].conduct(bench(folder, size)))


def findings(parts: list[Part]) -> dict[str, Finding]:
    return {part.what: part for part in parts if isinstance(part, Finding)}


def negamax_reply(position: Position) -> int:
    return FIRST.decide(position, Limit(), np.random.default_rng(0)).column


# --- the learner -------------------------------------------------------------------------------


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


class PrefersColumn:
    """An evaluator that prefers positions with many own discs in one column."""

    def __init__(self, column: int) -> None:
        self.column = column

    def evaluate(self, batch: Batch) -> Evaluation:
        discs = [(int(own) >> 7 * self.column & 127).bit_count() for own in batch.own]
        return Evaluation(np.array(discs, np.float32) / 10)


def test_network_rollouts_choose_the_column_with_the_best_value() -> None:
    for column in range(7):
        evaluator: Any = PrefersColumn(column)
        game = NetworkRollouts(evaluator, lambda position, below: (position.moves or (0,))[0], 0.0)
        assert game.rollout_move(Position(), lambda n: n - 1) == column


def test_network_rollouts_take_wins_and_epsilon_1_plays_at_random() -> None:
    threat = Position("121212")
    rng = np.random.default_rng(0)

    def below(n: int) -> int:
        return int(rng.integers(n))

    evaluator: Any = PrefersColumn(6)
    by_network, by_chance = (
        NetworkRollouts(evaluator, lambda p, b: negamax_reply(p), epsilon) for epsilon in (0.0, 1.0)
    )
    assert by_network.rollout_move(threat, below) == 0
    assert {by_chance.rollout_move(threat, below) for _ in range(100)} == set(range(7))


# --- the curve ---------------------------------------------------------------------------------


def test_point_from_which_all_games_are_won() -> None:
    assert blocks([1] * 10 + [-1] * 5 + [1] * 5) == [1.0, 0.0]
    assert won_from([1] * 30) == 1
    assert won_from([-1] + [1] * 29) == 2
    assert won_from([1] * 29 + [0]) == math.inf
    runs = [{"results": [-1] + [1] * 29}, {"results": [1] * 30}]
    assert describe_won_from(runs) == "1.5 (median of 2 runs, 1 to 2)"
    assert describe_won_from([{"results": [0] * 30}]) == "not within 3 points"


def test_better_means_by_more_than_three_standard_errors() -> None:
    assert experiment_3.better([0.8, 0.82, 0.81], [0.6, 0.61, 0.62])
    assert not experiment_3.better([0.6, 0.61, 0.62], [0.8, 0.82, 0.81])
    assert not experiment_3.better([0.5, 0.9, 0.7], [0.4, 0.8, 0.6])


# --- the experiments ---------------------------------------------------------------------------


def test_experiment_1_learns_and_shows_five_games(tmp_path: Path) -> None:
    parts = conducted("003-experiment-1", tmp_path, {"runs": 1, "games": 20, "afterwards": 1})
    # Two points are too few for a verdict.
    assert all(part.agrees is None for part in parts if isinstance(part, Finding))
    assert [len(part.data.rows) for part in parts if isinstance(part, Picture)] == [2, 2]
    (text,) = (part for part in parts if isinstance(part, Text))
    assert "after training" in text.title
    assert text.lines.count("wins") + text.lines.count("draw") == 5
    assert "to move" not in text.lines
    table = next(part for part in parts if isinstance(part, Table))
    assert [row[0] for row in table.rows] == [
        "first of equals, replies kept",
        "random ties (B13), replies kept",
        "random ties, sampled anew (B2, B13)",
    ]
    again = conducted("003-experiment-1", tmp_path, {"runs": 1, "games": 20, "afterwards": 1})
    assert parts == with_comparable_pictures(again, parts)


def with_comparable_pictures(again: list[Part], before: list[Part]) -> list[Part]:
    """Replace pictures by those of `before` where their data is equal.

    The functions that draw them cannot be compared.
    """
    return [
        old
        if isinstance(old, Picture) and isinstance(new, Picture) and old.data == new.data
        else new
        for old, new in zip(before, again, strict=True)
    ]


def made_up(results: list[int]) -> dict[str, Any]:
    """Return what a training with these results would return."""
    after = {experiment_1.DETERMINISTIC: [1] * 4, experiment_1.RANDOM: [1, -1, -1, 1]}
    return {
        "results": results,
        "rollouts": 25_000,
        "plies": 20 * len(results),
        "shown": ["121212"] * 5,
        "afterwards": after,
    }


@pytest.mark.parametrize(("lost", "agrees"), [(170, True), (20, False), (450, False), (500, False)])
def test_experiment_1_agrees_if_all_games_are_won_from_point_5_to_35(
    lost: int, agrees: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = made_up([-1] * lost + [1] * (500 - lost))
    monkeypatch.setattr(Workbench, "repeat", lambda self, name, what, times, *rest: [run] * times)
    size = {"runs": 2, "games": 500, "afterwards": 4}
    by_label = findings(conducted("003-experiment-1", tmp_path, size))
    assert by_label["point from which all games are won"].agrees is agrees
    after = "won of real games after training, against negamax"
    assert by_label[f"{after} that takes the first of equal columns"].agrees is True
    assert by_label[f"{after} of today, which breaks ties at random"].agrees is False


def test_corrected_version_of_experiment_1_is_the_resampled_one() -> None:
    made = [made_up([result] * 500) for result in (1, 0, -1)]
    for run, won in zip(made, (4, 3, 2), strict=True):
        run["afterwards"] = dict.fromkeys(
            (experiment_1.DETERMINISTIC, experiment_1.RANDOM), [1] * won + [0] * (4 - won)
        )
    runs = experiment_1.TrainedRuns([made[0]], [made[1]], [made[2]])
    for finding in experiment_1._after_training(runs, is_full_length=True):
        first_tie, random_tie, resampled = (100, 75, 50)
        if "last 50" in finding.what:
            first_tie, random_tie, resampled = (100, 0, 0)
        assert finding.faithful.startswith(f"{first_tie}.0 %")
        assert finding.corrected.startswith(f"{resampled}.0 %")
        assert f"{experiment_1.ONLY_TIES} {random_tie}.0 %" in finding.why


def test_first_points_are_checked_one_by_one_and_not_by_their_mean() -> None:
    wild = made_up(([1] * 10 + [-1] * 10) * 25)  # from -1 to 1, on average 0
    tame = made_up(([1] * 5 + [-1] * 5) * 50)
    for runs, agrees in (
        ([wild] * 20, False),
        ([wild] * 5, None),
        ([wild, tame], True),
        ([tame] * 20, True),
    ):
        trained = experiment_1.TrainedRuns(runs, runs, runs)
        assert experiment_1._start(trained, is_full_length=True).agrees is agrees
    mixed = experiment_1.TrainedRuns([wild, tame], [wild], [wild])
    assert (
        experiment_1._start(mixed, is_full_length=True).faithful
        == "50.0 % [9.5, 90.5] of 2 runs; 50.0 % [23.7, 76.3] of 10 points, from -1 to 1"
    )


def test_boards_of_the_figures_and_the_count_of_87(tmp_path: Path) -> None:
    parts = conducted("003-figures-2-4", tmp_path, {"networks": 0})
    by_label = findings(parts)
    boards = {what: finding for what, finding in by_label.items() if what.startswith("Figure")}
    assert [finding.exact.split(":")[0] for finding in boards.values()] == [
        "won",
        "won",
        "lost",
        "lost",
        "lost",
        "lost",
    ]
    assert all(finding.agrees for finding in boards.values())
    unit, signed = (
        by_label[f"wrong by more than 0.9 with labels {labels}"]
        for labels in ("0, 1/2, 1", "-1, 0, 1")
    )
    assert (unit.document, unit.faithful, unit.agrees) == (
        "87 [71, 107] of 67,557",
        "94 [77, 115] of 67,557",
        True,
    )
    assert (signed.faithful, signed.agrees) == ("7,700 [7,540, 7,863] of 67,557", False)
    (centre,) = [
        finding for what, finding in by_label.items() if what.startswith("predicted minus actual")
    ]
    assert "4 own discs" in centre.what
    assert "(122 positions)" in centre.faithful
    assert "by construction" in centre.why
    assert (
        sum(int(str(row[1])) for part in parts if isinstance(part, Table) for row in part.rows)
        == 2 * 67_557
    )


@pytest.mark.parametrize(
    ("error", "agrees"), [(0.041, True), (-0.041, False), (0.01, None), (-0.01, None)]
)
def test_over_valued_needs_an_interval_that_excludes_0(error: float, agrees: bool | None) -> None:
    assert predictions._over_valued({"positions": 100, "error": error, "sd": 0.1}) is agrees


def test_only_additional_networks_need_torch(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predictions, "find_spec", lambda name: None)
    all_experiments()["003-figures-2-4"].check()
    with pytest.raises(
        UserError, match=r"003-figures-2-4 needs torch: pip install 'fourlab\[train\]'"
    ):
        conducted("003-figures-2-4", tmp_path, {"networks": 1})


def test_very_different_counts_of_bad_errors_do_not_agree() -> None:
    def answers(count: int) -> dict[str, list[dict[str, Any]]]:
        return {labels: [{"badly_wrong": count}] for labels in ("unit", "signed")}

    for count, agrees in ((70, True), (107, True), (20, False), (300, False)):
        assert next(predictions._badly_wrong(answers(count))).agrees is agrees


def test_data_and_final_errors_of_figure_1(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    parts = conducted("003-figure-1", tmp_path, {"epochs": 3})
    by_label = findings(parts)
    assert by_label["rows of the regenerated data set"].agrees
    assert by_label["their exact results for the first player"].agrees
    assert by_label["training and test positions"].faithful == "54,045 and 13,512"
    assert by_label["train error after 10,000 epochs"].agrees
    assert by_label["test error after 10,000 epochs"].agrees
    assert by_label["error after 3 epochs, with momentum and without"].agrees is None
    for picture in (part for part in parts if isinstance(part, Picture)):
        assert "Only 3 of SeWell's 10,000 epochs" in picture.caption
        lines: Any = picture.draw().axes[0].lines
        assert {0.31, 0.35} <= {float(line.get_ydata()[0]) for line in lines}
    assert [len(part.data.rows) for part in parts if isinstance(part, Picture)] == [3, 3]


@pytest.mark.parametrize(
    ("epochs", "other", "agrees"),
    [(1000, 0.37, True), (1000, 0.33, False), (1000, 0.358, None), (3, 0.9, None)],
)
def test_momentum_gets_a_verdict_only_beyond_the_margin(
    epochs: int, other: float, agrees: bool | None
) -> None:
    rows = [[{"epochs": epochs, "train_mse": 0.31, "test_mse": error}] for error in (0.35, other)]
    finding = network._momentum(*rows)
    assert finding.agrees is agrees
    assert finding.why.startswith("one run each")


def test_experiment_3_is_compared_with_experiment_1(tmp_path: Path) -> None:
    parts = conducted("003-experiment-3", tmp_path, {"runs": 1, "games": 10})
    (table,) = (part for part in parts if isinstance(part, Table))
    assert [row[0] for row in table.rows] == [
        "Experiment 1: chance",
        "as coded: any child",
        "report's network",
    ]
    assert len({row[4] for row in table.rows}) == 3  # three different runs


def test_future_work(tmp_path: Path) -> None:
    size = {"runs": 1, "games": 5, "afterwards": 1, "rounds": 1, "pairs": 1, "simulations": 20}
    parts = conducted("003-future", tmp_path, size)
    all_findings = [part for part in parts if isinstance(part, Finding)]
    against_perfect = [finding for finding in all_findings if "the perfect" in finding.what]
    assert len(against_perfect) == 5
    second = next(finding for finding in against_perfect if "as second" in finding.what)
    assert second.faithful.startswith("0.0 %")  # the perfect player always wins as first player
    first = [
        finding for finding in all_findings if finding.what.startswith("as first player against")
    ]
    assert [bool(finding.faithful) for finding in first] == [True, False, False], (
        "only the first is SeWell's own"
    )
    networks = [finding for finding in all_findings if "against random rollouts" in finding.what]
    assert all(finding.corrected and not finding.faithful for finding in [*first[1:], *networks])
    assert any(isinstance(part, Text) and "c_puct" in part.lines for part in parts)


def test_bound_follows_the_puct_formula() -> None:
    rows = future.puct("alphazero", 40, 0)
    visits = sum(row[2] for row in rows)
    assert visits == 40
    for _, p, n, q, bound in rows:
        if n:
            assert bound == pytest.approx(q + future.C_PUCT * p * math.sqrt(visits) / (1 + n))
