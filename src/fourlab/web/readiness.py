"""Which agents can reply at once, and when the others will.

Kernels are compiled beside the server, in child processes.

Agents declare the groups of kernels that they search with. A request for an agent that is not ready
waits here, before it takes the place of a search, and moves what the agent needs to the front of
the queue.
"""

import asyncio
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future

from fastapi import Request

from fourlab.agents import registry
from fourlab.agents.levels import LEVELS
from fourlab.compiled.background import Background, Child, Closed, Worker
from fourlab.errors import UserError
from fourlab.game.rules import CLASSIC, Rules
from fourlab.web import messages as m
from fourlab.web import players
from fourlab.web.gate import Busy, unless_gone
from fourlab.web.settings import CORES

PROCESSES = min(2, CORES)
NICENESS = 5
"""The children compile with a lower priority than the server, which answers meanwhile."""


Load = Callable[[str], None]
"""Loads a compiled group into the processes that search."""


def compile_in_background(load: Load, only: Iterable[str] | None = None) -> Background:
    """Compile the kernels of all agents that can play over the web, levels first, or `only` some.

    `load` is called with every compiled group. This imports the compiler, so the thread of the
    event loop must not call it.
    """
    try:
        from fourlab.compiled._cache import CACHE_FOLDER, is_kept
        from fourlab.compiled.warmup import GROUPS, is_compiled
    except UserError:  # no Numba, so nothing to wait for: searches that need it say so themselves
        return Background([], [Elsewhere()], {}, [], load)

    specs = [*(level.spec for level in LEVELS), *players.AGENTS]
    agents = [registry.parse_spec(spec)[0] for spec in specs]
    names = list(dict.fromkeys(name for agent in agents for name in registry.kernels_of(agent)))
    if only is not None:
        names = [name for name in names if name in set(only)]
    compiled = [name for name in names if is_compiled(name)]
    # Without a cache, what a child compiles would be lost: `load` compiles where it loads.
    workers: list[Worker] = [Elsewhere()]
    if is_kept(CACHE_FOLDER):
        workers = [Child(NICENESS) for _ in range(PROCESSES)]
    seconds = {name: GROUPS[name].seconds for name in names}
    return Background(names, workers, seconds, compiled, load)


class Elsewhere:
    """Compiles nothing: without a cache that processes share, `load` compiles where it loads."""

    startup_seconds = 0.0

    def run(self, name: str) -> float:
        """Do nothing."""
        return 0.0

    def close(self) -> None:
        """Do nothing."""


class Readiness:
    """Which kernels are ready in a running server."""

    def __init__(self, begin: Callable[[Load], Background] = compile_in_background) -> None:
        """`begin` prepares the compilation; it is called in a thread when the server starts."""
        self._begin = begin
        # Resolved when the compilers have started; until then every request waits for it.
        self._background: Future[Background] = Future()
        self._kernels: dict[str, tuple[str, ...]] = {}  # by agent, as they were requested
        self._ended = threading.Event()

    def open(
        self, load: Load, on_compiling: Callable[[float], None] = lambda seconds: None
    ) -> None:
        """Start to compile; call `on_compiling` with the estimated seconds if there is work."""
        future: Future[Background] = Future()
        future.set_running_or_notify_cancel()  # so that no waiting request can cancel it
        ended = threading.Event()
        self._background, self._ended = future, ended

        def run() -> None:
            try:
                background = self._begin(load)
                background.start()
            except BaseException as error:
                future.set_exception(error)
                raise
            future.set_result(background)
            # `close` may have been called before there was anything to close.
            if ended.is_set():
                background.close()
            elif seconds := max(background.seconds_left().values(), default=0.0):
                on_compiling(seconds)

        threading.Thread(target=run, daemon=True, name="readiness").start()

    def close(self) -> None:
        """Stop the child processes; waiting requests are refused."""
        self._ended.set()
        if self._begun():
            self._background.result().close()

    def _begun(self) -> bool:
        return self._background.done() and self._background.exception() is None

    async def agent(self, name: str, rules: Rules, request: Request) -> None:
        """Return when an agent can search; raise UserError, Gone or Busy."""
        spec = players.spec_of(name, rules)
        await self.kernels(await self._kernels_of(spec), request)

    async def kernels(self, names: Iterable[str], request: Request) -> None:
        """Return when groups are ready; they are compiled before all others."""
        if not names:
            return
        background = await asyncio.wrap_future(self._background)
        unready = background.prefer(names)
        if not unready:
            return
        # `gather` raises the first failure of any group, without waiting for the others.
        ready = asyncio.gather(*map(asyncio.wrap_future, unready))
        try:
            await unless_gone(request, ready)
        except Closed:
            raise Busy from None
        finally:
            ready.cancel()  # without effect if the groups are ready

    async def prefer(self, name: str, rules: Rules) -> None:
        """Compile what an agent needs before everything else."""
        spec = players.spec_of(name, rules)
        background = await asyncio.wrap_future(self._background)
        background.prefer(await self._kernels_of(spec))

    async def report(self, rules: Rules = CLASSIC) -> m.ReadyAnswer:
        """Report what is ready, and when the rest will be."""
        background = await asyncio.wrap_future(self._background)
        left = background.seconds_left()
        states = {name: background.state(name) for name in background.names}

        async def agent(agent_name: str, name: str) -> m.AgentReady:
            try:
                groups = await self._kernels_of(players.spec_of(agent_name, rules))
            except UserError:  # it cannot be imported, which its search will say
                groups = ()
            # A group that this server was not asked to compile counts as ready.
            waiting = [left[group] for group in groups if states.get(group, "ready") != "ready"]
            return m.AgentReady(
                agent=agent_name,
                name=name,
                ready=not waiting,
                seconds=_rounded(max(waiting)) if waiting else 0.0,
            )

        levels = enumerate(LEVELS, 1)
        ready = all(state == "ready" for state in states.values())
        return m.ReadyAnswer(
            ready=ready,
            seconds=0.0 if ready else _rounded(max(left.values())),
            levels=[await agent(f"level:{number}", level.name) for number, level in levels],
            agents=[await agent(name, name) for name in players.names()],
            groups=[
                m.GroupReady(
                    name=name,
                    state=state,
                    seconds=0.0 if state == "ready" else _rounded(left[name]),
                )
                for name, state in states.items()
            ],
        )

    async def _kernels_of(self, spec: str) -> tuple[str, ...]:
        base = players.base_of(registry.parse_spec(spec)[0])
        if base not in self._kernels:
            self._kernels[base] = await asyncio.to_thread(registry.kernels_of, base)
        return self._kernels[base]


def _rounded(seconds: float) -> float:
    # Not 0, which would mean that it is ready.
    return round(max(seconds, 0.1), 1)
