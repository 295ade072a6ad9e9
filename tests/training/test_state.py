"""States of checkpoints with values that no training has are refused by file and field."""

import json
import math
import shutil
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fourlab.agents.alphazero.listed_training import ListedTrainee
from fourlab.agents.alphazero.training import AlphaZeroTrainee
from fourlab.agents.dqn.training import DqnTrainee
from fourlab.agents.q.training import QTrainee
from fourlab.errors import UserError
from fourlab.files import digest
from fourlab.training.loop import Trainee
from fourlab.training.state import MAX_STATE_BYTES, State
from tests.agents.alphazero.test_listed_training import TINY as LISTED
from tests.agents.alphazero.test_training import TINY as ALPHAZERO
from tests.agents.dqn.test_training import SMALL as DQN
from tests.agents.q.test_training import TINY as Q
from tests.in_process import run_in_process

TRAINEES: dict[str, Callable[[], Trainee]] = {
    "q": lambda: QTrainee(Q),
    "dqn": lambda: DqnTrainee(replace(DQN, exam_every=1000)),
    "alphazero": lambda: AlphaZeroTrainee(ALPHAZERO),
    "listed": lambda: ListedTrainee(LISTED),
}
IMPOSSIBLE: list[Any] = [-1, 1.5, 2**63, math.nan, math.inf, True, None, "1", [], {}, [[1]]]
"""Values that no whole number of a state can have."""

MISSING = object()


@pytest.fixture(scope="module")
def checkpoints(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a checkpoint of every trainee; of tables, after one piece of work."""
    home = tmp_path_factory.mktemp("checkpoints")
    for name, new in TRAINEES.items():
        trainee = new()
        if name == "q":
            trainee.advance()
        (home / name).mkdir()
        trainee.save(home / name)
    return home


def refusal(kind: str, folder: Path, file: str, changes: dict[str, Any]) -> str:
    """Change a state, or remove what is MISSING; return why it is refused. The file is restored."""
    before = (folder / file).read_bytes()
    state = {**json.loads(before), **changes}
    state = {name: value for name, value in state.items() if value is not MISSING}
    (folder / file).write_text(json.dumps(state))
    try:
        with pytest.raises(UserError) as caught:
            TRAINEES[kind]().load(folder)
    finally:
        (folder / file).write_bytes(before)
    message = str(caught.value)
    assert message.startswith(f"{folder / file} is damaged: "), message
    assert "\n" not in message
    assert len(message) < 300 + len(str(folder))
    return message.removeprefix(f"{folder / file} is damaged: ")


@pytest.mark.parametrize("kind", TRAINEES)
def test_what_was_saved_is_loaded(kind: str, checkpoints: Path, tmp_path: Path) -> None:
    again = TRAINEES[kind]()
    again.load(checkpoints / kind)
    again.save(tmp_path)
    for file in sorted((checkpoints / kind).glob("*.json")):
        assert (tmp_path / file.name).read_bytes() == file.read_bytes()


@pytest.mark.parametrize(
    ("kind", "file", "optional"),
    [
        ("q", "state.json", ()),
        ("dqn", "state.json", ()),
        # Stages of networks that a training may not have.
        ("alphazero", "state.json", ("accepted_stage", "kept_stage")),
        ("listed", "play.json", ()),
    ],
)
def test_every_field_that_is_missing_or_of_another_type_is_named(
    kind: str, file: str, optional: tuple[str, ...], checkpoints: Path
) -> None:
    folder = checkpoints / kind
    fields = [name for name in json.loads((folder / file).read_bytes()) if name not in optional]
    assert len(fields) >= 3
    for field in fields:
        assert refusal(kind, folder, file, {field: MISSING}) == f"{field} is missing"
        for value in ("x", None, {"x": 1}, True, [None]):
            message = refusal(kind, folder, file, {field: value})
            # What is wrong with a table is one of its values.
            assert message.startswith((f"{field} ", f"{field}.")), message


@pytest.mark.parametrize("value", IMPOSSIBLE)
def test_counts_that_no_training_has_are_refused(value: Any, checkpoints: Path) -> None:
    for kind, field in (
        ("q", "state"),
        ("dqn", "added"),
        ("alphazero", "games"),
        ("alphazero", "generation"),
        ("alphazero", "stage"),
    ):
        message = refusal(kind, checkpoints / kind, "state.json", {field: value})
        assert message.startswith(f"{field} cannot be "), message
    counts = {"counts": {"pieces": 1, "games": value, "updates": 1}}
    message = refusal("dqn", checkpoints / "dqn", "state.json", counts)
    assert message.startswith("counts.games cannot be "), message


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("pace", [1e308]),
        ("pace", [1e308, 0.1, 0, 0]),
        ("pace", [0.1, 0.1, 1e308, 0]),
        ("pace", [0.1, math.nan, 0, 0]),
        ("pace", [-0.1, 0.1, 0, 0]),
        ("pace", [0.1, 0.1, 0, 0, 0]),
        ("pace", {"0": 1}),
        ("counts", [-1, 0, 0, 0, 0]),
        ("counts", [1, 2, 0, 0, 0]),
        ("counts", [1, 0.0, 0, 0, 0]),
        ("counts", [2**63, 0, 0, 0, 0]),
        ("counts", [1, 0, 0, 0]),
        ("sample", {}),
        ("sample", [0]),
        ("sample", [2**62]),
        ("sample", [0b1_0001_0001_0001] * 501),
        ("columns", []),
        ("columns", [4]),
        ("columns", {}),
    ],
)
def test_states_of_q_learning(field: str, value: Any, checkpoints: Path) -> None:
    message = refusal("q", checkpoints / "q", "state.json", {field: value})
    assert message.startswith(f"{field} "), message


@pytest.mark.parametrize(("field", "value"), [("stage", 1), ("stage", 10**9)])
def test_states_of_alphazero(field: str, value: int, checkpoints: Path) -> None:
    message = refusal("alphazero", checkpoints / "alphazero", "state.json", {field: value})
    assert message == f"{field} cannot be {value}"


def test_a_window_has_no_more_samples_than_were_added(tmp_path: Path) -> None:
    trainee = AlphaZeroTrainee(ALPHAZERO)
    samples = trainee.window.samples
    one = {field.name: getattr(samples, field.name) for field in fields(samples)}
    one = {name: np.zeros((1, *array.shape[1:]), array.dtype) for name, array in one.items()}
    trainee.window.restore(one)
    trainee.save(tmp_path)
    assert refusal("alphazero", tmp_path, "state.json", {}) == "added cannot be 0"


@pytest.mark.parametrize(
    "change",
    [
        {"own": 3, "mask": 1, "ply": 1},  # a disc that is in no cell
        {"own": 0, "mask": 1, "ply": 2},
        {"own": 0, "mask": 2, "ply": 1},  # a disc above an empty cell
        {"own": 0, "mask": 1 << 62, "ply": 1},
        {"own": 1, "mask": 1, "ply": 1},  # of the side whose turn it is
        {"expected": 0},
        {"expected": 17},
        {"expected": math.nan},
    ],
)
def test_states_of_listed_games(change: dict[str, Any], checkpoints: Path) -> None:
    message = refusal("listed", checkpoints / "listed", "play.json", change)
    assert message.startswith(("own ", "mask ", "expected ")), message


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("bit_generator",), "MT19937"),
        (("state", "state"), -1),
        (("state", "state"), 2**128),
        (("state", "inc"), 2),
        (("has_uint32",), 2),
        (("uinteger",), 2**32),
    ],
)
def test_states_of_generators(path: tuple[str, ...], value: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    rng.integers(2, dtype=np.uint32)
    saved = json.loads(json.dumps(rng.bit_generator.state))
    again = np.random.default_rng(2)
    State(tmp_path / "x", {"random": saved}).restore_generator("random", again)
    assert again.bit_generator.state == rng.bit_generator.state
    table = saved
    for name in path[:-1]:
        table = table[name]
    table[path[-1]] = value
    with pytest.raises(UserError, match=f"x is damaged: random.{'.'.join(path)} cannot be"):
        State(tmp_path / "x", {"random": saved}).restore_generator("random", again)


def test_files_that_hold_no_state(tmp_path: Path) -> None:
    file = tmp_path / "state.json"
    with pytest.raises(UserError, match=r"cannot read .*state\.json"):
        State.read(file)
    for data in (b"", b"[]", b"\xff", b"[" * 10_000, b" " * (MAX_STATE_BYTES + 1)):
        file.write_bytes(data)
        with pytest.raises(UserError, match=r"state\.json"):
            State.read(file)


def test_a_command_names_the_file_and_the_field(tmp_path: Path) -> None:
    """Whoever changes a state can also compute its checksum again."""
    command = "train q --board 4x3x3 --games 400 --block 200 --exam-games 10 --quiet"
    assert run_in_process([*command.split(), "--runs", str(tmp_path)], tmp_path).returncode == 0
    (folder,) = (file.parent for file in tmp_path.glob("*/manifest.json"))
    for file in ("results.json", "seal.json"):
        (folder / file).unlink()
    newest = max((folder / "checkpoints").iterdir())
    for older in (folder / "checkpoints").iterdir():
        if older != newest:
            shutil.rmtree(older)
    state = json.loads((newest / "state.json").read_bytes())
    del state["pace"]
    (newest / "state.json").write_text(json.dumps(state))
    about = json.loads((newest / "checkpoint.json").read_bytes())
    about["sha256"]["state.json"] = digest(newest / "state.json")
    (newest / "checkpoint.json").write_text(json.dumps(about))
    done = run_in_process(["resume", str(folder), "--quiet"], tmp_path)
    expected = f"fourlab: {newest / 'state.json'} is damaged: pace is missing\n"
    assert (done.returncode, done.stderr) == (2, expected)
