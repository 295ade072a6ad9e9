"""Data sets of positions with exact results: sampling, solving, loading and saving."""
