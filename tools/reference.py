"""Write the pages and tables of docs/ that are made from the program.

    python -m tools.reference

They are part of the repository, so that GitHub shows them, and `tests/test_docs_reference.py`
compares them with what this makes.
"""

from pathlib import Path

from fourlab.files import write_atomically
from tools import board_page, command_page, option_tables, report_table, rest_page, settings_page

REFERENCE = Path(__file__).parents[1] / "docs" / "reference"


def pages() -> dict[Path, str]:
    """Return every page that is made from the program, wholly or in part, as it should be."""
    texts = {
        REFERENCE / "board-values.md": board_page.page(),
        REFERENCE / "commands.md": command_page.page(),
        REFERENCE / "settings.md": settings_page.page(),
        REFERENCE / "rest-routes.md": rest_page.page(),
    }
    bibliography = report_table.PAGE
    texts[bibliography] = report_table.updated(bibliography.read_text(encoding="utf-8"))
    for page in option_tables.pages():
        texts[page] = option_tables.updated(page.stem, page.read_text(encoding="utf-8"))
    return texts


def main() -> None:
    """Write them all."""
    for page, text in pages().items():
        write_atomically(page, text.encode())


if __name__ == "__main__":
    main()
