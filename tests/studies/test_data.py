"""Data files: a column for every number, and names from words."""

import pytest

from fourlab.arena.tables import Table
from fourlab.studies import data


@pytest.mark.parametrize(
    ("head", "cells", "expected"),
    [
        ("games", ["1,424", "7"], {"games": ["1424", "7"]}),
        ("score", ["85 %", "6.5 %"], {"score (%)": ["85", "6.5"]}),
        (
            "wins",
            ["97.5 % [87.1, 99.6] of 40"],
            {"wins (%)": ["97.5"], "wins low (%)": ["87.1"], "wins high (%)": ["99.6"]}
            | {"wins of": ["40"]},
        ),
        (
            "Elo (95 %)",
            ["+603.9 [+469.2, no bound]"],
            {"Elo": ["603.9"], "Elo low": ["469.2"], "Elo high": [""]},
        ),
        (
            "mean",
            ["0.054 [0.044, 0.063], sd 0.131"],
            {"mean": ["0.054"], "mean low": ["0.044"], "mean high": ["0.063"]}
            | {"mean standard deviation": ["0.131"]},
        ),
        (
            "error",
            ["-0.037 ± 0.006"],
            {"error": ["-0.037"], "error low": ["-0.043"], "error high": ["-0.031"]},
        ),
        (
            "Elo [95 %]",
            ["won every game", "-12.0 [-20.1, -3.9]"],
            {"Elo": ["", "-12.0"], "Elo low": ["", "-20.1"], "Elo high": ["", "-3.9"]}
            | {"Elo note": ["won every game", ""]},
        ),
        (
            "gain in Elo",
            ["35 Elo [-0, 70] of 400", "-6 Elo of 30 (lost all: at most)", ""],
            {"gain in Elo": ["35", "-6", ""], "gain in Elo low": ["-0", "", ""]}
            | {"gain in Elo high": ["70", "", ""], "gain in Elo of": ["400", "30", ""]}
            | {"gain in Elo note": ["", "lost all: at most", ""]},
        ),
        (
            "gain",
            ["5 Elo [1, 9] of 16", "no Elo: won every game"],
            {"gain (Elo)": ["5", ""], "gain low (Elo)": ["1", ""], "gain high (Elo)": ["9", ""]}
            | {"gain of": ["16", ""], "gain note": ["", "no Elo: won every game"]},
        ),
        ("band", ["[0.567, 0.706]"], {"band low": ["0.567"], "band high": ["0.706"]}),
        ("tenth", ["0.0 to 0.1"], {"tenth low": ["0.0"], "tenth high": ["0.1"]}),
        (
            "exact",
            ["21/32 = 0.65625", "1"],
            {"exact": ["0.65625", "1"]} | {"exact as a fraction": ["21/32", ""]},
        ),
        (
            "perfect",
            ["loses in 40", "draw"],
            {"perfect": ["loss", "draw"]} | {"perfect discs": ["40", ""]},
        ),
        (
            "MCTS: won-lost-drawn",
            ["98-2-0"],
            {"MCTS: won": ["98"], "MCTS: lost": ["2"], "MCTS: drawn": ["0"]},
        ),
        ("P(win) / P(loss)", ["1.0 / 0.0", ""], {"P(win)": ["1.0", ""], "P(loss)": ["0.0", ""]}),
        ("epsilon", ["0.5 (1,424 games)"], {"epsilon": ["0.5"], "epsilon games": ["1424"]}),
        ("won from", ["12", "never"], {"won from": ["12", ""]}),
        ("action 0", ["X", "X"], {"action 0": ["", ""]}),
        ("agent", ["MCTS 3 s", "12"], {"agent": ["MCTS 3 s", "12"]}),
        ("sd of action 4", [0.25], {"standard deviation of action 4": ["0.25"]}),
        ("", [1], {"rank": ["1"]}),
    ],
)
def test_every_number_has_a_column(
    head: str, cells: list[object], expected: dict[str, list[str]]
) -> None:
    table = data.numeric(Table("", (head,), tuple((cell,) for cell in cells)))
    columns = [list(column) for column in zip(*table.rows, strict=True)]
    assert dict(zip(table.head, columns, strict=True)) == expected
    assert data.numeric(table) == table


@pytest.mark.parametrize(
    ("title", "kind", "name"),
    [
        ("Round robin, 500 simulations per move", "table", "future-round-robin-table"),
        ("figure-5", "", "future-figure-5"),
        ("future", "", "future"),
        ("Future work by Arya's side", "table", "future-work-by-aryas-side-table"),
    ],
)
def test_files_are_named_by_words(title: str, kind: str, name: str) -> None:
    assert data.file_name("future", title, kind) == name
