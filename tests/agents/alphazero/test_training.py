"""AlphaMCTS: generations of self-play and learning."""

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fourlab import Limit, Position, Rules, make
from fourlab.agents.alphazero import training as alphazero
from fourlab.agents.alphazero.self_play import Samples, switches_of
from fourlab.agents.alphazero.settings import PRESETS, TRAINING, AlphaZeroSettings, preset
from fourlab.agents.alphazero.training import AlphaZeroTrainee, network_of, player
from fourlab.errors import UserError
from fourlab.jobs.executors.local import Local
from fourlab.jobs.executors.threads import Threads
from fourlab.jobs.run import open_run
from fourlab.nets.evaluator import OnnxEvaluator
from fourlab.nets.modules import Net
from fourlab.nets.weights import load_net, to_onnx
from fourlab.training.loop import read_metrics, train

TINY = replace(
    preset("smoke"),
    board="4x4x3",
    networks=("4x1",),
    games=40,
    exact_from=8,
    opening=2,
    exam_games=2,
    exam_every=100,
    batch=32,
)


def rows(trainee: AlphaZeroTrainee) -> list[dict[str, Any]]:
    metrics = []
    while not trainee.finished:
        metrics.append(trainee.advance())
    return metrics


def test_a_resumed_training_ends_with_the_same_bytes(tmp_path: Path) -> None:
    whole = AlphaZeroTrainee(TINY)
    expected = rows(whole)
    first = AlphaZeroTrainee(TINY)
    before = first.advance()
    first.save(tmp_path)
    second = AlphaZeroTrainee(TINY)
    second.load(tmp_path)
    assert [before, *rows(second)] == expected
    assert second.playing == whole.playing
    for name, tensor in whole.net.state_dict().items():
        assert torch.equal(tensor, second.net.state_dict()[name])
    assert (second.window.samples.own == whole.window.samples.own).all()


def test_the_number_and_kind_of_workers_make_no_difference() -> None:
    outcomes = []
    for executor in (Threads(1), Threads(3), Local(2)):
        trainee = AlphaZeroTrainee(replace(TINY, games=20), executor)
        outcomes.append((trainee.advance(), trainee.window.samples.own.tolist()))
    assert outcomes[0] == outcomes[1] == outcomes[2]


def test_a_larger_network_takes_over_and_catches_up() -> None:
    trainee = AlphaZeroTrainee(replace(TINY, networks=("4x1", "6x2 from 20"), games=60))
    names = [row["network"] for row in rows(trainee)]
    assert names == ["4x1", "6x2", "6x2"]
    assert OnnxEvaluator(trainee.playing, "it").network.body[-1] == "residual 6"


def test_a_network_that_takes_over_is_not_averaged_at_first() -> None:
    trainee = AlphaZeroTrainee(
        replace(TINY, networks=("4x1", "6x2 from 20"), games=60, averaging=0.9)
    )
    trainee.advance()
    run_updates = trainee._run_updates

    def run_many_updates(updates: int) -> tuple[float, float]:
        losses = run_updates(updates)
        trainee.updates = 10_000  # enough to be averaged
        return losses

    trainee._run_updates = run_many_updates  # type: ignore[method-assign]
    trainee.advance()
    learned, playing = trainee.net.state_dict(), trainee.average.state_dict()
    assert all(torch.equal(learned[name], playing[name]) for name in learned)
    trainee.advance()
    learned, playing = trainee.net.state_dict(), trainee.average.state_dict()
    assert not all(torch.equal(learned[name], playing[name]) for name in learned)


def test_self_play_learns_a_small_game() -> None:
    """On 4x4 with three in a row a short training learns most of the best columns."""
    settings = replace(
        TINY,
        networks=("16x1",),
        games=600,
        generation=100,
        chunk=100,
        lanes=100,
        simulations=16,
        window=4000,
        passes=4.0,
    )
    trainee = AlphaZeroTrainee(settings)
    untrained = trainee._evaluate()
    rows(trainee)
    trained = trainee._evaluate()
    assert trained["policy"]["mistakes"] < 0.7 * untrained["policy"]["mistakes"]
    assert trained["search"]["mistakes"] <= trained["policy"]["mistakes"]
    assert trained["win_block"]["wins"] > untrained["win_block"]["wins"] + 0.1


def test_the_gate_keeps_the_better_network(tmp_path: Path) -> None:
    """A rejected candidate is neither played nor saved, even if the run was stopped between."""
    always = AlphaZeroTrainee(replace(TINY, gate_games=8, gate_score=0.0))
    never = AlphaZeroTrainee(
        never_settings := replace(
            TINY, gate_games=8, networks=("4x1", "6x2 from 20"), games=60, exam_games=0
        )
    )
    first = never.playing
    weights = {name: tensor.clone() for name, tensor in never.average.state_dict().items()}
    lost = {"score": 0.0}
    never._match = lambda one, other, games: lost  # type: ignore[method-assign]
    never.advance()
    never.advance()
    (tmp_path / "checkpoint").mkdir()
    never.save(tmp_path / "checkpoint")
    again = AlphaZeroTrainee(never_settings)
    again.load(tmp_path / "checkpoint")
    again._match = never._match  # type: ignore[method-assign]
    assert [row["gate"] for row in rows(again)] == [lost]
    assert again.playing == first
    run = open_run(tmp_path, "az", {"kind": "train-alphazero"}, tmp_path / "run", lambda text: None)
    again.finish(run)
    saved = load_net(run.folder / "alphazero-fp32").state_dict()
    assert saved.keys() == weights.keys()
    assert all(torch.equal(saved[name], weights[name]) for name in weights)
    before = always.playing
    rows(always)
    assert always.playing != before
    assert all(
        torch.equal(a, b)
        for a, b in zip(always.accepted.parameters(), always.average.parameters(), strict=True)
    )


def test_a_checkpoint_from_before_there_was_an_accepted_network_is_loaded(tmp_path: Path) -> None:
    trainee = AlphaZeroTrainee(gated := replace(TINY, gate_games=2, gate_score=0.0, games=20))
    rows(trainee)
    trainee.save(tmp_path)
    (tmp_path / "accepted.safetensors").unlink()
    state = json.loads((tmp_path / "state.json").read_text())
    del state["accepted_stage"]
    (tmp_path / "state.json").write_text(json.dumps(state))
    again = AlphaZeroTrainee(gated)
    again.load(tmp_path)
    assert all(
        torch.equal(a, b)
        for a, b in zip(again.accepted.parameters(), trainee.average.parameters(), strict=True)
    )


def test_the_last_games_are_learned_from_too() -> None:
    one_generation = replace(TINY, games=20, networks=("4x1", "6x2 from 20"))
    trainee = AlphaZeroTrainee(one_generation)
    first = trainee.playing
    (row,) = rows(trainee)
    assert row["policy_loss"] is not None
    assert row["network"] == "4x1"  # a larger one would have too few updates left
    assert trainee.updates > 0
    assert trainee.playing != first


def test_a_network_is_kept_on_the_way(tmp_path: Path) -> None:
    keeping = replace(TINY, keep=20, games=60)
    whole, first, second = (AlphaZeroTrainee(keeping) for _ in range(3))
    first.advance()
    weights = {name: tensor.clone() for name, tensor in first.accepted.state_dict().items()}
    (tmp_path / "checkpoint").mkdir()
    first.save(tmp_path / "checkpoint")
    second.load(tmp_path / "checkpoint")
    rows(second)
    run = open_run(tmp_path, "az", {"kind": "train-alphazero"}, tmp_path / "run", lambda text: None)
    second.finish(run)
    kept = load_net(run.folder / "alphazero-20-fp32")
    assert kept.network.about["games"] == 20
    assert all(torch.equal(kept.state_dict()[name], weights[name]) for name in weights)
    last = load_net(run.folder / "alphazero-fp32").state_dict()
    assert not all(torch.equal(last[name], weights[name]) for name in weights)
    assert whole.kept is None


def test_the_trained_network_is_written_reported_and_playable(tmp_path: Path) -> None:
    run = open_run(tmp_path, "az", {"kind": "train-alphazero"}, tmp_path / "run", lambda text: None)
    results = train(run, AlphaZeroTrainee(TINY))
    assert results is not None
    assert "mistakes in" in results["headline"]
    assert results["games"] == 40
    for name in (
        "alphazero.onnx",
        "alphazero-fp32.onnx",
        "alphazero-fp32.safetensors",
        "alphazero-fp32.json",
    ):
        assert (run.folder / name).exists()
    agent = make(f"alphazero:net={run.folder / 'alphazero.onnx'},simulations=20")
    decision = agent.decide(Position(board=Rules.parse("4x4x3")), Limit(), np.random.default_rng(0))
    assert decision.column in range(4)
    assert len(read_metrics(run)) == 2
    checkpoints = sorted(folder.name for folder in (run.folder / "checkpoints").iterdir())
    assert checkpoints == ["000001", "000002"]
    assert json.loads((run.folder / "results.json").read_text())["policy"]["positions"] > 100


def test_settings_are_read_back_and_wrong_ones_refused() -> None:
    config = {
        "kind": "train-alphazero",
        **{name: getattr(TINY, name) for name in TINY.__dataclass_fields__},
    }
    config["networks"] = list(TINY.networks)  # as TOML has it
    assert TRAINING.read_job(config).settings == TINY
    for values, message in (
        ({"gamez": 3}, "training 'alphazero' has no option 'gamez' .did you mean 'games'"),
        ({"preset": "huge"}, "there is no preset 'huge'"),
        ({"games": 0}, "games must be a whole number from 1 to 2,147,483,647"),
        ({"search": "uct"}, "search must be gumbel or puct"),
        ({"networks": ["64"]}, "a network is written"),
        ({"networks": ["64x2 from 10"]}, "networks are written"),
        ({"opening_share": 1.5}, "opening_share must be a number from 0 to 1"),
        ({"rate": "fast"}, "rate must be a number"),
        ({"rate": math.inf}, "rate must be a number from 0 to 10"),
        ({"rate": math.nan}, "rate must be a number"),
        ({"rate": 10**400}, "rate must be a number"),
        ({"rate": True}, "rate must be a number"),
        ({"games": True}, "games must be a whole number from 1 to 2,147,483,647, not True"),
        ({"mirror": "False"}, "mirror must be true or false, not 'False'"),
        ({"proofs": "no"}, "proofs must be true or false"),
        ({"mirror": 1}, "mirror must be true or false"),
        ({"networks": 5}, "networks must be a list of texts, not 5"),
        ({"networks": [1, 2]}, "networks must be a list of texts"),
        ({"networks": []}, "networks are written"),
        ({"board": 5}, "board must be a text, not 5"),
        ({"features": ["cells"]}, "features must be a text"),
        ({"search": ["puct"]}, "search must be gumbel or puct"),
        ({"seed": 10**20}, "seed must be a whole number from 0"),
        ({"threads": 10**9}, "threads must be a whole number from 1 to 1,024"),
        ({"simulations": 10**9}, "simulations must be a whole number from 1 to 100,000"),
        ({"dirichlet_alpha": 0}, "dirichlet_alpha must be a number greater than 0"),
        ({"preset": "smoke", "faithful": True}, "nothing to be faithful to"),
        ({"faithful": 2}, "faithful must be true or false"),
    ):
        with pytest.raises(UserError, match=message) as refused:
            TRAINING.read(values)
        assert "\n" not in str(refused.value)


def test_aryas_network_has_the_reported_size() -> None:
    """Three input planes, 128 filters, 8 blocks, heads of 32 and 4 filters: 2.4 million weights."""
    arya = PRESETS["arya"]
    net = Net(network_of(arya, arya.stages[0]))
    conv = 3 * 128 * 9 + 128 + 2 * 128
    block = 2 * (128 * 128 * 9 + 128 + 2 * 128)
    policy = 128 * 32 * 9 + 32 + 2 * 32 + 32 * 42 * 7 + 7
    value = 128 * 4 * 9 + 4 + 2 * 4 + 4 * 42 + 1
    assert sum(weights.numel() for weights in net.parameters()) == conv + 8 * block + policy + value
    assert (arya.c, arya.dirichlet_alpha, arya.dirichlet_share, arya.temperature) == (
        2.0,
        1.0,
        0.25,
        1.25,
    )
    assert (arya.simulations, arya.simulations_end, arya.simulations_games, arya.rate) == (
        50,
        150,
        100,
        1e-3,
    )
    assert arya.window_end * 2 == 512  # a memory of 512 with mirror images


def test_faithful_settings_have_the_faults_of_aryas_code() -> None:
    faithful = preset("arya", faithful=True)
    assert (faithful.faithful, faithful.proofs, faithful.search_share) == (True, False, 1.0)
    assert not preset("arya").faithful
    with pytest.raises(UserError, match="nothing to be faithful to"):
        preset("laptop", faithful=True)
    assert (
        TRAINING.read({"preset": "arya", "faithful": True})
        == TRAINING.read({"preset": "arya", "faithful": 1})
        == faithful
    )
    for values, message in (
        ({"proofs": True}, "faithful needs proofs=false"),
        ({"search": "gumbel"}, "faithful needs search=puct"),
        ({"networks": ["4x1", "8x1 from 9"]}, "faithful needs one network"),
        ({"window": 100}, "faithful needs a window of whole batches"),
    ):
        with pytest.raises(UserError, match=message):
            TRAINING.read({"preset": "arya", "faithful": True, **values})
    assert type(TRAINING.job({"preset": "arya", "networks": ["4x1"]}).trainee) is AlphaZeroTrainee


def test_the_bare_policy_and_the_search_choose_open_columns() -> None:
    settings = AlphaZeroSettings(networks=("4x1",))
    evaluator = OnnxEvaluator(AlphaZeroTrainee(settings).playing, "it")
    position = Position("444444")
    for simulations in (0, 10):
        columns = player(evaluator, simulations, TINY)(
            np.array([position.own]), np.array([position.mask]), np.random.default_rng(0)
        )
        assert columns[0] in position.legal_columns()


def test_the_value_target_mixes_result_and_search(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    targets = []
    original = alphazero.mse_loss

    def recording(value: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        targets.append(target)
        return original(value, target)

    monkeypatch.setattr(alphazero, "mse_loss", recording)
    for share in (0.0, 0.25, 1.0):
        trainee = AlphaZeroTrainee(replace(TINY, search_share=share))
        position = np.array([Position(board=trainee.rules).mask] * 40)
        policies = np.full((40, 4), 0.25, np.float32)
        results, values = np.full(40, -1, np.float32), np.full(40, 0.5, np.float32)
        trainee.window.add(Samples(position, position, policies, values, results), 40)
        trainee._run_updates(1)
        assert targets[-1].tolist() == pytest.approx([share * 0.5 - (1 - share)] * TINY.batch)


def test_the_rate_falls_and_the_window_grows_with_the_games() -> None:
    growing = replace(
        TINY, games=80, window=60, window_end=150, window_share=0.5, rate=0.1, rate_end=0.02
    )
    metrics = rows(AlphaZeroTrainee(growing))
    for row in metrics:
        positions = row["positions"]
        assert row["window"] == min(150, max(60, round(positions / 2)), positions)
    assert metrics[0]["window"] < metrics[-1]["window"] == 150
    trainee = AlphaZeroTrainee(replace(TINY, rate=0.1, rate_end=0.02))
    trainee.advance()
    for games, rate in ((0, 0.1), (TINY.games // 2, 0.06), (TINY.games, 0.02)):
        trainee.games, trainee.updates = games, 10_000
        trainee._run_updates(1)
        assert trainee.optimizer.param_groups[0]["lr"] == pytest.approx(rate)


def test_noise_is_mixed_into_priors_in_its_share() -> None:
    assert switches_of(replace(TINY, search="puct", dirichlet_share=0.3)).noise == 0.3
    assert switches_of(TINY).noise == 0.0


def test_training_can_start_from_saved_weights(tmp_path: Path) -> None:
    before = AlphaZeroTrainee(TINY)
    rows(before)
    before.finish(
        open_run(tmp_path, "az", {"kind": "train-alphazero"}, tmp_path / "run", lambda text: None)
    )
    file = str(tmp_path / "run" / "alphazero-fp32.json")
    after = AlphaZeroTrainee(replace(TINY, start=file))
    assert all(
        torch.equal(tensor, after.net.state_dict()[name])
        for name, tensor in before.average.state_dict().items()
    )
    assert after.playing == to_onnx(before.average)
    with pytest.raises(
        UserError,
        match=r"is a network of another form, 4x1 for 4x4x3 with threats; "
        r"networks\[0\] is 4x2 for 4x4x3",
    ):
        AlphaZeroTrainee(replace(TINY, start=file, networks=("4x2",)))
    with pytest.raises(UserError, match=r"cannot read nothing\.json"):
        AlphaZeroTrainee(replace(TINY, start="nothing"))
    shipped = AlphaZeroTrainee(AlphaZeroSettings(start="alphazero", networks=("64x5",)))
    assert shipped.net.network.board == "7x6x4"
