"""The decorator that compiles kernels, and kernels that several packages share.

Kernels work on plain integers and arrays. `game/bitboard.py` has the rules in plain Python, and
`board` has the same functions compiled.
"""
