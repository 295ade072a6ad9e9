"""The inputs of the kernels of Q-learning: the rule, the learner's state, the opponent."""

from typing import NamedTuple

import numpy as np

from fourlab.agents.mcts import verbs


class Rule(NamedTuple):
    """The learning rule; `fourlab.agents.q.settings` explains the fields."""

    learning: bool
    target: int
    set_endings: bool
    random_ties: bool
    learn_start: bool
    store_seen: bool
    win: float
    draw: float
    loss: float
    step: float
    gamma: float
    alpha_update: float
    alpha_decay: float
    alpha_least: float
    alpha_by_visits: bool
    epsilon_update: float
    epsilon_decay: float
    epsilon_fall: float
    epsilon_least: float


class Learner(NamedTuple):
    """The state that changes during learning, apart from the table."""

    last: np.ndarray  # int64[2 * lanes]: index of every seat's last value, -1 before its first disc
    q: np.ndarray  # float64[columns]: values of all columns as `choose` left them
    pace: np.ndarray  # float64[4]: alpha, epsilon, sum and maximum of changes
    counts: np.ndarray  # int64[5]: games, results, updates


class Opponent(NamedTuple):
    """The learner's opponent in the compiled loop; with 0 simulations it is random, or passes."""

    seats: int
    """The learner's seats: 1 red, 2 yellow, 3 both (self-play), 0 red and yellow in turn."""
    passing: bool
    """As in Bhat's code, an opponent with 0 simulations does not move at all."""
    switches: verbs.Switches
    """Options of the opponent's search."""
