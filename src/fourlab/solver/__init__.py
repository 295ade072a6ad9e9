"""Exact solutions of positions: the solver, and opening books of solved positions."""

from fourlab.solver.book import Book, shipped_book
from fourlab.solver.rows import centre_first
from fourlab.solver.solution import Solution
from fourlab.solver.solver import Solver

__all__ = ["Book", "Solution", "Solver", "centre_first", "shipped_book"]
