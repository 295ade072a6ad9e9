"""Run the notebooks of the documentation, and store their outputs.

    python -m tests.notebooks [NAME ...]       # run them again and store what they show

`tests/api/test_notebooks.py` compares the stored texts with those of a new run. Cells with the tag
`varies` depend on the clock or on the processor; their outputs are stored, but not compared.
"""

import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

from fourlab.files import write_atomically

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"
SECONDS = 600
"""No cell takes longer, on a busy machine either."""
VARIES = "varies"


def notebooks() -> list[Path]:
    """Return all notebooks."""
    return sorted(FOLDER.glob("*.ipynb"))


def run(notebook: Any, folder: Path) -> None:
    """Run a notebook in a new kernel whose working directory is a folder."""
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=SECONDS, kernel_name="python3", resources=resources).execute()


def read(file: Path) -> Any:
    """Return the notebook of a file."""
    return nbformat.read(file, as_version=4)  # type: ignore[no-untyped-call]


def texts(notebook: Any) -> list[str]:
    """Return the text that every cell shows; of those that vary, none."""
    return [
        # A kernel sends what is printed in pieces of any size.
        "" if VARIES in cell.metadata.get("tags", ()) else "".join(map(_text, cell.outputs))
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


def _text(output: Any) -> str:
    if output.output_type == "stream":
        # Standard error has remarks, such as those on compilation, which come only once.
        return str(output.text) if output.name == "stdout" else ""
    if output.output_type == "error":
        return f"{output.ename}: {output.evalue}"
    # Objects without a text of their own show an address.
    return re.sub(r"0x[0-9a-f]+", "0x…", output.data.get("text/plain", ""))


def store(file: Path) -> None:
    """Run a notebook and write it with its outputs, without anything that need not change."""
    notebook = read(file)
    with tempfile.TemporaryDirectory() as folder:
        run(notebook, Path(folder))
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)  # times
        if cell.cell_type == "code":
            cell.outputs = _merged(cell.outputs)
    notebook.metadata["language_info"] = {"name": "python"}
    text = nbformat.writes(notebook)  # type: ignore[no-untyped-call]
    write_atomically(file, f"{text.rstrip()}\n".encode())


def _merged(outputs: list[Any]) -> list[Any]:
    """Return outputs without those to standard error, what is printed in one piece."""
    merged: list[Any] = []
    for output in outputs:
        if output.output_type == "stream" and output.name != "stdout":
            continue
        if merged and output.output_type == merged[-1].output_type == "stream":
            merged[-1].text += output.text
        else:
            merged.append(output)
    return merged


def main(names: list[str]) -> None:
    """Store the notebooks of these names, or all of them."""
    for file in notebooks():
        if not names or file.stem in names:
            store(file)


if __name__ == "__main__":
    main(sys.argv[1:])
