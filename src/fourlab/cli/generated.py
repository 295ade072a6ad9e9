"""Options of a command made from dataclasses, so that no command lists forty parameters.

    @with_settings
    def match(one: Agent, other: Agent, settings: MatchSettings, running: Running) -> None:

gives the command one option for every field of both classes and calls the function with the two
values. Fields declared by `fourlab.options.option` bring their help, range and default; other fields
are annotated for typer. A parameter `Annotated[dict, Given(Settings)]` gets only what the user has
written, for commands that change a preset.
"""

import inspect
import typing
from collections.abc import Callable, Collection
from dataclasses import Field, dataclass, fields, is_dataclass
from typing import Annotated, Any

import typer

from fourlab.errors import UserError
from fourlab.options import Option, as_text, options_of


@dataclass(frozen=True)
class Given:
    """Marks a parameter that gets a dictionary of the options that were written."""

    settings: type
    without: tuple[str, ...] = ()
    """Fields that the command has options of its own for."""


def with_settings(function: Callable[..., None], left_out: Collection[str] = ()) -> Callable[..., None]:
    """Let a command have the options of its parameters that are dataclasses.

    Parameters that are `left_out` keep their defaults.
    """
    groups: dict[str, _Group] = {}
    parameters: list[inspect.Parameter] = []
    for each in inspect.signature(function, eval_str=True).parameters.values():
        if each.name in left_out:
            continue
        if (group := _group_of(each.annotation)) is None:
            parameters.append(each)
        else:
            groups[each.name] = group
            parameters += group.parameters()

    def command(**written: Any) -> None:
        values = dict(written)
        for name, group in groups.items():
            values[name] = group.value(values)
        function(**values)

    command.__doc__ = function.__doc__
    command.__name__ = function.__name__
    keyword_only = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in parameters]
    command.__signature__ = inspect.Signature(keyword_only)  # type: ignore[attr-defined]
    command.__annotations__ = {}
    return command


@dataclass(frozen=True)
class _Group:
    """The options of one dataclass."""

    settings: type
    only_given: bool
    without: tuple[str, ...] = ()

    @property
    def fields(self) -> "list[Field[Any]]":
        """The fields that are options of the command."""
        return [each for each in fields(self.settings) if each.name not in self.without]

    @property
    def declared(self) -> dict[str, Option]:
        """The fields that know their range; the others are typer's."""
        known = options_of(self.settings)
        return {each.name: known[each.name] for each in self.fields if each.metadata and each.name in known}

    def parameters(self) -> list[inspect.Parameter]:
        hints = typing.get_type_hints(self.settings, include_extras=True)
        declared = self.declared
        found = []
        for each in self.fields:
            if each.name in declared:
                option = declared[each.name]
                annotation = _annotation(option, self.only_given)
                default = None if self.only_given else _default(option)
            else:
                annotation = hints[each.name]
                default = each.default
            found.append(inspect.Parameter(each.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation))
        return found

    def value(self, written: dict[str, Any]) -> Any:
        """Take this group's options out of what was written, and read them."""
        declared = self.declared
        found = {}
        for each in self.fields:
            value = written.pop(each.name)
            if each.name not in declared:
                found[each.name] = value
            elif value is not None:
                found[each.name] = _read(declared[each.name], value)
        return found if self.only_given else self.settings(**found)


def _group_of(annotation: Any) -> _Group | None:
    for extra in getattr(annotation, "__metadata__", ()):
        if isinstance(extra, Given):
            return _Group(extra.settings, only_given=True, without=extra.without)
    if isinstance(annotation, type) and is_dataclass(annotation):
        return _Group(annotation, only_given=False)
    return None


def _annotation(option: Option, only_given: bool) -> Any:
    """The option as typer has it; texts are read by the option itself, whose errors name its range."""
    flag = f"--{option.name.replace('_', '-')}"
    kind: Any = str | None
    metavar: str | None = _metavar(option)
    if bool in option.kinds:
        kind, metavar = bool | None, None
        if option.default or only_given:
            flag += f"/--no-{flag.removeprefix('--')}"
    elif option.is_list and not option.separator:
        kind = list[str] | None
    # What is as good as nothing need not be shown.
    is_empty = option.default is None or option.default is False or option.default in ("", ())
    shown = not only_given and not is_empty
    return Annotated[kind, typer.Option(flag, metavar=metavar, help=_help(option), show_default=shown)]


def _metavar(option: Option) -> str:
    if option.choices:
        return "|".join(map(str, option.choices))
    if option.metavar:
        return option.metavar
    if int in option.kinds:
        return "N"
    return "NUMBER" if float in option.kinds else "TEXT"


def _help(option: Option) -> str:
    unit = option.unit if option.unit not in ("", option.name) else ""
    range_ = option.range_in_words.strip()
    more = ", ".join(part for part in (unit, range_) if part)
    return f"{option.help} ({more})" if more else option.help


def _default(option: Option) -> Any:
    """The default as it would be written."""
    if option.default is None or isinstance(option.default, bool):
        return option.default
    if option.is_list:
        return list(option.default) if not option.separator else f"{option.separator} ".join(option.default)
    return as_text(option.default)


def _read(option: Option, written: Any) -> Any:
    """Read what was written and refuse what cannot be, by the name on the command line."""
    if isinstance(written, bool):
        return written
    if isinstance(written, list):
        return tuple(written)
    try:
        value = option.read(written)
    except ValueError:
        value = written
    try:
        option.check(value)
    except UserError:
        flag = f"--{option.name.replace('_', '-')}"
        raise UserError(f"{flag} must be {option.wanted}, not {written!r}") from None
    return value
