"""TensorBoard reads the numbers of metrics.jsonl."""

from pathlib import Path

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from fourlab.training.tensorboard import Events, numbers


def test_every_number_is_an_event(tmp_path: Path) -> None:
    events = Events(tmp_path)
    events.write({"games": 5, "network": "32x3", "rules": {"score": 0.5}, "loss": None}, 5)
    events.write({"games": 9, "rules": {"score": 0.75}, "loss": 1.5}, 9)
    events.close()
    reader = EventAccumulator(str(tmp_path))
    reader.Reload()
    scores = [(event.step, event.value) for event in reader.Scalars("rules/score")]
    assert scores == [(5, 0.5), (9, 0.75)]
    assert [(event.step, event.value) for event in reader.Scalars("loss")] == [(9, 1.5)]
    assert "network" not in reader.Tags()["scalars"]


def test_other_values_are_left_out() -> None:
    row = {"a": 1, "b": True, "c": "x", "d": None, "e": {"f": 2.5}}
    assert list(numbers(row)) == [("a", 1.0), ("e/f", 2.5)]
