"""What tests of a small finished run share."""

import subprocess
from pathlib import Path

from fourlab.arena.tournament import Player, Tournament
from fourlab.arena.verify import Verification
from fourlab.jobs.job import Conduct, Session
from tests.in_process import run_in_process

TOURNAMENT = Tournament((Player("random"), Player("rules")), rounds=4, seed=1)


def session() -> Session:
    return Session(Conduct(workers=1, executor="threads"))


def run_fourlab(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run_in_process(arguments, Path())


def reasons(verification: Verification) -> list[str]:
    """Return all that is wrong with a run, as text."""
    games = [str(flaw) for flaws in verification.flaws.values() for flaw in flaws]
    return [*(str(file) for file in verification.files), *games]
