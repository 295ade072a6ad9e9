"""Trainings in pieces: each is a repetition that goes on from what the last one kept."""

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fourlab.agents.q import settings as q_settings
from fourlab.studies.workbench import Workbench
from fourlab.training.loop import Trainee

VERSIONS = ("faithful", "corrected")
"""By number: with the document's own settings and faults, and without."""
BLOCK = 50_000
"""Games of Q-learning between two looks at what was learned."""
PIECE = 1_000_000
"""Games of Q-learning in a piece."""


def teach(trainee: Trainee, folder: Path, until: int) -> dict[str, Any]:
    """Go on from what is kept in the folder until so much is done, and keep that; returns the last row of metrics.

    What was done before the kept state is not done again, and whatever is lost is done again with the same result.
    """
    known = sorted((int(each.name) for each in folder.glob("[0-9]*") if int(each.name) < until), reverse=True)
    if known:
        trainee.load(folder / str(known[0]))
    row: dict[str, Any] = {}
    while trainee.done < until and not trainee.finished:
        row = trainee.advance()
    new = folder / "new"
    for old in (new, folder / str(until), *(folder / str(each) for each in known[1:])):
        shutil.rmtree(old, ignore_errors=True)
    new.mkdir(parents=True)
    trainee.save(new)
    os.replace(new, folder / str(until))
    return row


@dataclass(frozen=True)
class QPiece:
    """The document's Q-learning up to so many games."""

    folder: str
    until: int
    seed: int

    def __call__(self, number: int) -> dict[str, Any]:
        """Learn, in version so-and-so."""
        from fourlab.agents.q.training import QTrainee

        settings = replace(
            q_settings.preset("arya", faithful=number == 0), games=self.until, block=BLOCK, exam_games=500, seed=self.seed
        )
        trainee = QTrainee(settings)
        row = teach(trainee, Path(self.folder) / VERSIONS[number], self.until)
        return {"positions": len(trainee.table), "won": row.get("exam", {}).get("won")}


def q_tables(bench: Workbench, games: int) -> tuple[list[str], list[list[dict[str, Any]]]]:
    """Learn the two tables: the specs of the agents that play by them, and what was known after each piece."""
    folder = bench.folder.resolve() / "q"
    marks = [*range(PIECE, games, PIECE), games]
    told = [bench.repeat(f"q-{mark}", QPiece(str(folder), mark, bench.seed), len(VERSIONS)) for mark in marks]
    return [f'q:tie=random,table="{folder / each / str(games) / "table.q"}"' for each in VERSIONS], told
