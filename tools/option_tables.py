"""The tables of options in docs/agents, made from the options that the agents declare."""

import re
from pathlib import Path

from fourlab.agents import registry
from fourlab.options import Option, as_text
from tools.markdown import code, plain, table

AGENTS = Path(__file__).parents[1] / "docs" / "agents"
HEADING = "\n## Options\n\n"
HEAD = ("option", "default", "values", "meaning")
NONE = "This agent has no options.\n"


def pages() -> list[Path]:
    """Return the pages that are about one agent."""
    return sorted(page for page in AGENTS.glob("*.md") if page.stem != "index")


def row(option: Option, default: str) -> list[str]:
    """Return the cells of an option: name, default, allowed values, meaning."""
    unit = f", in {option.unit}" if option.unit not in ("", option.name) else ""
    return [code(option.name), code(default), option.allowed_values + unit, plain(option.full_help)]


def options_table(agent: str) -> str:
    """Return the table of an agent's options."""
    rows = [row(option, as_text(option.default)) for option in registry.options_of(agent)]
    return table(HEAD, rows) if rows else NONE


def updated(agent: str, text: str) -> str:
    """Return a page with its table of options as the agent declares them today."""
    before, heading, after = text.partition(HEADING)
    shown = re.match(r"(?:\|.*\n)+|" + re.escape(NONE), after)
    rest = after[shown.end() :] if shown else f"\n{after}"
    return before + heading + options_table(agent) + rest if heading else text
