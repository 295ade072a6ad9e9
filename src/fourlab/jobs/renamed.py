"""Settings of jobs that older versions called by other names.

A run folder keeps the configuration as it was written. It is read and compared under the current
names, so that a renamed setting does not make another run of it. Agents are no part of this: their
specs are texts, which a configuration keeps as the user wrote them.
"""

from collections.abc import Mapping
from typing import Any

from fourlab.errors import UserError

RENAMED = {
    "train-alphazero": {"proving": "proofs"},
    "train-q": {"memory": "memory_mb", "tie": "ties"},
}
"""By kind of job, old name and current name.

The settings declare the same as `aliases`, in packages above this one; a test compares them.
"""


def current_names(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration with the current names of its settings.

    Raises UserError if it has a setting under both names.
    """
    names = RENAMED.get(str(config.get("kind")), {})
    for old, new in names.items():
        if old in config and new in config:
            raise UserError(f"its configuration has {new} twice, as {old} and {new}")
    return {names.get(name, name): value for name, value in config.items()}
