"""Settings: dataclasses whose fields know their default, range, unit and help.

    @dataclass(frozen=True)
    class Settings:
        c: float = option(1.4, "Exploration constant.", least=0, most=1000, public=True)

        def __post_init__(self) -> None:
            check(self)

From such a class come the options of an agent's spec (`mcts:c=2`), the options of a command,
`--set` and TOML files, the tables of `fourlab agents` and `fourlab settings`, the JSON schema of
the API and the form on the page. A value outside its range is refused here, in one line that names
the range, before anything compiled sees it.
"""

import contextlib
import dataclasses
import difflib
import functools
import inspect
import math
import numbers
import tomllib
import types
import typing
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from fourlab.errors import UserError

S = TypeVar("S")

_UNIONS = (types.UnionType, typing.Union)
_BOOLS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_KEY = "fourlab"
"""Where a field's metadata hold the rest of an option."""


@dataclasses.dataclass(frozen=True)
class _Declared:
    help: str
    least: float | None
    above: float | None
    most: float | None
    unit: str
    public: bool
    public_most: float | None
    aliases: tuple[str, ...]
    separator: str
    metavar: str


def option(
    default: Any,
    help: str,
    *,
    least: float | None = None,
    above: float | None = None,
    most: float | None = None,
    unit: str = "",
    public: bool = False,
    public_most: float | None = None,
    aliases: tuple[str, ...] = (),
    separator: str = "",
    metavar: str = "",
) -> Any:
    """Declare a field of a settings dataclass.

    The range is `least` <= value <= `most`, or `above` < value. `public` says that strangers may
    set the option over the web, there up to `public_most`. `aliases` are names that older versions
    had for it. A list written as one text is cut at `separator`. `metavar` stands for the value in
    a command's help.
    """
    declared = _Declared(help, least, above, most, unit, public, public_most, aliases, separator, metavar)
    return dataclasses.field(default=default, metadata={_KEY: declared})


@dataclasses.dataclass(frozen=True)
class Option:
    """One setting: what it is called, what it may be, and what it means."""

    name: str
    kind: Any
    """Its type: bool, int, float, str, a Literal, a tuple of texts, or one of these or None."""
    default: Any
    """`inspect.Parameter.empty` if it must be given."""
    help: str = ""
    least: float | None = None
    above: float | None = None
    most: float | None = None
    unit: str = ""
    """What it counts or measures, such as s or MB; empty for a plain number."""
    public: bool = False
    """Whether strangers may set it over the web."""
    public_most: float | None = None
    """The greatest value that they may set."""
    aliases: tuple[str, ...] = ()
    separator: str = ""
    """What separates the entries of a list that is written as one text; empty if each has its own."""
    metavar: str = ""

    @functools.cached_property
    def is_list(self) -> bool:
        """Whether it is a list of texts."""
        return any(typing.get_origin(kind) is tuple for kind in self.kinds)

    @functools.cached_property
    def kinds(self) -> tuple[Any, ...]:
        """The types of its values, without None."""
        parts = typing.get_args(self.kind) if _is_union(self.kind) else (self.kind,)
        return tuple(part for part in parts if part is not types.NoneType)

    @functools.cached_property
    def may_be_none(self) -> bool:
        """Whether it can be left open."""
        return _is_union(self.kind) and types.NoneType in typing.get_args(self.kind)

    @property
    def choices(self) -> tuple[Any, ...]:
        """The values of a Literal; empty if it is none."""
        return tuple(value for kind in self.kinds if typing.get_origin(kind) is typing.Literal for value in typing.get_args(kind))

    @property
    def wanted(self) -> str:
        """What it may be, in words."""
        words = [self._wanted(kind) for kind in self.kinds]
        if self.may_be_none:
            words.append("none")
        return _listed(words)

    def _wanted(self, kind: Any) -> str:
        if typing.get_origin(kind) is typing.Literal:
            return _listed([str(value) for value in typing.get_args(kind)])
        if typing.get_origin(kind) is tuple:
            return "a list of texts"
        if kind in (int, float):
            word = "a whole number" if kind is int else "a number"
            return f"{word}{self.range_in_words}"
        return {bool: "true or false", str: "a text"}.get(kind, str(kind))

    @property
    def range_in_words(self) -> str:
        """The range, with a space before it; empty if there is none."""
        most = "" if self.most is None else f"{self.most:,}"
        if self.above is not None:
            return f" greater than {self.above:,}" + (f" and at most {most}" if most else "")
        if self.least is not None:
            return f" from {self.least:,} to {most}" if most else f" of at least {self.least:,}"
        return f" of at most {most}" if most else ""

    def read(self, text: str) -> Any:
        """Read a value as it is written in a spec or on the command line; raises ValueError."""
        if self.may_be_none and text.lower() == "none":
            return None
        for kind in sorted(self.kinds, key=lambda kind: kind is str):  # a text would take anything
            with contextlib.suppress(ValueError):
                return _read(text, kind, self.separator)
        raise ValueError(text)

    def check(self, value: Any) -> None:
        """Refuse a value of another type or outside the range."""
        if value is self.default or (value is None and self.may_be_none):
            return
        if not any(self._allows(value, kind) for kind in self.kinds):
            raise UserError(f"{self.name} must be {self.wanted}, not {_shown(value)}")

    def _allows(self, value: Any, kind: Any) -> bool:
        if typing.get_origin(kind) is typing.Literal:
            return any(value is each or value == each for each in typing.get_args(kind))
        if typing.get_origin(kind) is tuple:
            return isinstance(value, tuple) and all(isinstance(each, str) for each in value)
        if kind in (int, float):
            number = numbers.Integral if kind is int else numbers.Real
            return (
                isinstance(value, number)
                and not isinstance(value, bool)  # to Python, True is a whole number
                and self._is_in_range(value)
            )
        return isinstance(value, kind) if isinstance(kind, type) else True

    def _is_in_range(self, value: Any) -> bool:
        try:
            if not math.isfinite(value):
                return False
        except OverflowError:  # a whole number that no float can hold
            return False
        return (
            (self.least is None or value >= self.least)
            and (self.above is None or value > self.above)
            and (self.most is None or value <= self.most)
        )

    @property
    def schema(self) -> dict[str, Any]:
        """The option as a JSON schema."""
        schema: dict[str, Any] = {"description": self.help}
        if self.unit:
            schema["unit"] = self.unit
        if self.default is not inspect.Parameter.empty:
            schema["default"] = self.default
        if self.choices:
            return schema | {"enum": [*self.choices, *([None] if self.may_be_none else [])]}
        names = {bool: "boolean", int: "integer", float: "number", str: "string"}
        types_ = [names.get(kind, "array") for kind in self.kinds]
        if self.may_be_none:
            types_.append("null")
        schema["type"] = types_[0] if len(types_) == 1 else types_
        if "array" in types_:
            schema["items"] = {"type": "string"}
        bounds = {"minimum": self.least, "exclusiveMinimum": self.above, "maximum": self.most}
        return schema | {name: bound for name, bound in bounds.items() if bound is not None}


# --- a class and its options --------------------------------------------------------------------


def options_of(factory: Any) -> dict[str, Option]:
    """The options of a settings dataclass, or of any class: its parameters of plain types."""
    return _cached_options(factory)


@functools.cache  # typing takes its time, and a server asks often
def _cached_options(factory: Any) -> dict[str, Option]:
    try:
        hints = typing.get_type_hints(factory.__init__)
    except NameError as error:
        raise UserError(f"the options of {factory.__name__} have types that cannot be found: {error}") from None
    declared = {}
    if dataclasses.is_dataclass(factory):
        declared = {field.name: field.metadata.get(_KEY) for field in dataclasses.fields(factory)}
    named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    found = {}
    for name, parameter in inspect.signature(factory).parameters.items():
        kind = hints.get(name, str)
        if parameter.kind in named and _is_plain(kind):
            more = declared.get(name)
            rest = {} if more is None else {each.name: getattr(more, each.name) for each in dataclasses.fields(more)}
            found[name] = Option(name, kind, parameter.default, **rest)
    return found


def check(settings: Any) -> None:
    """Refuse settings of which one has the wrong type or is outside its range; for __post_init__."""
    for name, each in options_of(type(settings)).items():
        each.check(getattr(settings, name))


def from_texts(factory: Any, texts: Mapping[str, str], owner: str) -> dict[str, Any]:
    """Read options written as texts, as in a spec; `owner` says whose they are, as "agent 'mcts'"."""
    known = options_of(factory)
    values: dict[str, Any] = {}
    for name, each in resolved(known, texts, owner).items():
        try:
            values[name] = known[name].read(each)
            known[name].check(values[name])
        except (ValueError, UserError):
            raise UserError(f"option {name} of {owner} must be {known[name].wanted}, not {each!r}") from None
    return values


def resolved(known: Mapping[str, Option], given: Mapping[str, S], owner: str) -> dict[str, S]:
    """Put the names of today in the place of old ones, and refuse names that do not exist."""
    old = {alias: name for name, each in known.items() for alias in each.aliases}
    found: dict[str, S] = {}
    for written, value in given.items():
        name = old.get(written, written)
        if name not in known:
            listed = f"its options are {', '.join(known)}" if known else "it has no options"
            raise UserError(f"{owner} has no option {written!r}{perhaps(written, known)}; {listed}")
        if name in found:
            raise UserError(f"option {name!r} of {owner} is given twice, once as {written!r}")
        found[name] = value
    return found


def changed(settings: S, given: Mapping[str, Any], owner: str) -> S:
    """Change settings by values as TOML and JSON have them: lists become tuples."""
    known = options_of(type(settings))
    values: dict[str, Any] = {}
    for name, value in resolved(known, given, owner).items():
        if isinstance(value, list):
            values[name] = tuple(value)
        elif isinstance(value, str) and known[name].is_list:
            values[name] = known[name].read(value)
        else:
            values[name] = value
    return dataclasses.replace(settings, **values)  # type: ignore[type-var]


def as_data(settings: Any) -> dict[str, Any]:
    """Settings as TOML and JSON have them; what is None is left out, for TOML has no word for it."""
    values = {name: getattr(settings, name) for name in options_of(type(settings))}
    return {name: value for name, value in values.items() if value is not None}


def schema_of(factory: Any, names: Iterable[str] | None = None) -> dict[str, Any]:
    """The JSON schema of a class's options, or of some of them."""
    known = options_of(factory)
    chosen = known if names is None else {name: known[name] for name in names}
    return {
        "type": "object",
        "properties": {name: each.schema for name, each in chosen.items()},
        "additionalProperties": False,
    }


# --- texts --------------------------------------------------------------------------------------


def read_toml(file: Path) -> dict[str, Any]:
    """Read a TOML file of settings."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"cannot read {file}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UserError(f"{file} is not TOML: {error}") from None


def read_assignment(text: str) -> dict[str, Any]:
    """Read NAME=VALUE, the value as in TOML or else as a plain text."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UserError(f"a setting is changed by NAME=VALUE, not {text!r}")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return {name.strip(): value.strip()}


def as_text(value: Any) -> str:
    """A value as it is written in a spec."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


def perhaps(word: str, candidates: Iterable[str]) -> str:
    """Suggest the nearest of the words that exist."""
    close = difflib.get_close_matches(word, list(candidates), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def read_bool(text: str) -> bool:
    """Read 0 or 1, or another word for it; raises ValueError."""
    if text.lower() not in _BOOLS:
        raise ValueError(text)
    return _BOOLS[text.lower()]


def _read(text: str, kind: Any, separator: str) -> Any:
    if typing.get_origin(kind) is typing.Literal:
        meant = {str(value): value for value in typing.get_args(kind)}
        if text not in meant:
            raise ValueError(text)
        return meant[text]
    if typing.get_origin(kind) is tuple:
        parts = text.split(separator) if separator else [text]
        return tuple(" ".join(part.split()) for part in parts if part.strip())
    if kind is bool:
        return read_bool(text)
    return kind(text)


def _is_union(kind: Any) -> bool:
    return typing.get_origin(kind) in _UNIONS


def _is_plain(kind: Any) -> bool:
    if _is_union(kind):
        return all(part is types.NoneType or _is_plain(part) for part in typing.get_args(kind))
    return kind in (int, float, bool, str) or typing.get_origin(kind) is typing.Literal or kind == tuple[str, ...]


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _shown(value: Any) -> str:
    """A value in an error: texts with quotation marks, numbers as they are, nothing endless."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
