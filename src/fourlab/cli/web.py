"""`fourlab web`: the page in the browser, and the REST API."""

import sys
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import typer

from fourlab.cli.options import DEFAULT_HOME, HomeOption


def web(
    host: Annotated[
        str, typer.Option(metavar="ADDRESS", help="Where to listen; 0.0.0.0 is every network of this machine.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free one.")] = 8000,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    public: Annotated[bool, typer.Option("--public", help="For strangers: tighter caps, any host name.")] = False,
    allow_host: Annotated[
        list[str] | None, typer.Option("--allow-host", metavar="NAME", help="A name under which the page may be asked for.")
    ] = None,
    home: HomeOption = DEFAULT_HOME,
) -> None:
    """Serve the page: play, analyse, look into searches, review games, watch agents, see runs. Ctrl-C ends it.

    The address holds the game, so it can be shared and kept. The REST API is under /api/v1, described in
    /api/v1/openapi.json.
    """
    from fourlab.web.serve import address_of, listen, open_browser, serve
    from fourlab.web.settings import PRIVATE, PUBLIC, Settings

    names = {*(allow_host or ())}
    if not public:
        names |= {"127.0.0.1", "localhost", "[::1]", f"[{host}]" if ":" in host else host}
    caps = PUBLIC if public else PRIVATE
    hosts = frozenset(name.lower() for name in names)
    settings = Settings(Path(home), public, hosts, caps, _announce)
    listening = listen(host, port)
    if public or host not in ("127.0.0.1", "localhost", "::1"):
        print(
            "fourlab: others can reach this server; it has caps but neither passwords nor encryption (docs/scale.md)",
            file=sys.stderr,
        )
    address = address_of(listening)
    print(f"Fourlab is at {address} (Ctrl-C ends it)", flush=True)
    if browser:
        open_browser(address)
    with suppress(KeyboardInterrupt):  # which is how it is meant to end
        serve(listening, settings)


def _announce(seconds: float) -> None:
    """Say why some agents are not ready yet."""
    text = f"compiling for this machine, once, in about {seconds:.0f} s; levels 1 to 3 play already"
    print(f"fourlab: {text}", file=sys.stderr)
