"""Arya's Q-tables, trained for the experiments that play them."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from fourlab.agents.q.settings import TRAINING
from fourlab.studies.trainings import train_in
from fourlab.studies.workbench import Workbench
from fourlab.training.kind import TrainingJob

VERSIONS = ("faithful", "corrected")
"""Index 0 trains with Arya's settings and faults, index 1 without the faults."""
BLOCK_GAMES = 50_000
"""Games of Q-learning between two rows of metrics."""
TABLE_MB = 1024
"""Memory for a table that was trained here; some have seven million positions."""


@dataclass(frozen=True)
class QTraining:
    """Trains Q-tables on `games` games of self-play each."""

    folder: Path
    games: int
    seed: int

    def __call__(self, number: int) -> dict[str, int]:
        """Make training `number`, which goes through VERSIONS first; return its table's size."""
        results = train_in(self.place(number), self.job(number)).results
        assert results is not None  # only a training with a mark can stop before its end
        return {"positions": results["states"]}

    def job(self, number: int) -> TrainingJob:
        """Return a training."""
        repetition, version = divmod(number, len(VERSIONS))
        settings = replace(
            TRAINING.preset("arya", faithful=version == 0),
            games=self.games,
            block=BLOCK_GAMES,
            # Games of each evaluation, one per block.
            exam_games=500,
            seed=self.seed + repetition,
        )
        return TrainingJob(TRAINING, settings, "q")

    def place(self, number: int) -> Path:
        """Return the run folder of a training; it will contain the table as table.q."""
        repetition, version = divmod(number, len(VERSIONS))
        # Tables of results show these last parts of the path, so they may not change.
        name = f"{self.games}-{repetition}" if repetition else str(self.games)
        return self.folder / VERSIONS[version] / name


class QTables(NamedTuple):
    """The tables of one version, by training."""

    specs: list[str]
    """Of agents that play them."""
    positions: list[int]
    """Their sizes."""


def q_tables(bench: Workbench, games: int, seeds: int = 1) -> tuple[QTables, QTables]:
    """Train the faithful and the corrected Q-tables with some seeds each."""
    training = QTraining(bench.folder.resolve() / "q", games, bench.seed)
    total = seeds * len(VERSIONS)
    trained = bench.repeat(f"q-{games}", training, total)
    specs = [
        f'q:ties=random,memory_mb={TABLE_MB},table="{training.place(n) / "table.q"}"'
        for n in range(total)
    ]
    sizes = [table["positions"] for table in trained]
    faithful, corrected = (
        QTables(specs[version :: len(VERSIONS)], sizes[version :: len(VERSIONS)])
        for version in range(len(VERSIONS))
    )
    return faithful, corrected
