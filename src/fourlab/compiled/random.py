"""A random number generator whose state is one positive integer.

Kernels take the state as an argument and return the new one. The generator is Marsaglia's
multiply-with-carry: with `x` the low 32 bits of the state and `c` the carry above them, the next
state is `A * x + c`, and the output is `x ^ c`. All numbers stay below 2**63, so compiled code and
plain Python produce the same stream. A * 2**32 - 1 is a safe prime, so every state except 0 lies on
a cycle of about 2**61.6 numbers.
"""

import numpy as np

from fourlab.compiled._jit import kernel

# The largest products are A * (2**32 - 1) plus a carry below A, less than 2**62.6.
A = 1621085529
"""The multiplier."""
LOW = 0xFFFFFFFF
"""The mask of the low 32 bits."""


def seed_state(seed: int | np.random.SeedSequence) -> int:
    """Return the initial state for a seed."""
    return seed_states(seed, 1)[0]


def seed_states(seed: int | np.random.SeedSequence, count: int) -> list[int]:
    """Return the initial states of several independent streams for one seed."""
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    # 64 bits per stream. Streams lie on one long cycle at random places, so overlaps are
    # improbable.
    words = sequence.generate_state(count, np.uint64)
    # 0 and A * 2**32 - 1 are fixed points of the generator, so states are between them.
    return [1 + int(word) % (A * 2**32 - 2) for word in words]


@kernel
def advance(state: int) -> int:
    """Return the next state."""
    # Example: from state 1 (x = 1, c = 0) the next states are A and A * A, whose upper half is the
    # carry. Invariant: the carry stays below A.
    return A * (state & LOW) + (state >> 32)


@kernel
def below(n: int, state: int) -> int:
    """Return a number from 0 to n - 1; n is at most 2**31, and the bias is below n / 2**32."""
    # A multiplication and a shift instead of a slow remainder (Lemire, 2019), without the rejection
    # that would make it unbiased: for seven columns the bias is below 2**-29.
    return (((state & LOW) ^ (state >> 32)) * n) >> 32
