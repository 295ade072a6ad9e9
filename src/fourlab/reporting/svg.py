"""Make matplotlib's SVG files compact: they are committed with the documentation."""

import re

_HEAD = re.compile(r"<\?xml.*?\?>\s*|<!DOCTYPE.*?>\s*|<metadata>.*?</metadata>", re.DOTALL)
_BETWEEN_TAGS = re.compile(r">\s+<")
# Attributes that hold coordinates; other numbers, such as colours and ids, stay.
_ATTRIBUTE = re.compile(r'\b(d|points|transform|x|y|width|height|viewBox|cx|cy|r)="([^"]*)"')
_NUMBER = re.compile(r"-?\d+\.\d+")
_DECIMALS = 2
"""Hundredths of a point are far below a pixel."""


def compact(svg: str) -> str:
    """Return the same picture without metadata, white space between tags and needless decimals."""
    bare = _BETWEEN_TAGS.sub("><", _HEAD.sub("", svg))
    return _ATTRIBUTE.sub(_compact_attribute, bare).strip() + "\n"


def _compact_attribute(match: re.Match[str]) -> str:
    name, value = match.groups()
    rounded = _NUMBER.sub(_rounded, " ".join(value.split()))
    return f'{name}="{rounded}"'


def _rounded(match: re.Match[str]) -> str:
    text = f"{float(match[0]):.{_DECIMALS}f}".rstrip("0").rstrip(".")
    # Rounding may leave a negative zero.
    return "0" if text == "-0" else text
