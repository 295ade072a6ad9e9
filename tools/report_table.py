"""The table of the five reports in docs/bibliography.md, made from `fourlab.sources`."""

import re
from pathlib import Path

from fourlab.sources import SOURCES
from tools.markdown import plain, table

PAGE = Path(__file__).parents[1] / "docs" / "bibliography.md"
HEADING = "\n## The five reports\n"
HEAD = ("authors", "title", "year", "written for", "public besides the report")


def updated(text: str) -> str:
    """Return the page with the table as `fourlab.sources` has it today."""
    before, heading, after = text.partition(HEADING)
    section, next_heading, rest = after.partition("\n## ")
    prose = re.sub(r"^\|.*\n", "", section, flags=re.MULTILINE).strip()
    return f"{before}{heading}\n{prose}\n\n{reports()}{next_heading}{rest}"


def reports() -> str:
    """Return the table."""
    rows = []
    for name, source in SOURCES.items():
        # Several addresses are named by their last part.
        several = len(source.addresses) > 1
        links = "".join(
            f" ([{address.rsplit('/')[-1] if several else 'repository'}]({address}))"
            for address in source.addresses
        )
        rows.append(
            [
                f"[{source.authors}](experiments/{name}/report.md)",
                plain(source.title),
                str(source.year or "not stated"),
                plain(source.made),
                plain(source.public) + links,
            ]
        )
    return table(HEAD, rows)
