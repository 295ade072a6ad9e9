"""The random number generator: its period, and statistical tests of its numbers."""

import numpy as np
from scipy import stats

from fourlab.compiled.random import A, advance, below, seed_state, seed_states


def draws(n: int, count: int, seed: int) -> np.ndarray:
    state = seed_state(seed)
    values = np.empty(count, int)
    for i in range(count):
        state = advance(state)
        values[i] = below(n, state)
    return values


def test_the_modulus_is_a_safe_prime_so_the_cycle_is_long() -> None:
    def is_prime(n: int) -> bool:
        """Test with Miller and Rabin's method, which is exact for these bases below 2**64."""
        odd = n - 1
        twos = 0
        while odd % 2 == 0:
            odd //= 2
            twos += 1

        def witness(base: int) -> bool:
            power = pow(base, odd, n)
            return power not in (1, n - 1) and all(
                (power := power * power % n) != n - 1 for _ in range(twos - 1)
            )

        return not any(witness(base) for base in (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37))

    modulus = A * 2**32 - 1
    assert is_prime(modulus)
    assert is_prime((modulus - 1) // 2)


def test_states_stay_positive_and_below_the_modulus() -> None:
    for state in (1, A * 2**32 - 2, *seed_states(5, 100)):
        for _ in range(100):
            state = advance(state)
            assert 0 < state < A * 2**32 - 1


def test_columns_are_equally_likely() -> None:
    assert stats.chisquare(np.bincount(draws(7, 70_000, 1), minlength=7)).pvalue > 0.001


def test_consecutive_numbers_are_independent() -> None:
    values = draws(7, 98_001, 2)
    pairs = np.bincount(values[:-1] * 7 + values[1:], minlength=49)
    assert stats.chisquare(pairs).pvalue > 0.001


def test_streams_of_consecutive_seeds_are_independent() -> None:
    pairs = np.bincount(draws(7, 49_000, 3) * 7 + draws(7, 49_000, 4), minlength=49)
    assert stats.chisquare(pairs).pvalue > 0.001


def test_the_same_seed_gives_the_same_states() -> None:
    assert seed_states(9, 4) == seed_states(9, 4)
    assert len(set(seed_states(9, 1000))) == 1000
    assert seed_states(np.random.SeedSequence(9), 4) == seed_states(9, 4)
