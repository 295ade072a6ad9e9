"""Agents that remember their games: the arena plays the games of a pairing one after another."""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fourlab.agent import Limit, close, remembers
from fourlab.agents.registry import make as make_real
from fourlab.arena.job import TournamentJob
from fourlab.arena.play import play_tournament
from fourlab.arena.store import Store
from fourlab.arena.tournament import GamePlayer, Player, Tournament
from fourlab.arena.verify import lost_game, verify
from fourlab.game.position import Position
from fourlab.game.record import Cause
from fourlab.jobs.executors import Executor, Work
from fourlab.jobs.executors.local import Local
from fourlab.jobs.executors.threads import Threads
from fourlab.jobs.job import Conduct, Progress, Session
from fourlab.jobs.run import Run
from fourlab.jobs.runner import begin, resume, work
from tests.arena.players import Diary, make

MATCH = Tournament((Player("diary"), Player("random")), rounds=6, seed=3)
LEAGUE = Tournament(
    (Player("random"), Player("diary"), Player("rules"), Player("diary", name="second diary")),
    boards=("7x6x4", "5x4x4"),
    rounds=3,
    seed=4,
)
SEWELL = Tournament(
    (Player("sewell:faithful=1"), Player("negamax:ties=first")),
    openings="empty",
    rounds=30,
    starts="fixed",
    seed=2,
)


def games(file: Path, tournament: Tournament, executor: Executor) -> list[tuple[object, ...]]:
    """Play what is missing in a file; returns the games without their times."""
    with Store(file) as store:
        play_tournament(tournament, store, executor, make)
        return [game[:12] for game in store.games()]


class Stopping(Threads):
    """Stops after some games."""

    def __init__(self, after: int) -> None:
        super().__init__(2)
        self.after = after

    def map(self, work: Work, items: Iterable[int]) -> Iterator[list[tuple[int, Any]]]:
        for batch in super().map(work, items):
            yield batch
            self.after -= len(batch)
            if self.after <= 0:
                self.stop()


def test_a_memory_is_declared() -> None:
    assert remembers(Diary())
    assert remembers(make_real("sewell"))
    assert not remembers(make_real("mcts:reuse=moves"))
    assert not remembers(make_real("random"))


@pytest.mark.parametrize("tournament", [MATCH, LEAGUE], ids=["match", "league"])
def test_games_of_a_chain_have_the_same_players_and_board(tournament: Tournament) -> None:
    for number in range(len(tournament)):
        game = tournament.game(number)
        alike = [
            other
            for other in range(number)
            if set(tournament.game(other).players) == set(game.players)
            and tournament.game(other).start.rules == game.start.rules
        ]
        chain, place = tournament.chain(number)
        assert list(tournament.games_of_chain(chain))[: place + 1] == [*alike, number]


def test_an_agent_that_remembers_has_played_the_earlier_games() -> None:
    diaries = list[Diary]()

    def watched(spec: str) -> Any:
        agent = make(spec)
        if isinstance(agent, Diary):
            diaries.append(agent)
        return agent

    player = GamePlayer(MATCH, watched)
    moves = [len(player(number).columns) for number in range(len(MATCH))]
    # One of them has seen every game; the others were made, and not needed.
    pages = sorted(len(diary.pages) for diary in diaries)
    assert pages[:-1] == [0] * (len(MATCH) - 1)
    assert abs(2 * pages[-1] - sum(moves)) <= len(MATCH)


@pytest.mark.parametrize("tournament", [MATCH, LEAGUE], ids=["match", "league"])
def test_a_game_depends_on_its_number_alone_also_with_a_memory(tournament: Tournament) -> None:
    player = GamePlayer(tournament, make)
    forwards = [player(number)[:12] for number in range(len(tournament))]
    backwards = [player(number)[:12] for number in reversed(range(len(tournament)))]
    assert forwards == backwards[::-1]
    # The memory matters: without it, games are different.
    nothing = {number: lost_game(tournament, number) for number in range(len(tournament))}
    forgetful = [
        GamePlayer(tournament, make, nothing)(number)[:12] for number in range(len(tournament))
    ]
    assert forgetful != forwards


@pytest.mark.parametrize("tournament", [MATCH, LEAGUE], ids=["match", "league"])
def test_games_do_not_depend_on_workers_and_stops(tournament: Tournament, tmp_path: Path) -> None:
    player = GamePlayer(tournament, make)
    expected = [player(number)[:12] for number in range(len(tournament))]
    assert games(tmp_path / "threads.sqlite", tournament, Threads(3)) == expected
    assert games(tmp_path / "processes.sqlite", tournament, Local(2)) == expected
    stopped = tmp_path / "stopped.sqlite"
    for after in (1, 3, 5):
        assert len(games(stopped, tournament, Stopping(after))) < len(expected)
    assert games(stopped, tournament, Threads(1)) == expected


def test_a_missing_game_in_the_middle_is_played_as_before(tmp_path: Path) -> None:
    file = tmp_path / "games.sqlite"
    expected = games(file, MATCH, Threads(1))
    with Store(file) as store:
        kept = [game for game in store.games(thoughts=True) if game.number != 5]
    file.unlink()
    with Store(file) as store:
        store.add(kept)
    assert games(file, MATCH, Threads(1)) == expected


def test_an_agent_that_kills_its_process_loses_one_game_and_its_memory_of_it(
    tmp_path: Path,
) -> None:
    match = Tournament(
        (Player("diary/3"), Player("random")), openings="empty", rounds=4, starts="fixed", seed=1
    )
    with Store(tmp_path / "games.sqlite") as store:
        play_tournament(match, store, Local(2), make)
        causes = [game.cause for game in store.games()]
    # Its third game is the third that it remembers, so every later game is the third again.
    assert causes[:2] == [Cause.NORMAL.value] * 2
    assert causes[2:] == [Cause.CRASH.value] * 2


# --- SeWell's agent -------------------------------------------------------------------------------


def session(stop_after: int = 10**9) -> Session:
    new = Session(Conduct(workers=2, executor="threads"))

    def on_event(event: Any) -> None:
        if isinstance(event, Progress) and event.done >= stop_after:
            new.stop()

    new.subscribe(on_event)
    return new


def moves(run: Run) -> list[tuple[object, ...]]:
    with Store(run.games_file, read_only=True) as store:
        return [game[:12] for game in store.games()]


def test_sewells_agent_learns_in_a_match_that_can_be_stopped_and_verified(tmp_path: Path) -> None:
    job = TournamentJob(SEWELL, "match")
    whole = begin(job, tmp_path / "whole")
    assert work(job, whole, session()) is not None
    stopped = begin(job, tmp_path / "stopped")
    assert work(job, stopped, session(stop_after=11)) is None
    assert 11 <= len(moves(stopped)) < 30
    assert resume(stopped, session()) is not None
    assert moves(stopped) == moves(whole)
    for run in (whole, stopped):
        verification = verify(run)
        assert verification.is_sound
        assert verification.games == 30


def test_sewells_agent_wins_more_of_the_later_games(tmp_path: Path) -> None:
    with Store(tmp_path / "games.sqlite") as store:
        play_tournament(replace(SEWELL, rounds=300), store, Threads(1), make_real)
        results = [game.result or 0 for game in store.games()]
    # As in SeWell's Experiment 1: about even at first, and all won at the end.
    assert sum(results[:50]) < 25
    assert sum(results[-30:]) > 25


def test_the_same_decisions_rebuild_the_memory_of_sewells_agent_on_either_side() -> None:
    positions = [Position(moves) for moves in ("", "44", "4", "", "44", "1", "4")]

    def visits(closing: bool) -> list[object]:
        agent = make_real("sewell:faithful=1")
        decisions = []
        for number, position in enumerate(positions):
            decisions.append(agent.decide(position, Limit(), np.random.default_rng(number)))
            if closing:
                close(agent)
        return [decision.analysis.visits for decision in decisions]

    counts = visits(closing=False)
    assert counts == visits(closing=True)
    # The second visits of the empty board, and of the board after column 4, know the first.
    totals = [sum(count) for count in counts if isinstance(count, tuple)]
    assert totals[3] >= totals[0] + 5
    assert totals[6] >= totals[2] + 5
