"""Gao's experiments: tree search against a random opponent, from the empty board."""
