"""`fourlab web`: how it begins and ends."""

import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fourlab.web.serve import listen
from tests.conftest import Result


@contextmanager
def running(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The real command on a free port, and its address."""
    command = [sys.executable, "-m", "fourlab", "web", "--no-browser", "--port", "0", *arguments]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            yield server, server.stdout.readline().split()[3]
        finally:
            server.kill()


def test_ctrl_c_ends_it_in_peace() -> None:
    with running() as (server, address):
        page = urllib.request.urlopen(address).read()
        assert b"<title>Fourlab" in page
        server.send_signal(signal.SIGINT)
        _, told = server.communicate()
        assert (server.returncode, told) == (0, "")


def test_whoever_opens_it_to_others_is_warned() -> None:
    with running("--public", "--host", "0.0.0.0") as (server, address):
        assert address.startswith("http://127.0.0.1:")
        urllib.request.urlopen(f"{address}api/v1/ping")
        server.send_signal(signal.SIGINT)
        _, told = server.communicate()
        assert "others can reach this server" in told


def test_a_port_that_is_taken_is_told_in_one_line(fourlab: Callable[..., Result]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = fourlab("web", "--no-browser", "--port", str(port))
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert f"port {port}" in done.stderr


def test_an_address_that_is_none_is_told_in_one_line(fourlab: Callable[..., Result]) -> None:
    done = fourlab("web", "--no-browser", "--host", "no.such.host.invalid")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)


def test_answers_do_not_wait_for_acknowledgements() -> None:
    with listen("127.0.0.1", 0) as listening, socket.create_connection(listening.getsockname()):
        connection, _ = listening.accept()
        with connection:
            assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
