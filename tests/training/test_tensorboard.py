"""What TensorBoard reads is what metrics.jsonl says."""

from pathlib import Path

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

from fourlab.training.tensorboard import Events, numbers


def test_every_number_is_an_event(tmp_path: Path) -> None:
    events = Events(tmp_path)
    events.write({"games": 5, "network": "32x3", "rules": {"score": 0.5}, "loss": None}, 5)
    events.write({"games": 9, "rules": {"score": 0.75}, "loss": 1.5}, 9)
    events.close()
    read = EventAccumulator(str(tmp_path))
    read.Reload()
    assert [(each.step, each.value) for each in read.Scalars("rules/score")] == [(5, 0.5), (9, 0.75)]
    assert [(each.step, each.value) for each in read.Scalars("loss")] == [(9, 1.5)]
    assert "network" not in read.Tags()["scalars"]


def test_only_numbers_are_numbers() -> None:
    row = {"a": 1, "b": True, "c": "x", "d": None, "e": {"f": 2.5}}
    assert list(numbers(row)) == [("a", 1.0), ("e/f", 2.5)]
