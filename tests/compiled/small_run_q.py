"""Small calls of the kernels of Q-learning; part of `small_run.py`."""

import hashlib

import numpy as np

from fourlab.agents.mcts import verbs
from fourlab.agents.q import kernel as q_learning
from fourlab.agents.q import table_kernel as qtable
from fourlab.agents.q.rule import Learner, Opponent, Rule
from fourlab.compiled import board, random
from fourlab.game.geometry import geometry_of

g = geometry_of(5, 4, 4)
own, mask = 0b00001_00001, 0b00011_00011
key = board.key(own, mask, g)
state = random.seed_state(1)

Q_RULE = Rule(
    True,
    0,
    True,
    False,
    False,
    False,
    2.0,
    0.5,
    -2.0,
    0.0,
    0.9,
    1.0,
    0.999,
    0.01,
    False,
    0.0,
    0.99,
    0.001,
    0.1,
)
SEARCH = verbs.Switches(c=2.0, expand_all=True, draw=-4, tie=verbs.LAST)


def learned(
    seats: int = 3,
    values: int = 1,
    mirrored: bool = False,
    passing: bool = False,
    **changed: object,
) -> list[object]:
    """Learn from some games; return what is counted and a checksum of the table."""
    rule = Q_RULE._replace(**changed)
    pace = np.array([0.5, 0.3, 0.0, 0.0])
    numbers = np.zeros(5, np.int64)
    t = qtable.layout_of(1024, values, rule.alpha_by_visits, mirrored, 1.0)
    words = np.zeros(1024 * t.width + 1, np.int64)
    trainer, searches = Opponent(seats, passing, SEARCH), np.array([0, 5])
    ended = q_learning.play_games(
        g, words, words.view(np.float32), t, rule, trainer, searches, 12, 9, pace, numbers, state
    )
    return [ended, pace.tolist(), numbers.tolist(), hashlib.sha256(words.tobytes()).hexdigest()]


q_layout = qtable.layout_of(64, 1, True, False, 0.25)
q_words, q_larger = np.zeros(64 * 2 + 1, np.int64), np.zeros(128 * 2 + 1, np.int64)
q_table = (q_words, q_words.view(np.float32), q_layout)
q_pace, q_counts, q_last, worth = (
    np.array([0.5, 0.3, 0.0, 0.0]),
    np.zeros(5, np.int64),
    np.array([2, -1]),
    np.zeros(5),
)
q_progress = (q_pace, q_counts)
q_keys = q_learning.keys_of(own, mask, q_layout, g)

Q_RESULTS = {
    "agents.q.table_kernel.home": lambda: qtable.home(key, q_layout),
    "agents.q.table_kernel.find": lambda: qtable.find(key, q_words, q_layout),
    "agents.q.table_kernel.insert": lambda: qtable.insert(key, *q_table),
    "agents.q.table_kernel.fill": lambda: [
        qtable.fill(np.array([key + 2, key + 4]), np.full((2, 2), 0.5, np.float32), *q_table),
        q_words.tolist(),
    ],
    "agents.q.table_kernel.is_full": lambda: qtable.is_full(q_words, q_layout, g),
    "agents.q.table_kernel.copy_slots": lambda: [
        qtable.copy_slots(q_words, q_larger, qtable.layout_of(128, 1, True, False, 0.25)),
        q_larger.tolist(),
    ],
    "agents.q.kernel.keys_of": lambda: [
        q_learning.keys_of(own, mask, q_layout._replace(mirrored=mirrored), g)
        for mirrored in (False, True)
    ],
    "agents.q.kernel.entry_of": lambda: [
        q_learning.entry_of(
            (key, board.mirror(key, g)), mask, 4, qtable.layout_of(64, values, False, True, 0.0), g
        )
        for values in (1, 5)
    ],
    "agents.q.kernel.prefetch_values": lambda: q_learning.prefetch_values(
        q_keys, mask, g, q_words, q_layout
    ),
    "agents.q.kernel.look_up": lambda: [
        q_learning.look_up(q_keys, mask, g, *q_table, worth),
        worth.tolist(),
    ],
    "agents.q.kernel.greatest": lambda: q_learning.greatest(worth),
    "agents.q.kernel.best_column": lambda: [
        q_learning.best_column(np.zeros(5), ties, state) for ties in (False, True)
    ],
    "agents.q.kernel.random_column": lambda: q_learning.random_column(mask, g, state),
    "agents.q.kernel.choose": lambda: [
        q_learning.choose(q_keys, mask, g, *q_table, Q_RULE, epsilon, worth, state)
        for epsilon in (0.0, 1.0)
    ],
    "agents.q.kernel.update": lambda: [
        q_learning.update(
            number, 1.0, *q_table[1:], Q_RULE._replace(alpha_by_visits=True), *q_progress
        )
        for number in (2, 2, -1)
    ],
    "agents.q.kernel.update_ending": lambda: q_learning.update_ending(
        2, 1.0, *q_table[1:], Q_RULE, *q_progress
    ),
    "agents.q.kernel.learn_from_move": lambda: q_learning.learn_from_move(
        q_keys,
        mask,
        3,
        False,
        0,
        g,
        *q_table,
        Q_RULE,
        Learner(q_last, worth, *q_progress),
    ),
    "agents.q.kernel.learn_from_end": lambda: q_learning.learn_from_end(
        0, True, q_last, *q_table[1:], Q_RULE, *q_progress
    ),
    "agents.q.kernel.start_value": lambda: [
        q_learning.start_value(*q_table, Q_RULE._replace(learn_start=start), g)
        for start in (False, True)
    ],
    "agents.q.kernel.close_game": lambda: [
        q_learning.close_game(-1, Q_RULE, *q_progress),
        q_pace.tolist(),
        q_counts.tolist(),
        q_last.tolist(),
        q_words.tolist(),
    ],
    "agents.q.kernel.search_move": lambda: [
        q_learning.search_move(
            own, mask, g, SEARCH, simulations, np.zeros(30 * 15, np.int32), state
        )
        for simulations in (0, 25)
    ],
    "agents.q.kernel.play_games": lambda: [
        learned(),
        learned(seats=2, mirrored=True, passing=True, alpha_update=0.5, epsilon_update=0.01),
        learned(seats=0, values=5, target=q_learning.BEST, set_endings=False, random_ties=True),
        learned(values=5, mirrored=True, target=q_learning.NEGAMAX, draw=0.0, alpha_by_visits=True),
        learned(learning=False),
    ],
}
