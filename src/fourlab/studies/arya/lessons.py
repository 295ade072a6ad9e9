"""Arya's Q-tables, trained for the experiments that play them."""

from dataclasses import dataclass, replace
from pathlib import Path

from fourlab.agents.q.settings import TRAINING
from fourlab.studies.trainings import train_in
from fourlab.studies.workbench import Workbench
from fourlab.training.kind import TrainingJob

VERSIONS = ("faithful", "corrected")
"""Index 0 trains with Arya's settings and faults, index 1 without the faults."""
BLOCK_GAMES = 50_000
"""Games of Q-learning between two rows of metrics."""


@dataclass(frozen=True)
class QTraining:
    """Trains a Q-table on `games` games of self-play."""

    folder: Path
    games: int
    seed: int

    def __call__(self, number: int) -> dict[str, int]:
        """Train version `number` of `VERSIONS` and return the size of its table."""
        results = train_in(self.place(number), self.job(number)).results
        assert results is not None  # only a training with a mark can stop before its end
        return {"positions": results["states"]}

    def job(self, number: int) -> TrainingJob:
        """Return the training of a version."""
        settings = replace(
            TRAINING.preset("arya", faithful=number == 0),
            games=self.games,
            block=BLOCK_GAMES,
            # Games of each evaluation, one per block.
            exam_games=500,
            seed=self.seed,
        )
        return TrainingJob(TRAINING, settings, "q")

    def place(self, number: int) -> Path:
        """Return the run folder of a version; it will contain the table as table.q."""
        # Tables of results show these last parts of the path, so they may not change.
        return self.folder / VERSIONS[number] / str(self.games)


def q_tables(bench: Workbench, games: int) -> tuple[list[str], list[int]]:
    """Train the faithful and the corrected Q-table; return two specs and two sizes in positions."""
    training = QTraining(bench.folder.resolve() / "q", games, bench.seed)
    trained = bench.repeat(f"q-{games}", training, len(VERSIONS))
    specs = [f'q:ties=random,table="{training.place(number) / "table.q"}"' for number in (0, 1)]
    return specs, [table["positions"] for table in trained]
