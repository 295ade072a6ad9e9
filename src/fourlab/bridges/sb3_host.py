"""The process in which a model of Stable-Baselines3 is loaded and asked.

Questions and answers are those of `onnx_host.py`; Q-networks answer {"q": [[0.1, ...]]}.
"""

import json
import zipfile
from typing import TYPE_CHECKING, Any

from fourlab.bridges.host import Answer, serve

if TYPE_CHECKING:
    import numpy as np

CLASSES = {
    "ppo": ("stable_baselines3", "PPO"),
    "a2c": ("stable_baselines3", "A2C"),
    "dqn": ("stable_baselines3", "DQN"),
    "maskable-ppo": ("sb3_contrib", "MaskablePPO"),
    "qr-dqn": ("sb3_contrib", "QRDQN"),
}
"""Package and class of every algorithm."""
MOST_DATA = 64 * 1024 * 1024
"""The most bytes of a model's settings; its weights are in other files of the archive."""


def main(file: str, settings: str) -> None:
    """Load a model and answer questions."""

    def load() -> tuple[dict[str, Any], Answer]:
        import importlib

        import torch

        torch.set_num_threads(1)
        algorithm = json.loads(settings)["algorithm"]
        if algorithm == "auto":
            algorithm = algorithm_of(file)
        package, name = CLASSES[algorithm]
        model = getattr(importlib.import_module(package), name).load(file, device="cpu")
        return {"algorithm": algorithm}, lambda question: _answer(model, algorithm, question)

    serve(load)


def algorithm_of(file: str) -> str:
    """Return which algorithm has trained a model, from the names of its settings."""
    with zipfile.ZipFile(file) as archive:
        if "data" not in archive.namelist():
            raise ValueError("it is not a model of Stable-Baselines3")
        if archive.getinfo("data").file_size > MOST_DATA:
            raise ValueError(f"its settings have more than {MOST_DATA:,} bytes")
        data = json.loads(archive.read("data"))
    policy = str(data.get("policy_class", {}).get("__module__", ""))
    if "maskable" in policy:
        return "maskable-ppo"
    if "qrdqn" in policy:
        return "qr-dqn"
    if "exploration_fraction" in data:
        return "dqn"
    return "ppo" if "clip_range" in data else "a2c"


def _answer(model: Any, algorithm: str, question: dict[str, Any]) -> dict[str, Any]:
    import numpy as np
    import torch

    boards = np.array(question["boards"])
    mover = 1 + np.array(question["to_move"])[:, None, None]
    # As the environment gives it: int8[rows, columns, 2], own discs first, the top row first.
    planes = np.stack([boards == mover, boards == 3 - mover], axis=-1).astype(np.int8)
    observation = _fitted(planes, model.observation_space)
    columns = boards.shape[2]
    if observation is None or getattr(model.action_space, "n", None) != columns:
        shape = getattr(model.observation_space, "shape", None)
        actions = getattr(model.action_space, "n", None)
        return {
            "refused": f"the model observes {shape} and has {actions} actions, which is not our "
            f"environment on a board of {columns}x{boards.shape[1]}"
        }
    tensor, _ = model.policy.obs_to_tensor(observation)
    with torch.no_grad():
        if algorithm == "dqn":
            return {"q": model.policy.q_net(tensor).tolist()}
        if algorithm == "qr-dqn":
            return {"q": model.policy.quantile_net(tensor).mean(dim=1).tolist()}
        if algorithm == "maskable-ppo":
            masks = np.zeros((len(boards), columns), bool)
            for mask, legal in zip(masks, question["open"], strict=True):
                mask[legal] = True
            policy = model.policy.get_distribution(tensor, action_masks=masks)
        else:
            policy = model.policy.get_distribution(tensor)
        return {
            "policy": policy.distribution.probs.tolist(),
            "value": model.policy.predict_values(tensor).flatten().tolist(),
        }


def _fitted(planes: "np.ndarray", space: Any) -> "np.ndarray | None":
    """Return observations in the shape of a space, None if it has another size."""
    shape = getattr(space, "shape", None)
    if shape == planes.shape[1:]:
        fitted = planes
    elif shape == (planes.shape[3], *planes.shape[1:3]):  # channels first
        fitted = planes.transpose(0, 3, 1, 2)
    elif shape == (planes[0].size,):
        fitted = planes.reshape(len(planes), -1)
    else:
        return None
    return fitted.astype(space.dtype)
