"""Agents of the server's owner: named at the start, or dropped on the page."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from fourlab.errors import UserError
from fourlab.web.own_agents import OwnAgents, checked, spec_for
from fourlab.web.settings import (
    MOST_BODY_BYTES,
    MOST_OWN,
    MOST_UPLOAD_BYTES,
    OwnAgent,
    Settings,
)
from tests.cli.test_web import running
from tests.conftest import ROOT, Result
from tests.web.conftest import nothing_to_compile, serving

TOKEN = "a-token-for-tests"
BOT = '''
class Rightmost:
    """Plays the rightmost open column."""

    def decide(self, position):
        return position.legal_columns()[-1]
'''
SEARCHER = '''
from fourlab import make

class Watched:
    """Searches as mcts does."""

    def decide(self, position, limit, rng):
        return self.search(position, limit, rng).decision

    def search(self, position, limit, rng, watch=None):
        return make("mcts:simulations=200").search(position, limit, rng, watch)
'''
NETWORK = ROOT / "tests" / "bridges" / "linear.onnx"


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    """A client with the token of a server that takes files and has three agents."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "bot.py").write_text(BOT)
    (folder / "bad.py").write_text("def bad(position):\n    return 'x'\n")
    specs = (f"{folder}/bot.py:Rightmost", f"{folder}/bad.py", f'onnx:file="{NETWORK}"')
    settings = Settings(
        home=folder,
        token=TOKEN,
        allow_programs=True,
        own=tuple(OwnAgent(spec, "mine") for spec in specs),
    )
    with serving(settings, nothing_to_compile()) as client:
        client.headers["authorization"] = f"Bearer {TOKEN}"
        yield client


def move(client: httpx.Client, **body: Any) -> httpx.Response:
    return client.post("/api/v1/move", json=body)


def drop(client: httpx.Client, name: str, data: bytes, piece: int = MOST_BODY_BYTES) -> Any:
    """Send a file in pieces, as the page does; return the last answer."""
    for at in range(0, max(len(data), 1), piece):
        last = at + piece >= len(data)
        answer = client.post(
            "/api/v1/own",
            params={"name": name, "at": at, "last": last},
            content=data[at : at + piece],
        )
        if answer.status_code != 200:
            break
    return answer


def message(answer: httpx.Response) -> str:
    return str(answer.json()["error"]["message"])


def test_agents_of_the_owner_are_listed_and_play(owner: httpx.Client) -> None:
    listed = owner.get("/api/v1/agents").json()["agents"]
    mine = {agent["name"]: agent for agent in listed if agent["group"] == "own"}
    assert {"own-Rightmost", "own-bad", "own-linear"} <= set(mine)
    assert mine["own-Rightmost"]["about"] == "mine"
    assert not any("/" in name for name in mine)  # no paths
    assert move(owner, agent="own-Rightmost", moves="44").json()["column"] == 7
    columns = {move(owner, agent="own-linear", moves="44").json()["column"] for _ in range(2)}
    assert len(columns) == 1
    for path in ("analysis", "ready"):
        answer = owner.post(f"/api/v1/{path}", json={"agent": "own-Rightmost"})
        assert answer.status_code == 200, answer.text
    stream = owner.get("/api/v1/analysis/stream", params={"agent": "own-Rightmost", "moves": "44"})
    assert "event: done" in stream.text


def test_what_such_an_agent_does_wrong_is_answered(owner: httpx.Client) -> None:
    answer = move(owner, agent="own-bad", moves="44")
    assert answer.status_code == 400
    assert message(answer).startswith("bad.py returned 'x', which is not a column")


def test_only_the_names_of_the_owners_agents_are_known(owner: httpx.Client) -> None:
    for agent in ("own-", "own-nobody", "bot.py", f'onnx:file="{NETWORK}"', "own:Rightmost"):
        answer = move(owner, agent=agent)
        assert answer.status_code == 400
        assert "cannot play here" in message(answer)
    # What the server says to its workers cannot be said by a request.
    assert move(owner, agent="random", own="random").status_code == 422


def test_a_dropped_file_becomes_an_agent(owner: httpx.Client) -> None:
    data = BOT.replace("Rightmost", "Dropped").encode()
    answer = drop(owner, "dropped.py", data, piece=50).json()
    assert answer == {"agent": "own-dropped", "about": "Plays the rightmost open column."}
    assert move(owner, agent="own-dropped", moves="44").json()["column"] == 7
    # Dropped again, a changed file takes the place of the first.
    assert drop(owner, "dropped.py", data.replace(b"[-1]", b"[0]")).json()["agent"] == "own-dropped"
    assert move(owner, agent="own-dropped", moves="44").json()["column"] == 1


def test_the_tree_of_a_dropped_agent_that_declares_one_is_shown(owner: httpx.Client) -> None:
    name = drop(owner, "watched.py", SEARCHER.encode()).json()["agent"]
    listed = {agent["name"]: agent for agent in owner.get("/api/v1/agents").json()["agents"]}
    assert listed[name]["xray"]
    assert not listed["own-Rightmost"]["xray"]
    asked = {"agent": name, "moves": "44", "tree": True}
    answer = owner.post("/api/v1/analysis", json=asked).json()
    assert answer["simulations"] == 200
    assert len(answer["tree"]["children"]) == 7
    stream = owner.get("/api/v1/analysis/stream", params={**asked, "tree": "true"})
    assert '"trace":[{"simulations":1,' in stream.text


def test_networks_and_submissions_can_be_dropped(owner: httpx.Client) -> None:
    assert drop(owner, "net.onnx", NETWORK.read_bytes()).json()["agent"] == "own-net"
    named = move(owner, agent="own-linear", moves="4").json()["column"]
    assert move(owner, agent="own-net", moves="4").json()["column"] == named
    source = b"def agent(observation, configuration):\n    return observation.board.index(0)\n"
    assert drop(owner, "main.py", source).json()["agent"] == "own-main"
    assert move(owner, agent="own-main", moves="1").json()["column"] == 1


@pytest.mark.parametrize(
    ("name", "data", "text"),
    [
        ("bot.exe", b"x", "agents are files that end in .py, .onnx, .zip"),
        ("../bot.py", b"x", "the name of a file has at most 80 letters"),
        (".bot.py", b"x", "the name of a file has at most 80 letters"),
        ("syntax.py", b"f(", "cannot be loaded: line 1: '(' was never closed"),
        ("empty.py", b"", "has no agent"),
        ("bad.onnx", b"no network", "cannot be used"),
    ],
)
def test_other_files_are_refused(owner: httpx.Client, name: str, data: bytes, text: str) -> None:
    answer = drop(owner, name, data)
    assert answer.status_code == 400
    assert text in message(answer)


def test_a_file_is_bounded_and_its_pieces_are_in_order(owner: httpx.Client) -> None:
    def send(at: int, size: int) -> httpx.Response:
        return owner.post(
            "/api/v1/own", params={"name": "large.py", "at": at, "last": False}, content=b" " * size
        )

    assert send(0, 10).status_code == 200
    assert "not in order" in message(send(20, 10))
    assert f"at most {MOST_UPLOAD_BYTES:,} bytes" in message(send(MOST_UPLOAD_BYTES - 5, 10))
    assert send(0, MOST_BODY_BYTES + 1).status_code == 413


def test_strangers_can_neither_drop_files_nor_use_them(
    owner: httpx.Client, client: httpx.Client
) -> None:
    # A usual server takes none.
    answer = drop(client, "bot.py", BOT.encode())
    assert answer.status_code == 403
    assert "this server takes no files; on your own machine, fourlab web --allow-programs" in (
        message(answer)
    )
    # Nor does the owner's, without its token or from another page.
    for headers in (
        {"authorization": ""},
        {"authorization": "Bearer wrong-token"},
        {"origin": "http://elsewhere.example"},
        {"sec-fetch-site": "cross-site"},
        {"host": "elsewhere.example"},
    ):
        answer = owner.post(
            "/api/v1/own", params={"name": "a.py"}, content=BOT.encode(), headers=headers
        )
        assert answer.status_code in (401, 403, 421), headers


def test_the_number_of_agents_is_bounded(tmp_path: Path) -> None:
    own = OwnAgents(True)
    names = {own.add(OwnAgent(f"{number}/bot.py")) for number in range(MOST_OWN)}
    assert len(names) == MOST_OWN
    assert own.add(OwnAgent("3/bot.py")) == "own-bot-4"
    with pytest.raises(UserError, match=f"there are {MOST_OWN} agents of your own already"):
        own.add(OwnAgent("another/bot.py"))
    for number in range(MOST_OWN):
        file = own.take(f"{number}.py", 0, b"x")
    with pytest.raises(UserError, match="agents of your own already"):
        own.take("one-more.py", 0, b"x")
    own.close()
    assert not file.exists()


def test_specs_of_files(tmp_path: Path) -> None:
    file = tmp_path / "bot.py"
    file.write_text(BOT)
    assert spec_for(file) == str(file)
    assert checked(str(file)) == OwnAgent(str(file), "Plays the rightmost open column.")
    file.write_text(SEARCHER)
    assert checked(str(file)) == OwnAgent(str(file), "Searches as mcts does.", xray=True)
    file.write_text("def agent(obs, config):\n    return 0\n")
    assert spec_for(file) == f'kaggle:file="{file}"'
    assert spec_for(tmp_path / "net.ONNX") == f'onnx:file="{tmp_path}/net.ONNX"'


# --- the command ----------------------------------------------------------------------------------


def test_the_command_offers_agents_to_those_who_know_its_token(tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(BOT)
    with running("--allow-programs", "--agent", f"{tmp_path}/bot.py") as (server, address):
        assert "?token=" in address
        base, _, token = address.partition("?token=")
        with httpx.Client(base_url=base, trust_env=False) as client:
            assert client.get("api/v1/agents").status_code == 401
            client.headers["authorization"] = f"Bearer {token}"
            agents = client.get("api/v1/agents", params={"options": False}).json()["agents"]
            assert agents[-1]["name"] == "own-bot"
            assert agents[-1]["about"] == "Plays the rightmost open column."
        server.send_signal(signal.SIGINT)
        _, printed = server.communicate()
        assert (server.returncode, printed) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("--agent", "bot.py"), "--agent runs programs and files: add --allow-programs"),
        (("--allow-programs", "--public"), "only you can reach: leave out --public, --proxy"),
        (("--allow-programs", "--token", "--host", "0.0.0.0"), "only you can reach"),
        (("--allow-programs", "--proxy", "10.0.0.1"), "only you can reach"),
        (("--allow-programs", "--agent", "nowhere.py"), "cannot read nowhere.py: No such file"),
    ],
)
def test_other_combinations_are_refused(
    fourlab: Callable[..., Result],
    arguments: tuple[str, ...],
    text: str,
) -> None:
    done = fourlab("web", "--no-browser", *arguments)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert text in done.stderr
