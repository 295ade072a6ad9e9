"""Which address a request comes from, and the secret that it may have to know."""

import hmac
import re
import secrets
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network
from urllib.parse import parse_qs

from fourlab.errors import UserError

COOKIE = "fourlab_token"
TOKEN_BYTES = 16
"""Random bytes of a generated token."""
_TOKEN = re.compile(r"[A-Za-z0-9_.~-]{8,200}")


def address_of(host: str) -> str:
    """Return what counts as one address: an IPv4 address, or an IPv6 network of 64 bits.

    Every subscriber has at least such a network, with 2⁶⁴ addresses.
    """
    try:
        address: IPv4Address | IPv6Address = ip_address(host)
    except ValueError:
        return host[:100]
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ip_network((int(address) >> 64 << 64, 64)))
    return str(address)


def client_of(host: str, forwarded: bytes, proxies: frozenset[str]) -> str:
    """Return the address of a client.

    Behind a declared proxy it is the last address in X-Forwarded-For that is no declared proxy
    itself: everything before it may have been sent by the client.
    """
    if not forwarded or not _is_proxy(host, proxies):
        return address_of(host)
    hops = [hop.strip() for hop in forwarded.decode("latin-1").split(",")]
    for hop in reversed(hops[-10:]):
        if not _is_proxy(hop, proxies):
            return address_of(hop)
    return address_of(host)


def _is_proxy(host: str, proxies: frozenset[str]) -> bool:
    return bool(proxies) and address_of(host) in {address_of(proxy) for proxy in proxies}


def check_proxy(text: str) -> str:
    """Return the address of a proxy; raise UserError if it is none."""
    try:
        return str(ip_address(text))
    except ValueError:
        raise UserError(f"a proxy is given by its IP address, not {text!r}") from None


def make_token(text: str | None) -> str:
    """Return a token: the given one if it can be part of an address, else a new random one."""
    if not text:
        return secrets.token_urlsafe(TOKEN_BYTES)
    if _TOKEN.fullmatch(text) is None:
        raise UserError("a token has 8 to 200 characters: letters, digits and - _ . ~")
    return text


def knows(token: str, headers: dict[bytes, bytes], query: bytes) -> bool:
    """Return whether a request knows the token: in a header, its cookie or its query."""
    given = [_bearer(headers), _in_cookie(headers), _in_query(query)]
    # Every candidate is compared in constant time, so that no prefix can be guessed by timing.
    matches = [hmac.compare_digest(text.encode(), token.encode()) for text in given]
    return any(matches)


def _bearer(headers: dict[bytes, bytes]) -> str:
    kind, _, text = headers.get(b"authorization", b"").decode("latin-1").partition(" ")
    return text.strip() if kind.lower() == "bearer" else ""


def _in_cookie(headers: dict[bytes, bytes]) -> str:
    # By hand: SimpleCookie takes quadratic time on some headers, and gives up at the first cookie
    # that it cannot read. All servers of a machine share their cookies, whatever the port.
    for cookie in headers.get(b"cookie", b"").decode("latin-1").split(";"):
        name, _, value = cookie.partition("=")
        if name.strip() == COOKIE:
            return value.strip()
    return ""


def _in_query(query: bytes) -> str:
    if b"token=" not in query:
        return ""
    try:
        values = parse_qs(query.decode("latin-1"), max_num_fields=100).get("token", [""])
    except ValueError:
        return ""
    return values[-1]


def cookie_of(token: str) -> str:
    """Return the header that lets a browser remember the token."""
    return f"{COOKIE}={token}; Path=/; HttpOnly; SameSite=Strict"
