"""Options of a command generated from dataclasses, so that no command lists forty parameters.

    @with_settings
    def match(one: Agent, other: Agent, settings: MatchSettings, running: Running) -> None:

gives the command one option for every field of both classes and calls the function with two
instances. Fields declared by `fourlab.options.option` bring their help, range and default, and
their old names as hidden options; other fields are annotated for typer. A parameter
`Annotated[dict, Given(Settings)]` receives only the options present on the command line, for
commands that modify a preset.
"""

import inspect
import typing
from collections.abc import Callable, Collection
from dataclasses import Field, dataclass, fields, is_dataclass, replace
from typing import Annotated, Any

import typer

from fourlab.errors import UserError
from fourlab.options import Option, as_text, options_of


@dataclass(frozen=True)
class Given:
    """Marks a parameter that receives the options present on the command line, as a dictionary."""

    settings: type
    without: tuple[str, ...] = ()
    """Fields for which the command declares its own option."""


def with_settings(
    function: Callable[..., None], left_out: Collection[str] = ()
) -> Callable[..., None]:
    """Return a command in which every dataclass parameter is replaced by one option per field.

    Parameters in `left_out` get no options and keep their defaults.
    """
    # By the name of the parameter; the options of a group take its place in the signature.
    groups: dict[str, _Group] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in inspect.signature(function, eval_str=True).parameters.values():
        if parameter.name in left_out:
            continue
        if (group := _group_of(parameter.annotation)) is None:
            parameters.append(parameter)
        else:
            groups[parameter.name] = group
            parameters += group.parameters()

    def command(**arguments: Any) -> None:
        for name, group in groups.items():
            arguments[name] = group.pop_value(arguments)
        function(**arguments)

    # typer reads the signature, not the annotations of `command` itself.
    command.__doc__ = function.__doc__
    command.__name__ = function.__name__
    # Keyword-only, so that options without a default may follow others that have one.
    keyword_only = [
        parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in parameters
    ]
    command.__signature__ = inspect.Signature(keyword_only)  # type: ignore[attr-defined]
    command.__annotations__ = {}
    return command


@dataclass(frozen=True)
class _Group:
    """The options of one dataclass."""

    settings: type
    only_given: bool
    """Whether the command receives a dictionary of the given options instead of an instance."""
    without: tuple[str, ...] = ()

    @property
    def fields(self) -> "list[Field[Any]]":
        """The fields that become options of the command."""
        return [field for field in fields(self.settings) if field.name not in self.without]

    @property
    def declared(self) -> dict[str, Option]:
        """The fields declared by `fourlab.options.option`, which check their own range."""
        options = options_of(self.settings)
        return {
            field.name: options[field.name]
            for field in self.fields
            if field.metadata and field.name in options
        }

    def parameters(self) -> list[inspect.Parameter]:
        """Return one parameter with typer's annotation for every field."""
        hints = typing.get_type_hints(self.settings, include_extras=True)
        declared = self.declared
        parameters = []
        for field in self.fields:
            annotation = hints[field.name]
            default = field.default
            if (option := declared.get(field.name)) is not None:
                annotation = _annotation(option, self.only_given)
                default = None if self.only_given else _default(option)
            parameter = inspect.Parameter(
                field.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=default,
                annotation=annotation,
            )
            parameters.append(parameter)
            if option is not None:
                # A parameter of its own, since typer cannot hide one name of several.
                parameters += [
                    parameter.replace(
                        name=alias,
                        default=None,
                        annotation=_annotation(replace(option, name=alias), True, hidden=True),
                    )
                    for alias in option.aliases
                ]
        return parameters

    def pop_value(self, arguments: dict[str, Any]) -> Any:
        """Remove this group's options from the arguments; return them as settings."""
        declared = self.declared
        values = {}
        for field in self.fields:
            value = arguments.pop(field.name)
            option = declared.get(field.name)
            for alias in option.aliases if option is not None else ():
                if (old := arguments.pop(alias)) is not None:
                    value = old
            # None stands for "not given" where the option has its own range; the dataclass then
            # uses its default.
            if option is None:
                values[field.name] = value
            elif value is not None:
                values[field.name] = _read(option, value)
        return values if self.only_given else self.settings(**values)


def _group_of(annotation: Any) -> _Group | None:
    """Return the options that a parameter stands for, or None for an ordinary parameter."""
    for extra in getattr(annotation, "__metadata__", ()):
        if isinstance(extra, Given):
            return _Group(extra.settings, only_given=True, without=extra.without)
    if isinstance(annotation, type) and is_dataclass(annotation):
        return _Group(annotation, only_given=False)
    return None


def _flag(option: Option) -> str:
    return f"--{option.name.replace('_', '-')}"


def _annotation(option: Option, only_given: bool, hidden: bool = False) -> Any:
    """Return typer's annotation of an option.

    typer gets the value as text: the option parses it itself, so that error messages name its
    range.
    """
    flag = _flag(option)
    kind: Any = str | None
    metavar: str | None = _metavar(option)
    if bool in option.kinds:
        kind = bool | None
        metavar = None
        # A flag that is on by default, or in some preset, must be possible to turn off.
        if option.default or only_given:
            flag += f"/--no-{flag.removeprefix('--')}"
    # A list without a separator is an option that can be repeated.
    elif option.is_list and not option.separator:
        kind = list[str] | None
    # A default of "nothing" is not worth showing.
    is_empty = option.default is None or option.default is False or option.default in ("", ())
    show_default = not only_given and not is_empty
    declaration = typer.Option(
        flag, metavar=metavar, help=_help(option), show_default=show_default, hidden=hidden
    )
    return Annotated[kind, declaration]


def _metavar(option: Option) -> str:
    if option.choices:
        return "|".join(map(str, option.choices))
    if option.metavar:
        return option.metavar
    if int in option.kinds:
        return "N"
    return "NUMBER" if float in option.kinds else "TEXT"


def _help(option: Option) -> str:
    """Return the help of an option, with its unit and range in parentheses."""
    unit = option.unit if option.unit not in ("", option.name) else ""
    bounds = option.range_in_words.strip().removeprefix("of ")
    details = ", ".join(part for part in (unit, bounds) if part)
    return f"{option.help.removesuffix('.')} ({details})." if details else option.help


def _default(option: Option) -> Any:
    """Return the default as it would be written on the command line."""
    if option.default is None or isinstance(option.default, bool):
        return option.default
    if not option.is_list:
        return as_text(option.default)
    if option.separator:
        return f"{option.separator} ".join(option.default)
    return list(option.default)


def _read(option: Option, argument: Any) -> Any:
    """Parse an argument; raise UserError, naming the flag and the range, if it is not allowed."""
    if isinstance(argument, bool):
        return argument
    if isinstance(argument, list):
        return tuple(argument)
    # What cannot be parsed is left to the check, which says what is allowed.
    try:
        value = option.read(argument)
    except ValueError:
        value = argument
    try:
        option.check(value)
    except UserError:
        allowed = option.allowed_values
        raise UserError(f"{_flag(option)} must be {allowed}, not {argument!r}") from None
    return value
