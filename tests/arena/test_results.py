from pathlib import Path

import pytest

from fourlab import Position
from fourlab.arena.play import play_tournament
from fourlab.arena.results import Results, Share
from fourlab.arena.sprt import Sprt
from fourlab.arena.store import Store, StoredGame
from fourlab.arena.tally import Tally
from fourlab.arena.tournament import GamePlayer, Player, Tournament, read
from fourlab.game.outcome import Outcome
from fourlab.game.record import Cause, Record
from fourlab.jobs.executors.local import Local
from tests.arena.players import make

RESULTS = {"+": Outcome.RED_WINS, "=": Outcome.DRAW, "-": Outcome.YELLOW_WINS, "?": None}


def moves(number: int) -> tuple[int, ...]:
    """Return moves that differ from game to game."""
    return 3, number % 7, number // 7 % 7, number // 49


def results(games: str, agents: tuple[str, ...] = ("a", "b"), **settings: object) -> Results:
    """Return the results of games given by red's results, in the order of their numbers."""
    tournament = read({"agents": list(agents), "openings": "empty", "rounds": 100, **settings})
    counted = Results(tournament)
    for number, sign in enumerate(games):
        game = tournament.game(number)
        cause = Cause.CRASH if sign == "?" else Cause.NORMAL
        counted.add(
            tournament.stored(game, Record(Position(), moves(number), RESULTS[sign], cause))
        )
    return counted


def test_pairs_are_counted_from_the_first_agents_side() -> None:
    # a is red in even games: win-win, win-loss twice, draw-draw, loss-loss
    counted = results("+-" + "++" + "--" + "==" + "-+")
    assert counted.tally("a", "b") == Tally((1, 0, 3, 0, 1))
    assert counted.tally("b", "a") == Tally((1, 0, 3, 0, 1))
    counted = results("+-" + "+=")
    assert counted.tally("a", "b") == Tally((0, 0, 0, 1, 1))
    assert counted.tally("b", "a") == Tally((1, 1, 0, 0, 0))


def test_wins_are_counted_by_colour_and_red_apart() -> None:
    counted = results("+-" + "++" + "==")
    assert counted.share("a") == Share(3 - 0, 2, 1)
    assert counted.share("a", red=True) == Share(2, 1, 0)
    assert counted.share("a", red=False) == Share(1, 1, 1)
    assert counted.share("a", "b") == counted.share("a")
    assert counted.first_player() == Share(3, 2, 1)
    assert counted.share("a").score == pytest.approx(4 / 6)
    assert Share().score is None


def test_incomplete_pairs_and_games_without_a_result_are_not_counted() -> None:
    counted = results("+-" + "+?" + "+")
    assert counted.tally("a", "b").units == 1
    assert counted.games == 5
    assert counted.causes["", "crash"] == 1


def test_identical_pairs_count_once() -> None:
    tournament = read(
        {"agents": ["minimax:depth=1", "minimax:depth=2"], "openings": ["1", "2"], "rounds": 20}
    )
    counted = Results(tournament)
    for number in range(len(tournament)):
        counted.add(GamePlayer(tournament, make)(number))
    assert counted.games == 40
    assert counted.tally(*counted.names).units == 2
    assert counted.repetitions == 18


def test_repetitions_count_if_a_different_unit_is_played_from_the_opening() -> None:
    def results_of(lines: str) -> Results:
        counted = Results(read({"agents": ["a", "b"], "openings": "empty", "rounds": 100}))
        for number in range(2 * len(lines)):
            record = Record(
                Position(),
                (int(lines[number // 2]),),
                Outcome.RED_WINS if number % 2 else Outcome.DRAW,
            )
            counted.add(counted.tournament.stored(counted.tournament.game(number), record))
        return counted

    assert (results_of("3333").tally("a", "b").units, results_of("3333").repetitions) == (1, 3)
    for lines in ("33332", "23333", "33233"):
        assert (results_of(lines).tally("a", "b").units, results_of(lines).repetitions) == (5, 0)


def test_single_games_are_units_where_colours_are_not_swapped() -> None:
    assert results("++-=", starts="fixed").tally("a", "b") == Tally((1, 1, 2))


def test_lengths_first_columns_and_faults() -> None:
    counted = results("+-")
    assert counted.lengths == {4: 2}
    assert counted.first_columns == {3: [1, 0, 1]}
    tournament = counted.tournament
    lost = Record(Position("4"), (), Outcome.RED_WINS, Cause.TIMEOUT, "yellow: late")
    counted.add(tournament.stored(tournament.game(2), lost))
    assert counted.causes["b", "timeout"] == 1


def test_ratings_follow_the_scores() -> None:
    order = [rating.name for rating in results("+-" * 30 + "==" * 9, ("a", "b", "c")).ratings()]
    assert order == ["a", "b", "c"]


def test_a_sequential_test_uses_pairs_in_order_whatever_order_they_arrive_in() -> None:
    settings = {"sprt": {"elo0": 0.0, "elo1": 200.0}, "rounds": 100}
    games = ("+-" * 3 + "++") * 25
    straight = results(games, **settings)
    assert straight.decided_at is not None
    tournament = straight.tournament
    shuffled = Results(tournament)
    for number in sorted(range(len(games)), key=lambda number: (number // 40, -number)):
        record = Record(Position(), moves(number), RESULTS[games[number]], Cause.NORMAL)
        shuffled.add(tournament.stored(tournament.game(number), record))
    assert shuffled.decided_at == straight.decided_at
    verdict = shuffled.verdict()
    assert verdict is not None
    assert verdict.accepted == "H1"
    assert "a is stronger than b" in verdict.sentence


@pytest.mark.parametrize("workers", [1, 2])
def test_a_decided_test_ends_the_match_at_the_same_game(workers: int, tmp_path: Path) -> None:
    tournament = Tournament((Player("rules"), Player("random")), rounds=500, sprt=Sprt(0, 50))
    with Store(tmp_path / "games.sqlite") as store:
        counted = play_tournament(tournament, store, Local(workers), make)
        table = [game[:11] for game in store.games()]
        again = play_tournament(tournament, store, Local(workers), make)
        assert [game[:11] for game in store.games()] == table
    assert counted.decided_at == again.decided_at == len(table) // 2 - 1 < 100
    assert counted.games == len(table)


def test_stored_games_give_the_same_results_as_fresh_ones(tmp_path: Path) -> None:
    tournament = read({"agents": ["random", "rules", "mcts:simulations=5"], "rounds": 4})
    with Store(tmp_path / "games.sqlite") as store:
        fresh = play_tournament(tournament, store, Local(2), make)
        stored = Results.of(tournament, store)
    assert stored.games == fresh.games == len(tournament)
    for one in fresh.names:
        assert stored.share(one) == fresh.share(one)
        assert stored.moves[one] == fresh.moves[one] > 0
        assert stored.seconds[one] == pytest.approx(fresh.seconds[one])
    assert stored.lengths == fresh.lengths
    assert stored.ratings() == fresh.ratings()


def test_interrupted_games_do_not_count() -> None:
    tournament = read({"agents": ["a", "b"]})
    counted = Results(tournament)
    counted.add(StoredGame.of(0, 0, "a", "b", Record(Position(), (), None, Cause.INTERRUPTED), 0))
    assert counted.games == 0
    assert counted.tally("a", "b").units == 0
    assert counted.interrupted == {0}
    counted.add(StoredGame.of(0, 0, "a", "b", Record(Position(), (), Outcome.DRAW), 0))
    assert (counted.games, counted.interrupted, dict(counted.causes)) == (
        1,
        set(),
        {("", "normal"): 1},
    )
