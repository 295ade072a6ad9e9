"""Settings: dataclasses whose fields have a default, a range, a unit and a help text.

    @dataclass(frozen=True)
    class Settings:
        c: float = option(1.4, "Exploration constant.", least=0, most=1000, public=True)

        def __post_init__(self) -> None:
            check(self)

Everything else is derived from such a class: the options of an agent's spec (`mcts:c=2`) and of a
command, `--set` and TOML files, the tables of `fourlab agents` and `fourlab settings`, the JSON
schema of the API, and the form on the web page. Values outside their range are refused here, with
an error that states the range, before they reach compiled code.
"""

import contextlib
import dataclasses
import decimal
import difflib
import functools
import inspect
import math
import numbers
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from fourlab.errors import UserError
from fourlab.parsing import parse_toml

S = TypeVar("S")

# `int | None` has the first origin, Optional[int] the second.
_UNIONS = (types.UnionType, typing.Union)
_BOOLS = {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}
_FACTORS = {"k": 10**3, "m": 10**6, "g": 10**9}
"""What stands for thousands, millions and milliards at the end of a whole number."""
MAX_DIGITS = 30
"""Longest whole number in a short form; more than any option allows."""
_KEY = "fourlab"
"""The key of a field's metadata that holds the arguments of its `Option`."""


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

    The range is `least` <= value <= `most`, or `above` < value <= `most`. A `public` option can be
    set by any user of a public web server, up to `public_most`. `aliases` are names that older
    versions used. A list written as one text is split at `separator`. `metavar` stands for the
    value in a command's help.
    """
    # Kept in the field's metadata: the name, type and default are known only to the class.
    declaration = {
        "help": help,
        "least": least,
        "above": above,
        "most": most,
        "unit": unit,
        "public": public,
        "public_most": public_most,
        "aliases": aliases,
        "separator": separator,
        "metavar": metavar,
    }
    return dataclasses.field(default=default, metadata={_KEY: declaration})


@dataclasses.dataclass(frozen=True)
class Option:
    """One setting: its name, type, range and meaning."""

    name: str
    kind: Any
    """The type: bool, int, float, str, a Literal, tuple[str, ...], or a union of these and None."""
    default: Any
    """`inspect.Parameter.empty` if there is none."""
    help: str = ""
    least: float | None = None
    above: float | None = None
    most: float | None = None
    unit: str = ""
    """The unit, such as s or MB; empty for a plain number."""
    public: bool = False
    """Whether any user of a public web server may set it."""
    public_most: float | None = None
    """The highest value that they may set."""
    aliases: tuple[str, ...] = ()
    """The names that older versions used."""
    separator: str = ""
    """What separates the entries of a list in one text; empty if every entry has its own text."""
    metavar: str = ""

    @property
    def full_help(self) -> str:
        """The help, with the names that older versions used."""
        if not self.aliases:
            return self.help
        return f"{self.help} Older name: {', '.join(self.aliases)}."

    @functools.cached_property
    def is_list(self) -> bool:
        """Whether the value is a tuple of texts."""
        return any(typing.get_origin(kind) is tuple for kind in self.kinds)

    @functools.cached_property
    def kinds(self) -> tuple[Any, ...]:
        """The types of the value, without None."""
        parts = typing.get_args(self.kind) if _is_union(self.kind) else (self.kind,)
        return tuple(part for part in parts if part is not types.NoneType)

    @functools.cached_property
    def may_be_none(self) -> bool:
        """Whether the value can be None."""
        return _is_union(self.kind) and types.NoneType in typing.get_args(self.kind)

    @property
    def choices(self) -> tuple[Any, ...]:
        """The values of a Literal; empty for other types."""
        return tuple(
            value
            for kind in self.kinds
            if typing.get_origin(kind) is typing.Literal
            for value in typing.get_args(kind)
        )

    @property
    def allowed_values(self) -> str:
        """The allowed values in words, such as "a whole number of at least 1"."""
        words = [self._allowed_values(kind) for kind in self.kinds]
        if self.may_be_none:
            words.append("none")
        return _listed(words)

    def _allowed_values(self, kind: Any) -> str:
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
        """The range in words, with a space before it; empty if there is none."""
        most = "" if self.most is None else f"{self.most:,}"
        # A range has `least` or `above`, never both.
        if self.above is not None:
            return f" greater than {self.above:,}" + (f" and at most {most}" if most else "")
        if self.least is not None:
            return f" from {self.least:,} to {most}" if most else f" of at least {self.least:,}"
        return f" of at most {most}" if most else ""

    def read(self, text: str) -> Any:
        """Return the value of a text from a spec or the command line; raises ValueError."""
        if self.may_be_none and text.lower() == "none":
            return None
        # A str accepts any text, so it is tried last.
        for kind in sorted(self.kinds, key=lambda kind: kind is str):
            with contextlib.suppress(ValueError):
                return _read(text, kind, self.separator)
        raise ValueError(text)

    def check(self, value: Any) -> None:
        """Raise UserError if a value has the wrong type or is outside the range."""
        if value is self.default or (value is None and self.may_be_none):
            return
        if not any(self._allows(value, kind) for kind in self.kinds):
            raise UserError(f"{self.name} must be {self.allowed_values}, not {_shown(value)}")

    def _allows(self, value: Any, kind: Any) -> bool:
        if typing.get_origin(kind) is typing.Literal:
            return value in typing.get_args(kind)
        if typing.get_origin(kind) is tuple:
            return isinstance(value, tuple) and all(isinstance(entry, str) for entry in value)
        if kind in (int, float):
            # Abstract types, so that NumPy's numbers are accepted, too.
            number = numbers.Integral if kind is int else numbers.Real
            return (
                isinstance(value, number)
                and not isinstance(value, bool)  # bool is a subclass of int
                and self._is_in_range(value)
            )
        # Types that the checks above do not know are left to the class itself.
        return isinstance(value, kind) if isinstance(kind, type) else True

    def _is_in_range(self, value: Any) -> bool:
        try:
            if not math.isfinite(value):
                return False
        except OverflowError:  # an integer too large for a float
            return False
        return (
            (self.least is None or value >= self.least)
            and (self.above is None or value > self.above)
            and (self.most is None or value <= self.most)
        )

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the value."""
        schema: dict[str, Any] = {"description": self.help}
        if self.unit:
            schema["unit"] = self.unit
        if self.default is not inspect.Parameter.empty:
            schema["default"] = self.default
        if self.choices:
            return schema | {"enum": [*self.choices, *([None] if self.may_be_none else [])]}
        # tuple[str, ...] is the only type without a name of its own here.
        names = {bool: "boolean", int: "integer", float: "number", str: "string"}
        types_ = [names.get(kind, "array") for kind in self.kinds]
        if self.may_be_none:
            types_.append("null")
        schema["type"] = types_[0] if len(types_) == 1 else types_
        if "array" in types_:
            schema["items"] = {"type": "string"}
        # JSON schema has words for closed and open lower bounds, as we do.
        bounds = {"minimum": self.least, "exclusiveMinimum": self.above, "maximum": self.most}
        return schema | {name: bound for name, bound in bounds.items() if bound is not None}


# --- the options of a class ----------------------------------------------------------------------


def options_of(factory: Any) -> dict[str, Option]:
    """Return the options of a settings dataclass, or of any class: parameters of simple types."""
    return _cached_options(factory)  # to mypy, a class is not hashable


@functools.cache  # reading type hints is slow, and a server does it often
def _cached_options(factory: Any) -> dict[str, Option]:
    try:
        hints = typing.get_type_hints(factory.__init__)
    except NameError as error:
        raise UserError(
            f"the options of {factory.__name__} have types that cannot be found: {error}"
        ) from None
    # Classes of other packages need not use `option`: their parameters become options without a
    # range.
    declarations = {}
    if dataclasses.is_dataclass(factory):
        for field in dataclasses.fields(factory):
            if _KEY in field.metadata:
                declarations[field.name] = field.metadata[_KEY]
    # *args and **kwargs have no options.
    has_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    options = {}
    for name, parameter in inspect.signature(factory).parameters.items():
        kind = hints.get(name, str)
        if parameter.kind in has_name and _is_plain(kind):
            options[name] = Option(name, kind, parameter.default, **declarations.get(name, {}))
    return options


def check(settings: Any) -> None:
    """Raise UserError if a setting has the wrong type or is out of range; for __post_init__."""
    for name, option in options_of(type(settings)).items():
        option.check(getattr(settings, name))


def from_texts(factory: Any, texts: Mapping[str, str], owner: str) -> dict[str, Any]:
    """Return the values of options written as texts, as in a spec.

    `owner` is the subject of error messages, such as "agent 'mcts'".
    """
    options = options_of(factory)
    values: dict[str, Any] = {}
    for name, text in resolved(options, texts, owner).items():
        option = options[name]
        try:
            values[name] = option.read(text)
            option.check(values[name])
        except (ValueError, UserError):
            raise UserError(
                f"option {name} of {owner} must be {option.allowed_values}, not {_shown(text)}"
            ) from None
    return values


def resolved(options: Mapping[str, Option], values: Mapping[str, S], owner: str) -> dict[str, S]:
    """Return the values with aliases replaced by current names; refuse unknown names."""
    values_by_name = renamed(options.values(), values, owner)
    for name in values_by_name:
        if name not in options:
            listed = f"its options are {', '.join(options)}" if options else "it has no options"
            suggestion = perhaps(name, options)
            raise UserError(f"{owner} has no option {name!r}{suggestion}; {listed}")
    return values_by_name


def renamed(options: Iterable[Option], values: Mapping[str, S], owner: str) -> dict[str, S]:
    """Return the values with aliases replaced by current names; unknown names are kept."""
    current_names = aliases_of(options)
    values_by_name: dict[str, S] = {}
    for written, value in values.items():
        name = current_names.get(written, written)
        if name in values_by_name:
            spellings = [one for one in values if current_names.get(one, one) == name]
            both = " and ".join(spellings)
            raise UserError(f"option {name!r} of {owner} is given twice, as {both}")
        values_by_name[name] = value
    return values_by_name


def aliases_of(options: Iterable[Option]) -> dict[str, str]:
    """Return the current name of every alias."""
    return {alias: option.name for option in options for alias in option.aliases}


def changed(settings: S, changes: Mapping[str, Any], owner: str) -> S:
    """Return settings with some values changed; lists, as in TOML and JSON, become tuples."""
    options = options_of(type(settings))
    values: dict[str, Any] = {}
    for name, value in resolved(options, changes, owner).items():
        if isinstance(value, list):
            values[name] = tuple(value)
        # `--set against=self` gives a text where a list of one is meant.
        elif isinstance(value, str) and options[name].is_list:
            values[name] = options[name].read(value)
        else:
            values[name] = _as_whole(options[name], value)
    return dataclasses.replace(settings, **values)  # type: ignore[type-var]


def _as_whole(option: Option, value: Any) -> Any:
    """Return the whole number that is meant by `--set games=10k` or, in TOML, games = 1e6."""
    if int in option.kinds and isinstance(value, str | float) and type(value) not in option.kinds:
        with contextlib.suppress(ValueError):
            return whole_number(value if isinstance(value, str) else repr(value))
    return value


def as_data(settings: Any) -> dict[str, Any]:
    """Return settings as data for TOML and JSON, without None, which TOML cannot express."""
    values = {name: getattr(settings, name) for name in options_of(type(settings))}
    return {name: value for name, value in values.items() if value is not None}


def values_of(built: Any) -> dict[str, Any]:
    """Return the values of an object's options; the default where its class keeps no value."""
    options = options_of(type(built))
    return {name: getattr(built, name, option.default) for name, option in options.items()}


def schema_of(factory: Any, names: Iterable[str] | None = None) -> dict[str, Any]:
    """Return the JSON schema of a class's options, or of those in `names`."""
    options = options_of(factory)
    if names is None:
        names = options
    return {
        "type": "object",
        "properties": {name: options[name].schema for name in names},
        "additionalProperties": False,
    }


# --- texts --------------------------------------------------------------------------------------


def read_assignment(text: str) -> dict[str, Any]:
    """Read NAME=VALUE; a value that is not TOML is a text."""
    name, equals, value = text.partition("=")
    if not equals or not name.strip():
        raise UserError(f"a setting is changed by NAME=VALUE, not {text!r}")
    try:
        # Numbers, booleans and lists as in a TOML file; a bare word is no TOML.
        return parse_toml(text, name.strip())
    except UserError:
        return {name.strip(): value.strip()}


def as_text(value: Any) -> str:
    """Return a value as it is written in a spec."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)


OTHER_WORDS = {
    "games": ("rounds",),
    "rounds": ("games",),
    "preset": ("scale",),
    "lr": ("rate", "alpha"),
    "learning_rate": ("rate", "alpha"),
    "weight_decay": ("decay",),
    "epochs": ("passes",),
    "playouts": ("simulations",),
    "iterations": ("simulations",),
    "time": ("seconds",),
}
"""What settings are called elsewhere, and their names here."""


def perhaps(word: str, candidates: Iterable[str]) -> str:
    """Return " (did you mean …?)" with the candidate most similar to a word, or an empty text."""
    names = list(candidates)
    for name in OTHER_WORDS.get(word, ()):
        if name in names:
            return f" (did you mean {name!r}?)"
    # A similarity of at least 0.6, the default of difflib.
    close = difflib.get_close_matches(word, names, n=1)
    if not close and len(word) >= 3:  # an abbreviation, such as sims
        close = [name for name in names if name.startswith(word[:3])]
    return f" (did you mean {close[0]!r}?)" if close else ""


def read_bool(text: str) -> bool:
    """Read 0, 1, false, true, no or yes; raises ValueError."""
    if text.lower() not in _BOOLS:
        raise ValueError(text)
    return _BOOLS[text.lower()]


def whole_number(text: str) -> int:
    """Read a whole number, also if it is written 10k, 2M, 1e6 or 1_000; raises ValueError."""
    with contextlib.suppress(ValueError):
        return int(text)
    short = text.strip().lower()
    factor = _FACTORS.get(short[-1:], 1)
    digits = short[:-1] if factor > 1 else short
    if len(digits) > MAX_DIGITS:
        raise ValueError(text)
    try:
        number = decimal.Decimal(digits)
    except decimal.InvalidOperation:
        raise ValueError(text) from None
    # 1e999999999 is short, but as a whole number it has a billion digits.
    if not number.is_finite() or number.adjusted() > MAX_DIGITS:
        raise ValueError(text)
    if (number := number * factor) % 1:
        raise ValueError(text)
    return int(number)


def _read(text: str, kind: Any, separator: str) -> Any:
    if typing.get_origin(kind) is typing.Literal:
        values = {str(value): value for value in typing.get_args(kind)}
        if text not in values:
            raise ValueError(text)
        return values[text]
    if typing.get_origin(kind) is tuple:
        # Spaces at the ends and between words do not count: "conv 16 , relu" is two entries.
        parts = text.split(separator) if separator else [text]
        return tuple(" ".join(part.split()) for part in parts if part.strip())
    if kind is bool:
        return read_bool(text)
    return whole_number(text) if kind is int else kind(text)


def _is_union(kind: Any) -> bool:
    return typing.get_origin(kind) in _UNIONS


def _is_plain(kind: Any) -> bool:
    if _is_union(kind):
        return all(part is types.NoneType or _is_plain(part) for part in typing.get_args(kind))
    return (
        kind in (int, float, bool, str)
        or typing.get_origin(kind) is typing.Literal
        or kind == tuple[str, ...]
    )


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"


def _shown(value: Any) -> str:
    """Return the repr of a value for an error message, shortened if it is long."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
