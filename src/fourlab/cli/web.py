"""`fourlab web`: serve the web page and the REST API."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from fourlab.cli.options import DEFAULT_HOME, HomeOption
from fourlab.web.settings import PRIVATE, PUBLIC, Settings


def web(
    host: Annotated[
        str,
        typer.Option(
            metavar="ADDRESS", help="Address to listen on; 0.0.0.0 is every network interface."
        ),
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port to listen on; 0 is any free port.")
    ] = 8000,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
    public: Annotated[
        bool, typer.Option("--public", help="Serve strangers: tighter limits, any host name.")
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="Also accept requests for this host."),
    ] = None,
    home: HomeOption = DEFAULT_HOME,
) -> None:
    """Serve the web page and the REST API.

    On the page you can play, analyse, inspect searches, review games, watch agents and see runs.
    Its address contains the game, so it can be shared and bookmarked. The REST API is under
    /api/v1, described in /api/v1/openapi.json. Ctrl-C stops the server.
    """
    from fourlab.web.serve import address_of, listen, open_browser, serve

    # A public server cannot know the names that point to it, so it accepts any.
    names = {*(allow_host or ())}
    if not public:
        names |= {"127.0.0.1", "localhost", "[::1]", f"[{host}]" if ":" in host else host}
    caps = PUBLIC if public else PRIVATE
    hosts = frozenset(name.lower() for name in names)
    settings = Settings(Path(home), public, hosts, caps, _announce)
    # Before anything is printed: with port 0, the system chooses the port now.
    listening = listen(host, port)
    if public or host not in ("127.0.0.1", "localhost", "::1"):
        print(
            "fourlab: others can reach this server; "
            "it limits their work but has no passwords and no encryption "
            "(docs/how-to/serve-many-players.md)",
            file=sys.stderr,
        )
    address = address_of(listening)
    print(f"Fourlab is at {address} (Ctrl-C stops it)", flush=True)
    if browser:
        open_browser(address)
    with suppress(KeyboardInterrupt):  # the normal way to stop the server
        serve(listening, settings)


def _announce(seconds: float) -> None:
    """Print why some agents are not ready yet."""
    text = f"compiling for this machine, once, in about {seconds:.0f} s; levels 1 to 3 play already"
    print(f"fourlab: {text}", file=sys.stderr)
