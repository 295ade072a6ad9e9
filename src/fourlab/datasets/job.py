"""Jobs that solve data sets for hours; a journal in the run folder keeps what is solved."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any, ClassVar, Self

from fourlab.datasets import labels
from fourlab.datasets.boards import Solving, as_csv, solve_boards
from fourlab.datasets.teacher import random_positions, solve_positions, solve_uci8
from fourlab.errors import UserError
from fourlab.files import check_target, digest, write_atomically
from fourlab.game.rules import Rules
from fourlab.jobs.job import Progress, Session
from fourlab.jobs.run import Run
from fourlab.solver.many import OnProgress, earlier_journal
from fourlab.solver.solver import Solver

MAX_POSITIONS = 20_000_000
"""More could not be loaded."""


@dataclass(frozen=True)
class DatasetJob:
    """The file and what all data sets have in common."""

    extent: ClassVar[frozenset[str]] = frozenset({"file"})

    file: Path

    @property
    def product(self) -> Path:
        """The file to write outside the run folder."""
        return self.file

    def with_product(self, file: Path) -> Self:
        """Return the same job with another file."""
        return replace(self, file=file)

    def extended(self, config: dict[str, Any]) -> Self:
        """Return the job itself: the size of a data set is part of its identity."""
        return self


@dataclass(frozen=True)
class Uci8Job(DatasetJob):
    """Solve the UCI data set without a book."""

    @property
    def name(self) -> str:
        """The name of the data set."""
        return "dataset-uci8"

    @property
    def config(self) -> dict[str, Any]:
        """The data set and the file, the only setting."""
        return {"kind": "dataset", "set": "uci8", "file": str(self.file.resolve())}

    def check(self) -> None:
        """Raise UserError for a file that cannot be written."""
        check_target(self.file)

    def work(self, run: Run, session: Session) -> dict[str, Any] | None:
        """Solve what is missing, and write the data set."""
        # The run keeps its own copy: a deleted `file` is written again without solving.
        product = run.folder / "uci8.data"
        journal = run.folder / "journal"
        if not product.exists():
            on_progress = _progress_of_positions(session)
            solved = solve_uci8(
                journal, session.executor(), on_progress, earlier_journal(self.file)
            )
            if solved is None:
                return None
            write_atomically(product, labels.as_text(solved))
        solved = labels.load(product)
        text = product.read_bytes()
        write_atomically(self.file, labels.compress(text, self.file.suffix))
        about = {"positions": len(solved), **solved.counts, "sha256": sha256(text).hexdigest()}
        return _finish(run, journal, self.file, about)


@dataclass(frozen=True)
class SolvedJob(DatasetJob):
    """Sample positions of all phases from random games, and solve all their columns."""

    rules: Rules
    positions: int
    plies: tuple[int, int]
    """The fewest and the most discs."""
    seed: int

    @property
    def name(self) -> str:
        """The board and the number of positions."""
        return f"dataset-{self.rules}-{self.positions}"

    @property
    def config(self) -> dict[str, Any]:
        """All settings; the file is not part of a run's identity."""
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
        """The command that makes the data set, for the description in the file."""
        first, last = self.plies
        return (
            f"fourlab dataset solved --positions {self.positions} --plies {first}-{last} "
            f"--board {self.rules} --seed {self.seed}"
        )

    def check(self) -> None:
        """Raise UserError for a file that cannot be written, or too few positions on the board."""
        check_target(self.file)
        if self.file.suffix != ".npz":
            raise UserError(f"the file of a solved data set must end in .npz: {self.file}")
        if self.positions > MAX_POSITIONS:
            raise UserError(
                f"a data set has at most {MAX_POSITIONS:,} positions, not {self.positions:,}"
            )
        _sampled(self.rules, self.positions, self.plies, self.seed)

    def work(self, run: Run, session: Session) -> dict[str, Any] | None:
        """Solve what is missing, and write the data set."""
        product = run.folder / "solved.npz"
        journal = run.folder / "journal"
        if not product.exists():
            solved = solve_positions(
                self.rules,
                _sampled(self.rules, self.positions, self.plies, self.seed),
                journal,
                session.executor(),
                _progress_of_positions(session),
                earlier_journal(self.file),
            )
            if solved is None:
                return None
            made_by = {"command": self.command, "plies": list(self.plies), "seed": self.seed}
            labels.save(solved, product, made_by)
        solved = labels.load(product)
        # An equal file keeps its time stamp.
        if not self.file.exists() or digest(self.file) != digest(product):
            write_atomically(self.file, product.read_bytes())
        about = {
            "board": str(solved.rules),
            "positions": len(solved),
            **solved.counts,
            "sha256": labels.checksum_of(solved),
        }
        return _finish(run, journal, self.file, about)


@dataclass(frozen=True)
class BoardsJob(DatasetJob):
    """Solve the empty boards of all sizes. More nodes extend a run."""

    extent: ClassVar[frozenset[str]] = frozenset({"file", "nodes"})

    in_a_row: int
    nodes: int
    """The most nodes for a board."""
    memory_mb: float
    """The maximum size of the transposition table."""

    @property
    def name(self) -> str:
        """The name of the data set."""
        return f"dataset-boards-{self.in_a_row}"

    @property
    def config(self) -> dict[str, Any]:
        """All settings; the file is not part of a run's identity."""
        return {
            "kind": "dataset",
            "set": "boards",
            "in_a_row": self.in_a_row,
            "nodes": self.nodes,
            "memory_mb": self.memory_mb,
            "file": str(self.file.resolve()),
        }

    def check(self) -> None:
        """Raise UserError for a file that cannot be written, or settings that no board can have."""
        check_target(self.file)
        Rules(in_a_row=self.in_a_row)
        Solver(self.memory_mb, book=None)

    def extended(self, config: dict[str, Any]) -> Self:
        """Return this job with at least as many nodes as an existing run."""
        return replace(self, nodes=max(self.nodes, config["nodes"]))

    def work(self, run: Run, session: Session) -> dict[str, Any] | None:
        """Solve what is missing, and write the table."""
        values = solve_boards(run, session, Solving(self.in_a_row, self.nodes, self.memory_mb))
        if values is None:
            return None
        write_atomically(self.file, as_csv(values, self.in_a_row).encode())
        solved = sum(value.score is not None for value in values)
        counts = {"solved": solved, "not_solved": len(values) - solved}
        headline = f"{solved} boards solved, {counts['not_solved']} not, in {self.file.name}"
        results = {"headline": headline, "file": str(self.file), **counts}
        run.write("results.json", results)
        return results


def read_job(config: Mapping[str, Any]) -> Uci8Job | SolvedJob | BoardsJob:
    """Return the job of a run's configuration."""
    file = Path(config["file"])
    if config["set"] == "uci8":
        return Uci8Job(file)
    if config["set"] == "boards":
        return _read_boards_job(config, file)
    first, last = config["plies"]
    rules = Rules.parse(config["board"])
    positions, seed = config["positions"], config["seed"]
    for name, value in (
        ("plies", first),
        ("plies", last),
        ("positions", positions),
        ("seed", seed),
    ):
        if type(value) is not int or value < 0:
            raise UserError(f"{name} of a data set cannot be {value!r:.40}")
    return SolvedJob(file, rules, positions, (first, last), seed)


def _read_boards_job(config: Mapping[str, Any], file: Path) -> BoardsJob:
    in_a_row, nodes, memory_mb = (config[name] for name in ("in_a_row", "nodes", "memory_mb"))
    if type(in_a_row) is not int or type(nodes) is not int or nodes < 1:
        raise UserError(f"boards cannot be solved with {in_a_row!r:.40} and {nodes!r:.40}")
    if type(memory_mb) not in (int, float):
        raise UserError(f"memory_mb cannot be {memory_mb!r:.40}")
    return BoardsJob(file, in_a_row, nodes, memory_mb)


# `check` and `work` need the same positions.
_sampled = lru_cache(maxsize=1)(random_positions)


def _progress_of_positions(session: Session) -> OnProgress:
    return lambda done, total: session.emit(Progress(done, total, "positions", "solving"))


def _finish(run: Run, journal: Path, file: Path, about: dict[str, Any]) -> dict[str, Any]:
    """Delete the journal and write the results."""
    journal.unlink(missing_ok=True)
    headline = f"{about['positions']:,} positions in {file.name}, sha256 {about['sha256']}"
    results = {"headline": headline, "file": str(file), **about}
    run.write("results.json", results)
    return results
