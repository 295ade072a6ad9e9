"""The numbers that the reports print or publish, as columns of small files."""

import csv
import io
from functools import cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray


@cache
def reported(name: str) -> dict[str, NDArray[np.float64]]:
    """Return the columns of a file in `studies/reported_data`, by header: float64[rows] each.

    The column `source`, which says where a number was found, is for people and left out.
    """
    file = files("fourlab.studies").joinpath("reported_data", f"{name}.csv")
    head, *rows = csv.reader(io.StringIO(file.read_text(encoding="utf-8")))
    columns = dict(zip(head, zip(*rows, strict=True), strict=True))
    columns.pop("source", None)
    return {name: np.array(cells, dtype=np.float64) for name, cells in columns.items()}
