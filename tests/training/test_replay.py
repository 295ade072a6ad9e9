import numpy as np

from fourlab.training.replay import Replay


def test_the_buffer_holds_the_last_moves() -> None:
    replay = Replay(10)
    added: list[tuple[int, int, int]] = []
    for start in range(0, 40, 4):
        moves = np.arange(start, start + 4)
        replay.add(moves, 2 * moves, moves % 7)
        added += [(move, 2 * move, move % 7) for move in moves.tolist()]
        latest = added[-10:]
        assert len(replay) == len(latest)
        sampled = zip(*replay.sample(400, np.random.default_rng(0)), strict=True)
        assert {tuple(map(int, move)) for move in sampled} == set(latest)


def test_a_sample_is_a_copy() -> None:
    replay = Replay(4)
    replay.add(*(np.array([5, 6]) for _ in range(3)))
    own, _, _ = replay.sample(8, np.random.default_rng(0))
    own[:] = 0
    assert set(replay.sample(8, np.random.default_rng(0))[0].tolist()) == {5, 6}


def test_moves_are_sampled_uniformly() -> None:
    replay = Replay(5)
    replay.add(*(np.arange(5) for _ in range(3)))
    counts = np.bincount(replay.sample(10_000, np.random.default_rng(1))[0])
    assert min(counts) > 1800
