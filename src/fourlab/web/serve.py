"""The server process."""

import os
import socket
import sys
import threading
import webbrowser
from contextlib import suppress

import uvicorn

from fourlab.errors import UserError
from fourlab.web.app import create_app
from fourlab.web.gate import Gate
from fourlab.web.readiness import Readiness
from fourlab.web.settings import Settings

MOST_HEADER_BYTES = 16 * 1024
SWITCH_SECONDS = 0.001
"""So long a thread may hold Python's lock while another, say the one that answers, waits for it."""


def listen(host: str, port: int) -> socket.socket:
    """Take the port; raises UserError if it cannot be had."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=2048)
        # Connections inherit this; asyncio sets it only on sockets that name their protocol. Without
        # it, answers on a connection that is kept alive wait 40 ms for an acknowledgement.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except (OSError, OverflowError) as error:
        raise UserError(f"cannot serve on {host} port {port}: {getattr(error, 'strerror', None) or error}; try --port") from None


def address_of(listening: socket.socket) -> str:
    """Where a browser finds the page."""
    host, port = listening.getsockname()[:2]
    if host in ("0.0.0.0", "::"):
        host = "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


class Server(uvicorn.Server):
    """A server that ends its searches and compilations when it has to end, so that nobody waits."""

    def __init__(self, config: uvicorn.Config, gates: tuple[Gate, ...], readiness: Readiness) -> None:
        super().__init__(config)
        self.gates, self.readiness = gates, readiness

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End."""
        self.readiness.close()
        for gate in self.gates:
            gate.stop()
        await super().shutdown(sockets)


def server_of(settings: Settings, readiness: Readiness | None = None) -> Server:
    """The server, not yet running."""
    app = create_app(settings, readiness)
    return Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,
            timeout_keep_alive=15,
            timeout_graceful_shutdown=2,
            h11_max_incomplete_event_size=MOST_HEADER_BYTES,
        ),
        app.state.gates,
        app.state.readiness,
    )


def serve(listening: socket.socket, settings: Settings) -> None:
    """Answer until Ctrl-C."""
    sys.setswitchinterval(SWITCH_SECONDS)
    _allow_many_connections()
    server_of(settings).run(sockets=[listening])


def _allow_many_connections() -> None:
    """Take as many open files as the system gives, where it counts them."""
    with suppress(ImportError, OSError, ValueError):  # not on Windows
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def open_browser(address: str) -> None:
    """Show the page, if there is a screen to show it on."""
    on_a_screen = sys.platform in ("win32", "darwin") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if on_a_screen:
        threading.Timer(0.5, webbrowser.open, [address]).start()
