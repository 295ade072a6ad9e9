"""All kinds of training by name."""

from typing import Any

from fourlab.agents.alphazero.settings import TRAINING as ALPHAZERO
from fourlab.agents.dqn.settings import TRAINING as DQN
from fourlab.agents.patterns.settings import TRAINING as PATTERNS
from fourlab.agents.q.settings import TRAINING as Q
from fourlab.agents.value.settings import TRAINING as VALUE
from fourlab.errors import UserError
from fourlab.options import perhaps
from fourlab.training.kind import Training

TRAININGS: dict[str, Training[Any]] = {
    training.name: training for training in (ALPHAZERO, DQN, PATTERNS, Q, VALUE)
}


def training_named(name: str) -> Training[Any]:
    """Return a kind of training; raise UserError if there is none of this name."""
    if name not in TRAININGS:
        raise UserError(
            f"there is no training {name!r}{perhaps(name, TRAININGS)}; "
            f"trainings are {', '.join(TRAININGS)}"
        )
    return TRAININGS[name]
