"""Opinions on a position, reviews of games, and what runs contain."""
