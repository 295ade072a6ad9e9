"""Whether a Kaggle submission ever gives away a win or a draw, whatever the opponent plays.

The file plays both sides. All positions that its own moves lead to are asked, level by level, up to
a number of plies; the solver says whether each answer keeps the result. Beyond these plies, games
against random opponents continue. Run it without Numba as well: the file's book should suffice.

    python benchmarks/kaggle_perfect.py main.py [PLIES] [GAMES] [without-numba]
"""

import sys
import threading
import time
from pathlib import Path

import numpy as np

from fourlab import Position
from fourlab.bridges.kaggle.replies import first_level, next_level
from fourlab.bridges.kaggle.submission import ask_about, load
from fourlab.game.rules import CLASSIC
from fourlab.solver import Solver

BANK = 60.0


class Examiner:
    """Asks the file, and counts what it gives away."""

    def __init__(self, file: str, with_numba: bool) -> None:
        self.solver = Solver()
        self.solver.solve(Position("121212"))  # the solver's own kernels need Numba
        if not with_numba:
            sys.modules["numba"] = None  # type: ignore[assignment]
        started = time.perf_counter()
        self.agent = load(Path(file).read_text(encoding="utf-8"))
        print(f"loaded in {time.perf_counter() - started:.2f} s")
        for thread in threading.enumerate():
            if thread is not threading.current_thread():
                thread.join()
        print(f"ready after {time.perf_counter() - started:.2f} s")
        self.given_away: list[str] = []

    def column(self, position: Position, bank: float) -> tuple[int, float]:
        """Return the file's column, and its seconds."""
        started = time.perf_counter()
        column = ask_about(self.agent, position, bank)
        seconds = time.perf_counter() - started
        if not self.keeps(position, column):
            self.given_away.append(f"{position.write()} {column + 1}")
        return column, seconds

    def keeps(self, position: Position, column: int) -> bool:
        """Return whether a column keeps the result of best play."""
        after = position.play(column)
        before = self.solver.solve(position, weak=True).result
        if (outcome := after.outcome()) is not None:
            return outcome.winner is not None or before != 1
        reply = self.solver.solve(after, weak=True).result
        assert before is not None
        assert reply is not None
        return -int(reply) >= int(before)


def levels(examiner: Examiner, plies: int) -> None:
    """Ask for every position that the file's own moves lead to."""
    for side in (0, 1):
        keys = first_level(CLASSIC, side)
        for ply in range(side, plies + 1, 2):
            before = len(examiner.given_away)
            answers = [examiner.column(Position.from_key(int(key), CLASSIC), BANK) for key in keys]
            slowest = max(seconds for _, seconds in answers)
            print(
                f"{'red' if side == 0 else 'yellow'} after {ply:2} plies: {len(keys):6,} positions,"
                f" {len(examiner.given_away) - before} given away, slowest {1000 * slowest:.1f} ms",
                flush=True,
            )
            keys = next_level(keys, [column for column, _ in answers], CLASSIC.geometry)


def games(examiner: Examiner, plies: int, count: int) -> None:
    """Play games against a mostly random opponent; report what happens after these plies."""
    rng = np.random.default_rng(1)
    late, slowest, lowest_bank = 0, 0.0, BANK
    before = len(examiner.given_away)
    for game in range(count):
        position, bank = Position(), BANK
        while position.outcome() is None:
            if position.to_move == game % 2:
                column, seconds = examiner.column(position, bank)
                bank -= max(seconds - 2, 0)
                lowest_bank = min(lowest_bank, bank)
                if position.ply > plies:
                    late += 1
                    slowest = max(slowest, seconds)
            else:
                legal = position.legal_columns()
                sides = (position.to_move, 1 - position.to_move)
                lines = [c for side in sides for c in legal if position.makes_line(c, side)]
                # Wins and blocks are seen, so that games last longer.
                column = lines[0] if lines else int(rng.choice(legal))
            position = position.play(column)
    print(
        f"{count} games: {late} moves after {plies} plies, slowest {slowest:.2f} s, at least"
        f" {lowest_bank:.1f} s of overtime left, {len(examiner.given_away) - before} given away"
    )


def main() -> None:
    """Examine a file."""
    arguments = [word for word in sys.argv[1:] if word != "without-numba"]
    plies = int(arguments[1]) if len(arguments) > 1 else 14
    count = int(arguments[2]) if len(arguments) > 2 else 100
    examiner = Examiner(arguments[0], with_numba="without-numba" not in sys.argv)
    levels(examiner, plies)
    games(examiner, plies, count)
    print("given away:", examiner.given_away or "nothing")


if __name__ == "__main__":
    main()
