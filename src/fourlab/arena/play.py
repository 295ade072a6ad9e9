"""Play a tournament: play the games that are not stored yet and store each one as it ends."""

import itertools
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import suppress
from typing import Any

from fourlab.agent import Agent, Forfeit, remembers
from fourlab.arena.game import close_all, forfeited
from fourlab.arena.judge import GameSolver
from fourlab.arena.results import Results
from fourlab.arena.store import Store, StoredGame
from fourlab.arena.tournament import GamePlayer, Tournament
from fourlab.game.record import Cause, Record
from fourlab.jobs.executors import Executor, Lost


def play_tournament(
    tournament: Tournament,
    store: Store,
    executor: Executor,
    make: Callable[[str], Agent],
    on_games: Callable[[Results, Sequence[StoredGame]], None] = lambda results, games: None,
) -> Results:
    """Play the games that are not stored yet and return the results of all games.

    `make` builds an agent from its spec. After each batch is stored and counted, `on_games` is
    called with the results so far and the games of the batch.

    Games of agents that remember are played in order on one worker; what they remember when the
    tournament is resumed follows from the stored games.

    Games and results depend neither on the executor nor on how often the tournament was stopped and
    resumed: a sequential test sees the games in numerical order, and games numbered after the one
    at which it decided are deleted.
    """
    results = Results.of(tournament, store)
    finished = store.finished()
    total = 0 if results.decided_at is not None else len(tournament)
    missing = (number for number in range(total) if number not in finished)
    batches = _play(tournament, store, executor, make, missing)
    try:
        for batch in batches:
            games = [
                _lost_game(tournament, number, game) if isinstance(game, Lost) else game
                for number, game in batch
            ]
            # Stored before they are counted: what is reported can always be read back.
            store.add(games)
            for game in games:
                results.add(game)
            on_games(results, games)
            if results.decided_at is not None:
                break
    finally:
        batches.close()  # stops the workers
    # Workers play ahead of the test, by a number of games that depends on their speed. Dropping
    # those makes the stored games a function of the seed again.
    if results.decided_at is not None:
        store.drop_from((results.decided_at + 1) * tournament.games_per_unit)
        results = Results.of(tournament, store)
    return results


def _play(
    tournament: Tournament,
    store: Store,
    executor: Executor,
    make: Callable[[str], Agent],
    missing: Iterable[int],
) -> Generator[list[tuple[int, Any]]]:
    """Yield the missing games in batches as they end.

    Games of agents that remember come last: pairing by pairing and in order, on one worker.
    """
    missing = iter(missing)
    first = next(missing, None)
    if first is None:
        return  # without a look at the agents, some of which take time to load
    missing = itertools.chain([first], missing)
    remembering = _remembering(tournament, make)
    if not remembering:
        yield from executor.map(GamePlayer(tournament, make), missing)
        return

    def is_remembered(number: int) -> bool:
        return not remembering.isdisjoint(tournament.game(number).players)

    numbers = list(missing)
    others = [number for number in numbers if not is_remembered(number)]
    yield from executor.map(GamePlayer(tournament, make), others)
    chained = [number for number in numbers if is_remembered(number)]
    chained.sort(key=tournament.chain)
    while chained:
        # New workers rebuild memories from the games that are stored by now.
        stored = store.games("cause != ?", Cause.INTERRUPTED.value)
        played = {game.number: game for game in stored if is_remembered(game.number)}
        batches = executor.map(GamePlayer(tournament, make, played, in_order=True), chained)
        done = set[int]()
        is_lost = False
        try:
            for batch in batches:
                yield batch  # the caller stores the games
                done |= {number for number, _ in batch}
                # A new worker would play a lost game again to remember it, and be lost again.
                is_lost = any(isinstance(game, Lost) for _, game in batch)
                if is_lost:
                    break
        finally:
            # An executor may also return a plain iterator.
            getattr(batches, "close", lambda: None)()
        if not is_lost:
            return  # complete, or stopped
        chained = [number for number in chained if number not in done]


def _remembering(tournament: Tournament, make: Callable[[str], Agent]) -> set[int]:
    """Return the places of the players that remember their games."""
    places = set()
    for place, player in enumerate(tournament.players):
        with suppress(Exception):  # the same fault will be recorded in its games
            agent = make(player.spec)
            if remembers(agent):
                places.add(place)
            close_all([agent])
    return places


def solve_games(
    store: Store,
    executor: Executor,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> None:
    """Solve every stored game that has no exact scores yet.

    `on_progress` is called after every batch with the numbers of games done and to do.
    """
    records = {game.number: game.record for game in store.games("scores IS NULL")}
    done = 0
    for batch in executor.map(GameSolver(records), sorted(records)):
        for number, scores in batch:
            # A lost game stays unsolved, and the next run tries it again.
            if not isinstance(scores, Lost):
                store.set_scores(number, scores)
            done += 1
        on_progress(done, len(records))


def _lost_game(tournament: Tournament, number: int, lost: Lost) -> StoredGame:
    """Return the row of a game whose worker process died or hung.

    The side that was thinking at that moment loses; if that is unknown, the game has no result.
    """
    game = tournament.game(number)
    cause = Cause.TIMEOUT if lost.hung else Cause.CRASH
    # The moves died with the worker, so the record has none.
    record = Record(game.start, (), None, cause, lost.why)
    if lost.side is not None:
        record = forfeited(game.start, [], [], lost.side, Forfeit(cause, lost.why))
    return tournament.stored(game, record)
