"""Positions with exact results: sampled, solved, loaded and stored."""
