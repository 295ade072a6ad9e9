"""Fourlab: a Connect Four laboratory.

Public names are imported on first use, so that `import fourlab` takes next to no time.
"""

from typing import TYPE_CHECKING

# Type checkers and editors read these imports; at run time `__getattr__` does the same lazily.
if TYPE_CHECKING:
    from fourlab.agent import Agent, Analysis, ColumnAnalysis, Decision, Exact, Limit, Stop
    from fourlab.agents.registry import make
    from fourlab.errors import UserError
    from fourlab.evaluator import Batch, Evaluation, Evaluator
    from fourlab.game.named import add as add_position
    from fourlab.game.outcome import RED, YELLOW, Outcome, Result
    from fourlab.game.position import IllegalColumn, ImpossiblePosition, Position
    from fourlab.game.rules import Rules

from fourlab.version import __version__ as __version__

__all__ = [
    "RED",
    "YELLOW",
    "Agent",
    "Analysis",
    "Batch",
    "ColumnAnalysis",
    "Decision",
    "Evaluation",
    "Evaluator",
    "Exact",
    "IllegalColumn",
    "ImpossiblePosition",
    "Limit",
    "Outcome",
    "Position",
    "Result",
    "Rules",
    "Stop",
    "UserError",
    "add_position",
    "make",
]

_HOMES = {
    "RED": "fourlab.game.outcome:RED",
    "YELLOW": "fourlab.game.outcome:YELLOW",
    "Agent": "fourlab.agent:Agent",
    "Analysis": "fourlab.agent:Analysis",
    "Batch": "fourlab.evaluator:Batch",
    "ColumnAnalysis": "fourlab.agent:ColumnAnalysis",
    "Decision": "fourlab.agent:Decision",
    "Evaluation": "fourlab.evaluator:Evaluation",
    "Evaluator": "fourlab.evaluator:Evaluator",
    "Exact": "fourlab.agent:Exact",
    "IllegalColumn": "fourlab.game.position:IllegalColumn",
    "ImpossiblePosition": "fourlab.game.position:ImpossiblePosition",
    "Limit": "fourlab.agent:Limit",
    "Outcome": "fourlab.game.outcome:Outcome",
    "Position": "fourlab.game.position:Position",
    "Result": "fourlab.game.outcome:Result",
    "Rules": "fourlab.game.rules:Rules",
    "Stop": "fourlab.agent:Stop",
    "UserError": "fourlab.errors:UserError",
    "add_position": "fourlab.game.named:add",
    "make": "fourlab.agents.registry:make",
}
"""Where each public name is defined. The imports above repeat this for type checkers, and a test
compares the two."""


def __getattr__(name: str) -> object:
    """Import a public name on first use."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    # Imported here, since most programs need few of the names or none.
    from importlib import import_module

    module, _, attribute = _HOMES[name].partition(":")
    value = getattr(import_module(module), attribute)
    globals()[name] = value  # later uses do not call __getattr__
    return value


def __dir__() -> list[str]:
    """Return the names of the module, including public names that have not been imported yet."""
    return sorted({*globals(), *__all__})
