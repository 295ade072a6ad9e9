"""Vannucci & Abril's experiments: tree search against a random opponent.

They start from a given position and, as a bonus, from the empty board.
"""
