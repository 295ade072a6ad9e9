"""The replication of Arya's experiments."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fourlab.agent import Limit
from fourlab.agents.registry import make
from fourlab.arena.statistics import elo_of
from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.jobs.executors.threads import Threads
from fourlab.nets import evaluator as evaluator_module
from fourlab.reporting import figures
from fourlab.studies.arya import (
    ablation,
    alpha,
    bouts,
    chess,
    lessons,
    matches,
    ship,
)
from fourlab.studies.catalogue import SCALES, all_experiments, chosen, items_of
from fourlab.studies.claims import Answer, Claim, Counts, Estimate, brief, share
from fourlab.studies.pages import fill
from fourlab.studies.trainings import ONE_TRAINING, train_in
from fourlab.studies.workbench import Part, Picture, Table, Workbench
from fourlab.training.loop import read_metrics


def bench(folder: Path, size: dict[str, Any], executor: Threads | None = None) -> Workbench:
    return Workbench(folder, "smoke", size, 0, executor or Threads(1))


def conduct(name: str, folder: Path, **size: Any) -> list[Part]:
    experiment = all_experiments()[name]
    return list(experiment.conduct(bench(folder, {**experiment.sizes["smoke"], **size})))


def claims(parts: list[Part]) -> dict[str, Claim]:
    return {part.name: part for part in parts if isinstance(part, Claim)}


def test_score_counts_games_of_both_sides(tmp_path: Path) -> None:
    work = bench(tmp_path, {})
    matches = [
        bouts.match(work, ("rules", "random"), ("one", "other"), 6),
        bouts.match(work, ("random", "rules"), ("a", "b"), 3, "fixed"),
    ]
    first, second = bouts.play(work, "games", matches)
    assert [len(first), len(second)] == [6, 3]
    assert all(game.red == "a" for game in second)
    total = bouts.score(first, "one")
    as_red = bouts.score(first, "one", 0)
    as_yellow = bouts.score(first, "one", 1)
    assert total.games == 6
    assert tuple(total) == tuple(map(sum, zip(as_red, as_yellow, strict=True)))
    assert (total.lost, total.won) == bouts.score(first, "other")[:2]


def test_bout_yields_a_claim_tables_and_a_figure_and_repeats_exactly(tmp_path: Path) -> None:
    work = bench(tmp_path, {})
    readings = {
        "faithful": bouts.Reading("rules", "random"),
        "corrected": bouts.Reading("rules", "rules", "alternate"),
    }
    bout = bouts.Bout("bout", ("X", "O"), "X", bouts.Score(9, 1, 0), readings, "because")
    parts = list(bouts.conduct(work, [bout], 4))
    assert [type(part) for part in parts] == [Claim, Table, Table, Picture]
    claim = claims(parts)["bout"]
    assert str(claim.reported) == "90.0 / 10.0 / 0.0 % of 10"
    assert str(claim.faithful).endswith("of 4")
    assert claim.reproduced is not None
    assert claim.reproduced.answer == Answer.CANNOT_TELL, "four games"
    picture = parts[-1]
    assert isinstance(picture, Picture)
    assert len(picture.data.rows) == 1 + 2 * 4
    assert figures.render(picture.draw(), "svg").startswith(b"<svg")
    bars = picture.draw().axes[0]
    # The bars are labelled in percent, like the axis.
    assert [text.get_text() for text in bars.texts][:3] == ["90 %", "10 %", "0 %"]
    assert len(bars.collections) == 3  # their intervals
    again = list(bouts.conduct(work, [bout], 4))
    assert [part for part in again if not isinstance(part, Picture)] == parts[:-1]


def test_a_killed_training_resumes_and_gives_the_same_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lessons, "BLOCK_GAMES", 100)
    smooth = lessons.QTraining(tmp_path / "smooth", 400, 0)
    killed = lessons.QTraining(tmp_path / "killed", 400, 0)
    # What the checkpoint after 200 games leaves of a killed training; nothing is lost twice.
    for _ in range(2):
        run = train_in(killed.place(1), killed.job(1), until=200)
        assert run.results is None
        assert read_metrics(run)[-1]["games"] == 200
    result = smooth(1)
    assert result["positions"] > 3000
    assert killed(1) == killed(1) == result
    tables = [training.place(1) / "table.q" for training in (smooth, killed)]
    assert tables[0].read_bytes() == tables[1].read_bytes()


def test_folders_of_the_version_before_do_not_disturb_a_training(tmp_path: Path) -> None:
    training = lessons.QTraining(tmp_path, 200, 0)
    # It kept its checkpoints, a table and a state, directly in folders named by games.
    for games in ("100", "200"):
        (tmp_path / "corrected" / games).mkdir(parents=True)
        (tmp_path / "corrected" / games / "table.q").write_bytes(b"")
    assert training(1)["positions"] > 1000
    assert make(f'q:table="{training.place(1) / "table.q"}"').decide(Position()).column in range(7)


def test_specs_of_tables_are_shown_without_the_run_folder(tmp_path: Path) -> None:
    faithful, corrected = lessons.q_tables(bench(tmp_path, {}), 200, seeds=2)
    assert [bouts.without_paths(spec) for spec in faithful.specs] == [
        "q:ties=random,memory_mb=1024,table=faithful/200/table.q",
        "q:ties=random,memory_mb=1024,table=faithful/200-1/table.q",
    ]
    assert faithful.positions[0] != faithful.positions[1], "another seed"
    assert make(corrected.specs[1]).decide(
        Position(), Limit(), np.random.default_rng(0)
    ).column in range(7)


def readings(parts: list[Part]) -> list[tuple[object, ...]]:
    return [
        row
        for part in parts
        if isinstance(part, Table) and part.head[0] == "reading" and "begins" in part.head
        for row in part.rows
    ]


def test_experiments_1_and_2(tmp_path: Path) -> None:
    parts = conduct("004-experiments-1-2", tmp_path, training=400, games=2, rollouts=50)
    by_name = claims(parts)
    assert str(by_name["experiment-1"].reported) == "73.0 / 23.0 / 4.0 % of 100"
    search = by_name["experiment-2"]
    assert str(search.reported) == "100.0 / 0.0 / 0.0 % of 100"
    assert search.reproduced is not None
    assert search.reproduced.answer != Answer.AGREES, "two games"
    assert sum(isinstance(part, Picture) for part in parts) == 2


def small_networks(folder: Path, monkeypatch: pytest.MonkeyPatch, seeds: range) -> None:
    """Let the study find small networks in place of Arya's, and search little."""
    network = (evaluator_module.SHIPPED / "alphazero.onnx").read_bytes()
    for name in (*alpha.NETWORKS.values(), *alpha.LISTED_NETWORKS.values()):
        for suffix in ("", *(f"-{seed}" for seed in seeds)):
            (folder / f"{name}{suffix}.onnx").write_bytes(network)
    monkeypatch.setattr(evaluator_module, "SHIPPED", folder)
    monkeypatch.setattr(alpha, "SHIPPED", folder)
    monkeypatch.setattr(alpha, "ITERATIONS", 2)
    monkeypatch.setattr(alpha, "ROLLOUTS", 30)


@pytest.mark.parametrize("seeds", [0, 2, 3])
def test_experiment_4_takes_three_trainings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seeds: int
) -> None:
    networks = tmp_path / "networks"
    networks.mkdir()
    small_networks(networks, monkeypatch, range(1, seeds + 1))
    parts = conduct("004-experiment-4", tmp_path / "work", games=2, trainings=9)
    by_name = claims(parts)
    assert str(by_name["experiment-4a"].reported) == "66.0 / 34.0 / 0.0 % of 100"
    assert str(by_name["experiment-4b"].reported) == "81.0 / 19.0 / 0.0 % of 100"
    for name in ("experiment-4a", "experiment-4b", "experiment-4-training"):
        claim = by_name[name]
        assert claim.reproduced is not None
        assert claim.true is not None
        # Besides these there is the corrected training of seed 0.
        assert claim.true.test.startswith("no test") == (seeds + 1 < 3)
        if seeds < 3:
            assert claim.reproduced.answer == Answer.CANNOT_TELL
            reason = f"no test: {seeds} of at least 3 trained networks are there"
            assert claim.reproduced.test == reason
        elif name == "experiment-4-training":
            assert claim.reproduced.test == "Welch's t-test over 3 and 3 trainings"
        else:
            tests = (
                "F-test of all outcomes with the variance of 3 trainings",
                "t-test over 3 trainings",
            )
            assert claim.reproduced.test in tests
        assert (claim.faithful == "") == (seeds == 0)
    if seeds:
        assert str(by_name["experiment-4a"].faithful).endswith(
            f"of {2 * seeds} ({seeds} trainings)"
        )
    rows = [row for row in readings(parts) if str(row[0]).startswith("faithful")]
    assert len(rows) == 2 * seeds
    assert all("proofs=0" in str(row[2]) and "temperature=1.25" in str(row[2]) for row in rows)


def test_experiment_4_says_in_which_arithmetic_the_networks_were_trained(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ship, "SHIPPED", tmp_path)
    manifests = {
        1: {"command": "fourlab train alphazero --preset arya --faithful"},
        2: {"command": "fourlab train alphazero --preset arya --set precision=int8"},
        3: {"command": "", "precision": "int8"},
    }
    for seed, manifest in manifests.items():
        (tmp_path / f"arya-alphamcts-{seed}.json").write_text(json.dumps(manifest))
    assert [ship.self_play_precision("arya-alphamcts", seed) for seed in manifests] == [
        *("fp32", "int8", "int8"),
    ]
    assert alpha._arithmetic([1]) == ""
    assert "8-bit integers" in alpha._arithmetic([1, 2, 3])


def test_a_gain_over_networks_has_at_least_the_error_of_its_games() -> None:
    # Networks that agree, with two games each.
    few, verdict = ablation.over_networks([(2, 2)] * 3)
    assert few is not None
    assert few.low is not None
    assert few.low < 0
    assert verdict.answer == Answer.CANNOT_TELL
    many, verdict = ablation.over_networks([(90, 100), (85, 100), (88, 100)])
    assert many is not None
    assert many.value == pytest.approx(elo_of(263.5 / 301))
    assert verdict.answer == Answer.AGREES
    assert None not in (verdict.p, verdict.power, verdict.low, verdict.high)
    apart = ablation.over_networks([(95, 100), (50, 100), (85, 100)])[1]
    assert apart.answer == Answer.CANNOT_TELL, "networks differ more than games"
    assert ablation.over_networks([(2, 2)] * 2)[0] is None


def test_alphamcts_at_play_has_a_verdict_with_its_own_simulations_and_networks() -> None:
    assert not ablation.alpha_program("arya-alphamcts-50-1", alpha.ITERATIONS).no_verdict
    for scale in ("quick", "full"):
        size = all_experiments()["004-ablation"].sizes[scale]
        assert size["iterations"] == alpha.ITERATIONS
        assert size["networks"] == 3


def test_sampling_is_measured_by_mistakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alpha, "ITERATIONS", 2)
    by_name = claims(conduct("004-temperature", tmp_path, positions=4))
    assert list(by_name) == ["sampling-as-listed", "sampling-corrected"]
    for claim in by_name.values():
        assert isinstance(claim.faithful, Estimate)
        assert isinstance(claim.corrected, Estimate)
        assert claim.faithful.n == claim.corrected.n
        assert claim.true is None
        assert ONE_TRAINING in claim.why


def test_vanilla_search_is_limited_by_rollouts_or_by_cpu_seconds() -> None:
    assert matches.vanilla(10_500, True) == "arya-vanilla:seconds=none,simulations=10500,faithful=1"
    assert matches.vanilla(10_500, False, 3) == "arya-vanilla:seconds=3,faithful=0"
    agent = make(matches.vanilla(10_500, True, 3))
    limits = (agent.seconds, agent.simulations, agent.clock)  # type: ignore[attr-defined]
    assert limits == (3, None, "cpu")


def test_budgets_are_those_of_the_thesis_at_every_scale() -> None:
    for scale in SCALES:
        sizes = {name: all_experiments()[name].sizes[scale] for name in all_experiments()}
        assert sizes["004-experiments-1-2"]["rollouts"] == 10_500
        assert sizes["004-experiment-3"]["rollouts_3s"] == 95_000
        assert sizes["004-experiment-3"]["rollouts_1s"] == 30_000
        for name in ("dqn", "listed-search", "text-mode", "wishes"):
            full = all_experiments()[f"004-{name}"].sizes["full"]["rollouts"]
            assert sizes[f"004-{name}"]["rollouts"] == full
    assert sizes["004-experiments-1-2"]["training"] == 3_000_000
    # No size of Experiment 4 says how long the players think.
    assert (alpha.ROLLOUTS, alpha.ITERATIONS) == (150_000, 1000)


def test_listed_search_is_not_a_working_tree_search(tmp_path: Path) -> None:
    parts = conduct("004-listed-search", tmp_path, games=40, rollouts=300)
    by_name = claims(parts)
    table = parts[-1]
    claim = by_name.pop("listed-against-corrected")
    assert isinstance(claim.faithful, Counts)
    assert claim.faithful.counts["won"] <= 10
    assert claim.reported == "a working tree search"
    assert claim.true is not None
    assert claim.true.answer == Answer.DIFFERS
    assert claim.why.startswith("B15")
    assert str(by_name["corrected-against-random"].corrected) == "100.0 / 0.0 / 0.0 % of 40"
    draws = by_name["draws-against-corrected"]
    assert isinstance(draws.faithful, Counts)
    decided = draws.faithful.counts["won"] + draws.faithful.counts["lost"]
    won = brief(share(draws.faithful.counts["won"], decided))
    assert draws.why.endswith(f"Of {decided} decided games it wins {won}")
    # The independent implementation is no claim of the thesis.
    assert {(other.reported, other.true) for other in by_name.values()} == {("", None)}
    assert isinstance(table, Table)
    expected = [str(share(*counts)) for counts in ((2, 60), (97, 100), (100, 100))]
    assert [row[2] for row in table.rows] == expected


def test_search_wins_more_with_a_larger_budget(tmp_path: Path) -> None:
    parts = conduct("004-thinking-time", tmp_path, games=6, budgets=(1, 2000), depths=(2,))
    picture = parts[-1]
    assert isinstance(picture, Picture)
    quoted = claims(parts)["figure-9"]
    assert "not seen" in str(quoted.reported)
    assert not quoted.verdicts()
    assert [row[:3] for row in picture.data.rows[2:]] == [
        ("corrected", 2, 1),
        ("corrected", 2, 2000),
    ]
    assert picture.data.rows[2][3] > picture.data.rows[3][3]  # type: ignore[operator]
    assert figures.render(picture.draw(), "svg").startswith(b"<svg")


def test_chess_games_keep_the_rules(tmp_path: Path) -> None:
    pytest.importorskip("chess")
    start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    assert chess._illegal(start, ["e2e4", "e7e5", "e1e3"]) == 1
    game = {
        "start": "6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1",
        "moves": "a1a8",
        "result": "1-0",
        "ending": "checkmate",
        "illegal": 0,
    }
    assert chess._record(game).endswith("1. Ra8#\n1-0: checkmate")
    stored = {str(number): {**game, "number": number % 2} for number in range(6)}
    (tmp_path / "games.json").write_text(json.dumps(stored))
    by_name = claims(conduct("004-chess", tmp_path, games=2))
    rules = by_name["chess-rules"]
    assert str(rules.faithful) == "0 of 6"
    assert rules.reproduced is not None
    assert rules.reproduced.answer == Answer.AGREES
    improved = by_name["chess-improved-random"]
    assert str(improved.corrected) == "50.0 / 50.0 / 0.0 % of 2"
    assert improved.true is not None
    assert improved.true.answer == Answer.CANNOT_TELL, "one pair"
    assert "50 rollouts per move" in by_name["chess-arya-random"].quantity
    assert chess._Games(2, 0).rollouts("improved", "arya") == "400 and 50"


def test_the_summary_finds_all_its_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alpha, "ITERATIONS", 2)
    monkeypatch.setattr(alpha, "ROLLOUTS", 30)
    sizes: dict[str, dict[str, Any]] = {
        "004-experiments-1-2": {"training": 400, "rollouts": 50},
        "004-experiment-3": {"rollouts_3s": 300, "rollouts_1s": 100},
        "004-experiment-4": {},
        "004-listed-search": {"rollouts": 10},
        "004-theory": {},
    }
    everything = {
        name: claim
        for experiment, size in sizes.items()
        for name, claim in claims(conduct(experiment, tmp_path / experiment, **size)).items()
    }
    file = Path(alpha.__file__).with_name("summary.md")
    text = fill(file.read_text(encoding="utf-8"), everything)
    assert text is not None
    assert "{" not in text


def test_every_figure_that_is_known_has_a_command() -> None:
    names = [item.name for item in items_of("arya")]
    figures_named = [9, 10, 15, 22, 26, 27, 28, 33, 40, *range(43, 51)]
    assert [name for name in names if name.startswith("figure-")] == [
        f"figure-{number}" for number in figures_named
    ]
    assert [one.name for one in chosen(["arya", "figure-44"])] == ["004-experiments-1-2"]
    assert [one.name for one in chosen(["arya", "experiment-1"])] == ["004-experiments-1-2"]
    # Figure 35 does not exist, and the others are 1 to 51.
    others = set(range(1, 52)) - set(figures_named) - {35}
    indexed = {number for number in range(60) if f"figure-{number}" in items_of("arya")[-3].names}
    assert indexed == others
    assert [one.name for one in chosen(["arya", "figure-51"])] == ["004-text-mode"]
    with pytest.raises(UserError, match="Arya's report has no figure-35"):
        chosen(["arya", "figure-35"])


def test_dqn_meets_the_agents_that_it_is_said_to_beat(tmp_path: Path) -> None:
    by_name = claims(conduct("004-dqn", tmp_path, games=4, rollouts=20))
    reported = {name: claim.reported for name, claim in by_name.items()}
    assert reported == {
        "dqn-against-random": "",
        "dqn-against-minimax-4-no-heuristic": "DQN wins",
        "dqn-against-minimax-4": "DQN wins",
        "dqn-against-minimax-6": "DQN wins",
        "dqn-against-mcts-as-listed": "tree search wins",
        "dqn-against-mcts-corrected": "tree search wins",
    }
    for claim in by_name.values():
        assert not claim.verdicts()
        assert (ONE_TRAINING in claim.why) == (claim.reported != "")
