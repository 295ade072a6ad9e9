"""Trainings split into segments: each segment resumes from the checkpoint of the last one."""

import os
import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fourlab.agents.q import settings as q_settings
from fourlab.studies.workbench import Workbench
from fourlab.training.loop import Trainee

VERSIONS = ("faithful", "corrected")
"""Index 0 trains with Arya's settings and faults, index 1 without the faults."""
BLOCK_GAMES = 50_000
"""Games of Q-learning between two rows of metrics."""
SEGMENT_GAMES = 1_000_000
"""Games of Q-learning per segment."""


def train_until(trainee: Trainee, folder: Path, until: int) -> dict[str, Any]:
    """Train until `until` units are done, checkpoint, and return the last row of metrics.

    Checkpoints are folders named by their progress; training resumes from the latest one before
    `until`. A segment that is repeated, because it was killed before its result was recorded,
    gives the same checkpoint again.
    """
    earlier = sorted(
        (int(path.name) for path in folder.glob("[0-9]*") if int(path.name) < until), reverse=True
    )
    if earlier:
        trainee.load(folder / str(earlier[0]))
    row: dict[str, Any] = {}
    while trainee.done < until and not trainee.finished:
        row = trainee.advance()
    new = folder / "new"
    # The latest earlier checkpoint stays: a repeated segment resumes from it.
    outdated = [folder / str(done) for done in earlier[1:]]
    for path in (new, folder / str(until), *outdated):
        shutil.rmtree(path, ignore_errors=True)
    new.mkdir(parents=True)
    trainee.save(new)
    os.replace(new, folder / str(until))
    return row


@dataclass(frozen=True)
class QSegment:
    """Trains a Q-table until `until` games have been played."""

    folder: str
    until: int
    seed: int

    def __call__(self, number: int) -> dict[str, Any]:
        """Train version `number` of `VERSIONS` and return the size and strength of its table."""
        from fourlab.agents.q.training import QTrainee

        settings = replace(
            q_settings.preset("arya", faithful=number == 0),
            games=self.until,
            block=BLOCK_GAMES,
            exam_games=500,
            seed=self.seed,
        )
        trainee = QTrainee(settings)
        row = train_until(trainee, Path(self.folder) / VERSIONS[number], self.until)
        return {"positions": len(trainee.table), "won": row.get("exam", {}).get("won")}


def q_tables(bench: Workbench, games: int) -> tuple[list[str], list[list[dict[str, Any]]]]:
    """Train the faithful and the corrected Q-table.

    Returns the specs of the two agents, and the results of `QSegment` for every segment.
    """
    folder = bench.folder.resolve() / "q"
    marks = [*range(SEGMENT_GAMES, games, SEGMENT_GAMES), games]
    progress = [
        bench.repeat(f"q-{mark}", QSegment(str(folder), mark, bench.seed), len(VERSIONS))
        for mark in marks
    ]
    tables = [folder / version / str(games) / "table.q" for version in VERSIONS]
    return [f'q:tie=random,table="{table}"' for table in tables], progress
