"""Agents that do not search: random, rules of thumb, a human."""
