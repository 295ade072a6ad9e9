"""Data sets that take hours to solve, as jobs: what is solved is kept in the run's journal."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar

from fourlab.datasets import labels
from fourlab.datasets.teacher import random_positions, solve_positions, solve_uci8
from fourlab.errors import UserError
from fourlab.files import digest, write_atomically
from fourlab.game.rules import Rules
from fourlab.jobs.job import Progress, Session
from fourlab.jobs.run import Run
from fourlab.solver.many import check_target, earlier_journal


@dataclass(frozen=True)
class Uci8Job:
    """Solve the UCI data set without a book."""

    extent: ClassVar[frozenset[str]] = frozenset({"file"})

    file: Path

    @property
    def name(self) -> str:
        """Which data set."""
        return "dataset-uci8"

    @property
    def config(self) -> dict[str, Any]:
        """Nothing can be set but where the data set is wanted."""
        return {"kind": "dataset", "set": "uci8", "file": str(self.file.resolve())}

    def check(self) -> None:
        """Refuse a file that cannot be written."""
        check_target(self.file)

    def extended(self, config: dict[str, Any]) -> "Uci8Job":
        """The same."""
        return self

    def work(self, run: Run, session: Session) -> dict[str, Any] | None:
        """Solve what is missing, and write the data set."""
        product = run.folder / "uci8.data"
        journal = run.folder / "journal"
        if not product.exists():
            told = _positions_told(session)
            solved = solve_uci8(journal, session.executor(), told, earlier_journal(self.file))
            if solved is None:
                return None
            write_atomically(product, labels.as_text(solved))
        text = product.read_bytes()
        solved = labels.parse_text(text)
        write_atomically(self.file, labels.compress(text, self.file.suffix))
        about = {"positions": len(solved), **solved.counts, "sha256": sha256(text).hexdigest()}
        return _finish(run, journal, self.file, about)


@dataclass(frozen=True)
class SolvedJob:
    """Draw positions of all phases from random games, and solve each of their columns."""

    extent: ClassVar[frozenset[str]] = frozenset({"file"})

    file: Path
    rules: Rules
    positions: int
    plies: tuple[int, int]
    """The fewest and the most discs."""
    seed: int

    @property
    def name(self) -> str:
        """The board and how many positions there are."""
        return f"dataset-{self.rules}-{self.positions}"

    @property
    def config(self) -> dict[str, Any]:
        """What is drawn; the file is not part of a run's identity."""
        return {
            "kind": "dataset",
            "set": "solved",
            "board": str(self.rules),
            "positions": self.positions,
            "plies": list(self.plies),
            "seed": self.seed,
            "file": str(self.file.resolve()),
        }

    @property
    def command(self) -> str:
        """The command that makes it, for the file's own description."""
        first, last = self.plies
        return (
            f"fourlab dataset solved --positions {self.positions} --plies {first}-{last} --board {self.rules} --seed {self.seed}"
        )

    def check(self) -> None:
        """Refuse a file that cannot be written, and positions that cannot be had."""
        check_target(self.file)
        if self.file.suffix != ".npz":
            raise UserError(f"the file of a solved data set ends in .npz, not {self.file.suffix or 'so'}: {self.file}")
        _drawn(self.rules, self.positions, self.plies, self.seed)

    def extended(self, config: dict[str, Any]) -> "SolvedJob":
        """The same."""
        return self

    def work(self, run: Run, session: Session) -> dict[str, Any] | None:
        """Solve what is missing, and write the data set."""
        product = run.folder / "solved.npz"
        journal = run.folder / "journal"
        if not product.exists():
            keys = _drawn(self.rules, self.positions, self.plies, self.seed)
            told = _positions_told(session)
            solved = solve_positions(self.rules, keys, journal, session.executor(), told, earlier_journal(self.file))
            if solved is None:
                return None
            made_by = {"command": self.command, "plies": list(self.plies), "seed": self.seed}
            labels.save(solved, product, made_by)
        solved = labels.load(product)
        if not self.file.exists() or digest(self.file) != digest(product):
            write_atomically(self.file, product.read_bytes())
        about = {
            "board": str(solved.rules),
            "positions": len(solved),
            **solved.counts,
            "sha256": labels.checksum_of(solved),
        }
        return _finish(run, journal, self.file, about)


def read_job(config: Mapping[str, Any]) -> Uci8Job | SolvedJob:
    """The job of a run's configuration."""
    file = Path(config["file"])
    if config["set"] == "uci8":
        return Uci8Job(file)
    first, last = config["plies"]
    rules = Rules.parse(config["board"])
    return SolvedJob(file, rules, config["positions"], (first, last), config["seed"])


_drawn = lru_cache(maxsize=1)(random_positions)


def _positions_told(session: Session) -> Any:
    return lambda done, of: session.tell(Progress(done, of, "positions", "solving"))


def _finish(run: Run, journal: Path, file: Path, about: dict[str, Any]) -> dict[str, Any]:
    journal.unlink(missing_ok=True)
    headline = f"{about['positions']:,} positions in {file.name}, sha256 {about['sha256']}"
    results = {"headline": headline, "file": str(file), **about}
    run.write("results.json", results)
    return results
