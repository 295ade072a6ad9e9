"""Training as in Arya's program, against a plain loop of one game after another."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fourlab import Rules
from fourlab.agents.alphazero import listed_training
from fourlab.agents.alphazero.listed_play import Memory, Start, fill_memory, simulations_of
from fourlab.agents.alphazero.listed_training import ListedTrainee
from fourlab.agents.alphazero.settings import TRAINING, AlphaZeroSettings, preset
from fourlab.compiled.planes import encode
from fourlab.evaluator import Evaluator
from fourlab.jobs.run import open_run
from fourlab.nets.evaluator import OnnxEvaluator
from fourlab.nets.weights import load_net
from fourlab.training.loop import read_metrics, train
from tests.agents.alphazero import listed_twin as twin
from tests.agents.alphazero.test_listed_search import Arbitrary

TINY = replace(
    preset("arya", faithful=True),
    board="4x4x3",
    networks=("4x1",),
    games=30,
    simulations=6,
    simulations_end=8,
    simulations_games=10,
    window=32,
    window_end=32,
    batch=16,
    exam_every=1000,
    keep=10,
    seed=5,
)


class Another(Arbitrary):
    """An evaluator with other answers for every number, as if the network had learned."""

    def __init__(self, rules: Rules, number: int) -> None:
        super().__init__(rules)
        self.number = number

    def evaluate(self, batch: Any) -> Any:
        turned = super().evaluate(batch)
        shift = self.number % self.rules.columns
        return (
            replace(turned, values=-turned.values)
            if self.number % 2
            else replace(turned, logits=np.roll(turned.logits, shift, axis=1))
        )


def memories(
    s: AlphaZeroSettings,
    evaluators: list[Evaluator],
    expected: float,
    ends_early: bool = True,
    fixed: str = "nothing",
) -> list[Memory]:
    filled = []
    start = Start()
    for evaluator in evaluators:
        filled.append(fill_memory(evaluator, s, start, expected, ends_early, fixed))
        start = filled[-1].next
    return filled


def same(one: Memory, other: Memory) -> bool:
    return all(
        np.array_equal(getattr(one.samples, name), getattr(other.samples, name))
        for name in ("own", "mask", "policies", "values")
    ) and (one.lengths, one.results, one.next) == (other.lengths, other.results, other.next)


@pytest.mark.parametrize("board", ["4x4x3", "7x6x4"])
def test_games_in_step_equal_games_one_after_another(board: str) -> None:
    s = replace(TINY, board=board, window=96, games=200)
    rules = Rules.parse(board)
    evaluators: list[Evaluator] = [Another(rules, number) for number in range(6)]
    alone = memories(replace(s, lanes=1), evaluators, 20)
    assert all(memory.searched == len(memory.samples) == 96 for memory in alone)
    assert any(memory.next.ply for memory in alone)  # the network changes in the middle of games
    for lanes, expected in ((2, 20.0), (5, 8.0), (16, 1.0), (8, 1000.0)):
        together = memories(replace(s, lanes=lanes), evaluators, expected)
        assert all(map(same, alone, together))
    assert together[0].searched == 96  # nothing runs ahead of games that may be long


def test_a_real_network_gives_the_same_games_in_step() -> None:
    s = replace(TINY, board="7x6x4", networks=("16x2",), window=128, lanes=1)
    evaluator = OnnxEvaluator(ListedTrainee(s).playing, "it")
    alone = fill_memory(evaluator, s, Start(), 20)
    assert same(alone, fill_memory(evaluator, replace(s, lanes=8), Start(), 15))


def plain_games(
    s: AlphaZeroSettings,
    evaluators: list[Another],
    ends_early: bool = True,
    fixed: str = "nothing",
) -> list[list[Any]]:
    """Play as the listing does; return the memories as lists of boards, policies and values."""
    rules = Rules.parse(s.board)
    cells = rules.columns * rules.rows
    in_a_row = rules.geometry.in_a_row
    filled: list[list[Any]] = [[]]
    for number in range(s.games):
        board = [[0] * rules.columns for _ in range(rules.rows)]
        done = False
        ply = 0
        while not done:
            rng = np.random.default_rng([s.seed, number, ply])
            noise = rng.dirichlet(np.ones(rules.columns)).astype(np.float32).tolist()
            network = evaluators[len(filled) - 1].network
            simulations = s.simulations + number // s.simulations_games
            root = twin.search(board, network, simulations, s.c, noise, 0.25, in_a_row, fixed)
            visits = np.zeros(rules.columns)
            for column, child in root.children.items():
                visits[column] = child.visits
            filled[-1].append((board, visits / visits.sum(), root.value))
            if len(filled[-1]) == s.window:
                filled.append([])
                if len(filled) > len(evaluators):
                    return filled[:-1]
            weights = visits ** (1 / s.temperature)
            cumulative = np.cumsum(weights / weights.sum())
            column = int((cumulative < rng.random()).sum())
            board = twin.after(board, column)
            ply += 1
            discs = sum(cell != 0 for cells in board for cell in cells)
            done = twin.winner(board, in_a_row) != 0 or discs >= cells - ends_early
    return filled


@pytest.mark.parametrize(
    ("board", "ends_early", "fixed"),
    [
        ("4x4x3", True, "nothing"),
        # Games on this board often fill it.
        ("4x4x4", False, "nothing"),
        ("4x4x3", True, "priors"),
        ("4x4x3", True, "finished"),
        ("4x4x3", True, "unvisited"),
    ],
)
def test_memories_equal_those_of_a_plain_loop(board: str, ends_early: bool, fixed: str) -> None:
    s = replace(TINY, board=board, window=48, games=60, lanes=4)
    rules = Rules.parse(s.board)
    evaluators = [Another(rules, number) for number in range(5)]
    expected = plain_games(s, evaluators, ends_early, fixed)
    if (ends_early, fixed) != (True, "nothing"):
        # The fix makes a difference.
        assert str(expected) != str(plain_games(s, evaluators))
    filled = memories(s, list(evaluators), 9, ends_early, fixed)
    for memory, plain in zip(filled, expected, strict=True):
        assert len(memory.samples) == len(plain) == 48
        for place, (cells, policy, value) in enumerate(plain):
            planes = encode(
                memory.samples.own[place : place + 1],
                memory.samples.mask[place : place + 1],
                rules.geometry,
                "stones",
            )[0]
            assert (planes[0] - planes[1]).tolist() == cells
            assert memory.samples.policies[place] == pytest.approx(policy)
            assert memory.samples.values[place] == pytest.approx(value, abs=1e-6)


def test_results_are_those_of_the_games_and_do_not_change_the_memories() -> None:
    s = replace(TINY, window=48, games=60)
    rules = Rules.parse(s.board)
    evaluators: list[Evaluator] = [Another(rules, number) for number in range(4)]
    listed = memories(s, evaluators, 9)
    learning = replace(s, search_share=0.0)
    alone = memories(replace(learning, lanes=1), evaluators, 9)
    together = memories(replace(learning, lanes=5), evaluators, 9)
    assert all(map(same, listed, alone))
    assert all(map(same, listed, together))
    for one, other, without in zip(alone, together, listed, strict=True):
        assert np.array_equal(one.samples.results, other.samples.results)
        assert not without.samples.results.any()
        plies = [mask.bit_count() for mask in one.samples.mask.tolist()]
        # The first game that begins in this memory.
        begin, end = [place for place, ply in enumerate(plies) if ply == 0][:2]
        red = one.results[0 if begin == 0 else 1]
        # Red is to move after an even number of plies.
        signs = [1 if ply % 2 == 0 else -1 for ply in plies[begin:end]]
        assert one.samples.results[begin:end].tolist() == [red * sign for sign in signs]


def test_games_end_a_disc_early_unless_that_is_fixed() -> None:
    s = replace(TINY, board="4x4x4", window=400, games=40)
    longest = []
    for ends_early in (True, False):
        evaluator = Arbitrary(Rules.parse(s.board))
        memory = fill_memory(evaluator, s, Start(), 15, ends_early)
        longest.append(max(memory.lengths))
    assert longest == [15, 16]


def rows(trainee: ListedTrainee) -> list[dict[str, Any]]:
    metrics = []
    while not trainee.finished:
        metrics.append(trainee.advance())
    return metrics


def test_the_last_games_leave_a_memory_that_is_not_full() -> None:
    trainee = ListedTrainee(TINY)
    metrics = rows(trainee)
    assert trainee.games == 30
    assert metrics[-1]["games"] == 30
    assert metrics[-1]["policy_loss"] is None
    positions = metrics[-1]["positions"]
    assert trainee.updates == positions // 32 * 4
    assert [simulations_of(game, TINY) for game in (0, 9, 10, 29, 100)] == [6, 6, 7, 8, 8]


def test_the_network_learns_once_from_every_position_and_its_mirror_image(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Adam, all columns in the cross entropy, and the search's value as target."""
    trainee = ListedTrainee(TINY)
    reference = ListedTrainee(TINY)
    batches: list[np.ndarray] = []
    forward = trainee.net.forward

    def recording(planes: torch.Tensor) -> Any:
        batches.append(planes.detach().numpy().copy())
        return forward(planes)

    monkeypatch.setattr(trainee.net, "forward", recording)
    trainee.advance()
    assert [len(batch) for batch in batches] == [16] * 4
    seen = np.concatenate(batches)
    samples = trainee.window.samples
    g = trainee.rules.geometry
    planes = encode(samples.own, samples.mask, g, "empty")
    both = np.concatenate([planes, planes[:, :, :, ::-1]])
    assert sorted(map(bytes, np.ascontiguousarray(seen))) == sorted(
        map(bytes, np.ascontiguousarray(both))
    )
    # The same updates, written out.
    net = reference.net
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3, weight_decay=1e-4)
    order = np.random.default_rng([5, 1 << 20, 0]).permutation(64)
    policies = np.concatenate([samples.policies, samples.policies[:, ::-1]])
    values = np.tile(samples.values, 2)
    net.train()
    for number, batch in enumerate(batches):
        chosen = order[16 * number : 16 * number + 16]
        value, logits = net(torch.from_numpy(batch))
        log_policy = logits - torch.logsumexp(logits, dim=1, keepdim=True)
        loss = -(torch.tensor(policies[chosen]) * log_policy).sum(dim=1).mean()
        loss = loss + ((value[:, 0] - torch.tensor(values[chosen])) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    for name, tensor in net.state_dict().items():
        assert torch.allclose(tensor, trainee.net.state_dict()[name], atol=1e-5), name


def test_a_resumed_training_ends_with_the_same_bytes(tmp_path: Path) -> None:
    whole = ListedTrainee(TINY)
    expected = rows(whole)
    metrics = []
    trainee = ListedTrainee(TINY)
    number = 0
    while not trainee.finished:
        metrics.append(trainee.advance())
        folder = tmp_path / str(number)
        folder.mkdir()
        trainee.save(folder)
        trainee = ListedTrainee(TINY)
        trainee.load(folder)
        number += 1
    assert metrics == expected
    assert trainee.playing == whole.playing
    assert whole.kept is not None
    assert trainee.kept is not None
    for net, other in ((whole.net, trainee.net), (whole.kept, trainee.kept)):
        for name, tensor in net.state_dict().items():
            assert torch.equal(tensor, other.state_dict()[name])


def test_the_kept_network_is_the_one_in_use_when_that_game_ended() -> None:
    trainee = ListedTrainee(TINY)
    before: dict[str, torch.Tensor] = {}
    while trainee.kept is None:
        before = {name: tensor.clone() for name, tensor in trainee.accepted.state_dict().items()}
        trainee.advance()
    assert trainee.games >= 10
    after = trainee.accepted.state_dict()
    kept = trainee.kept.state_dict()
    assert any(not torch.equal(before[name], after[name]) for name in before)
    assert all(torch.equal(before[name], kept[name]) for name in before)


def test_the_examples_of_the_thesis_do_not_change_the_training(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """So its "blocks", which are wins (B17), cost no strength."""
    settings = replace(TINY, board="7x6x4", games=6, simulations_games=2)
    listed = ListedTrainee(settings)
    assert any("listed" in row for row in rows(listed))
    assert listed.updates > 0
    monkeypatch.setattr(listed_training, "listed_accuracy", lambda evaluator: {"blocks": 1.0})
    other = ListedTrainee(settings)
    assert {"blocks": 1.0} in [row.get("listed") for row in rows(other)]
    assert other.playing == listed.playing


def test_a_faithful_run_writes_its_networks_and_metrics(tmp_path: Path) -> None:
    job = TRAINING.job({"preset": "arya", "faithful": True})
    assert job.name == "alphazero-arya-faithful"
    settings = replace(
        TINY, board="7x6x4", games=4, keep=2, simulations_games=2, exam_simulations=1
    )
    run = open_run(tmp_path, "az", {"kind": "train-alphazero"}, tmp_path / "run", lambda text: None)
    results = train(run, ListedTrainee(settings))
    assert results is not None
    assert results["games"] == 4
    assert load_net(run.folder / "alphazero-2-fp32").network.about["games"] == 2
    listed = [row["listed"] for row in read_metrics(run) if "listed" in row]
    assert len(listed) == 2
    assert all(0 <= accuracies[kind] <= 1 for accuracies in listed for kind in ("wins", "blocks"))
