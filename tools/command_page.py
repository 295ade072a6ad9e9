"""The page of all commands, made from the parser of the command line."""

import re
import textwrap
from collections.abc import Iterator
from typing import Any

from fourlab.cli.commands import GROUPS, load
from fourlab.cli.train import TRAININGS
from fourlab.options import options_of
from tools.markdown import NOTE, code, paragraph, plain, table

INTRODUCTION = """# Commands

{note}

Every command with its arguments and options, as `fourlab help COMMAND` prints them. All commands
take `-h` and `--help`. Whole numbers may be written as `10k`, `2M` or `1e6`. The exit code is 0
after success, 1 after a failure, 2 after wrong input and 130 after Ctrl-C.

"""
KINDS = {
    **{"<str>": "TEXT", "<int>": "N", "<float>": "NUMBER", "<path>": "FILE", "<list[str]>": ""},
    **{"<list[int]>": "", "<list[path]>": "", "INTEGER": "N", "FLOAT": "NUMBER", "PATH": "FILE"},
}
"""Kinds of values, which versions of typer write differently, in our words."""


def page() -> str:
    """Return the page."""
    parts = [INTRODUCTION.format(note=NOTE)]
    for title, names in GROUPS.items():
        parts.append(f"## {title}\n\n")
        for name in names:
            parts += _sections(load(name), f"fourlab {name}", "###")
    return "".join(parts).rstrip() + "\n"


def _sections(command: Any, path: str, marks: str) -> Iterator[str]:
    """Yield the section of a command, and those of its subcommands."""
    yield f"{marks} `{path}`\n\n"
    prose, examples = _help(command.help)
    yield "".join(prose)
    subcommands = getattr(command, "commands", {})
    if not subcommands:
        yield _usage(command, path)
        yield _parameters(command, path)
    if examples:
        label = "Example" if len(examples) == 1 else "Examples"
        yield f"{label}:\n\n```sh\n" + "\n".join(examples) + "\n```\n\n"
    for name, subcommand in subcommands.items():
        if not subcommand.hidden:
            yield from _sections(subcommand, f"{path} {name}", marks + "#")


def _help(text: str) -> tuple[list[str], list[str]]:
    """Return the paragraphs of a help text as Markdown, and its examples."""
    prose = []
    examples = []
    for part in text.strip().split("\n\n"):
        # click keeps the lines of a part that begins with a backspace.
        if part.lstrip().startswith("\b"):
            head, _, lines = part.partition("\b")[2].strip().partition("\n")
            prose.append(f"{paragraph(head)}```text\n{textwrap.dedent(lines)}\n```\n\n")
            continue
        joined = " ".join(part.split())
        if example := re.match(r"(?:Example: )?(fourlab [^.]*(?:\.[^ ][^.]*)*)$", joined):
            examples.append(example[1])
        elif joined != "Examples:":
            prose.append(paragraph(joined))
    return prose, examples


def _usage(command: Any, path: str) -> str:
    words = [path]
    for parameter in command.params:
        if parameter.param_type_name == "argument":
            name = _argument(parameter)
            word = name if parameter.required else f"[{name}]"
            words.append(word + ("..." if parameter.nargs == -1 else ""))
    words.append("[OPTIONS]")
    return f"Usage: `{' '.join(words)}`\n\n"


def _argument(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _parameters(command: Any, path: str) -> str:
    """Return the tables of a command's arguments and options."""
    context = command.make_context(path, [], resilient_parsing=True)
    settings = _settings(path)
    arguments = []
    options = []
    for parameter in command.params:
        # A hidden option has no record; the settings of a training have a page of their own.
        record = parameter.get_help_record(context)
        if record is None or parameter.name in settings:
            continue
        name, meaning = record
        name = " ".join(KINDS.get(word, word) for word in name.split(" ")).strip()
        meaning, facts = _split(meaning)
        default = facts.pop("default", "")
        meaning = plain(meaning)
        if "range" in facts:
            meaning = f"{meaning.removesuffix('.')} ({facts['range']})."
        if "env var" in facts:
            meaning = f"{meaning} Environment variable: `{facts['env var']}`."
        if parameter.param_type_name == "argument":
            arguments.append([code(_argument(parameter)), meaning])
        else:
            options.append([code(name), code(default), meaning])
    parts = []
    if arguments:
        parts.append(table(("argument", "meaning"), arguments) + "\n")
    if options:
        parts.append(table(("option", "default", "meaning"), options) + "\n")
    if settings:
        name = path.split()[-1]
        parts.append(f"All [settings of `{name}`](settings.md#{name}) are options as well.\n\n")
    return "".join(parts)


def _settings(path: str) -> frozenset[str]:
    """Return the settings that are options of a training's command, old names included."""
    if not path.startswith("fourlab train "):
        return frozenset()
    options = options_of(TRAININGS[path.split()[-1]].settings)
    names = {name for option in options.values() for name in (option.name, *option.aliases)}
    return frozenset(names - {"faithful"})


def _split(text: str) -> tuple[str, dict[str, str]]:
    """Return a help text and the facts in brackets at its end: default, range, variable."""
    match = re.search(r"  \[(.*)\]$", text)
    if match is None:
        return text, {}
    facts = {}
    for fact in match[1].split("; "):
        name, _, value = fact.partition(": ")
        if value:
            facts[name] = value
        elif name != "required":
            facts["range"] = name.replace("x>=", "at least ").replace("x<=", "at most ")
    return text[: match.start()], facts
