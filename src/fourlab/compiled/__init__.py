"""The decorator that compiles a kernel, and the kernels that several subjects share.

Kernels work on plain integers and arrays. `game/bitboard.py` holds the rules as ordinary Python;
`board` is the same rules, compiled.
"""
