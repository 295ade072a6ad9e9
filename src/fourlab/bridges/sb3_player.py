"""Models of Stable-Baselines3 as agents: `sb3:file=model.zip`.

Such a file holds pickled Python objects, which can run anything, so it is loaded in a process with
bounds on time and memory (`sb3_host.py`).
"""

from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, ClassVar, Literal

from fourlab.bridges.networks import ForeignNetwork
from fourlab.errors import UserError
from fourlab.options import option

INSTALL = "pip install 'fourlab[sb3]'"


@dataclass(frozen=True)
class StableBaselines(ForeignNetwork):
    """Plays a model that Stable-Baselines3 has trained in our environment (sb3:file=model.zip)."""

    algorithm: Literal["auto", "ppo", "a2c", "dqn", "maskable-ppo", "qr-dqn"] = option(
        "auto", "What the model was trained with; auto finds out."
    )

    host: ClassVar[str] = "fourlab.bridges.sb3_host"

    @property
    def _example(self) -> str:
        return "sb3:file=model.zip"

    @property
    def _settings(self) -> dict[str, Any]:
        return {"algorithm": self.algorithm}

    def _check(self) -> None:
        if find_spec("stable_baselines3") is None or find_spec("sb3_contrib") is None:
            raise UserError(f"sb3 needs Stable-Baselines3: {INSTALL}")
