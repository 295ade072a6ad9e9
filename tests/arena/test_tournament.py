from collections import Counter

import pytest

from fourlab import Limit, Position
from fourlab.arena.sprt import Sprt
from fourlab.arena.tournament import GamePlayer, Player, Tournament, read
from fourlab.errors import UserError
from tests.arena.players import make

AGENTS = ("random", "rules", "mcts:simulations=20")


def league(**settings: object) -> Tournament:
    return read({"agents": list(AGENTS), **settings})


def test_every_two_agents_play_every_opening_twice_with_colours_swapped() -> None:
    tournament = league(rounds=5, boards=["7x6x4", "5x4x4"])
    games = [tournament.game(number) for number in range(len(tournament))]
    assert len(games) == 5 * 2 * 3 * 2
    for first, second in zip(games[::2], games[1::2], strict=True):
        assert (first.unit, first.red, first.yellow, first.start) == (
            second.unit,
            second.yellow,
            second.red,
            second.start,
        )
    assert Counter((game.red, game.yellow) for game in games) == dict.fromkeys(
        [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)], 10
    )
    assert {str(game.start.rules) for game in games} == {"7x6x4", "5x4x4"}
    by_round = [{game.start for game in games[i : i + 6]} for i in range(0, 60, 6)]
    assert all(len(starts) == 1 for starts in by_round)  # all pairings meet the same openings


def test_with_a_fixed_start_the_agent_named_first_is_always_red() -> None:
    tournament = league(rounds=4, starts="fixed")
    games = [tournament.game(number) for number in range(len(tournament))]
    assert len(games) == 4 * 3
    assert all(game.red < game.yellow for game in games)


def test_openings_are_repeated_when_there_are_too_few() -> None:
    tournament = league(rounds=7, openings=["1", "2", "3"])
    assert [tournament.game(6 * i).start for i in range(7)] == [
        Position(column) for column in "1231231"
    ]


def test_without_rounds_a_list_is_played_once() -> None:
    assert league(openings=["1", "2", "3"]).all_rounds == 3
    assert league(openings="all:2").all_rounds == 25
    assert league().all_rounds == 50


def test_a_tournament_is_read_back_from_its_data() -> None:
    tournament = Tournament(
        (Player("mcts", Limit(seconds=0.1, nodes=7), "quick"), Player("rules")),
        ("5x4x4",),
        ("1", "2"),
        3,
        seed=9,
        sprt=Sprt(0, 20),
    )
    again = read(tournament.as_data())
    assert again.as_data() == tournament.as_data()
    assert [again.game(number) for number in range(len(again))] == [
        tournament.game(number) for number in range(len(tournament))
    ]


def test_a_game_depends_on_its_number_alone() -> None:
    tournament = league(rounds=3, seed=5)
    player = GamePlayer(tournament, make)
    forwards = [player(number)[:12] for number in range(len(tournament))]
    backwards = [
        GamePlayer(tournament, make)(number)[:12] for number in reversed(range(len(tournament)))
    ]
    assert forwards == backwards[::-1]
    other = GamePlayer(league(rounds=3, seed=6), make)
    assert [other(number)[:12] for number in range(len(tournament))] != forwards


@pytest.mark.parametrize(
    ("settings", "word"),
    [
        ({"agents": ["random"]}, "two agents"),
        ({"agents": "random"}, "names its agents"),
        ({"agents": ["random", "random"]}, "same name"),
        ({"agents": [{"spec": "random", "second": 1}, "rules"]}, "'second'"),
        ({"agents": [{"spec": "random", "seconds": "1"}, "rules"]}, "seconds"),
        ({"agents": [{"spec": "random", "nodes": 1.5}, "rules"]}, "nodes"),
        ({"agents": [{"spec": "random", "nodes": 0}, "rules"]}, "nodes"),
        ({"agents": [{"name": "x"}, "rules"]}, "spec"),
        ({"round": 3}, "'round'"),
        ({"rounds": "3"}, "rounds"),
        ({"rounds": True}, "rounds"),
        ({"rounds": 0}, "round"),
        ({"rounds": 10**9}, "rounds must be"),
        ({"rounds": 10**8}, "too many"),
        ({"starts": "red"}, "alternate or fixed"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**64}, "seed"),
        ({"grace": float("nan")}, "grace"),
        ({"boards": []}, "boards"),
        ({"boards": ["7x6x4", "7x6"]}, "each once"),
        ({"boards": ["9x9x4"]}, "too large"),
        ({"boards": [7]}, "texts"),
        ({"openings": []}, "no openings"),
        ({"sprt": {"elo0": 0, "elo1": 10}}, "two agents"),
        ({"agents": ["random", "rules"], "sprt": {"elo0": 0}}, "elo0 and elo1"),
        ({"agents": ["random", "rules"], "sprt": {"elo0": 0, "elo1": 1, "elo2": 2}}, "'elo2'"),
        ({"agents": ["random", "rules"], "sprt": 3}, "table"),
    ],
)
def test_wrong_settings_are_refused(settings: dict[str, object], word: str) -> None:
    with pytest.raises(UserError, match=word):
        read({"agents": list(AGENTS), **settings})
