"""Whole numbers on the command line, also written 10k, 2M or 1e6.

Options generated from settings (`cli/generated.py`) are read by `fourlab.options`. This does the
same for those that a command declares for typer: they get a parser, which checks their range, too.
"""

import inspect
import types
import typing
from collections.abc import Callable
from typing import Any

from typer.models import ArgumentInfo, OptionInfo

from fourlab.errors import UserError
from fourlab.options import Option, whole_number


def accept_short_numbers(command: Callable[..., Any] | None) -> None:
    """Give a parser to every option and argument of a command that is a whole number."""
    if command is None:
        return
    for parameter in inspect.signature(command, eval_str=True).parameters.values():
        for info in getattr(parameter.annotation, "__metadata__", ()):
            is_declared = isinstance(info, OptionInfo | ArgumentInfo)
            kind = typing.get_args(parameter.annotation)[0]
            # Several commands share one declaration, which has its parser already then.
            if is_declared and _is_whole(kind) and info.parser is None:
                _give_parser(info, parameter.name)


def _is_whole(kind: Any) -> bool:
    """Return whether a type is int, int | None or list[int]."""
    if typing.get_origin(kind) is list:
        return typing.get_args(kind) == (int,)
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        return set(typing.get_args(kind)) == {int, types.NoneType}
    return kind is int


def _give_parser(info: Any, name: str) -> None:
    flags = [flag for flag in info.param_decls or () if str(flag).startswith("--")]
    shown = flags[0] if flags else f"--{name.replace('_', '-')}"
    if isinstance(info, ArgumentInfo):
        shown = info.metavar or name.upper()
    option = Option(shown, int, None, least=info.min, most=info.max)
    info.metavar = info.metavar or ("N" if isinstance(info, OptionInfo) else shown)
    if bounds := option.range_in_words.strip().removeprefix("of "):
        info.help = f"{(info.help or '').removesuffix('.')} ({bounds})."
    # The parser checks the range itself, and says what is allowed.
    info.min = None
    info.max = None
    info.parser = _parser(option)


def _parser(option: Option) -> Callable[[Any], Any]:
    def read(text: Any) -> Any:
        if not isinstance(text, str):
            return text  # the default
        value: Any = text
        try:
            value = whole_number(text)
            option.check(value)
        except (ValueError, UserError):
            # Texts from the command line can have any length.
            written = repr(text if len(text) <= 60 else f"{text[:60]}...")
            raise UserError(
                f"{option.name} must be {option.allowed_values}, not {written}"
            ) from None
        return value

    return read
