"""Positions, moves and analyses by the API, beside the same asked in Python."""

import json
from typing import Any

import numpy as np
import pytest
from httpx import Client
from hypothesis import given

from fourlab import Limit, Position, make
from fourlab.agent import is_unbounded
from fourlab.agents.levels import LEVELS
from fourlab.agents.minimax.negamax import Negamax
from fourlab.game.rules import CLASSIC, Rules
from fourlab.solver import Solver
from fourlab.web import players
from tests.strategies import positions


def post(client: Client, path: str, **asked: Any) -> Any:
    answer = client.post(f"/api/v1/{path}", json=asked)
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(client: Client, path: str, **asked: Any) -> str:
    answer = client.post(f"/api/v1/{path}", json=asked)
    told = answer.json()["error"]
    assert answer.status_code == told["status"] in (400, 422)
    assert told["code"] == "bad_request"
    assert "\n" not in told["message"]
    return str(told["message"])


def test_a_position_is_told_in_full(client: Client) -> None:
    told = post(client, "position", moves="4453")
    assert told["fen"] == Position("4453").write("fen")
    assert told["grid"] == Position("4453").grid()
    assert (told["to_move"], told["ply"], told["outcome"], told["legal"]) == ("red", 4, None, [1, 2, 3, 4, 5, 6, 7])


def test_a_won_game_shows_its_line_from_the_bottom_left(client: Client) -> None:
    told = post(client, "position", moves="1212121")
    assert told["outcome"] == "red wins"
    assert told["winning_cells"] == [[1, 1], [1, 2], [1, 3], [1, 4]]
    assert told["legal"] == []


@pytest.mark.parametrize("start", ["ddec", "4453", "0:3342", "7/7/7/7/3y3/2yrr2 r 4", "vannucci-abril", "key:40830a08081"])
def test_any_notation_is_a_start(client: Client, start: str) -> None:
    told = post(client, "position", start=start)
    assert Position(told["start"] or told["moves"]).mask == Position(start).mask


def test_moves_go_on_from_a_start(client: Client) -> None:
    told = post(client, "position", start="7/7/7/7/7/3r3 y 4", moves="45")
    assert (told["start"], told["moves"], told["ply"]) == ("7/7/7/7/7/3r3 y 4", "45", 3)


def test_wide_boards_have_columns_of_two_digits(client: Client) -> None:
    told = post(client, "position", board="12x4x5", moves="10,10,")
    assert (told["columns"], told["ply"], told["moves"]) == (12, 2, "10,10")


@given(position=positions())
def test_any_game_reads_back(position: Position) -> None:
    from fourlab.web.messages import PositionAsked, PositionTold

    told = PositionTold.of(PositionAsked(moves=position.write("moves"), board=str(position.rules)))
    again = PositionAsked(start=told.start, moves=told.moves, board=told.board).position()
    assert again == position
    assert told.grid == position.grid()


@pytest.mark.parametrize(
    ("asked", "said"),
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
def test_what_is_wrong_with_a_position_is_said_in_one_line(client: Client, asked: dict[str, Any], said: str) -> None:
    assert said in refused(client, "position", **asked)


def test_the_same_seed_gives_the_same_move_as_in_python(client: Client) -> None:
    told = post(client, "move", moves="4453", agent="mcts:simulations=500", seed=7)
    decision = make("mcts:simulations=500").decide(Position("4453"), Limit(), np.random.default_rng(7))
    assert told["column"] == decision.column + 1
    assert told["value"] == decision.value
    assert told["line"] == [column + 1 for column in decision.line]
    assert told["simulations"] == 500


@pytest.mark.parametrize("level", range(1, len(LEVELS) + 1))
@pytest.mark.parametrize("board", ["7x6x4", "5x4x4"])
def test_every_level_moves_on_every_board(client: Client, level: int, board: str) -> None:
    told = post(client, "move", agent=f"level:{level}", board=board, moves="33")
    assert 1 <= told["column"] <= 7


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
        "mcts:threads=8",
        "mcts:runs=100",
        "mcts:reuse=games",
        "perfect:megabytes=100000",
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
def test_agents_that_could_do_harm_cannot_be_asked(client: Client, agent: str) -> None:
    refused(client, "move", agent=agent)
    refused(client, "analysis", agent=agent, seconds=0.01)
    assert client.get("/api/v1/analysis/stream", params={"agent": agent}).status_code in (200, 400)


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
def test_only_agents_without_a_bound_of_their_own_are_given_a_second(agent: str, unbounded: bool) -> None:
    assert is_unbounded(players.make(agent, CLASSIC, 64)) == unbounded


def test_a_finished_game_has_no_move(client: Client) -> None:
    assert "over" in refused(client, "move", moves="1212121")


def test_a_network_is_asked_only_about_its_board(client: Client) -> None:
    assert "7x6x4" in refused(client, "move", board="5x4x4", agent="alphazero")


def test_the_solver_says_what_every_column_is_worth(client: Client) -> None:
    moves = "32751571231557"
    told = post(client, "analysis", moves=moves, seconds=20)
    truth = Solver().columns(Position(moves))
    assert [each["says"] for each in told["columns"]] == [str(truth[column]) for column in range(7)]
    assert told["finished"]
    assert told["proven"] == {"result": -1, "plies": 24}
    assert len(told["line"]) == 24


def test_a_full_column_is_full(client: Client) -> None:
    told = post(client, "analysis", moves="444444", seconds=0.05)
    assert told["columns"][3] == {
        **{"column": 4, "open": False, "says": "full"},
        **dict.fromkeys(("proven", "value", "visits", "prior", "policy")),
    }


@pytest.mark.parametrize("agent", ["mcts:simulations=800", "alphazero:simulations=200"])
def test_a_tree_is_told_as_far_as_it_is_shown(client: Client, agent: str) -> None:
    told = post(client, "analysis", moves="4453", agent=agent, tree=True, seed=1, seconds=20)
    tree = told["tree"]
    assert tree["visits"] == told["simulations"]
    assert {each["column"]: each["visits"] for each in tree["children"]} == {
        each["column"]: each["visits"] for each in told["columns"] if each["visits"]
    }
    nodes, waiting = 0, [tree]
    while waiting:
        node = waiting.pop()
        nodes += 1
        waiting += node["children"]
        assert sum(child["visits"] for child in node["children"]) <= node["visits"]
    assert 100 < nodes <= 1001


def test_without_a_search_the_policy_is_told(client: Client) -> None:
    told = post(client, "analysis", moves="4453", agent="dqn", seconds=0.1)
    assert all(each["value"] is not None for each in told["columns"])
    assert told["best"] in range(1, 8)


def stream(client: Client, **asked: Any) -> list[tuple[str, Any]]:
    """The events of a stream."""
    with client.stream("GET", "/api/v1/analysis/stream", params=asked) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        blocks = "".join(answer.iter_text()).strip().split("\n\n")
    events = [block.split("\n") for block in blocks]
    return [(name.removeprefix("event: "), json.loads(data.removeprefix("data: "))) for name, data in events]


def test_a_stream_tells_how_a_search_converges_and_ends_with_done(client: Client) -> None:
    events = stream(client, moves="4453", agent="mcts:simulations=3000", seed=3, tree=True)
    assert events[-1][0] == "done"
    assert {name for name, _ in events[:-1]} <= {"progress"}
    points = [point for _, told in events for point in told["trace"]]
    assert [point["simulations"] for point in points][:5] == [1, 2, 3, 5, 7]
    assert points[-1]["simulations"] == 3000
    assert points[-1]["visits"] == [each["visits"] for each in events[-1][1]["columns"]]
    assert events[-1][1] | {"trace": []} == post(
        client, "analysis", moves="4453", agent="mcts:simulations=3000", seed=3, tree=True
    ) | {"seconds": events[-1][1]["seconds"]}


def test_a_stream_of_proofs_ends_with_all_of_them(client: Client) -> None:
    events = stream(client, moves="32751571231557", seconds=20)
    assert events[-1][0] == "done"
    assert all(each["proven"] for each in events[-1][1]["columns"])


def test_what_goes_wrong_in_a_stream_is_an_event(client: Client) -> None:
    (name, told), *rest = stream(client, agent="mcts:draw=0.3")
    assert (name, rest) == ("error", [])
    assert told["error"]["status"] == 400


def test_kaggle_plays_against_an_address(client: Client) -> None:
    position = Position("445566")
    asked = {
        "action": "act",
        "environment": "connectx",
        "configuration": {"columns": 7, "rows": 6, "inarow": 4, "actTimeout": 2},
        "state": {"observation": {"board": [cell for row in position.grid() for cell in row], "mark": 1, "step": 6}},
    }
    headers = {"content-type": ""}  # Kaggle's client does not tell
    answer = client.post("/api/v1/kaggle?agent=perfect", content=json.dumps(asked), headers=headers)
    assert answer.json()["action"] in (2, 6)  # both win at once
    plain = {"observation": asked["state"]["observation"], "configuration": asked["configuration"]}  # type: ignore[index]
    assert client.post("/api/v1/kaggle?agent=perfect", json=plain).json()["action"] in (2, 6)


@pytest.mark.parametrize(
    "asked",
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
def test_what_kaggle_would_not_send_is_refused(client: Client, asked: str) -> None:
    assert client.post("/api/v1/kaggle", content=asked).status_code == 400


def test_a_wide_board_makes_negamax_look_less_far() -> None:
    wide, usual = players.make("negamax:depth=5", Rules(20, 2, 4), 16), players.make("negamax:depth=5", Rules(), 16)
    assert isinstance(wide, Negamax)
    assert isinstance(usual, Negamax)
    assert (wide.depth, usual.depth) == (3, 5)


def test_a_spec_may_end_early(client: Client) -> None:
    assert post(client, "move", agent="mcts:", seconds=0.01)["column"] in range(1, 8)


def test_agents_levels_and_named_positions_are_listed(client: Client) -> None:
    told = client.get("/api/v1/agents").json()
    assert [each["agent"] for each in told["levels"]] == [f"level:{n}" for n in range(1, 9)]
    listed = {each["name"]: each for each in told["agents"]}
    assert listed["mcts"]["xray"]
    assert listed["alphazero"]["boards"] == "7x6x4"
    assert listed["bhat-mc40"]["group"] == "documents"
    assert not {"engine", "human", "q"} & listed.keys()
    assert "memory" not in [option["name"] for option in listed["mcts"]["options"]]
    assert "vannucci-abril" in [each["name"] for each in client.get("/api/v1/positions").json()]
    assert client.get("/api/v1/about").json()["caps"]["move_seconds"] == 10
    assert client.get("/api/v1/ping").json() == {"ok": True}
