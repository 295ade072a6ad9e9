"""Functions, classes and objects of users as agents, alone and in tournaments."""

import functools
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from fourlab import Decision, Limit, Position, UserError
from fourlab.agent import ColumnAnalysis, Forfeit, Searcher, Snapshot
from fourlab.agents.own import as_agent, as_player, maker
from fourlab.agents.own_agent import OwnAgent, fingerprint
from fourlab.agents.registry import make
from fourlab.agents.simple.random import Random
from fourlab.analysis.position import analyse_position
from fourlab.arena.job import TournamentJob
from fourlab.arena.match import MatchSettings
from fourlab.arena.store import Store
from fourlab.arena.tournament import Player, Tournament
from fourlab.game.record import Cause
from fourlab.jobs.job import Conduct, Event, Note, Session
from fourlab.jobs.run import Run
from fourlab.jobs.runner import begin, resume, work
from tests.agents.own_players import Learning, Skipping, leftmost

START = Position("4455")


def ask(thing: Any) -> Decision:
    return as_agent(thing).decide(START, Limit(simulations=7), np.random.default_rng(0))


class Exits:
    def decide(self, position: Position) -> int:
        raise SystemExit(3)


# --- what can be an agent -------------------------------------------------------------------------


def test_a_function_takes_what_it_names() -> None:
    seen = []

    def all_three(position: Position, limit: Limit, rng: np.random.Generator) -> int:
        seen.append((position, limit.simulations, int(rng.integers(100))))
        return 1

    expected = int(np.random.default_rng(0).integers(100))
    assert ask(all_three).column == 1
    assert seen == [(START, 7, expected)]
    assert ask(lambda board: board.legal_columns()[2]).column == 2
    assert ask(lambda board, bound: bound.simulations - 4).column == 3
    assert ask(lambda board, bound, random: int(random.integers(100)) * 0).column == 0
    assert ask(lambda position, rng: rng.choice(position.legal_columns(), p=[0] * 6 + [1])) == (
        Decision(6)
    )
    assert ask(lambda position, depth=3, *, limit: depth + limit.simulations - 5).column == 5
    assert ask(lambda *arguments: len(arguments)).column == 3
    assert ask(lambda position, *others: len(others)).column == 2
    assert ask(functools.partial(lambda depth, position: depth, 4)).column == 4
    # Without a generator, agents make one.
    assert as_agent(all_three).decide(START).column == 1


@pytest.mark.parametrize(
    "function",
    [
        lambda: 0,
        lambda a, b, c, d: 0,
        lambda position, *, depth: 0,
        lambda position, rng, depth: 0,
        lambda **options: 0,
    ],
)
def test_a_function_with_other_parameters_is_refused(function: Callable[..., int]) -> None:
    with pytest.raises(UserError, match=r"takes \(.*\); an agent takes \(position\), "):
        as_agent(function)


def test_classes_and_objects_are_agents() -> None:
    assert ask(Skipping).column == 0
    assert ask(Skipping(2)).column == 2
    assert ask("rules") == make("rules").decide(START, Limit(), np.random.default_rng(0))
    # Agents of Fourlab have more abilities than `decide`, so they stay as they are.
    agent = Random()
    assert as_agent(agent) is agent
    assert isinstance(as_agent(Random), Random)
    assert isinstance(as_agent(as_agent(leftmost)), OwnAgent)


@pytest.mark.parametrize("thing", [3, None, [leftmost], int, Path])
def test_other_things_are_refused(thing: object) -> None:
    with pytest.raises(UserError, match="an agent is a spec, a function, or a class or object"):
        as_agent(thing)


def test_a_class_that_cannot_be_constructed_is_refused() -> None:
    class Demanding:
        def __init__(self, network: str) -> None:
            self.network = network

        def decide(self, position: Position) -> int:
            return 0

    with pytest.raises(UserError, match=r"Demanding cannot be constructed: .* 'network'"):
        as_agent(Demanding)


class Watched:
    """Has a tree of one node, and shows it."""

    tree: Any = (ColumnAnalysis(3, visits=5, value=0.5),)
    snapshot: Any = Snapshot(5, tree, 7)

    def decide(self, position: Position) -> int:
        return 3

    def search(self, position: Position, limit: Limit, rng: Any, watch: Any = None) -> Any:
        watch(self.snapshot)
        return SimpleNamespace(
            decision=Decision(3), look=lambda path: self.tree if path == () else ()
        )


def test_the_search_of_an_object_can_be_watched() -> None:
    snapshots: list[Snapshot] = []
    agent = as_agent(Watched)
    assert isinstance(agent, Searcher)
    search = agent.search(START, Limit(), np.random.default_rng(0), snapshots.append)
    assert search.decision == Decision(3)
    assert snapshots == list(search.trace) == [Watched.snapshot]
    assert list(search.look(())) == list(Watched.tree)
    assert list(search.look((3,))) == []
    analysis = analyse_position(START, agent, "mine", proof=0)
    assert analysis.trace == (Watched.snapshot,)


def test_another_method_of_that_name_is_no_such_search() -> None:
    class Minimax:
        def decide(self, position: Position) -> int:
            return self.search(position, 3)

        def search(self, position: Position, depth: int) -> int:
            return depth

    assert not isinstance(as_agent(Minimax), Searcher)
    assert analyse_position(START, as_agent(Minimax), "mine", proof=0).decision.column == 3


def test_what_is_wrong_with_a_search_is_named() -> None:
    class NoSnapshot(Watched):
        snapshot = 5

    class FullColumn(Watched):
        tree = (ColumnAnalysis(7, visits=1),)

    rng = np.random.default_rng(0)
    with pytest.raises(Forfeit, match="NoSnapshot raised TypeError: watch takes a Snapshot, not 5"):
        as_agent(NoSnapshot).search(START, Limit(), rng)
    with pytest.raises(Forfeit, match=r"the tree of FullColumn has ColumnAnalysis\(column=7"):
        as_agent(FullColumn).search(START, Limit(), rng).look(())


@pytest.mark.parametrize("thing", [leftmost, Watched, lambda position: 3])
def test_a_finished_game_is_refused(thing: Any) -> None:
    with pytest.raises(UserError, match=r"the game is over \(red wins\): Position"):
        as_agent(thing).decide("1212121")


# --- wrong answers --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "cause", "message"),
    [
        (None, Cause.CRASH, "bot returned None, which is not a column counted from 0 or a Dec"),
        ("x", Cause.CRASH, "bot returned 'x', which is not a column"),
        (3.0, Cause.CRASH, "bot returned 3.0, which is not a column"),
        (True, Cause.CRASH, "bot returned True, which is not a column"),
        ([1], Cause.CRASH, r"bot returned \[1\], which is not a column"),
        ("y" * 100, Cause.CRASH, r"bot returned 'y{59}\.\.\., which"),
        (Decision("x"), Cause.CRASH, "bot returned a Decision with the column 'x', which is not a"),
        (7, Cause.ILLEGAL, "bot returned column 7; the open columns, counted from 0, are 0, 1, 2"),
        (-1, Cause.ILLEGAL, "bot returned column -1; the open columns"),
        (Decision(7), Cause.ILLEGAL, "bot returned column 7; the open columns"),
    ],
)
def test_a_wrong_answer_is_named(answer: Any, cause: Cause, message: str) -> None:
    def bot(position: Position) -> Any:
        return answer

    with pytest.raises(Forfeit, match=message) as forfeit:
        ask(bot)
    assert forfeit.value.cause == cause


def test_an_exception_is_named_with_its_line() -> None:
    def bot(position: Position) -> int:
        return np.zeros(3)[position.ply]  # raised in this file, called by ours

    with pytest.raises(
        Forfeit, match=r"bot raised IndexError: .* \(test_own.py, line \d+\)"
    ) as one:
        ask(bot)
    assert one.value.cause == Cause.CRASH
    # This would end the process, and with it other games.
    with pytest.raises(Forfeit, match="Exits raised SystemExit: 3"):
        ask(Exits)

    def refuses(position: Position) -> int:
        raise UserError("only on 5x4")

    with pytest.raises(UserError, match=r"^only on 5x4$"):
        ask(refuses)


def test_numbers_of_numpy_are_columns() -> None:
    assert type(ask(lambda position: np.int64(3)).column) is int
    assert ask(lambda position: Decision(np.int8(3), value=0.5)) == Decision(3, value=0.5)


# --- tournaments ----------------------------------------------------------------------------------


def played(
    tournament: Tournament, folder: Path, conduct: Conduct | None = None
) -> tuple[Run, list[tuple[str, str]], list[str]]:
    """Play a tournament; return its run, its games with their details, and the notes."""
    notes: list[str] = []

    def on_event(event: Event) -> None:
        if isinstance(event, Note):
            notes.append(event.text)

    job = TournamentJob(tournament, "match")
    run = begin(job, folder)
    assert work(job, run, Session(conduct or Conduct(workers=2), on_event)) is not None
    with Store(run.games_file, read_only=True) as store:
        games = [(game.moves, game.detail) for game in store.games()]
    return run, games, notes


def test_objects_that_can_be_pickled_play_in_workers(tmp_path: Path) -> None:
    players = (as_player(Skipping(2), name="two"), as_player(leftmost, Limit(seconds=10)))
    assert [player.label for player in players] == ["two", "leftmost"]
    run, games, notes = played(Tournament(players, rounds=2), tmp_path / "runs")
    assert not notes
    # In this process the same games are played.
    here = played(Tournament(players, rounds=2), tmp_path / "here", Conduct(1, "threads"))
    assert here[1] == games
    assert [agent["name"] for agent in run.config["agents"]] == ["two", "leftmost"]
    # The same call again has nothing left to do.
    assert played(Tournament(players, rounds=2), tmp_path / "runs")[0].folder == run.folder


def test_others_play_in_this_process(tmp_path: Path) -> None:
    calls = []

    def closure(position: Position) -> int:
        calls.append(position)
        return position.legal_columns()[-1]

    players = (as_player(closure, name="mine"), as_player("random"))
    _, games, notes = played(Tournament(players, rounds=2), tmp_path)
    assert len(games) == 4
    assert not any(detail for _, detail in games)
    assert calls
    assert [note.partition(",")[0] for note in notes] == ["mine cannot be sent to other processes"]
    assert not played(Tournament(players, rounds=2), tmp_path)[2]  # nothing is left to play


def test_an_object_that_fails_forfeits_its_games(tmp_path: Path) -> None:
    players = (as_player(lambda position: 9, name="nine"), as_player(Exits))
    _, games, _ = played(Tournament(players, rounds=1), tmp_path)
    details = [detail.partition(" (")[0] for _, detail in games]
    assert details == [
        "red: nine returned column 9; the open columns, counted from 0, are 0, 1, 2, 3, 4, 5, 6",
        "red: Exits raised SystemExit: 3",
    ]


def test_a_run_with_an_object_is_resumed_with_the_object(tmp_path: Path) -> None:
    run, _, _ = played(Tournament((as_player(leftmost), Player("random")), rounds=1), tmp_path)
    as_player(Skipping, name="leftmost")
    with pytest.raises(UserError, match="leftmost has changed since this run began"):
        resume(run)
    as_player(leftmost)
    assert resume(run) is not None


def test_changed_code_begins_a_new_run(tmp_path: Path) -> None:
    def first() -> Tournament:
        def bot(position: Position) -> int:
            return position.legal_columns()[0]

        return Tournament((as_player(bot), Player("random")), rounds=1)

    def second() -> Tournament:
        def bot(position: Position) -> int:
            return position.legal_columns()[1]

        return Tournament((as_player(bot), Player("random")), rounds=1)

    run, *_ = played(first(), tmp_path)
    assert played(second(), tmp_path)[0].folder != run.folder
    assert played(first(), tmp_path)[0].folder == run.folder


def test_fingerprints_are_of_code_and_settings() -> None:
    def with_closure(number: int) -> Callable[[Position], int]:
        return lambda position: number

    assert fingerprint(with_closure(1)) == fingerprint(with_closure(1))
    assert fingerprint(with_closure(1)) != fingerprint(with_closure(2))
    assert fingerprint(Skipping(1)) == fingerprint(Skipping(1))
    assert fingerprint(Skipping(1)) != fingerprint(Skipping(2)) != fingerprint(Skipping)
    assert fingerprint(functools.partial(leftmost)) != fingerprint(functools.partial(ask))


def test_an_agent_that_remembers_is_passed_as_a_class(tmp_path: Path) -> None:
    def tournament(thing: Any) -> Tournament:
        return Tournament((as_player(thing), Player("random")), rounds=2)

    with pytest.raises(UserError, match="Learning remembers its games; pass its class"):
        maker(tournament(Learning()))
    _, games, _ = played(tournament(Learning), tmp_path)
    assert len(games) == 4


def test_two_objects_of_one_name_are_refused() -> None:
    with pytest.raises(UserError, match="two agents have the same name 'lambda'"):
        Tournament((as_player(lambda position: 0), as_player(lambda position: 1)))


def test_an_object_can_play_a_match_against_itself(tmp_path: Path) -> None:
    settings = MatchSettings(games=2, simulations=3)
    tournament = settings.tournament(as_player(leftmost), as_player(leftmost))
    assert [player.label for player in tournament.players] == ["leftmost (A)", "leftmost (B)"]
    assert tournament.players[0].limit.simulations == 3
    assert len(played(tournament, tmp_path)[1]) == 2


def test_players_are_kept_as_they_are() -> None:
    player = Player("rules", Limit(seconds=1), "a name")
    assert as_player(player) is player
    assert as_player("rules", Limit(seconds=1), "a name") == player
    assert replace(as_player(leftmost), code="") == Player("own:leftmost", name="leftmost")
