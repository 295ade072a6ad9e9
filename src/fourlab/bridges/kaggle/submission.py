"""A submission, loaded and asked as Kaggle does it.

The file is executed in an empty namespace; the last callable in it is the agent. It is given an observation and a configuration
whose values can be had as attributes and as items.
"""

from collections.abc import Callable, Sequence
from typing import Any

USUAL = {"columns": 7, "rows": 6, "inarow": 4, "actTimeout": 2, "timeout": 2, "agentTimeout": 60}
BANK = 60
"""Seconds that an agent may think longer than its time, in the whole game."""
Submission = Callable[..., Any]


class Struct(dict[str, Any]):
    """A dictionary whose values are attributes too."""

    def __init__(self, **values: Any) -> None:
        super().__init__(values)
        self.__dict__.update(values)

    def __setattr__(self, name: str, value: Any) -> None:
        self.__dict__[name] = self[name] = value

    def __setitem__(self, name: str, value: Any) -> None:
        super().__setitem__(name, value)
        self.__dict__[name] = value


def load(source: str) -> Submission:
    """The agent of a submission; whatever its code raises is raised here."""
    namespace: dict[str, Any] = {}
    exec(compile(source, "<submission>", "exec"), namespace)
    found = [value for name, value in namespace.items() if callable(value) and name != "__builtins__"]
    if not found:
        raise ValueError("there is no function in it")
    return found[-1]  # type: ignore[no-any-return]


def ask(agent: Submission, cells: Sequence[int], mark: int, step: int, bank: float = BANK, **configuration: Any) -> Any:
    """What an agent answers: cells from the top left, 0 empty, 1 and 2 the sides; mark is the side to move."""
    observation = Struct(board=list(cells), mark=mark, step=step, remainingOverageTime=bank)
    arguments = [observation, Struct(**{**USUAL, **configuration})]
    if hasattr(agent, "__code__"):  # one that takes only the observation is given no more
        arguments = arguments[: agent.__code__.co_argcount]
    return agent(*arguments)
