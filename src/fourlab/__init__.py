"""Fourlab: a Connect Four laboratory.

Public names are imported on first use, so that `import fourlab` takes next to no time.
"""

# Type checkers take this name for true. Nothing is imported here, not even `typing`: the command
# cannot handle Ctrl-C before this module is loaded.
TYPE_CHECKING = False

# Type checkers and editors read these imports; at run time `__getattr__` does the same lazily.
if TYPE_CHECKING:
    from fourlab.agent import Agent, Analysis, ColumnAnalysis, Decision, Exact, Limit, Stop
    from fourlab.agents.listing import AgentInfo, AgentList
    from fourlab.analysis.position import PositionAnalysis
    from fourlab.analysis.review import Review
    from fourlab.api import (
        analyse,
        analyze,
        list_agents,
        make,
        match,
        review,
        solve,
        study,
        tournament,
        train,
    )
    from fourlab.arena.result import MatchResult, TournamentResult
    from fourlab.errors import UserError
    from fourlab.evaluator import Batch, Evaluation, Evaluator
    from fourlab.game.named import add as add_position
    from fourlab.game.outcome import RED, YELLOW, Outcome, Result
    from fourlab.game.position import IllegalColumn, ImpossiblePosition, Position
    from fourlab.game.rules import Rules
    from fourlab.jobs.job import Progress
    from fourlab.solver import Solution, Solver
    from fourlab.studies.result import StudyResult
    from fourlab.training.result import TrainingResult
    from fourlab.version import __version__ as __version__

__all__ = [
    "RED",
    "YELLOW",
    "Agent",
    "AgentInfo",
    "AgentList",
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
    "MatchResult",
    "Outcome",
    "Position",
    "PositionAnalysis",
    "Progress",
    "Result",
    "Review",
    "Rules",
    "Solution",
    "Solver",
    "Stop",
    "StudyResult",
    "TournamentResult",
    "TrainingResult",
    "UserError",
    "add_position",
    "analyse",
    "analyze",
    "list_agents",
    "make",
    "match",
    "review",
    "solve",
    "study",
    "tournament",
    "train",
]

_HOMES = {
    "RED": "fourlab.game.outcome:RED",
    "YELLOW": "fourlab.game.outcome:YELLOW",
    "Agent": "fourlab.agent:Agent",
    "AgentInfo": "fourlab.agents.listing:AgentInfo",
    "AgentList": "fourlab.agents.listing:AgentList",
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
    "MatchResult": "fourlab.arena.result:MatchResult",
    "Outcome": "fourlab.game.outcome:Outcome",
    "Position": "fourlab.game.position:Position",
    "PositionAnalysis": "fourlab.analysis.position:PositionAnalysis",
    "Progress": "fourlab.jobs.job:Progress",
    "Result": "fourlab.game.outcome:Result",
    "Review": "fourlab.analysis.review:Review",
    "Rules": "fourlab.game.rules:Rules",
    "Solution": "fourlab.solver:Solution",
    "Solver": "fourlab.solver:Solver",
    "Stop": "fourlab.agent:Stop",
    "StudyResult": "fourlab.studies.result:StudyResult",
    "TournamentResult": "fourlab.arena.result:TournamentResult",
    "TrainingResult": "fourlab.training.result:TrainingResult",
    "UserError": "fourlab.errors:UserError",
    "add_position": "fourlab.game.named:add",
    "analyse": "fourlab.api:analyse",
    "analyze": "fourlab.api:analyze",
    "list_agents": "fourlab.api:list_agents",
    "make": "fourlab.api:make",
    "match": "fourlab.api:match",
    "review": "fourlab.api:review",
    "solve": "fourlab.api:solve",
    "study": "fourlab.api:study",
    "tournament": "fourlab.api:tournament",
    "train": "fourlab.api:train",
    "__version__": "fourlab.version:__version__",
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


def _command() -> None:
    """Run the command line: the entry point of `fourlab`, here because nothing is loaded sooner.

    Worker processes import the program's main module, too, so that nothing happens at its import.
    """
    try:
        # Not `signal`, whose own imports take longer than everything before.
        import _signal  # type: ignore[import-not-found]

        if _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler:
            _signal.signal(_signal.SIGINT, _exit_interrupted)
        from importlib import import_module

        # By its name: what this module imports counts as part of every kernel and submission.
        main = import_module("fourlab.cli").main
    except KeyboardInterrupt:
        _exit_interrupted(0, None)
    main(early_handler=_exit_interrupted)


def _exit_interrupted(number: int, frame: object) -> None:
    """End the process at once, as long as there is nothing to clean up."""
    import os

    os.write(2, b"fourlab: interrupted\n")  # print is not reentrant in a signal handler
    os._exit(130)
