"""The server process."""

import logging
import socket
import sys
import threading
import webbrowser
from contextlib import suppress

import uvicorn

from fourlab.errors import UserError
from fourlab.web.app import create_app
from fourlab.web.browser import has_display
from fourlab.web.connections import protocol
from fourlab.web.pool import Pool
from fourlab.web.readiness import Readiness
from fourlab.web.settings import IDLE_SECONDS, Settings
from fourlab.web.starters import Nursery

SWITCH_SECONDS = 0.001
"""Longest time that a thread holds the GIL while another, such as the event loop, waits for it."""


def listen(host: str, port: int) -> socket.socket:
    """Listen on a port; raise UserError if it is not available."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family, backlog=2048)
        # Connections inherit this; asyncio sets it only on sockets that name their protocol.
        # Without it, answers on kept-alive connections wait 40 ms for an acknowledgement.
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return listening
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or error
        raise UserError(f"cannot serve on {host} port {port}: {reason}; try --port") from None


def address_of(listening: socket.socket) -> str:
    """Return the URL of the page."""
    host, port = listening.getsockname()[:2]
    # These mean "every interface" to a server but are no addresses to a browser.
    if host in ("0.0.0.0", "::"):
        host = "127.0.0.1"
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


class Server(uvicorn.Server):
    """A server that stops its searches and compilations at shutdown."""

    def __init__(self, config: uvicorn.Config, pool: Pool, readiness: Readiness) -> None:
        super().__init__(config)
        self.pool = pool
        self.readiness = readiness

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop searches and compilations, then shut down."""
        # A second Ctrl-C cancels what is still open, which uvicorn would log with a traceback.
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
        # uvicorn waits for open requests before the lifespan ends, so they are ended here.
        self.readiness.close()
        self.pool.stop()
        await super().shutdown(sockets)


def server_of(
    settings: Settings, readiness: Readiness | None = None, pool: Pool | None = None
) -> Server:
    """Return the server, not yet running."""
    app = create_app(settings, readiness, pool)
    return Server(
        uvicorn.Config(
            app,
            log_level="warning",
            access_log=False,
            server_header=False,  # strangers need not know the version
            timeout_keep_alive=IDLE_SECONDS,
            timeout_graceful_shutdown=2,
            http=protocol(settings.proxies),
            ws="none",  # the page uses no WebSockets
            proxy_headers=False,  # the guard reads them, from declared proxies alone
        ),
        app.state.pool,
        app.state.readiness,
    )


def serve(listening: socket.socket, settings: Settings, nursery: Nursery | None = None) -> None:
    """Serve until Ctrl-C."""
    sys.setswitchinterval(SWITCH_SECONDS)
    _allow_many_connections()
    pool = Pool(settings.caps, nursery=nursery)
    server_of(settings, pool=pool).run(sockets=[listening])


def _allow_many_connections() -> None:
    """Raise the limit of open files to the maximum, where there is one."""
    with suppress(ImportError, OSError, ValueError):  # not on Windows
        import resource

        _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))


def open_browser(address: str) -> None:
    """Open the page in a browser, if there is a display."""
    if has_display():
        # By then the server accepts connections; earlier ones would wait in its backlog anyway.
        threading.Timer(0.5, webbrowser.open, [address]).start()
