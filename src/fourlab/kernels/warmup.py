"""A tiny call of every kernel, so that all are compiled and cached before somebody waits for them.

Kernels are compiled in groups, one for each entry of WARMUPS. A group that has been compiled leaves
a stamp in the cache folder, a list of cache entries by which a later process knows that it need not
compile the group.
"""

import hashlib
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

import llvmlite.binding
import numba
import numpy as np

from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.kernels import endgame, forest, guided, mcts, q_learning
from fourlab.kernels._cache import CACHE_FOLDER, USED, closure_hash, is_kept
from fourlab.kernels.count import distinct, perft
from fourlab.kernels.geometry import geometry_of
from fourlab.kernels.minimax import minimax_columns
from fourlab.kernels.negamax import kaggle_negamax
from fourlab.kernels.planes import PLANES, encode
from fourlab.kernels.play_batch import mirror_moves, open_columns, play_columns, urgent_columns
from fourlab.kernels.qtable import copy_slots, fill, layout_of
from fourlab.kernels.random import seed_state
from fourlab.kernels.rollout import lane_rollouts, rollouts
from fourlab.kernels.sample import quiet, sample
from fourlab.kernels.solver import solve
from fourlab.kernels.table import copy_entries, new_table

_CLASSIC, _TINY = geometry_of(7, 6, 4), geometry_of(3, 2, 3)

WARMUPS: dict[str, Callable[[], object]] = {
    "perft": lambda: perft(0, 0, _CLASSIC, 3),
    "distinct positions": lambda: sum(distinct(0, 0, _TINY)),
    "samples": lambda: quiet(sample(4, 2, _CLASSIC, seed_state(0))[0], _CLASSIC),
    "rollouts": lambda: rollouts(0, 0, _CLASSIC, 10, seed_state(0)),
    "rollouts in lanes": lambda: lane_rollouts(0, 0, _CLASSIC, 10, 0),
    "negamax": lambda: kaggle_negamax(0, 0, _CLASSIC, 1, False, 1),
    "minimax": lambda: minimax_columns(
        0, 0, _TINY, 1, np.zeros(0, np.int64), np.zeros((2, 1), np.int64), np.array([0, 9]), np.zeros(1, np.uint8)
    ),
    "solver": lambda: _solve(),
    "tree search": lambda: _search(shared=False),
    "tree search with threads": lambda: _search(shared=True),
    "guided search": lambda: _search_guided(),
    "network search": lambda: _search_with_network(),
    "endgames": lambda: _play_out(),
    "games in step": lambda: _play_in_step(),
    "Q-learning": lambda: _learn(),
    "planes": lambda: [encode(np.zeros(1, np.int64), np.zeros(1, np.int64), _CLASSIC, kind) for kind in PLANES],
}

TYPICAL_SECONDS: dict[str, float] = {
    "perft": 0.6,
    "distinct positions": 0.6,
    "samples": 0.9,
    "rollouts": 0.3,
    "rollouts in lanes": 0.3,
    "negamax": 0.5,
    "minimax": 1.1,
    "solver": 2.7,
    "tree search": 3.6,
    "tree search with threads": 1.9,
    "guided search": 1.8,
    "network search": 5.3,
    "endgames": 1.3,
    "games in step": 1.0,
    "Q-learning": 4.3,
    "planes": 0.8,
}
"""CPU seconds that each group takes (`fourlab warmup --jobs 1 --json`); for estimates only."""


def check_names(names: Iterable[str]) -> None:
    """Raise UserError for a name that is not a group."""
    for name in names:
        if name not in WARMUPS:
            groups = ", ".join(WARMUPS)
            raise UserError(f"there is no group of kernels {name!r}; groups are {groups}")


def compile_group(name: str) -> float:
    """Compile a group, or load it from the cache, and leave a stamp; return the CPU seconds spent."""
    before = time.thread_time()
    WARMUPS[name]()
    spent = time.thread_time() - before
    if (stamp := stamp_of(name)) is not None:
        with suppress(UserError):  # a full disk: the next process compiles or loads again
            write_atomically(stamp, "\n".join(sorted(USED)).encode())
    return spent


def is_compiled(name: str) -> bool:
    """Return whether an earlier process has compiled the group for this machine."""
    stamp = stamp_of(name)
    try:
        entries = [] if stamp is None else stamp.read_text().split()
    except OSError:
        return False
    return stamp is not None and all((stamp.parent / entry).exists() for entry in entries)


def stamp_of(name: str) -> Path | None:
    """Return the file that marks a group as compiled; None if the cache ends with this process."""
    folder = CACHE_FOLDER
    if folder is None or not is_kept(folder):
        return None
    return folder / f"{name.replace(' ', '-')}.{_state()}.ready"


def _state() -> str:
    """Hash what the kernels are compiled from and for: sources, versions, settings, processor."""
    features = llvmlite.binding.get_host_cpu_features().flatten()
    processor = (llvmlite.binding.get_host_cpu_name(), features)
    settings = (numba.config.CPU_NAME, numba.config.CPU_FEATURES)
    parts = (closure_hash(__name__), processor, settings)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def _solve() -> None:
    """A small board, and a larger table for what was found."""
    table = new_table(64)
    solve(0, 0, -9, 9, (-40, 40), _TINY, table, 0, 1 << 60, np.zeros(1, np.uint8), np.zeros(1, np.int64))
    copy_entries(table, new_table(128))


def _search(shared: bool) -> None:
    """A few simulations, and a copy of their tree."""
    tree, counts, stop = np.zeros(20 * 21, np.int32), np.zeros(3, np.int64), np.zeros(1, np.uint8)
    switches = mcts.Switches(solver=True, shared=shared)
    mcts.new_block(tree, 1, 0, _CLASSIC)
    run = mcts.search_together if shared else mcts.search
    unmerged, node = np.zeros((2, 0), np.int64), np.zeros((2, 0), np.int32)
    run(tree, np.array([2]), counts, 1, 0, 0, _CLASSIC, switches, 10, 1, stop, unmerged, node)
    mcts.copy_subtree(tree, 1, 7, np.zeros_like(tree))


def _search_guided() -> None:
    """One simulation whose rollout asks no evaluator."""
    tree, counts, games = np.zeros(20 * 21, np.int32), np.zeros(3, np.int64), guided.new_games(1, _CLASSIC)
    policy = guided.Policy(-1, guided.COINS, True, False)
    values, logits = np.zeros(0, np.float32), np.zeros((0, 7), np.float32)
    mcts.new_block(tree, 1, 0, _CLASSIC)
    leaves, _, state = guided.gather(tree, np.array([2]), counts, 0, 0, _CLASSIC, mcts.Switches(), 1, games, 1)
    guided.play_on(games, leaves, _CLASSIC, policy, values, logits, state)
    guided.hand_up(tree, games, leaves, _CLASSIC)


def _search_with_network() -> None:
    f, cache = forest.new_forest(1, 8, 1, _CLASSIC), forest.new_cache(2, _CLASSIC)
    wanted = forest.schedule(_CLASSIC.columns, 4)
    logits, values = np.zeros((1, _CLASSIC.columns), np.float32), np.zeros(1, np.float32)
    f.goal[0] = 5
    s = forest.Switches(False, 2.0, 1.0, 0.2, 0.25, True)
    while leaves := forest.gather(f, 8, 1, _CLASSIC, s, wanted, cache):
        forest.grow(f, 8, leaves, logits, values, _CLASSIC, s, cache)
    forest.transplant(f.words, 0, _CLASSIC.columns, np.zeros_like(f.words))


def _play_out() -> None:
    own, mask = np.zeros((2, 42), np.int64)
    full = _CLASSIC.cells ^ (1 << 6 * _CLASSIC.height + 5)  # one cell left
    endgame.play_out(0, full, _CLASSIC, new_table(1 << 10), own, mask, np.zeros((42, _CLASSIC.columns), np.float32), 1)


def _play_in_step() -> None:
    """A move in one game, and its mirror image."""
    own, mask, columns = (np.zeros(1, np.int64) for _ in range(3))
    open_columns(mask, _CLASSIC)
    urgent_columns(own, mask, True, _CLASSIC)
    mirror_moves(own, mask, columns, np.ones(1, np.bool_), _CLASSIC)
    play_columns(own, mask, columns, _CLASSIC)


def _learn() -> None:
    """A game against oneself, the same steps one by one, and a larger table."""
    t = layout_of(256, 1, False, False, 0.0)
    words, larger = new_table(256 * t.width + 1), new_table(512 * t.width + 1)
    rule = q_learning.Rule(True, 0, True, True, 1.0, 0.0, -1.0, 0.0, 1.0, 1.0, 1.0, 0.0, False, 0.0, 1.0, 0.0, 0.0)
    pace, counts, worth, last = np.zeros(4), np.zeros(5, np.int64), np.zeros(7), np.full(2, -1)
    memory, both = (words, words.view(np.float32), t), (pace, counts)
    trainer = q_learning.Trainer(3, False, mcts.Switches())
    fill(np.zeros(0, np.int64), np.zeros((0, 1), np.float32), *memory)
    q_learning.play_games(_CLASSIC, *memory, rule, trainer, np.zeros(1, np.int64), 1, 1, *both, 1)
    keys = q_learning.keys_of(0, 0, t, _CLASSIC)
    column, _ = q_learning.choose(keys, 0, _CLASSIC, *memory, rule, 0.0, worth, 1)
    q_learning.look_back(keys, 0, column, False, 0, last, _CLASSIC, *memory, rule, *both, worth)
    q_learning.see_end(0, True, last, *memory[1:], rule, *both)
    q_learning.close_game(-1, rule, *both)
    q_learning.judge(keys, 0, _CLASSIC, *memory, worth)
    copy_slots(words, larger, layout_of(512, 1, False, False, 0.0))
