"""The decorator that compiles kernels, and kernels that several packages share.

Kernels work on plain integers and arrays. `game/bitboard.py` has the rules in plain Python, and
`board` has the same functions compiled.
"""

import os as _os


def _run_plainly_without_numba() -> None:
    """Take `_plain` for `_jit` if compilation is off and there is no Numba that could obey that."""
    import sys
    from contextlib import suppress
    from importlib import import_module
    from importlib.util import find_spec

    try:
        missing = find_spec("numba") is None
    except ValueError:  # an import that tests or submissions have blocked
        missing = True
    if missing and f"{__name__}._jit" not in sys.modules:
        with suppress(ModuleNotFoundError):  # a submission to Kaggle brings its own
            sys.modules[f"{__name__}._jit"] = import_module(f"{__name__}._plain")


if _os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0"):
    _run_plainly_without_numba()
