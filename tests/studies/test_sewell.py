"""Document 003's experiments: the learner does what the document tells, and what is found is found."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fourlab.agent import Agent, Limit
from fourlab.agents.minimax.negamax import Negamax
from fourlab.agents.registry import make
from fourlab.arena.tables import Table
from fourlab.errors import UserError
from fourlab.evaluator import Batch, Evaluation
from fourlab.game.outcome import RED, YELLOW
from fourlab.game.position import Position
from fourlab.jobs.executors.threads import Threads
from fourlab.studies.catalogue import all_experiments
from fourlab.studies.experiment import Finding, Part, Picture, Text
from fourlab.studies.sewell import experiment_1, experiment_3, future, network, predictions
from fourlab.studies.sewell.curves import blocks, told_won_from, won_from
from fourlab.studies.sewell.learner import ByNetwork, Learner, Lessons
from fourlab.studies.workbench import Workbench

FIRST = Negamax(ties="first")


def bench(folder: Path, size: dict[str, Any]) -> Workbench:
    return Workbench(folder, "smoke", size, 0, Threads(1))


def conducted(name: str, folder: Path, size: dict[str, Any]) -> list[Part]:
    return list(all_experiments()[name].conduct(bench(folder, size)))


def findings(parts: list[Part]) -> dict[str, Finding]:
    return {part.what: part for part in parts if isinstance(part, Finding)}


def replied(position: Position) -> int:
    return FIRST.decide(position, Limit(), np.random.default_rng(0)).column


# --- the learner ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", [RED, YELLOW])
def test_kept_replies_of_the_negamax_that_takes_the_first_of_equals_are_its_real_ones(side: int) -> None:
    learner = Learner(Lessons(0, 3, side=side), np.random.default_rng(1))
    for _ in range(3):
        end, position = learner.play(), Position()
        for column in end.moves or ():
            if position.to_move != side:
                assert column == replied(position)
            position = position.play(column)
        assert position.outcome() is not None


def test_five_rollouts_are_made_before_every_own_column_and_one_before_all() -> None:
    learner = Learner(Lessons(0, 4), np.random.default_rng(2))
    games = [learner.play() for _ in range(4)]
    assert learner.rollouts == 1 + 5 * sum((game.ply + 1) // 2 for game in games)
    assert learner.root.visits == 1 + 5 * 4  # rollouts from further on are not credited up to the root


def test_the_games_shown_are_played_after_the_training_and_are_not_counted_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    ends, play = list[Position](), Learner.play

    def watched(self: Learner, opponent: Agent | None = None) -> Position:
        ends.append(play(self, opponent))
        return ends[-1]

    monkeypatch.setattr(Learner, "play", watched)
    found = Lessons(0, 4)(0)
    assert len(ends) == 4 + 5
    assert found["shown"] == [end.write("moves") for end in ends[4:]]
    assert found["rollouts"] == 1 + 5 * sum((end.ply + 1) // 2 for end in ends[:4])
    assert len(found["results"]) == 4


@pytest.mark.parametrize("side", [RED, YELLOW])
def test_a_negamax_that_is_asked_anew_replies_for_itself_in_the_tree_and_in_rollouts(
    side: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, first_reply = dict[Position, set[int]](), Learner._first_reply

    def watched(self: Learner, position: Position) -> int:
        assert position.to_move != side
        column = first_reply(self, position)
        asked.setdefault(position, set()).add(column)
        return column

    monkeypatch.setattr(Learner, "_first_reply", watched)
    learner = Learner(Lessons(0, 0, "random", kept=False, side=side), np.random.default_rng(1))
    games = [learner.play() for _ in range(12)]
    for game in games:
        position = Position()
        for column in game.moves or ():
            assert position.to_move == side or column in asked[position]
            position = position.play(column)
    tried = [edge.node for edge in learner.root.edges if edge.node is not None]
    replies = [{edge.move for edge in node.edges if edge.visits} for node in tried]
    assert any(len(each) > 1 for each in replies), "the tree has room for more than one reply"
    assert all(each <= asked[node.state] for each, node in zip(replies, tried, strict=True))


def test_rollouts_from_a_position_are_credited_to_the_column_that_led_there_and_no_further() -> None:
    learner = Learner(Lessons(0, 10), np.random.default_rng(3))
    for _ in range(10):
        learner.play()
    into = max(learner.root.edges, key=lambda edge: edge.visits)
    assert into.node is not None
    node = into.node.edges[0].node
    assert node is not None
    assert node.visits == into.visits
    for _ in range(50):
        before, below, above = into.total, sum(edge.total for edge in node.edges), learner.root.visits
        learner._roll_out(node, into)
        assert into.total - before == sum(edge.total for edge in node.edges) - below
        assert (node.visits, learner.root.visits) == (into.visits, above)


def test_the_same_run_gives_the_same_games_and_another_run_others() -> None:
    lessons = Lessons(7, 2, "random", opponents=("random",), afterwards=2)
    found = lessons(3)
    assert found == lessons(3) != lessons(4)
    assert len(found["afterwards"]["random"]) == 2


def test_a_real_opponent_may_leave_the_tree() -> None:
    learner = Learner(Lessons(0, 0), np.random.default_rng(5))
    ends = [learner.play(make("random")) for _ in range(5)]
    assert all(end.outcome() is not None for end in ends)
    assert len({end.moves for end in ends}) == 5


def test_as_second_player_it_meets_a_real_opponent_wherever_that_begins() -> None:
    learner = Learner(Lessons(0, 0, side=YELLOW), np.random.default_rng(6))
    begun = {end.moves[0] for end in (learner.play(make("random")) for _ in range(8)) if end.moves}
    assert len(begun) > 1


class LikesColumn:
    """A judge that likes positions with many discs of the side to move in one column."""

    def __init__(self, column: int) -> None:
        self.column = column

    def evaluate(self, batch: Batch) -> Evaluation:
        discs = [(int(own) >> 7 * self.column & 127).bit_count() for own in batch.own]
        return Evaluation(np.array(discs, np.float32) / 10)


def test_the_network_chooses_the_column_after_which_it_likes_the_position_best() -> None:
    for column in range(7):
        game = ByNetwork(LikesColumn(column), lambda position, below: (position.moves or (0,))[0], 0.0)  # type: ignore[arg-type]
        assert game.rollout_move(Position(), lambda n: n - 1) == column


def test_a_win_needs_no_network_and_epsilon_leaves_all_to_chance() -> None:
    threat = Position("121212")
    rng = np.random.default_rng(0)

    def below(n: int) -> int:
        return int(rng.integers(n))

    by_network, by_chance = (ByNetwork(LikesColumn(6), lambda p, b: replied(p), epsilon) for epsilon in (0.0, 1.0))  # type: ignore[arg-type]
    assert by_network.rollout_move(threat, below) == 0
    assert {by_chance.rollout_move(threat, below) for _ in range(100)} == set(range(7))


# --- the curve ------------------------------------------------------------------------------------------------------


def test_the_point_from_which_all_games_are_won() -> None:
    assert blocks([1] * 10 + [-1] * 5 + [1] * 5) == [1.0, 0.0]
    assert won_from([1] * 30) == 1
    assert won_from([-1] + [1] * 29) == 2
    assert won_from([1] * 29 + [0]) == math.inf
    assert told_won_from([{"results": [-1] + [1] * 29}, {"results": [1] * 30}]) == "1.5 (median of 2 runs, 1 to 2)"
    assert told_won_from([{"results": [0] * 30}]) == "not within 3 points"


def test_better_means_by_three_standard_errors() -> None:
    assert experiment_3.better([0.8, 0.82, 0.81], [0.6, 0.61, 0.62])
    assert not experiment_3.better([0.6, 0.61, 0.62], [0.8, 0.82, 0.81])
    assert not experiment_3.better([0.5, 0.9, 0.7], [0.4, 0.8, 0.6])


# --- the experiments ------------------------------------------------------------------------------------------------


def test_experiment_1_learns_and_shows_five_games(tmp_path: Path) -> None:
    parts = conducted("003-experiment-1", tmp_path, {"runs": 1, "games": 20, "afterwards": 1})
    assert all(part.agrees is None for part in parts if isinstance(part, Finding))  # two points are no curve
    assert [len(part.data.rows) for part in parts if isinstance(part, Picture)] == [2, 2]
    (text,) = (part for part in parts if isinstance(part, Text))
    assert "after its training" in text.title
    assert text.lines.count("wins") + text.lines.count("draw") == 5
    assert "to move" not in text.lines
    table = next(part for part in parts if isinstance(part, Table))
    assert [row[0] for row in table.rows] == [
        "first of equals, replies kept",
        "lots (B13), replies kept",
        "lots, asked anew (B2, B13)",
    ]
    assert parts == parts_without_pictures(
        conducted("003-experiment-1", tmp_path, {"runs": 1, "games": 20, "afterwards": 1}), parts
    )


def parts_without_pictures(again: list[Part], before: list[Part]) -> list[Part]:
    """What was found again, with the pictures of before where their data is the same (how they are drawn cannot be compared)."""
    return [
        one if isinstance(one, Picture) and isinstance(other, Picture) and one.data == other.data else other
        for one, other in zip(before, again, strict=True)
    ]


def made_up(results: list[int]) -> dict[str, Any]:
    after = {experiment_1.DETERMINISTIC: [1] * 4, experiment_1.RANDOM: [1, -1, -1, 1]}
    return {"results": results, "rollouts": 25_000, "plies": 20 * len(results), "shown": ["121212"] * 5, "afterwards": after}


@pytest.mark.parametrize(("lost", "agrees"), [(170, True), (20, False), (450, False), (500, False)])
def test_experiment_1_agrees_if_all_is_won_from_point_5_to_35(
    lost: int, agrees: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = made_up([-1] * lost + [1] * (500 - lost))
    monkeypatch.setattr(Workbench, "repeat", lambda self, name, what, times: [run] * times)
    found = findings(conducted("003-experiment-1", tmp_path, {"runs": 2, "games": 500, "afterwards": 4}))
    assert found["all games are won from point"].agrees is agrees
    assert found["won of real games afterwards, against negamax that takes the first of equals"].agrees is True
    assert found["won of real games afterwards, against negamax of today, which draws lots"].agrees is False


def test_the_corrected_side_of_experiment_1_asks_negamax_anew() -> None:
    made = [made_up([result] * 500) for result in (1, 0, -1)]
    for run, won in zip(made, (4, 3, 2), strict=True):
        run["afterwards"] = dict.fromkeys((experiment_1.DETERMINISTIC, experiment_1.RANDOM), [1] * won + [0] * (4 - won))
    for found in experiment_1._once_found(experiment_1.Taught([made[0]], [made[1]], [made[2]]), whole=True):
        first, lots, anew = (100, 0, 0) if "last 50" in found.what else (100, 75, 50)
        assert found.faithful.startswith(f"{first}.0 %")
        assert found.corrected.startswith(f"{anew}.0 %")
        assert f"{experiment_1.ONLY_LOTS} {lots}.0 %" in found.why


def test_the_first_points_are_judged_one_by_one_and_not_by_their_mean() -> None:
    wild = made_up(([1] * 10 + [-1] * 10) * 25)  # from -1 to 1, on average 0
    tame = made_up(([1] * 5 + [-1] * 5) * 50)
    for runs, agrees in (([wild] * 20, False), ([wild] * 5, None), ([wild, tame], True), ([tame] * 20, True)):
        found = experiment_1._start(experiment_1.Taught(runs, runs, runs), whole=True)
        assert found.agrees is agrees
    told = experiment_1._start(experiment_1.Taught([wild, tame], [wild], [wild]), whole=True)
    assert told.faithful == "50.0 % [9.5, 90.5] of 2 runs; 50.0 % [23.7, 76.3] of 10 points, from -1 to 1"


def test_the_figures_boards_and_the_count_of_87(tmp_path: Path) -> None:
    parts = conducted("003-figures-2-4", tmp_path, {"networks": 0})
    found = findings(parts)
    boards = {what: finding for what, finding in found.items() if what.startswith("Figure")}
    assert [finding.truth.split(":")[0] for finding in boards.values()] == ["won", "won", "lost", "lost", "lost", "lost"]
    assert all(finding.agrees for finding in boards.values())
    unit, signed = (found[f"wrong by more than 0.9 with labels {labels}"] for labels in ("0, 1/2, 1", "-1, 0, 1"))
    assert (unit.document, unit.faithful, unit.agrees) == ("87 [71, 107] of 67,557", "94 [77, 115] of 67,557", True)
    assert (signed.faithful, signed.agrees) == ("7,700 [7,540, 7,863] of 67,557", False)
    (centre,) = [finding for what, finding in found.items() if what.startswith("said minus actual")]
    assert "4 own discs" in centre.what
    assert "(122 positions)" in centre.faithful
    assert "by construction" in centre.why
    assert sum(int(str(row[1])) for part in parts if isinstance(part, Table) for row in part.rows) == 2 * 67_557


@pytest.mark.parametrize(("error", "agrees"), [(0.041, True), (-0.041, False), (0.01, None), (-0.01, None)])
def test_a_kind_is_over_valued_only_if_its_interval_says_so(error: float, agrees: bool | None) -> None:
    assert predictions._over_valued({"positions": 100, "error": error, "sd": 0.1}) is agrees


def test_only_more_networks_need_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predictions, "find_spec", lambda name: None)
    all_experiments()["003-figures-2-4"].check()
    with pytest.raises(UserError, match=r"003-figures-2-4 needs torch: pip install 'fourlab\[train\]'"):
        conducted("003-figures-2-4", tmp_path, {"networks": 1})


def test_another_count_of_bad_errors_would_not_agree() -> None:
    def said(count: int) -> dict[str, list[dict[str, Any]]]:
        return {labels: [{"badly_wrong": count}] for labels in ("unit", "signed")}

    for count, agrees in ((70, True), (107, True), (20, False), (300, False)):
        assert next(predictions._badly_wrong(said(count))).agrees is agrees


def test_figure_1s_data_and_ends(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    parts = conducted("003-figure-1", tmp_path, {"epochs": 3})
    found = findings(parts)
    assert found["rows of the data set, made anew"].agrees
    assert found["their exact results for the first player"].agrees
    assert found["to train with and to test"].faithful == "54,045 and 13,512"
    assert found["train error after 10,000 passes"].agrees
    assert found["test error after 10,000 passes"].agrees
    assert found["error after 3 passes, with momentum and without"].agrees is None
    for picture in (part for part in parts if isinstance(part, Picture)):
        assert "Only 3 of the document's 10,000 passes" in picture.caption
        axes = picture.draw().axes[0]
        assert {0.31, 0.35} <= {float(line.get_ydata()[0]) for line in axes.lines}  # type: ignore[index]
    assert [len(part.data.rows) for part in parts if isinstance(part, Picture)] == [3, 3]


@pytest.mark.parametrize(
    ("epochs", "other", "agrees"), [(1000, 0.37, True), (1000, 0.33, False), (1000, 0.358, None), (3, 0.9, None)]
)
def test_momentum_helps_only_beyond_the_margin(epochs: int, other: float, agrees: bool | None) -> None:
    rows = [[{"epochs": epochs, "train_mse": 0.31, "test_mse": error}] for error in (0.35, other)]
    found = network._momentum(*rows)
    assert found.agrees is agrees
    assert found.why.startswith("one run each")


def test_experiment_3_compares_with_experiment_1(tmp_path: Path) -> None:
    parts = conducted("003-experiment-3", tmp_path, {"runs": 1, "games": 10})
    (table,) = (part for part in parts if isinstance(part, Table))
    assert [row[0] for row in table.rows] == ["Experiment 1: chance", "as coded: any child", "document's network"]
    assert len({row[4] for row in table.rows}) == 3  # three different runs


def test_the_wishes_for_the_future(tmp_path: Path) -> None:
    size = {"runs": 1, "games": 5, "afterwards": 1, "rounds": 1, "pairs": 1, "simulations": 20}
    parts = conducted("003-future", tmp_path, size)
    beaten = [part for part in parts if isinstance(part, Finding) and "the perfect" in part.what]
    assert len(beaten) == 5
    second = next(part for part in beaten if "as second" in part.what)
    assert second.faithful.startswith("0.0 %")  # nobody beats the perfect first player
    first = [part for part in parts if isinstance(part, Finding) and part.what.startswith("as first player against")]
    assert [bool(part.faithful) for part in first] == [True, False, False], "only the first is the document's own"
    others = [part for part in parts if isinstance(part, Finding) and "against random rollouts" in part.what]
    assert all(part.corrected and not part.faithful for part in [*first[1:], *others])
    assert any(isinstance(part, Text) and "c_puct" in part.lines for part in parts)


def test_the_bound_is_the_documents_formula() -> None:
    rows = future.puct("alphazero", 40, 0)
    visits = sum(row[2] for row in rows)
    assert visits == 40
    for _, p, n, q, bound in rows:
        if n:
            assert bound == pytest.approx(q + future.C_PUCT * p * math.sqrt(visits) / (1 + n))
