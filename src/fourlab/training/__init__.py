"""Turning games and solved positions into better agents."""
