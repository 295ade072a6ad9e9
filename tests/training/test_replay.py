import numpy as np

from fourlab.training.replay import Replay


def test_the_last_moves_are_remembered() -> None:
    replay, added = Replay(10), list[tuple[int, int, int]]()
    for start in range(0, 40, 4):
        moves = np.arange(start, start + 4)
        replay.add(moves, 2 * moves, moves % 7)
        added += [(move, 2 * move, move % 7) for move in moves.tolist()]
        remembered = added[-10:]
        assert len(replay) == len(remembered)
        drawn = {tuple(map(int, move)) for move in zip(*replay.sample(400, np.random.default_rng(0)), strict=True)}
        assert drawn == set(remembered)


def test_what_is_drawn_is_a_copy() -> None:
    replay = Replay(4)
    replay.add(*(np.array([5, 6]) for _ in range(3)))
    own, _, _ = replay.sample(8, np.random.default_rng(0))
    own[:] = 0
    assert set(replay.sample(8, np.random.default_rng(0))[0].tolist()) == {5, 6}


def test_every_move_has_the_same_chance() -> None:
    replay = Replay(5)
    replay.add(*(np.arange(5) for _ in range(3)))
    counts = np.bincount(replay.sample(10_000, np.random.default_rng(1))[0])
    assert min(counts) > 1800
