"""Models of Stable-Baselines3, trained here for a few steps, as agents."""

import subprocess
import sys
import warnings
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fourlab import Limit, Position, UserError, make
from fourlab.agent import close
from fourlab.bridges.gymnasium import ConnectFour
from fourlab.bridges.sb3_host import _answer, _fitted, algorithm_of

pytest.importorskip("stable_baselines3")
pytest.importorskip("sb3_contrib")


@pytest.fixture(scope="module", autouse=True)
def _quiet() -> Iterator[None]:
    # Stable-Baselines3 warns that our boards are no images and about versions of Gymnasium.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Any, Path]]:
    """Models of every algorithm, hardly trained, with their files."""
    import torch
    from sb3_contrib import QRDQN, MaskablePPO
    from stable_baselines3 import A2C, DQN, PPO

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    small: dict[str, Any] = {"policy_kwargs": {"net_arch": [8]}, "seed": 1, "device": "cpu"}
    rollouts = {"n_steps": 8, "batch_size": 8, "n_epochs": 1}
    replay = {"learning_starts": 4, "batch_size": 4, "buffer_size": 50}
    folder = tmp_path_factory.mktemp("models")
    made = {}
    for name, factory, options in (
        ("ppo", PPO, rollouts),
        ("a2c", A2C, {}),
        ("dqn", DQN, replay),
        ("maskable-ppo", MaskablePPO, rollouts),
        ("qr-dqn", QRDQN, replay),
    ):
        model = factory("MlpPolicy", ConnectFour(opponent="random"), **small, **options)
        model.learn(8)
        model.save(folder / f"{name}.zip")
        made[name] = (model, folder / f"{name}.zip")
    torch.set_num_threads(threads)
    return made


def observation(position: Position) -> np.ndarray:
    """Return what the environment shows a learner who is to move."""
    env = ConnectFour()
    env.position = position
    env.side = position.to_move
    return env._observation()


def test_algorithms_are_recognised(models: dict[str, tuple[Any, Path]]) -> None:
    assert {name: algorithm_of(str(file)) for name, (_, file) in models.items()} == {
        name: name for name in models
    }


@pytest.mark.parametrize("name", ["ppo", "a2c", "dqn", "maskable-ppo", "qr-dqn"])
def test_a_model_is_asked_as_it_predicts(models: dict[str, tuple[Any, Path]], name: str) -> None:
    model, _ = models[name]
    for moves in ("", "4", "445", "445533", "77777"):
        position = Position(moves)
        question = {"boards": [position.grid()], "to_move": [position.to_move], "open": [range(7)]}
        answer = _answer(model, name, question)
        predicted, _ = model.predict(observation(position), deterministic=True)
        assert int(np.argmax(answer["q" if "dqn" in name else "policy"][0])) == int(predicted)
    # Masks reach the model that knows them.
    masked = _answer(model, name, {**question, "open": [[2]]})
    assert (masked.get("policy", [[0] * 7])[0][2] > 0.99) == (name == "maskable-ppo")


def test_a_model_plays_in_a_process(models: dict[str, tuple[Any, Path]]) -> None:
    model, file = models["maskable-ppo"]
    agent = make(f'sb3:file="{file}"')
    try:
        position = Position("445")
        decision = agent.decide(position, Limit(), np.random.default_rng(0))
        masks = np.ones(7, bool)
        predicted, _ = model.predict(observation(position), deterministic=True, action_masks=masks)
        assert decision.column == int(predicted)
        assert decision.policy is not None
        assert -1 <= (decision.value or 0) <= 1
        # Full columns are never played.
        full = Position("777777")
        assert agent.decide(full).column in full.legal_columns()
        with pytest.raises(UserError, match=r"observes \(6, 7, 2\) and has 7 actions, which is"):
            agent.decide(Position(board="5x4x4"))
    finally:
        close(agent)


def test_observations_have_the_shape_of_the_space() -> None:
    from gymnasium.spaces import Box, Discrete

    planes = observation(Position("4453"))[None]
    flat = _fitted(planes, Box(0, 1, (84,), np.float32))
    assert flat is not None
    assert flat.dtype == np.float32
    assert (flat.reshape(planes.shape) == planes).all()
    first = _fitted(planes, Box(0, 1, (2, 6, 7), np.int8))
    assert first is not None
    assert (first[0, 1] == planes[0, :, :, 1]).all()
    assert _fitted(planes, Box(0, 1, (3, 6, 7), np.int8)) is None
    assert _fitted(planes, Discrete(3)) is None


def test_what_is_no_model_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "model.zip"
    file.write_bytes(b"no archive")
    with pytest.raises(UserError, match=r"model\.zip cannot be used: BadZipFile"):
        make(f'sb3:file="{file}"')
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("other", "x")
    with pytest.raises(ValueError, match="it is not a model of Stable-Baselines3"):
        algorithm_of(str(file))
    with pytest.raises(UserError, match=r"which file\? write sb3:file=model\.zip"):
        make("sb3")


def test_without_the_package_the_command_is_named() -> None:
    program = (
        "import sys; sys.modules['stable_baselines3'] = None; "
        "from fourlab.cli import main; main(['analyze', '44', '--agent', 'sb3:file=model.zip'])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 2
    assert done.stderr == "fourlab: sb3 needs Stable-Baselines3: pip install 'fourlab[sb3]'\n"
