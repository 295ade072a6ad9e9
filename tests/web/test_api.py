"""Positions, moves and analyses through the API, compared with the same calls in Python."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from httpx import Client
from hypothesis import given

from fourlab import Limit, Position, UserError, make
from fourlab.agent import is_unbounded
from fourlab.agents.levels import LEVELS
from fourlab.agents.minimax.negamax import Negamax
from fourlab.agents.own import as_player
from fourlab.game.rules import CLASSIC, Rules
from fourlab.solver import Solver
from fourlab.web import players
from fourlab.web.messages import PositionAnswer, PositionRequest
from tests.strategies import positions

LEAVES_A_WITNESS = """
import pathlib
pathlib.Path({witness!r}).touch()
class Bot:
    def __init__(self, depth: int = 1): pass
    def decide(self, position): return 0
def bot(position): return 0
"""


def post(client: Client, path: str, **body: Any) -> Any:
    """Return the body of a successful answer."""
    answer = client.post(f"/api/v1/{path}", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(client: Client, path: str, **body: Any) -> str:
    """Return the message of a request that must be refused."""
    answer = client.post(f"/api/v1/{path}", json=body)
    error = answer.json()["error"]
    assert answer.status_code == error["status"] in (400, 422)
    assert error["code"] == "bad_request"
    assert "\n" not in error["message"]
    return str(error["message"])


def test_a_position_is_described_in_full(client: Client) -> None:
    answer = post(client, "position", moves="4453")
    assert answer["fen"] == Position("4453").write("fen")
    assert answer["grid"] == Position("4453").grid()
    assert (answer["to_move"], answer["ply"], answer["outcome"], answer["legal"]) == (
        "red",
        4,
        None,
        [1, 2, 3, 4, 5, 6, 7],
    )


def test_a_won_game_shows_its_line_from_the_bottom_left(client: Client) -> None:
    answer = post(client, "position", moves="1212121")
    assert answer["outcome"] == "red wins"
    assert answer["winning_cells"] == [[1, 1], [1, 2], [1, 3], [1, 4]]
    assert answer["legal"] == []


@pytest.mark.parametrize(
    "start",
    ["ddec", "4453", "0:3342", "7/7/7/7/3y3/2yrr2 r 4", "vannucci-abril", "key:40830a08081"],
)
def test_a_start_may_be_in_any_notation(client: Client, start: str) -> None:
    answer = post(client, "position", start=start)
    assert Position(answer["start"] or answer["moves"]).mask == Position(start).mask


def test_moves_continue_from_the_start(client: Client) -> None:
    answer = post(client, "position", start="7/7/7/7/7/3r3 y 4", moves="45")
    assert (answer["start"], answer["moves"], answer["ply"]) == ("7/7/7/7/7/3r3 y 4", "45", 3)


def test_wide_boards_have_two_digit_columns(client: Client) -> None:
    answer = post(client, "position", board="12x4x5", moves="10,10,")
    assert (answer["columns"], answer["ply"], answer["moves"]) == (12, 2, "10,10")


@given(position=positions())
def test_any_game_survives_a_round_trip(position: Position) -> None:
    request = PositionRequest(moves=position.write("moves"), board=str(position.rules))
    answer = PositionAnswer.of(request)
    again = PositionRequest(start=answer.start, moves=answer.moves, board=answer.board)
    assert again.position() == position
    assert answer.grid == position.grid()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"moves": "4444444"}, "column 4 is full"),
        ({"moves": "48"}, "no column 8"),
        ({"moves": "12121212"}, "the game is over"),
        ({"start": "nonsense-1"}, "cannot read the position"),
        ({"board": "99x99x4"}, "too large"),
        ({"start": "3r3/7/7/7/7/7 y 4"}, "floats"),
        ({"moves": "x"}, "moves"),
        ({"nix": 1}, "nix"),
        ({"start": "4" * 2000}, "start"),
    ],
)
def test_an_invalid_position_is_explained_in_one_line(
    client: Client, body: dict[str, Any], message: str
) -> None:
    assert message in refused(client, "position", **body)


def test_the_same_seed_gives_the_same_move_as_in_python(client: Client) -> None:
    answer = post(client, "move", moves="4453", agent="mcts:simulations=500", seed=7)
    decision = make("mcts:simulations=500").decide(
        Position("4453"), Limit(), np.random.default_rng(7)
    )
    assert answer["column"] == decision.column + 1
    assert answer["value"] == decision.value
    assert answer["line"] == [column + 1 for column in decision.line]
    assert answer["simulations"] == 500


@pytest.mark.parametrize("level", range(1, len(LEVELS) + 1))
@pytest.mark.parametrize("board", ["7x6x4", "5x4x4", "9x5x4"])
def test_every_level_moves_on_every_board(client: Client, level: int, board: str) -> None:
    answer = post(client, "move", agent=f"level:{level}", board=board, moves="33")
    assert 1 <= answer["column"] <= int(board[0])


@pytest.mark.parametrize("name", [name for name in players.names() if name != "expectimax-random"])
def test_every_listed_agent_moves(client: Client, name: str) -> None:
    assert 1 <= post(client, "move", moves="445", agent=name, seconds=0.1)["column"] <= 7


@pytest.mark.parametrize(
    "agent",
    [
        'engine:cmd="touch /tmp/x"',
        "human",
        "q:table=/etc/passwd",
        "alphazero:net=/etc/passwd",
        "value:net=x",
        "mcts:memory=100000",
        "mcts:memory_mb=100000",
        "mcts:threads=8",
        "mcts:runs=100",
        "mcts:reuse=games",
        "perfect:megabytes=100000",
        "perfect:memory_mb=100000",
        "perfect:threads=64",
        "negamax:depth=30",
        "textbook:simulations=99999999",
        "level:0",
        "level:99",
        "level:x",
        "level:²",
        "nobody",
        "mcts:nix=1",
        "mcts:simulations=many",
    ],
)
def test_agents_that_could_do_harm_are_refused(client: Client, agent: str) -> None:
    refused(client, "move", agent=agent)
    refused(client, "analysis", agent=agent, seconds=0.01)
    assert client.get("/api/v1/analysis/stream", params={"agent": agent}).status_code in (200, 400)


@pytest.mark.parametrize(
    "agent", ["{file}", "{file}:bot", " {file} :Bot,depth=3", "own:bot", "kaggle:file={file}"]
)
def test_files_that_strangers_name_are_not_run(client: Client, tmp_path: Path, agent: str) -> None:
    as_player(lambda position: 0, name="bot")  # in this process, it can be made
    file = tmp_path / "bot.py"
    witness = tmp_path / "witness"
    file.write_text(LEAVES_A_WITNESS.format(witness=str(witness)))
    spec = agent.format(file=file)
    for path in ("move", "analysis"):
        assert "cannot play here" in refused(client, path, agent=spec, seconds=0.01)
    with pytest.raises(UserError, match="cannot play here"):
        players.make(spec, CLASSIC, megabytes=1)
    assert not witness.exists()
    make(spec)  # as the user of this process may
    assert witness.exists() or spec == "own:bot"


@pytest.mark.parametrize(
    ("agent", "unbounded"),
    [
        ("mcts", True),
        ("alphazero:c=3", True),
        ("mcts:simulations=5", False),
        ("gao", False),
        ("arya-vanilla", False),
        ("perfect", False),
    ],
)
def test_only_agents_without_a_limit_of_their_own_get_the_default_second(
    agent: str, unbounded: bool
) -> None:
    assert is_unbounded(players.make(agent, CLASSIC, 64)) == unbounded


def test_a_move_in_a_finished_game_is_refused(client: Client) -> None:
    assert "over" in refused(client, "move", moves="1212121")


def test_a_network_is_refused_on_another_board(client: Client) -> None:
    assert "7x6x4" in refused(client, "move", board="5x4x4", agent="alphazero")


def test_the_solver_evaluates_every_column(client: Client) -> None:
    moves = "32751571231557"
    answer = post(client, "analysis", moves=moves, seconds=20)
    exact = Solver().columns(Position(moves))
    scores = [column["says"] for column in answer["columns"]]
    assert scores == [str(exact[column]) for column in range(7)]
    assert answer["finished"]
    assert answer["proven"] == {"result": -1, "plies": 24}
    assert len(answer["line"]) == 24


def test_a_full_column_has_no_evaluation(client: Client) -> None:
    answer = post(client, "analysis", moves="444444", seconds=0.05)
    assert answer["columns"][3] == {
        **{"column": 4, "open": False, "says": "full"},
        **dict.fromkeys(("proven", "value", "visits", "prior", "policy")),
    }


@pytest.mark.parametrize("agent", ["mcts:simulations=800", "alphazero:simulations=200"])
def test_the_tree_agrees_with_the_columns_and_is_bounded(client: Client, agent: str) -> None:
    answer = post(client, "analysis", moves="4453", agent=agent, tree=True, seed=1, seconds=20)
    tree = answer["tree"]
    assert tree["visits"] == answer["simulations"]
    assert {child["column"]: child["visits"] for child in tree["children"]} == {
        column["column"]: column["visits"] for column in answer["columns"] if column["visits"]
    }
    nodes = 0
    stack = [tree]
    while stack:
        node = stack.pop()
        nodes += 1
        stack += node["children"]
        assert sum(child["visits"] for child in node["children"]) <= node["visits"]
    assert 100 < nodes <= 1001


def test_an_agent_without_a_search_still_evaluates_every_column(client: Client) -> None:
    answer = post(client, "analysis", moves="4453", agent="dqn", seconds=0.1)
    assert all(column["value"] is not None for column in answer["columns"])
    assert answer["best"] in range(1, 8)


def stream(client: Client, **query: Any) -> list[tuple[str, Any]]:
    """Return the events of an analysis stream as pairs of name and data."""
    with client.stream("GET", "/api/v1/analysis/stream", params=query) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        blocks = "".join(answer.iter_text()).strip().split("\n\n")
    events = [block.split("\n") for block in blocks]
    return [
        (name.removeprefix("event: "), json.loads(data.removeprefix("data: ")))
        for name, data in events
    ]


def test_a_stream_traces_the_search_and_ends_with_done(client: Client) -> None:
    events = stream(client, moves="4453", agent="mcts:simulations=3000", seed=3, tree=True)
    assert events[-1][0] == "done"
    assert {name for name, _ in events[:-1]} <= {"progress"}
    points = [point for _, data in events for point in data["trace"]]
    assert [point["simulations"] for point in points][:5] == [1, 2, 3, 5, 7]
    assert points[-1]["simulations"] == 3000
    final = events[-1][1]
    assert points[-1]["visits"] == [column["visits"] for column in final["columns"]]
    answer = post(
        client, "analysis", moves="4453", agent="mcts:simulations=3000", seed=3, tree=True
    )
    assert final | {"trace": []} == answer | {"seconds": final["seconds"]}


def test_a_solver_stream_ends_with_every_column_proven(client: Client) -> None:
    events = stream(client, moves="32751571231557", seconds=20)
    assert events[-1][0] == "done"
    assert all(column["proven"] for column in events[-1][1]["columns"])


def test_an_error_in_a_stream_is_an_event(client: Client) -> None:
    (name, data), *rest = stream(client, agent="mcts:draw=0.3")
    assert (name, rest) == ("error", [])
    assert data["error"]["status"] == 400


def test_kaggle_can_play_against_a_server(client: Client) -> None:
    position = Position("445566")
    board = [cell for row in position.grid() for cell in row]
    observation = {"board": board, "mark": 1, "step": 6}
    configuration = {"columns": 7, "rows": 6, "inarow": 4, "actTimeout": 2}
    request = {
        "action": "act",
        "environment": "connectx",
        "configuration": configuration,
        "state": {"observation": observation},
    }
    address = "/api/v1/kaggle?agent=perfect"
    headers = {"content-type": ""}  # Kaggle's client sends none
    answer = client.post(address, content=json.dumps(request), headers=headers)
    assert answer.json()["action"] in (2, 6)  # both win at once
    plain = {"observation": observation, "configuration": configuration}
    assert client.post(address, json=plain).json()["action"] in (2, 6)


@pytest.mark.parametrize(
    "body",
    [
        "",
        "[]",
        "{}",
        '{"observation": {"board": [1]}}',
        '{"observation": {"board": "x"}}',
        '{"observation": {"board": [0.5], "mark": 1}, "configuration": {"columns": 1, "rows": 1}}',
        '{"observation": {"board": [], "mark": []}}',
        json.dumps({"observation": {"board": [0] * 42, "mark": 1.0}}),
        json.dumps({"observation": {"board": [0] * 42, "mark": True}}),
        '{"observation": {"board": [], "mark": 1}, "configuration": {"columns": 1e9}}',
    ],
)
def test_a_malformed_kaggle_request_is_refused(client: Client, body: str) -> None:
    assert client.post("/api/v1/kaggle", content=body).status_code == 400


def test_a_wide_board_reduces_the_depth_of_negamax() -> None:
    wide = players.make("negamax:depth=5", Rules(20, 2, 4), 16)
    usual = players.make("negamax:depth=5", Rules(), 16)
    assert isinstance(wide, Negamax)
    assert isinstance(usual, Negamax)
    assert (wide.depth, usual.depth) == (3, 5)


def test_a_spec_may_end_with_its_colon(client: Client) -> None:
    assert post(client, "move", agent="mcts:", seconds=0.01)["column"] in range(1, 8)


def test_levels_are_described_for_the_board(client: Client) -> None:
    def levels(**query: str) -> Any:
        answer = client.get("/api/v1/agents", params={"options": False, **query})
        assert answer.status_code == 200, answer.text
        return answer.json()["levels"]

    for level, described in zip(LEVELS, levels(), strict=True):
        match = level.result_on(CLASSIC)
        assert described["elo"] == (None if match is None else match.elo.value)
        assert described["strength"] == level.strength_on(CLASSIC)
    elsewhere = levels(board="9x5x4")
    assert elsewhere[-1]["spec"].startswith("mcts")
    assert {level["strength"] for level in elsewhere[1:]} == {"not measured on this board"}
    assert [level["after_win"] for level in elsewhere[-2:]] == ["level:10", "level:10"]
    assert [level["after_loss"] for level in elsewhere[:3]] == ["level:1", "level:1", "level:2"]
    assert client.get("/api/v1/agents", params={"board": "0x9"}).status_code == 400


def test_patterns_play_the_boards_that_they_were_trained_on(client: Client) -> None:
    for agent in ("patterns", "anytime"):
        for board in ("5x4x4", "7x6x4"):
            assert 1 <= post(client, "move", agent=agent, board=board, moves="33")["column"] <= 7
        assert "knows only the boards 5x4x4, " in refused(client, "move", agent=agent, board="9x5")


def test_agents_levels_and_named_positions_are_listed(client: Client) -> None:
    answer = client.get("/api/v1/agents").json()
    levels = [level["agent"] for level in answer["levels"]]
    assert levels == [f"level:{number}" for number in range(1, 11)]
    listed = {agent["name"]: agent for agent in answer["agents"]}
    assert listed["mcts"]["xray"]
    assert listed["alphazero"]["boards"] == "7x6x4"
    assert {"5x4x4", "7x6x4"} <= set(listed["anytime"]["boards"].split(", "))
    assert listed["mcts"]["boards"] == "any"
    assert listed["bhat-mc40"]["group"] == "documents"
    assert not {"engine", "human", "q"} & listed.keys()
    assert "memory_mb" not in [option["name"] for option in listed["mcts"]["options"]]
    named = client.get("/api/v1/positions").json()
    assert "vannucci-abril" in [position["name"] for position in named]
    assert client.get("/api/v1/about").json()["caps"]["move_seconds"] == 10
    assert client.get("/api/v1/ping").json() == {"ok": True}
