"""`fourlab web`: start and stop."""

import signal
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from fourlab.web.serve import listen
from tests.conftest import Result


@contextmanager
def running(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run the real command on a free port; yield its process and address."""
    command = [sys.executable, "-m", "fourlab", "web", "--no-browser", "--port", "0", *arguments]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout is not None
        try:
            yield server, server.stdout.readline().split()[3]
        finally:
            server.kill()


def test_ctrl_c_stops_the_server_cleanly() -> None:
    with running() as (server, address):
        page = urllib.request.urlopen(address).read()
        assert b"<title>Fourlab" in page
        server.send_signal(signal.SIGINT)
        _, printed = server.communicate()
        assert (server.returncode, printed) == (0, "")


def test_a_public_server_prints_a_warning() -> None:
    with running("--public", "--host", "0.0.0.0") as (server, address):
        assert address.startswith("http://127.0.0.1:")
        urllib.request.urlopen(f"{address}api/v1/ping")
        server.send_signal(signal.SIGINT)
        _, printed = server.communicate()
        assert "others can reach this server" in printed


def test_a_server_that_others_can_reach_needs_a_token_or_the_word_public(
    fourlab: Callable[..., Result],
) -> None:
    for host in ("0.0.0.0", "::", "192.168.0.7", "four.example"):
        done = fourlab("web", "--no-browser", "--host", host)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "--token" in done.stderr
        assert "--public" in done.stderr


def test_a_token_is_part_of_the_printed_address(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FOURLAB_TOKEN", raising=False)
    with running("--host", "0.0.0.0", "--token") as (_, address):
        page, _, token = address.partition("?token=")
        assert len(token) >= 20
        with pytest.raises(urllib.error.HTTPError, match="401"):
            urllib.request.urlopen(page)
        answer = urllib.request.urlopen(address)
        assert "HttpOnly" in answer.headers["set-cookie"]
        assert b"<title>Fourlab" in answer.read()


def test_a_token_may_be_chosen(
    monkeypatch: pytest.MonkeyPatch, fourlab: Callable[..., Result]
) -> None:
    monkeypatch.setenv("FOURLAB_TOKEN", "correct-horse")
    with running("--token") as (_, address):
        assert address.endswith("/?token=correct-horse")
    monkeypatch.setenv("FOURLAB_TOKEN", "short")
    done = fourlab("web", "--no-browser", "--token")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_a_proxy_must_be_an_address(fourlab: Callable[..., Result]) -> None:
    done = fourlab("web", "--no-browser", "--proxy", "proxy.example")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_a_port_in_use_is_reported_in_one_line(fourlab: Callable[..., Result]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = fourlab("web", "--no-browser", "--port", str(port))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"port {port}" in done.stderr


def test_an_invalid_address_is_reported_in_one_line(fourlab: Callable[..., Result]) -> None:
    done = fourlab("web", "--no-browser", "--public", "--host", "no.such.host.invalid")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_responses_do_not_wait_for_acknowledgements() -> None:
    with listen("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
