"""The decorator that compiles a kernel.

A kernel can be called from Python and from other kernels, and is compiled separately for the two:

    from Python        optimised machine code with a Python wrapper, cached on disk (`_cache.py`)
    from a kernel      a *step*: LLVM code that is linked into the kernel that Python calls and
                       optimised as part of it; it has neither machine code nor a wrapper

Plain `numba.njit` optimises every function again at each level of a call chain, and generates
machine code and wrappers for all of them although Python calls only the topmost. Avoiding that
halves the compile time.
"""

import logging
import threading
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

from fourlab.compiled._missing import no_compiler

try:
    import numba
except ImportError as error:
    raise no_compiler(error) from None

import numba.np.linalg
from numba import _dynfunc
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, _LowerResult
from numba.core.compiler_machinery import register_pass
from numba.core.registry import CPUDispatcher
from numba.core.typed_passes import NativeLowering

from fourlab.compiled import _instructions  # noqa: F401  (importing it registers them)
from fourlab.compiled._cache import CACHE_FOLDER, KernelCache

Function = TypeVar("Function", bound=Callable[..., Any])
IS_COMPILED = not numba.config.DISABLE_JIT
"""Whether kernels are compiled; otherwise they run as plain Python."""

PACKAGE = __name__.partition(".")[0]
"""fourlab, or what a bundle of its modules is called."""
LOGGER = logging.getLogger(f"{PACKAGE}.kernels")
"""Announces slow compilations. By default Python prints its messages to standard error."""
NOTICE_SECONDS = 0.5
"""A compilation that takes longer than this is announced."""


def _load_numba_without_blas() -> None:
    """Let Numba load its NumPy functions without searching for SciPy's BLAS, which takes 0.3 s.

    Without a BLAS, `np.cov` is a loop, but no kernel uses it. Functions such as `np.dot` search
    again when they are compiled.
    """

    # `arraymath` asks for a BLAS when it is imported and accepts ImportError.
    def no_blas() -> None:
        raise ImportError

    ensure_blas = numba.np.linalg.ensure_blas
    numba.np.linalg.ensure_blas = no_blas
    try:
        import_module("numba.np.arraymath")
    finally:
        numba.np.linalg.ensure_blas = ensure_blas


_load_numba_without_blas()

# nogil: threads of a search run at the same time. error_model numpy: a division by zero gives inf
# or NaN instead of an exception, so that loops stay free of branches. no_cfunc_wrapper: nothing but
# Python and other kernels calls a kernel.
_SETTINGS = {"nopython": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}


def kernel(function: Function, inlined: bool = False) -> Function:
    """Return a kernel that compiles the function on first use and runs it without the GIL."""
    if not IS_COMPILED:
        return function
    return Kernel(function, inlined)


def inlined_kernel(function: Function) -> Function:
    """Return a kernel that is always inlined into kernels that call it.

    Left to itself, LLVM does not inline some of the solver's small steps, which costs 10 %.
    """
    return kernel(function, inlined=True)


class Kernel(CPUDispatcher):  # type: ignore[misc]
    """A compiled function; the module's docstring describes its two forms."""

    def __init__(self, function: Callable[..., Any], inlined: bool) -> None:
        super().__init__(function, targetoptions=dict(_SETTINGS))
        if CACHE_FOLDER is not None:
            self._cache = KernelCache(function, CACHE_FOLDER)
        self._compiler: Any = _Announced(self._compiler, function)
        # Both forms are compiled lazily, each for the argument types of its first call.
        self._step = _Step(function, self, inlined)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle a kernel by name."""
        return _named, (self.py_func.__module__, self.py_func.__qualname__, self._step.inlined)

    @property
    def _numba_type_(self) -> types.Dispatcher:
        """The type of a kernel inside other kernels: its step."""
        return types.Dispatcher(self._step)


def _named(module: str, name: str, inlined: bool) -> Any:
    """Return the kernel with this name, or a kernel made from the function with this name."""
    value = getattr(import_module(module), name)
    return value if isinstance(value, Kernel) else kernel(value, inlined)


class _Announced:
    """Wraps Numba's compiler of a function and logs a message if it takes long."""

    def __init__(self, compiler: Any, function: Callable[..., Any]) -> None:
        self._compiler = compiler
        self._name = f"{function.__module__.removeprefix('fourlab.')}.{function.__name__}"

    def compile(self, arguments: Any, return_type: Any) -> Any:
        """Compile for these argument types; not called if the cache has the result."""
        # The message is printed while the compilation is running: afterwards it would be of no use.
        notice = threading.Timer(NOTICE_SECONDS, self._announce)
        notice.daemon = True
        notice.start()
        try:
            return self._compiler.compile(arguments, return_type)
        finally:
            notice.cancel()

    def _announce(self) -> None:
        message = "compiling %s for this machine, once (`fourlab warmup` compiles all) …"
        LOGGER.warning(message, self._name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._compiler, name)


class _Step(CPUDispatcher):  # type: ignore[misc]
    """A kernel in the form in which other kernels call it."""

    def __init__(self, function: Callable[..., Any], kernel: Kernel, inlined: bool) -> None:
        # forceinline is LLVM's attribute alwaysinline.
        settings = {**_SETTINGS, "no_cpython_wrapper": True, "forceinline": inlined}
        super().__init__(function, targetoptions=settings, pipeline_class=_StepCompiler)
        self._kernel = kernel
        self.inlined = inlined

    @property
    def is_compiling(self) -> bool:
        """Whether a call is recursive: inside a kernel's body, its own name means the step."""
        return bool(super().is_compiling or self._kernel.is_compiling)

    def get_call_template(self, arguments: Any, keywords: Any) -> Any:
        """Compile for the types of a call, ignoring the values of constants.

        Numba would compile `f(x, 0)`, `f(x, 1)` and `f(x, y)` separately, with no gain: LLVM
        propagates constants anyway.
        """
        unliteral = types.unliteral  # type: ignore[attr-defined]
        keywords = {name: unliteral(type_) for name, type_ in keywords.items()}
        return super().get_call_template(tuple(map(unliteral, arguments)), keywords)


class _StepLibrary(JITCodeLibrary):  # type: ignore[misc]
    """LLVM code that is only ever linked into other libraries."""

    def _optimize_final_module(self) -> None:
        """Do nothing: the library that the code is linked into is optimised as a whole.

        `_optimize_functions` is not overridden: without it more reference counting remains, and
        Q-learning takes 40 % longer.
        """

    def _finalize_final_module(self) -> None:
        # What remains of Numba's method when there is no machine code to generate.
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class _StepLowering(NativeLowering):  # type: ignore[misc]
    """Generate the LLVM code of a step."""

    _name = f"{PACKAGE}_step_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _StepLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = True
        super().run_pass(state)
        # Callers refer to a function by the Python object of its machine code. A step has no
        # machine code, so this object cannot be called and only identifies the step.
        lowered = state["cr"]
        description = lowered.fndesc
        name = _dynfunc.make_function(
            description.lookup_module(), description.qualname, "", 0, lowered.env, (state.library,)
        )
        state.targetctx.insert_user_function(name, description, [state.library])
        state["cr"] = _LowerResult(description, lowered.call_helper, cfunc=name, env=lowered.env)
        return True


class _StepCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's usual pipeline, except for its last pass."""

    def define_pipelines(self) -> list[Any]:
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state, f"{PACKAGE}_step")
        pipeline.passes = [
            (_StepLowering if step is NativeLowering else step, description)
            for step, description in pipeline.passes
        ]
        # A finalized pipeline refuses changes, so it is finalized again.
        pipeline._finalized = False
        pipeline.finalize()
        return [pipeline]
