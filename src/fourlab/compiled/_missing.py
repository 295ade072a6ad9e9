"""What is said where Numba cannot be imported."""

from fourlab.errors import UserError


def no_compiler(error: ImportError) -> UserError:
    """Return the error that a kernel's module raises: what is missing, and what still works."""
    # The reason is not always that Numba is missing: it refuses a NumPy that is too new for it.
    reason = (str(error) or "it cannot be imported").splitlines()[0][:200]
    return UserError(
        f"this needs Numba ({reason}): pip install numba. Positions, notations and the agents "
        "random and rules work without it; NUMBA_DISABLE_JIT=1 runs everything as plain Python, "
        "hundreds of times slower"
    )
