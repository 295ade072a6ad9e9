"""The reference page has every public name, as the docstrings describe it."""

import re

import fourlab as fl
from tests import python_api


def test_the_page_is_made_from_the_docstrings() -> None:
    assert python_api.PAGE.read_text(encoding="utf-8") == python_api.page(), (
        "python -m tests.python_api writes the page again"
    )


def test_the_page_has_every_public_name_with_an_example() -> None:
    parts = re.split(r"^### `(\w+)`$", python_api.page(), flags=re.MULTILINE)
    sections = dict(zip(parts[1::2], parts[2::2], strict=True))
    assert set(sections) == set(fl.__all__)
    for name, text in sections.items():
        assert re.search(r"^[A-Z].*\.$", text, re.MULTILINE), f"{name} has no sentence"
        assert "```python\n>>> " in text, f"{name} has no example"
