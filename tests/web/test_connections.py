"""Connections: their number, sizes and times are bounded, and the server goes on."""

import contextlib
import logging
import socket
import time
from collections.abc import Iterator

import httpx
import pytest

from fourlab.web import connections
from fourlab.web.connections import Open
from fourlab.web.settings import (
    MOST_BODY_BYTES,
    MOST_CONNECTIONS,
    MOST_CONNECTIONS_OF_ADDRESS,
    MOST_HEADERS,
    Settings,
)
from tests.web.conftest import nothing_to_compile, serving


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    with serving(Settings(), nothing_to_compile()) as client:
        yield client


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> Iterator[httpx.Client]:
    """A server that waits only a moment for its clients."""
    for name in ("HEAD_SECONDS", "BODY_SECONDS", "READING_SECONDS", "CLOSING_SECONDS"):
        monkeypatch.setattr(connections, name, 0.2)
    for module in ("serve", "connections"):
        monkeypatch.setattr(f"fourlab.web.{module}.IDLE_SECONDS", 0.2)
    with serving(Settings(), nothing_to_compile()) as client:
        yield client


def connect(client: httpx.Client) -> socket.socket:
    return socket.create_connection((client.base_url.host, client.base_url.port or 80))


def head_of(client: httpx.Client, line: str = "GET /api/v1/ping", *headers: str) -> bytes:
    host = f"Host: {client.base_url.host}:{client.base_url.port}"
    return "\r\n".join([f"{line} HTTP/1.1", host, *headers, "", ""]).encode()


def answer_of(connection: socket.socket) -> bytes:
    """Return all that the server sends until it closes the connection."""
    answer = b""
    try:
        while part := connection.recv(65536):
            answer += part
    except ConnectionResetError:  # it closed while more was being sent
        pass
    return answer


def sent(client: httpx.Client, data: bytes) -> bytes:
    """Send data until the server closes the connection, and return its answer."""
    with connect(client) as connection:
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(data)
        return answer_of(connection)


def lives(client: httpx.Client) -> bool:
    return client.get("/api/v1/ping").json() == {"ok": True}


def test_a_long_request_line_is_refused(client: httpx.Client) -> None:
    answer = sent(client, head_of(client, "GET /" + "x" * 9_000))
    assert answer.startswith(b"HTTP/1.1 414 ")
    assert b'"error"' in answer
    assert b"connection: close" in answer
    # If more is on its way when the server closes, the system may drop its answer.
    answer = sent(client, head_of(client, "GET /" + "x" * 300_000))
    assert answer[:13] in (b"HTTP/1.1 414 ", b"HTTP/1.1 431 ", b"")
    assert lives(client)


def test_large_headers_are_refused(client: httpx.Client) -> None:
    for header in ("X-A: " + "x" * 20_000, "X" * 20_000 + ": a"):
        assert sent(client, head_of(client, "GET /", header)).startswith(b"HTTP/1.1 431 ")
    many = [f"X-{number}: a" for number in range(MOST_HEADERS)]
    assert sent(client, head_of(client, "GET /", *many)).startswith(b"HTTP/1.1 431 ")
    assert lives(client)


def test_headers_that_never_end_are_refused_before_they_take_memory(client: httpx.Client) -> None:
    with connect(client) as connection:
        connection.sendall(b"GET / HTTP/1.1\r\nX-A: ")
        total = 0
        try:
            while total < 50_000_000:
                total += connection.send(b"x" * 10_000)
        except (ConnectionResetError, BrokenPipeError):
            pass
        assert total < 20_000_000, "the server has closed the connection"
    assert lives(client)


def test_a_chunked_body_without_end_is_refused(client: httpx.Client) -> None:
    head = head_of(
        client,
        "POST /api/v1/position",
        "Content-Type: application/json",
        "Transfer-Encoding: chunked",
    )
    body = b"1\r\nx\r\n" * (MOST_BODY_BYTES + 1)
    answer = sent(client, head + body + b"1\r\nx\r\n" * 10 * MOST_BODY_BYTES)
    assert answer[:13] in (b"HTTP/1.1 413 ", b"")
    # Trailers are headers, too.
    trailers = b"".join(b"X-%d: a\r\n" % number for number in range(100))
    sent(client, head + b"0\r\n" + trailers + b"\r\n")
    assert lives(client)


def test_what_is_not_http_is_refused(client: httpx.Client) -> None:
    for data in (b"\x16\x03\x01\x02\x00\x01\x00\x01", b"GET\r\n\r\n", b"\x00" * 100):
        assert sent(client, data).startswith(b"HTTP/1.1 400 ")
    assert lives(client)


def test_few_requests_may_be_sent_in_advance(client: httpx.Client) -> None:
    answer = sent(client, head_of(client) * 1000)
    assert answer.count(b"HTTP/1.1 200") <= 20
    with connect(client) as connection:
        connection.sendall(head_of(client) * 2 + head_of(client, "GET /", "Connection: close"))
        assert answer_of(connection).count(b"HTTP/1.1 200") == 3
    assert lives(client)


def test_silent_connections_are_closed(hasty: httpx.Client) -> None:
    quiet = [connect(hasty) for _ in range(20)]
    for connection in quiet:
        with connection:
            assert answer_of(connection) == b""
    assert lives(hasty)


@pytest.mark.parametrize(
    ("part", "status"),
    [
        (b"G", b"408"),
        (b"\r\n", b"408"),
        (b"GET / HTTP/1.1\r\n", b"408"),
        (b"GET / HTTP/1.1\r\nHost: a\r\nX", b"408"),
        (b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n12345", b"405"),
        (
            b"POST /api/v1/move HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Content-Length: 10\r\n\r\n12345",
            b"408",
        ),
        (
            b"POST /api/v1/move HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n5\r\nab",
            b"408",
        ),
    ],
)
def test_unfinished_requests_are_closed(hasty: httpx.Client, part: bytes, status: bytes) -> None:
    with connect(hasty) as connection:
        connection.sendall(part)
        answer = answer_of(connection)
        assert answer.startswith(b"HTTP/1.1 " + status)
        assert answer.count(b"HTTP/1.1") == 1
    assert lives(hasty)


def test_a_request_that_comes_byte_by_byte_is_closed(hasty: httpx.Client) -> None:
    with connect(hasty) as connection:
        try:
            for byte in head_of(hasty, "GET /", *["X-A: " + "x" * 50] * 20):
                connection.sendall(bytes([byte]))
                time.sleep(0.01)
        except (ConnectionResetError, BrokenPipeError):
            return
        assert b" 408 " in answer_of(connection)


def test_idle_connections_are_closed_after_an_answer(hasty: httpx.Client) -> None:
    with connect(hasty) as connection:
        connection.sendall(head_of(hasty))
        assert answer_of(connection).startswith(b"HTTP/1.1 200 ")


def test_a_length_of_thousands_of_zeros_is_refused(
    client: httpx.Client, caplog: pytest.LogCaptureFixture
) -> None:
    with connect(client) as connection:
        length = f"Content-Length: {'0' * 5000}2"
        connection.sendall(head_of(client, "POST /api/v1/move", length) + b"{}")
        assert connection.recv(65536).startswith(b"HTTP/1.1 400 ")
    assert caplog.records == []


def test_a_connection_is_closed_after_a_refused_body_that_came_late(hasty: httpx.Client) -> None:
    with connect(hasty) as connection:
        length = f"Content-Length: {MOST_BODY_BYTES + 1}"
        connection.sendall(head_of(hasty, "POST /api/v1/move", length))
        assert connection.recv(65536).startswith(b"HTTP/1.1 413 ")
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):
            connection.sendall(b"x" * (MOST_BODY_BYTES + 1))
        assert b"HTTP" not in answer_of(connection)
    assert lives(hasty)


def test_a_client_that_does_not_read_is_cut_off(hasty: httpx.Client) -> None:
    with connect(hasty) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        request = head_of(hasty, "GET /api/v1/openapi.json")
        try:
            while True:
                connection.sendall(request)
                time.sleep(0.01)
        except (ConnectionResetError, BrokenPipeError):
            pass
    assert lives(hasty)


def test_connections_of_one_address_are_limited(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS_OF_ADDRESS", 5)
    opened = [connect(client) for _ in range(5)]
    time.sleep(0.05)
    with connect(client) as sixth:
        sixth.sendall(head_of(client))
        answer = answer_of(sixth)
        assert answer.startswith(b"HTTP/1.1 503 ")
        assert b"retry-after: 1" in answer
    for connection in opened:
        connection.close()
    while True:
        try:
            assert lives(client)
            return
        except (httpx.HTTPError, ValueError, AssertionError):
            time.sleep(0.05)


def test_connections_are_counted_by_address_and_in_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS_OF_ADDRESS", 3)
    monkeypatch.setattr(connections, "most_connections", lambda: 6)
    opened = Open(frozenset({"10.0.0.1"}))
    assert [opened.add("a") for _ in range(9)] == [True, True, True, *[False] * 6]
    assert opened.add("b")
    assert [opened.add("10.0.0.1") for _ in range(3)] == [True, True, False]
    for address in ("a", "a", "a", "b"):
        opened.remove(address)
    assert [opened.add("10.0.0.1") for _ in range(5)] == [True, True, True, True, False]


def test_silent_connections_of_one_address_keep_no_other_out(
    client: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MOST_CONNECTIONS_OF_ADDRESS", 5)
    monkeypatch.setattr(connections, "MOST_REFUSED", 10)
    address = (client.base_url.host, client.base_url.port or 80)
    with contextlib.ExitStack() as stack:
        opened = [stack.enter_context(connect(client)) for _ in range(40)]
        # All but five and ten are closed at once, long before the time to send a request is over.
        for connection in opened[15:]:
            assert answer_of(connection) == b""
        with socket.create_connection(address, source_address=("127.0.0.2", 0)) as other:
            other.sendall(head_of(client, "GET /api/v1/ping", "Connection: close"))
            assert answer_of(other).startswith(b"HTTP/1.1 200 ")


@pytest.mark.parametrize(
    ("files", "connections_in_all"), [(20_000, MOST_CONNECTIONS), (1024, 824), (256, 128)]
)
def test_fewer_connections_are_allowed_where_few_files_may_be_open(
    files: int, connections_in_all: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    resource = pytest.importorskip("resource")
    monkeypatch.setattr(resource, "getrlimit", lambda _: (files, files))
    assert connections.most_connections() == connections_in_all


def test_thirty_pupils_behind_one_address_can_play() -> None:
    assert MOST_CONNECTIONS_OF_ADDRESS >= 30 * 6, "browsers open up to six connections each"
    assert connections.most_connections() >= MOST_CONNECTIONS_OF_ADDRESS


def test_two_hosts_are_refused(client: httpx.Client) -> None:
    for other in ("Host: evil.example", f"Host: 127.0.0.1:{client.base_url.port}", "hOST: a"):
        answer = sent(client, head_of(client, "GET /api/v1/ping", other, "Connection: close"))
        assert answer.startswith(b"HTTP/1.1 400 "), other
        assert b"several headers host" in answer
    assert lives(client)


@pytest.mark.parametrize("name", ["Origin", "Sec-Fetch-Site", "Sec-Fetch-Mode"])
def test_headers_that_are_checked_may_not_be_repeated(client: httpx.Client, name: str) -> None:
    own = {"Origin": str(client.base_url).rstrip("/")}.get(name, "same-origin")
    headers = (f"{name}: evil", f"{name}: {own}", "Connection: close")
    answer = sent(client, head_of(client, "GET /api/v1/ping", *headers))
    assert answer.startswith(b"HTTP/1.1 400 ")


UPGRADES = [
    ("Connection: Upgrade", "Upgrade: websocket"),
    ("Connection: Upgrade", "Upgrade: h2c", "HTTP2-Settings: AAAA"),
]


def test_requests_that_cannot_be_read_or_upgraded_fill_no_log(client: httpx.Client) -> None:
    lines: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    loggers = [logging.getLogger(name) for name in ("uvicorn", "uvicorn.error", "fourlab.web")]
    handler = Keep()
    for logger in loggers:
        logger.addHandler(handler)
    try:
        for upgrade in UPGRADES:
            with connect(client) as connection:
                connection.sendall(head_of(client, "GET /api/v1/ping", *upgrade))
                assert connection.recv(65536).startswith(b"HTTP/1.1 200 ")
        assert sent(client, b"no HTTP\r\n\r\n").startswith(b"HTTP/1.1 400 ")
        assert lives(client)
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
    assert lines == []
