"""The functions of `game/bitboard.py`, compiled for use in kernels."""

from fourlab.compiled._jit import inlined_kernel, kernel
from fourlab.game import bitboard as rules

# Only `landings` is always inlined: LLVM inlines the others where that pays.
has_line = kernel(rules.has_line)
landing = kernel(rules.landing)
landings = inlined_kernel(rules.landings)
key = kernel(rules.key)
from_key = kernel(rules.from_key)
mirror = kernel(rules.mirror)
