"""Agents that users write: functions, and objects with a method `decide`.

A function takes (position), (position, limit) or (position, limit, rng) and returns a column,
counted from 0, or a Decision. `OwnAgent` calls it, checks the answer and says in one line what is
wrong with it: code that a user has just written fails in every possible way.
"""

import dataclasses
import functools
import hashlib
import inspect
import operator
import re
import types
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fourlab.agent import (
    UNLIMITED,
    Agent,
    Closable,
    ColumnAnalysis,
    Decision,
    Forfeit,
    Limit,
    Snapshot,
    Startable,
    remembers,
)
from fourlab.agents.generators import generator
from fourlab.errors import UserError
from fourlab.game.position import Position, PositionLike, unfinished
from fourlab.game.record import Cause

if TYPE_CHECKING:
    import numpy as np

FORMS = "(position), (position, limit) or (position, limit, rng)"
"""The parameters that an agent's function may have."""
SHOWN = 60
"""Characters of a wrong answer that an error message quotes."""
_Call = Callable[[Position, Limit, "np.random.Generator | None"], Any]


@dataclasses.dataclass(frozen=True)
class OwnAgent:
    """A user's function or object as an agent whose answers are checked."""

    thing: Any
    """A function, or an object with a method `decide`."""
    title: str
    """Its name in error messages."""

    @functools.cached_property
    def _call(self) -> "_Call":
        return _caller(getattr(self.thing, "decide", self.thing), self.title)

    def decide(
        self,
        position: PositionLike,
        limit: Limit = UNLIMITED,
        rng: "np.random.Generator | None" = None,
    ) -> Decision:
        """Choose a column; raise Forfeit if the user's code fails or its answer is no open column.

        UserErrors of the user's code, with which it refuses a board, for example, are passed on.
        """
        position = unfinished(position)
        with self._faults_named():
            answer = self._call(position, limit, rng)
        return self._checked(answer, position)

    @contextmanager
    def _faults_named(self) -> Iterator[None]:
        """Turn what the user's code raises into a Forfeit of one line."""
        try:
            yield
        except (Forfeit, UserError):
            raise
        # SystemExit would end the worker, and with it the games of others.
        except (Exception, SystemExit) as error:
            raise Forfeit(Cause.CRASH, f"{self.title} raised {in_one_line(error)}") from error

    def _checked(self, answer: Any, position: Position) -> Decision:
        is_decision = isinstance(answer, Decision)
        column = answer.column if is_decision else answer
        try:
            # True and False are integers to Python, but hardly columns.
            number = None if isinstance(column, bool) else operator.index(column)
        except TypeError:
            number = None
        if number is None:
            holder = "a Decision with the column " if is_decision else ""
            raise Forfeit(
                Cause.CRASH,
                f"{self.title} returned {holder}{_shown(column)}, which is not a column counted "
                f"from 0{'' if is_decision else ' or a Decision'}",
            )
        if number not in position.legal_columns():
            listed = ", ".join(map(str, position.legal_columns()))
            raise Forfeit(
                Cause.ILLEGAL,
                f"{self.title} returned column {number}; the open columns, counted from 0, "
                f"are {listed}",
            )
        return dataclasses.replace(answer, column=number) if is_decision else Decision(number)

    @property
    def remembers(self) -> bool:
        """Whether the user's agent declares that it learns from its games."""
        return remembers(self.thing)

    def start(self) -> None:
        """Start the user's agent, if it needs that."""
        if isinstance(self.thing, Startable):
            self.thing.start()

    def close(self) -> None:
        """Release what the user's agent holds, if anything."""
        if isinstance(self.thing, Closable):
            self.thing.close()


@dataclasses.dataclass(frozen=True)
class OwnSearcher(OwnAgent):
    """A user's object whose search can be watched and inspected (`Searcher`)."""

    def search(
        self,
        position: Position,
        limit: Limit,
        rng: "np.random.Generator",
        watch: Callable[[Snapshot], None] | None = None,
    ) -> "OwnSearch":
        """Search a position; raise Forfeit if the user's code fails or its answer is wrong."""
        position = unfinished(position)
        trace: list[Snapshot] = []

        def on_snapshot(snapshot: Snapshot) -> None:
            if not isinstance(snapshot, Snapshot):
                raise TypeError(f"watch takes a Snapshot, not {_shown(snapshot)}")
            trace.append(snapshot)
            if watch is not None:
                watch(snapshot)

        with self._faults_named():
            search = self.thing.search(position, limit, rng, on_snapshot)
            answer = search.decision
        return OwnSearch(self, search, position, self._checked(answer, position), trace)


@dataclasses.dataclass(frozen=True)
class OwnSearch:
    """The outcome of a user's search, whose tree is checked where it is looked at."""

    agent: OwnSearcher
    search: Any
    """The user's object, with a method `look`."""
    position: Position
    decision: Decision
    trace: Sequence[Snapshot]
    """The snapshots with which the user's code has called `watch`."""

    def look(self, path: tuple[int, ...]) -> Sequence[ColumnAnalysis]:
        """Return the columns of a node; raise Forfeit unless they are open columns."""
        with self.agent._faults_named():
            columns = list(self.search.look(path))
        legal = functools.reduce(Position.play, path, self.position).legal_columns()
        for column in columns:
            if not isinstance(column, ColumnAnalysis) or column.column not in legal:
                raise Forfeit(
                    Cause.CRASH,
                    f"the tree of {self.agent.title} has {_shown(column)} after the columns "
                    f"{path}, which is not the ColumnAnalysis of an open column",
                )
        return columns


def is_agent(thing: Any) -> bool:
    """Return whether something can be an agent: a function, or a class or object with `decide`."""
    if isinstance(thing, type):
        return callable(getattr(thing, "decide", None))
    return callable(getattr(thing, "decide", thing))


def wrap(thing: Any, title: str = "") -> Agent:
    """Return the agent of a function, a class or an object; raise UserError for anything else.

    A class is constructed without arguments. Agents of Fourlab are returned as they are.
    """
    if not is_agent(thing):
        kind = "the class " if isinstance(thing, type) else ""
        raise UserError(
            "an agent is a spec, a function, or a class or object with a method decide, "
            f"not {kind}{thing.__name__ if kind else _shown(thing)}"
        )
    title = title or name_of(thing)
    if isinstance(thing, type):
        thing = build(thing, {}, title)
    if type(thing).__module__.startswith("fourlab.") and hasattr(thing, "decide"):
        return thing  # type: ignore[no-any-return]
    agent = (OwnSearcher if _can_be_watched(thing) else OwnAgent)(thing, title)
    _ = agent._call  # raises UserError for other parameters
    return agent


def _can_be_watched(thing: Any) -> bool:
    """Return whether an object declares `search` with a parameter `watch`.

    Many agents have some other method of that name.
    """
    try:
        return "watch" in inspect.signature(thing.search).parameters
    except (AttributeError, TypeError, ValueError):
        return False


def build(factory: type, values: dict[str, Any], title: str) -> Any:
    """Construct an object of a user's class; raise UserError if that fails."""
    try:
        return factory(**values)
    except UserError:
        raise
    except (Exception, SystemExit) as error:
        raise UserError(f"{title} cannot be constructed: {in_one_line(error)}") from None


def name_of(thing: Any) -> str:
    """Return a short name: that of a function or class, or of an object's class."""
    while isinstance(thing, functools.partial):
        thing = thing.func
    name = getattr(thing, "__name__", type(thing).__name__)
    # <lambda> would have to be quoted in a shell.
    return re.sub(r"[^\w.-]+", "-", name).strip("-") or "agent"


def in_one_line(error: BaseException) -> str:
    """Return an exception in one line, with the last line of the user's code that raised it."""
    text = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
    package = str(Path(__file__).parents[1])
    frames = [
        (Path(frame.f_code.co_filename), number)
        for frame, number in _walk(error.__traceback__)
        if not frame.f_code.co_filename.startswith(package)
    ]
    own = [(file, number) for file, number in frames if file.is_file()]
    if not own:
        return text
    # The user's file is the outermost one; below it are the libraries that it calls.
    file = own[0][0]
    number = [number for other, number in own if other == file][-1]
    return f"{text} ({file.name}, line {number})"


def _walk(traceback: types.TracebackType | None) -> Iterator[tuple[types.FrameType, int]]:
    while traceback is not None:
        yield traceback.tb_frame, traceback.tb_lineno
        traceback = traceback.tb_next


def _shown(value: Any) -> str:
    try:
        text = " ".join(repr(value).split())
    except Exception:  # it is a user's class
        text = f"an object of the class {type(value).__name__}"
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}..."


def _caller(function: Callable[..., Any], title: str) -> "_Call":
    """Return a function of all three arguments that passes on those that `function` takes.

    Parameters that are called limit and rng get those, others without a default by their place.
    """
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # some functions in C do not say
        return lambda position, limit, rng: function(position, limit, generator(rng))
    by_place: list[int] = []  # arguments, 0 to 2: position, limit and generator
    by_name: dict[str, int] = {}
    for parameter in parameters:
        argument = {"limit": 1, "rng": 2}.get(parameter.name) if by_place else None
        if parameter.kind == parameter.VAR_POSITIONAL:
            by_place += range(len(by_place), 3 - len(by_name))
        elif argument is not None and parameter.kind != parameter.POSITIONAL_ONLY:
            by_name[parameter.name] = argument
        elif parameter.default is parameter.empty or not by_place:
            if parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD) or by_name:
                raise _wrong_parameters(function, title)
            by_place.append(len(by_place))
    if not 1 <= len(by_place) <= 3:
        raise _wrong_parameters(function, title)

    def call(position: Position, limit: Limit, rng: "np.random.Generator | None") -> Any:
        arguments = (position, limit, generator(rng))
        names = {name: arguments[argument] for name, argument in by_name.items()}
        return function(*(arguments[argument] for argument in by_place), **names)

    return call


def _wrong_parameters(function: Callable[..., Any], title: str) -> UserError:
    return UserError(
        f"{title} takes {inspect.signature(function)}; an agent takes {FORMS}, "
        "and other parameters have defaults"
    )


# --- which code it is ----------------------------------------------------------------------------


def fingerprint(thing: Any) -> str:
    """Return a short hash that changes with the code of a function, class or object.

    Games of different code must not be counted together. Code that it calls elsewhere does not
    count, nor do values without a meaningful repr.
    """
    digest = hashlib.sha256()
    for part in _parts(thing, 0):
        digest.update(part.encode(errors="backslashreplace") + b"\0")
    return digest.hexdigest()[:16]


def _parts(thing: Any, depth: int) -> Iterator[str]:
    """Yield texts that describe a thing, its code above all."""
    if depth > 6:  # deep enough for decorated methods
        return
    if isinstance(thing, types.CodeType):
        yield thing.co_code.hex()
        yield repr(thing.co_names)
        for constant in thing.co_consts:
            yield from _parts(constant, depth + 1)
    elif isinstance(thing, types.FunctionType):
        yield from _parts(thing.__code__, depth + 1)
        for value in (thing.__defaults__, thing.__kwdefaults__):
            yield from _parts(value, depth + 1)
        for cell in thing.__closure__ or ():
            yield from _parts(cell.cell_contents, depth + 1)
    elif isinstance(thing, functools.partial):
        yield from _parts((thing.func, thing.args, thing.keywords), depth + 1)
    elif isinstance(thing, type):
        yield thing.__qualname__
        yield from _parts([base for base in thing.__bases__ if base is not object], depth + 1)
        for name, value in vars(thing).items():
            # Names such as __dict__ and __doc__ say nothing about the play; methods do.
            if not name.startswith("__") or isinstance(value, types.FunctionType):
                yield name
                yield from _parts(value, depth + 1)
    elif isinstance(thing, dict | list | tuple):
        for entry in thing.items() if isinstance(thing, dict) else thing:
            yield from _parts(entry, depth + 1)
    elif isinstance(thing, frozenset | set):
        yield repr(sorted(map(repr, thing)))
    elif hasattr(thing, "decide"):
        yield from _parts(type(thing), depth + 1)
        yield from _parts(getattr(thing, "__dict__", ()), depth + 1)
    else:
        # Addresses differ from process to process.
        yield re.sub(r" at 0x[0-9a-fA-F]+", "", repr(thing))
