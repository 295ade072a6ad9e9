"""Matches, tournaments and their statistics."""
