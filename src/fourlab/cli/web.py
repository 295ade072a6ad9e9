"""`fourlab web`: serve the web page and the REST API."""

import os
import sys
from collections.abc import Iterable, Sequence
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fourlab.cli.options import DEFAULT_HOME, HomeOption
from fourlab.errors import UserError
from fourlab.web.settings import PRIVATE, PUBLIC, OwnAgent, Settings

if TYPE_CHECKING:
    from fourlab.web.starters import Nursery

TOKEN_VARIABLE = "FOURLAB_TOKEN"
"""The environment variable with a token; other users could read it on the command line."""

TokenOption = Annotated[
    bool,
    typer.Option(
        "--token", help=f"Require a secret: that of the variable {TOKEN_VARIABLE}, else a new one."
    ),
]
ProxyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--proxy",
        metavar="ADDRESS",
        help="Believe this proxy's X-Forwarded-For about who is asking.",
    ),
]
AllowHostOption = Annotated[
    list[str] | None,
    typer.Option("--allow-host", metavar="NAME", help="Also accept requests for this host."),
]
AgentsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--agent", metavar="AGENT", help="Offer this agent, such as bot.py:Bot, on the page."
    ),
]
OwnProgramsOption = Annotated[
    bool,
    typer.Option("--allow-programs", help="Run files of --agent, and those dropped on the page."),
]


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
    allow_host: AllowHostOption = None,
    token: TokenOption = False,
    proxy: ProxyOption = None,
    agent: AgentsOption = None,
    allow_programs: OwnProgramsOption = False,
    home: HomeOption = DEFAULT_HOME,
) -> None:
    """Serve the web page and the REST API.

    On the page you can play, analyse, inspect searches, review games, watch agents and see runs.
    Its address contains the game, so it can be shared and bookmarked. The REST API is under
    /api/v1, described in /api/v1/openapi.json. Ctrl-C stops the server.

    On your own machine, --allow-programs adds agents of your own: those named by --agent, and
    Python files, ONNX networks and models of Stable-Baselines3 that you drop on the page. Such a
    server needs the token in the address that it prints.

    Examples:

      fourlab web --port 8080 --no-browser

      fourlab web --host 0.0.0.0 --token
    """
    from fourlab.web.clients import check_proxy, make_token
    from fourlab.web.starters import early_nursery

    _refuse_unprotected(host, public, token)
    if allow_programs:
        _refuse_strangers(host, public, bool(proxy))
    elif agent:
        raise UserError("--agent runs programs and files: add --allow-programs")
    settings = Settings(
        home=Path(home),
        public=public,
        hosts=_hosts(host, public, allow_host or ()),
        caps=PUBLIC if public else PRIVATE,
        token=make_token(os.environ.get(TOKEN_VARIABLE)) if token or allow_programs else None,
        proxies=frozenset(map(check_proxy, proxy or ())),
        allow_programs=allow_programs,
        own=_own(agent or ()),
        on_compiling=_announce,
    )
    with early_nursery(settings.caps) as nursery:
        _serve(host, port, settings, browser, nursery)


def _refuse_unprotected(host: str, public: bool, token: bool) -> None:
    """Raise UserError if others could reach a server that is not made for them."""
    if not _is_loopback(host) and not public and not token:
        raise UserError(
            f"others could reach a server on {host}: add --token, which lets in only those who "
            "know its address, or --public, which serves strangers with tighter limits"
        )


def _refuse_strangers(host: str, public: bool, has_proxy: bool) -> None:
    """Raise UserError if others could reach a server that runs whatever it is given."""
    if public or has_proxy or not _is_loopback(host):
        raise UserError(
            "--allow-programs is for a server that only you can reach: leave out --public, "
            "--proxy and --host"
        )


def _own(specs: Sequence[str]) -> tuple[OwnAgent, ...]:
    """Return the agents of the owner; raise UserError if one cannot be made.

    They are made in another process: the server itself runs nothing of theirs.
    """
    if not specs:
        return ()
    from concurrent.futures import ProcessPoolExecutor

    from fourlab.jobs.processes import worker_context
    from fourlab.web.own_agents import checked

    with ProcessPoolExecutor(1, mp_context=worker_context()) as pool:
        return tuple(pool.map(checked, specs))


def _serve(
    host: str, port: int, settings: Settings, browser: bool, nursery: "Nursery | None"
) -> None:
    from fourlab.web.serve import address_of, listen, open_browser, serve

    # Before anything is printed: with port 0, the system chooses the port now.
    listening = listen(host, port)
    if settings.public or not _is_loopback(host):
        _warn(settings.token is not None)
    address = address_of(listening)
    if settings.token is not None:
        address += f"?token={settings.token}"
    print(f"Fourlab is at {address} (Ctrl-C stops it)", flush=True)
    if browser:
        open_browser(address)
    with suppress(KeyboardInterrupt):  # the normal way to stop the server
        serve(listening, settings, nursery)


def _hosts(host: str, public: bool, allowed: Iterable[str]) -> frozenset[str]:
    """Return the host names that requests may use; none of them means any."""
    names = {*allowed}
    # A public server cannot know the names that point to it, so it accepts any. So does one that
    # listens on every interface and may have many names: its token keeps strangers out.
    if not public and (names or host not in ("0.0.0.0", "::")):
        names |= {"127.0.0.1", "localhost", "[::1]", f"[{host}]" if ":" in host else host}
    return frozenset(name.lower() for name in names)


def _warn(has_token: bool) -> None:
    lets_in = "lets in who knows its token" if has_token else "has no passwords"
    print(
        "fourlab: others can reach this server; "
        f"it limits their work, {lets_in} and does not encrypt (docs/security.md)",
        file=sys.stderr,
    )


def _is_loopback(host: str) -> bool:
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


def _announce(seconds: float) -> None:
    """Print why some agents are not ready yet."""
    text = f"compiling for this machine, once, in about {seconds:.0f} s; the levels come first"
    print(f"fourlab: {text}", file=sys.stderr)
