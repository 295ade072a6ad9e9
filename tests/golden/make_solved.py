"""Make `solved.txt`: 320 positions of all phases with their exact scores, solved without a book.

    python tests/golden/make_solved.py

It takes some minutes, for the sake of the first plies.
"""

from pathlib import Path

from fourlab.arena.accuracy import random_positions
from fourlab.solver import Solver

PHASES = [(2, 6), (7, 11), (12, 15), (16, 19), (20, 23), (24, 27), (28, 31), (32, 40)]


def main() -> None:
    solver, lines = Solver(book=None), []
    for plies in PHASES:
        for position in random_positions(40, plies, seed=plies[0]):
            solver.forget()
            lines.append(f"{position.write('moves')} {solver.solve(position).score}")
    Path(__file__).with_name("solved.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
