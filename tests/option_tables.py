"""The tables of options in docs/agents, made from the options that the agents declare.

    python tests/option_tables.py       # write them into the pages again

`test_docs_structure.py` compares the pages with what this makes.
"""

import re
from pathlib import Path

from fourlab.agents import registry
from fourlab.files import write_atomically
from fourlab.options import as_text

AGENTS = Path(__file__).parents[1] / "docs" / "agents"
HEADING = "\n## Options\n\n"
HEAD = "| option | default | values | meaning |\n|---|---|---|---|\n"
NONE = "This agent has no options.\n"


def pages() -> list[Path]:
    """Return the pages that are about one agent."""
    return sorted(page for page in AGENTS.glob("*.md") if page.stem != "index")


def table(agent: str) -> str:
    """Return the table of an agent's options."""
    rows = []
    for option in registry.options_of(agent):
        default = as_text(option.default)
        unit = f", in {option.unit}" if option.unit not in ("", option.name) else ""
        cells = [
            f"`{option.name}`",
            f"`{default}`" if default else "",
            f"{option.allowed_values}{unit}",
            option.help,
        ]
        escaped = [cell.replace("|", "\\|") for cell in cells]
        rows.append(f"| {' | '.join(escaped)} |\n")
    return HEAD + "".join(rows) if rows else NONE


def updated(agent: str, text: str) -> str:
    """Return a page with its table of options as the agent declares them today."""
    before, heading, after = text.partition(HEADING)
    shown = re.match(r"(?:\|.*\n)+|" + re.escape(NONE), after)
    rest = after[shown.end() :] if shown else f"\n{after}"
    return before + heading + table(agent) + rest if heading else text


def main() -> None:
    """Write the tables of all pages."""
    for page in pages():
        text = page.read_text(encoding="utf-8")
        write_atomically(page, updated(page.stem, text).encode())


if __name__ == "__main__":
    main()
