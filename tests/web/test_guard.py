"""Security: which requests the server refuses, and which headers every answer carries."""

import json
import logging
import re
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import schemathesis
from httpx import Client

from fourlab.web.app import create_app
from fourlab.web.gate import Gate
from fourlab.web.guard import HEADERS
from fourlab.web.settings import MOST_BODY_BYTES, PUBLIC, Caps, Settings
from tests.strategies import examples
from tests.web.conftest import Marks, begin, serving, serving_faulty


def error_of(answer: httpx.Response, status: int) -> str:
    """Return an error's message; check its form and that it leaks no traceback or path."""
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert body.keys() == {"error"}
    error = body["error"]
    assert error.keys() == {"status", "code", "message"}
    assert error["status"] == status
    assert "Traceback" not in answer.text
    assert 'File "' not in answer.text
    return str(error["message"])


@pytest.mark.parametrize(
    "path", ["/", "/static/main.js", "/api/v1/ping", "/nix", "/api/v1/nix", "/api/v1/openapi.json"]
)
def test_every_answer_carries_the_security_headers(client: Client, path: str) -> None:
    headers = client.get(path).headers
    assert {name: headers[name] for name in HEADERS} == HEADERS
    assert "unsafe" not in headers["content-security-policy"]
    assert "server" not in headers


def test_the_page_has_no_inline_script_or_style(client: Client) -> None:
    page = client.get("/").text
    assert re.search(r"<script(?![^>]*\bsrc=)", page) is None
    assert re.search(r"<style|\sstyle=|\son[a-z]+=|javascript:", page) is None
    assert re.search(r"https?://(?!www\.w3\.org)", page) is None


FOREIGN = [
    "http://evil.example",
    "https://evil.example",
    "null",
    "http://127.0.0.1",
    "http://127.0.0.1:1",
    "http://localhost:8000",
    "http://127.0.0.1.evil.example:{port}",
    "http://evil.example:{port}",
    "http://127.0.0.1:{port}.evil.example",
    "http://user@127.0.0.1:{port}",
    "file://",
    "http://[::1]:{port}",
]


@pytest.mark.parametrize("origin", FOREIGN)
def test_requests_from_other_origins_are_refused(client: Client, origin: str) -> None:
    origin = origin.format(port=client.base_url.port)
    error_of(client.post("/api/v1/move", json={}, headers={"origin": origin}), 403)
    error_of(client.get("/api/v1/analysis/stream", headers={"origin": origin}), 403)
    assert (
        "access-control-allow-origin"
        not in client.options("/api/v1/move", headers={"origin": origin}).headers
    )


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_cross_site_requests_are_refused_but_links_are_followed(client: Client, site: str) -> None:
    error_of(
        client.get("/api/v1/ping", headers={"sec-fetch-site": site, "sec-fetch-mode": "no-cors"}),
        403,
    )
    link = {"sec-fetch-site": site, "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"}
    assert client.get("/?moves=44", headers=link).status_code == 200
    for path in (
        "/api/v1/analysis/stream",
        "/api/v1/review/page",
        "/api/v1/ping",
        "/static/main.js",
    ):
        error_of(client.get(path, headers=link), 403)
    error_of(client.get("/", headers={**link, "sec-fetch-dest": "iframe"}), 403)


def test_requests_from_the_page_itself_are_answered(client: Client) -> None:
    origin = str(client.base_url).rstrip("/")
    assert client.post("/api/v1/position", json={}, headers={"origin": origin}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "127.0.0.2", "[::2]:80"]
)
def test_dns_rebinding_is_refused(client: Client, host: str) -> None:
    error_of(client.get("/api/v1/ping", headers={"host": host}), 421)


@pytest.mark.parametrize("host", ["", "a b", "a/b", "x" * 300, "127.0.0.1:99999999", "@"])
def test_an_invalid_host_is_refused(client: Client, host: str) -> None:
    assert client.get("/api/v1/ping", headers={"host": host}).status_code in (400, 421)


def test_a_public_server_answers_only_to_allowed_hosts() -> None:
    with serving(Settings(public=True, hosts=frozenset({"four.example"}), caps=PUBLIC)) as client:
        assert client.get("/api/v1/ping", headers={"host": "four.example"}).status_code == 200
        error_of(client.get("/api/v1/ping"), 421)
        caps = client.get("/api/v1/about", headers={"host": "four.example"}).json()["caps"]
        assert caps["move_seconds"] == PUBLIC.move_seconds
        request = {"agent": "mcts", "seconds": 300, "moves": "44"}
        answer = client.post("/api/v1/move", json=request, headers={"host": "four.example"}).json()
        assert answer["seconds"] < 60  # the cap, not the 300 s of the request
        assert answer["simulations"] <= PUBLIC.simulations


def test_a_long_body_is_refused_before_it_is_read(client: Client) -> None:
    message = error_of(client.post("/api/v1/position", content=b"x" * (MOST_BODY_BYTES + 1)), 413)
    assert str(MOST_BODY_BYTES) in message


def test_a_long_chunked_body_is_refused(client: Client) -> None:
    pieces = (b" " * 1000 for _ in range(200))
    error_of(
        client.post(
            "/api/v1/position", content=pieces, headers={"content-type": "application/json"}
        ),
        413,
    )


@pytest.mark.parametrize(
    "body", ["", "{", "[]", "null", '{"moves": NaN}', '{"moves": {}}', "[" * 9999]
)
def test_a_malformed_body_is_refused_in_the_common_form(client: Client, body: str) -> None:
    answer = client.post(
        "/api/v1/position", content=body, headers={"content-type": "application/json"}
    )
    error_of(answer, 400 if body.startswith("[[") else 422)


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-1", "0", "1e999", '"x"', "601"])
def test_numbers_are_bounded(client: Client, number: str) -> None:
    body = f'{{"seconds": {number}}}'
    assert (
        client.post(
            "/api/v1/move", content=body, headers={"content-type": "application/json"}
        ).status_code
        == 422
    )


TRAVERSALS = [
    "..",
    "../..",
    "%2e%2e",
    "%2e%2e%2f",
    "..%2f",
    "..%5c",
    "....//",
    "..;/",
    ".%2e/",
    "%252e%252e%252f",
    "..%c0%af",
    "..%00",
    "%00",
    "/etc/passwd",
    "//etc/passwd",
    "%2fetc%2fpasswd",
    "C:%5cWindows",
    "file:%2f%2f%2fetc%2fpasswd",
    "~",
    "~root",
    "...",
    ". .",
    "..%20",
    "%2e",
    ".",
    "%2e%2e%5c",
    "%5c..%5c..",
    "..%u2215",
    "%c0%ae%c0%ae",
    "%ef%bc%8e%ef%bc%8e",
    "..%0d%0a",
    "..%3f",
    "..%23",
    "$HOME",
    "%24%7BHOME%7D",
    "`id`",
    "con",
    "nul.svg",
    "secret.txt",
    "index.html",
]


@pytest.mark.parametrize("where", ["/static/{}", "/api/v1/runs/{}"])
@pytest.mark.parametrize("name", TRAVERSALS)
def test_path_traversal_is_impossible(client: Client, home: Path, where: str, name: str) -> None:
    (home / "secret.txt").write_text("hidden")
    (home.parent / "manifest.json").write_text('{"config": {"kind": "hidden"}}')
    for ending in ("", "/secret.txt", "/manifest.json", "/figures/x.svg", "/games"):
        raw = where.format(name) + ending
        answer = _raw_get(client, raw)
        assert b"hidden" not in answer
        assert b"root:" not in answer
        assert int(answer.split()[1]) in (400, 404, 422)


def _raw_get(client: Client, path: str) -> bytes:
    """Send the path as it is; httpx would normalise it."""
    host, port = client.base_url.host, client.base_url.port
    assert port is not None
    with socket.create_connection((host, port)) as connection:
        connection.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode(
                "latin-1"
            )
        )
        answer = b""
        while piece := connection.recv(65536):
            answer += piece
    return answer


def test_unknown_paths_and_methods_are_refused_in_the_common_form(client: Client) -> None:
    error_of(client.get("/api/v1/nix"), 404)
    error_of(client.get("/nix"), 404)
    error_of(client.delete("/api/v1/ping"), 405)


@pytest.mark.usefixtures("marks")
def test_an_internal_error_is_logged_and_leaks_nothing(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "fourlab.web"), serving_faulty() as (client, _):
        assert "secret" not in error_of(client.post("/api/v1/move", json={"agent": "broken"}), 500)
        events = client.get("/api/v1/analysis/stream", params={"agent": "broken"}).text
    assert "event: error" in events
    assert "secret" not in events
    assert "secret detail" in caplog.text


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until a condition holds."""
    while not condition():
        time.sleep(0.01)


@pytest.mark.parametrize(
    ("line", "body"),
    [
        ("POST /api/v1/move", {"agent": "endless"}),
        ("POST /api/v1/analysis", {"agent": "endless"}),
        ("GET /api/v1/analysis/stream?agent=endless", None),
    ],
)
def test_a_closed_tab_stops_its_search(
    marks: Marks, line: str, body: dict[str, str] | None
) -> None:
    with serving_faulty(grace=600) as (client, _):
        with begin(client, line, body):
            wait_for(lambda: marks.count("begun") == 1)
            assert marks.count("stopped") == 0
        wait_for(lambda: marks.count("stopped") == 1)


def test_a_full_server_refuses_with_retry_after(
    marks: Marks, monkeypatch: pytest.MonkeyPatch
) -> None:
    gates: list[Gate] = []
    make_gate = Gate.__init__

    def recorded(gate: Gate, *arguments: Any) -> None:
        make_gate(gate, *arguments)
        gates.append(gate)

    monkeypatch.setattr(Gate, "__init__", recorded)
    # Patient, so that no waiting request is refused before the test is done with it.
    caps = Caps(searches=1, waiting=2, patience=600.0, streams=1, streams_waiting=0)
    with serving_faulty(caps, grace=600) as (client, _):
        paths = ("move", "move", "move", "analysis")
        waiting = [begin(client, f"POST /api/v1/{path}", {"agent": "endless"}) for path in paths]
        wait_for(lambda: sum(gate.inside for gate in gates) == 4)
        for path in ("move", "analysis", "review"):
            refused = client.post(f"/api/v1/{path}", json={})
            error_of(refused, 503)
            assert int(refused.headers["retry-after"]) >= 1
        error_of(client.get("/api/v1/analysis/stream"), 503)
        # A request without a search is never refused.
        assert client.get("/api/v1/ping").status_code == 200
        for connection in waiting:
            connection.close()
        wait_for(lambda: client.post("/api/v1/move", json={"agent": "rules"}).status_code == 200)
        wait_for(lambda: marks.count("begun") == marks.count("stopped"))


@pytest.mark.usefixtures("marks")
def test_streams_that_come_and_go_leave_no_work_behind(caplog: pytest.LogCaptureFixture) -> None:
    # On a busy machine a new worker needs seconds to load its kernels, and must not be killed then.
    # On a board so small, the analysis is complete long before its time is over.
    caps = Caps(streams=2, streams_waiting=2, analysis_seconds=300)
    small = {"agent": "rules", "board": "3x3x3", "seconds": 300}
    with serving_faulty(caps, grace=0.4) as (client, pool):
        for _ in range(12):
            with begin(client, "GET /api/v1/analysis/stream?agent=spin"):
                time.sleep(0.02)
        wait_for(lambda: client.post("/api/v1/analysis", json=small).status_code == 200)
        wait_for(lambda: pool.busy() == 0)
    assert "never retrieved" not in caplog.text


def test_a_request_that_waits_too_long_is_refused(marks: Marks) -> None:
    with serving_faulty(Caps(searches=1, patience=0.2), grace=600) as (client, _):
        with begin(client, "POST /api/v1/move", {"agent": "endless"}):
            wait_for(lambda: marks.count("begun") == 1)
            error_of(client.post("/api/v1/move", json={"agent": "rules"}), 503)
        wait_for(lambda: client.post("/api/v1/move", json={"agent": "rules"}).status_code == 200)


def test_a_stopping_server_stops_its_searches(marks: Marks) -> None:
    with serving_faulty(grace=600) as (client, _):
        waiting = begin(client, "POST /api/v1/move", {"agent": "endless"})
        wait_for(lambda: marks.count("begun") == 1)
    wait_for(lambda: marks.count("stopped") == 1)
    waiting.close()


QUICK = Caps(move_seconds=0.02, analysis_seconds=0.02, review_seconds=0.05)


schema = schemathesis.openapi.from_dict(create_app().openapi())


@pytest.fixture(scope="module")
def quick_server() -> Iterator[str]:
    with serving(Settings(home=Path("nowhere"), caps=QUICK)) as client:
        yield str(client.base_url)


@schema.parametrize()
@examples(15)
def test_no_request_of_the_schema_causes_a_server_error(
    case: schemathesis.Case, quick_server: str
) -> None:
    answer = case.call(base_url=quick_server)
    assert answer.status_code < 500, (case.as_curl_command(), answer.text)
    if answer.status_code >= 400:
        assert json.loads(answer.content)["error"]["status"] == answer.status_code
