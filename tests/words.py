"""The words that the project does not use, and lines that are too long; `make check` runs this.

    python tests/words.py [FILE or FOLDER ...]

Names are looked for in the syntax tree, phrases in the text of source files and documents.
`words_exceptions.txt` beside this file lists what may stay: a path and a piece of the line.
"""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
WHOLE = (
    *("src", "tests", "benchmarks", "examples", "docs", "tools"),
    *("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "pyproject.toml"),
)
EXCEPTIONS = Path(__file__).with_name("words_exceptions.txt")
MAX_COLUMNS = 100
BANNED_NAMES = {"each", "found", "heard", "hear", "known", "tell", "tells", "told"}
"""They name nothing: a variable is the noun of its value, a callback the event it is called for."""
BANNED_PHRASES = [
    r"so many",
    r"by lot",
    r"draws? lots",
    r"of late",
    r"rightly",
    r"mended",
    r"gone on from",
    r"go(?:es|ing)? on with",
    r"the truth are",
    r"as nobody says",
    r"the more the oftener",
    r"for ever",
    r"tells? of",
    r"(?:is|are|was|were|be) told",
    r"documents? 00[0-4]",
]
GAP = r"\s+(?:(?:#|//|\*)\s+)?"
"""A phrase may be broken over two lines, of comments too."""
PATTERN = re.compile(
    rf"\b(?:{'|'.join(BANNED_PHRASES).replace(' ', GAP)})\b",
    re.IGNORECASE,
)
CODE = {".py", ".js", ".mjs"}
TEXT = {*CODE, ".md", ".html", ".css", ".toml"}
OWN = ("words.py", "test_words.py")
"""They contain the words that they look for."""
LEDGER = "docs/measurements.md"
"""Never rewritten, so old entries keep their words."""


def main(paths: list[str]) -> int:
    """Print every problem; returns how many there are."""
    allowed = exceptions()
    problems = [
        problem
        for path in paths or WHOLE
        for file in files(ROOT / path)
        for problem in problems_of(file)
        if not any(problem.startswith(name) and text in problem for name, text in allowed)
    ]
    print("\n".join(problems))
    if problems:
        print(f"{len(problems)} problems; docs/reference/glossary.md has the words to use instead")
    return len(problems)


def exceptions() -> list[tuple[str, str]]:
    """Return the paths and pieces of lines that may stay."""
    lines = EXCEPTIONS.read_text(encoding="utf-8").splitlines()
    written = [line.split(" ", 1) for line in lines if line and not line.startswith("#")]
    return [(path, text) for path, text in written]


def files(path: Path) -> Iterator[Path]:
    """Yield the text files of a folder, or the file itself."""
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        name = file.relative_to(ROOT).as_posix()
        if file.suffix in TEXT and name != LEDGER and file.name not in OWN:
            yield file


def problems_of(file: Path) -> Iterator[str]:
    """Yield the problems of a file, each with its path and line."""
    name = file.relative_to(ROOT).as_posix()
    text = file.read_text(encoding="utf-8")
    lines = text.splitlines()
    for number, line in enumerate(lines, 1):
        if file.suffix in CODE and len(line) > MAX_COLUMNS:
            yield f"{name}:{number}: {len(line)} columns: {line.strip()[:60]}"
    for match in PATTERN.finditer(text):
        number = text[: match.start()].count("\n") + 1
        yield f"{name}:{number}: phrase {match[0]!r}: {lines[number - 1].strip()[:80]}"
    if file.suffix == ".py":
        for line, identifier in names(ast.parse(text)):
            if identifier in BANNED_NAMES:
                yield f"{name}:{line}: name {identifier!r}: {lines[line - 1].strip()[:80]}"


def names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the names that a module gives to things."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=identifier, ctx=ast.Store()):
                yield node.lineno, identifier
            case ast.Attribute(attr=identifier, ctx=ast.Store()):
                yield node.lineno, identifier
            case ast.arg(arg=identifier):
                yield node.lineno, identifier
            case ast.FunctionDef(name=identifier) | ast.AsyncFunctionDef(name=identifier):
                yield node.lineno, identifier


if __name__ == "__main__":
    sys.exit(1 if main(sys.argv[1:]) else 0)
