"""Who is asking: addresses, declared proxies, and the token."""

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from fourlab.errors import UserError
from fourlab.web.clients import address_of, check_proxy, client_of, cookie_of, knows, make_token
from fourlab.web.settings import Settings
from tests.web.conftest import nothing_to_compile, serving

TOKEN = "correct-horse-battery"


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("10.0.0.7", "10.0.0.7"),
        ("::ffff:10.0.0.7", "10.0.0.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::9", "2001:db8:1:2::/64"),
        ("testclient", "testclient"),
    ],
)
def test_an_address_is_an_ipv4_address_or_an_ipv6_network(host: str, address: str) -> None:
    assert address_of(host) == address


@pytest.mark.parametrize(
    ("host", "forwarded", "client"),
    [
        ("9.9.9.9", b"1.2.3.4", "9.9.9.9"),
        ("10.0.0.1", b"1.2.3.4", "1.2.3.4"),
        ("10.0.0.1", b"6.6.6.6, 1.2.3.4", "1.2.3.4"),
        ("10.0.0.1", b"6.6.6.6, 1.2.3.4, 10.0.0.2", "1.2.3.4"),
        ("10.0.0.1", b"", "10.0.0.1"),
        ("10.0.0.1", b"10.0.0.2", "10.0.0.1"),
        ("10.0.0.1", b"x" * 5000, "x" * 100),
    ],
)
def test_only_declared_proxies_name_the_client(host: str, forwarded: bytes, client: str) -> None:
    assert client_of(host, forwarded, frozenset({"10.0.0.1", "10.0.0.2"})) == client


def test_a_proxy_is_given_by_its_address() -> None:
    assert check_proxy("10.0.0.1") == "10.0.0.1"
    with pytest.raises(UserError, match="IP address"):
        check_proxy("proxy.example")


def test_a_token_is_made_or_checked() -> None:
    assert make_token(TOKEN) == TOKEN
    assert make_token(None) != make_token(None)
    assert len(make_token("")) >= 20
    for bad in ("short", "with space in it", "semi;colon-token", "x" * 201):
        with pytest.raises(UserError, match="8 to 200"):
            make_token(bad)


@pytest.mark.parametrize(
    ("headers", "query", "is_known"),
    [
        ({b"authorization": b"Bearer " + TOKEN.encode()}, b"", True),
        ({b"authorization": b"Basic " + TOKEN.encode()}, b"", False),
        ({b"cookie": f"x=1; fourlab_token={TOKEN}".encode()}, b"", True),
        ({b"cookie": b"fourlab_token=wrong-wrong"}, b"", False),
        ({b"cookie": b"\xff\xfe;;;=,"}, b"", False),
        ({b"cookie": f'other={{"a":1}}; a[b]=1; fourlab_token={TOKEN}'.encode()}, b"", True),
        ({b"cookie": b'x="' + b"\\" * 15_000}, b"", False),
        ({}, f"token={TOKEN}".encode(), True),
        ({}, b"token=", False),
        ({}, b"token=%ff%fe", False),
        ({}, b"&".join([b"token=x"] * 1000), False),
        ({}, b"", False),
    ],
)
def test_a_request_knows_the_token(
    headers: dict[bytes, bytes], query: bytes, is_known: bool
) -> None:
    assert knows(TOKEN, headers, query) == is_known


@pytest.fixture(scope="module")
def guarded() -> Iterator[httpx.Client]:
    settings = Settings(home=Path("nowhere"), token=TOKEN)
    with serving(settings, nothing_to_compile()) as client:
        yield client


def test_without_the_token_nothing_but_ping_is_answered(guarded: httpx.Client) -> None:
    for path in ("/", "/static/main.js", "/api/v1/about", "/api/v1/openapi.json", "/api/v1/runs"):
        answer = guarded.get(path)
        assert answer.status_code == 401
        assert answer.json()["error"]["code"] == "token_needed"
        assert "set-cookie" not in answer.headers
    assert guarded.get("/api/v1/ping").status_code == 200
    body = {"agent": "rules"}
    wrong = {"authorization": "Bearer wrong-wrong-wrong"}
    assert guarded.post("/api/v1/move", json=body, headers=wrong).status_code == 401


def test_the_api_takes_the_token_from_a_header(guarded: httpx.Client) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}
    answer = guarded.post("/api/v1/move", json={"agent": "rules"}, headers=headers)
    assert answer.json()["column"] == 4


def test_the_page_keeps_the_token_in_a_cookie(guarded: httpx.Client) -> None:
    opened = guarded.get("/", params={"token": TOKEN, "moves": "44"})
    assert opened.status_code == 200
    assert opened.headers["set-cookie"] == cookie_of(TOKEN)
    assert "HttpOnly" in cookie_of(TOKEN)
    assert "SameSite=Strict" in cookie_of(TOKEN)
    cookie = {"cookie": f"fourlab_token={TOKEN}"}
    assert guarded.get("/static/main.js", headers=cookie).status_code == 200
    assert guarded.get("/", headers=cookie).status_code == 200
    guarded.cookies.clear()


def test_a_token_does_not_open_the_server_to_other_pages(guarded: httpx.Client) -> None:
    headers = {"authorization": f"Bearer {TOKEN}", "origin": "http://evil.example"}
    assert guarded.post("/api/v1/move", json={}, headers=headers).status_code == 403


def test_errors_before_the_application_have_the_common_form(guarded: httpx.Client) -> None:
    answer = guarded.get("/api/v1/about")
    assert json.loads(answer.content)["error"].keys() == {"status", "code", "message"}
    assert answer.headers["x-content-type-options"] == "nosniff"
