"""A random generator whose whole state is one positive integer, passed in and handed back.

Multiply-with-carry (Marsaglia): the low 32 bits `x` and the carry `c` above them become `A * x + c`; the output is
`x ^ c`. Every number stays below 2**63, so the same lines run compiled and as plain Python and give the same stream.
A * 2**32 - 1 is a safe prime, hence every state but 0 lies on a cycle of 2**61.6 draws.
"""

import numpy as np

from fourlab.compiled._jit import kernel

A = 1621085529
LOW = 0xFFFFFFFF


def seed_state(seed: int | np.random.SeedSequence) -> int:
    """Turn a seed into a first state."""
    return seed_states(seed, 1)[0]


def seed_states(seed: int | np.random.SeedSequence, count: int) -> list[int]:
    """Turn a seed into the first states of several independent streams."""
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    words = sequence.generate_state(count, np.uint64)
    return [1 + int(word) % (A * 2**32 - 2) for word in words]


@kernel
def advance(state: int) -> int:
    """Step the generator."""
    return A * (state & LOW) + (state >> 32)


@kernel
def below(n: int, state: int) -> int:
    """Read a number from 0 to n - 1 off the state, n at most 2**31; the bias is below n / 2**32."""
    return (((state & LOW) ^ (state >> 32)) * n) >> 32
