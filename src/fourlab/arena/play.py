"""Play a tournament: play the games that are not stored yet and store each one as it ends."""

from collections.abc import Callable, Iterator, Sequence

from fourlab.agent import Agent
from fourlab.arena.judge import GameSolver
from fourlab.arena.results import Results
from fourlab.arena.store import Store, StoredGame
from fourlab.arena.tournament import GamePlayer, Tournament
from fourlab.game.outcome import RED, SIDE_NAMES, Outcome
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

    Games and results depend neither on the executor nor on how often the tournament was stopped and
    resumed: a sequential test sees the games in numerical order, and games numbered after the one
    at which it decided are deleted.
    """
    results = Results.of(tournament, store)
    missing = _missing(tournament, store, results)
    batches = executor.map(GamePlayer(tournament, make), missing)
    try:
        for batch in batches:
            games = [
                _lost_game(tournament, number, game) if isinstance(game, Lost) else game
                for number, game in batch
            ]
            store.add(games)
            for game in games:
                results.add(game)
            on_games(results, games)
            if results.decided_at is not None:
                break
    finally:
        # Closing the generator stops the workers; an executor may also return a plain iterator.
        getattr(batches, "close", lambda: None)()
    if results.decided_at is not None:
        store.drop_from((results.decided_at + 1) * tournament.games_per_unit)
        results = Results.of(tournament, store)
    return results


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
            if not isinstance(scores, Lost):
                store.set_scores(number, scores)
            done += 1
        on_progress(done, len(records))


def _missing(tournament: Tournament, store: Store, results: Results) -> Iterator[int]:
    """Return the numbers of the games to play, in increasing order."""
    if results.decided_at is not None:
        return iter(())
    finished = store.finished()
    return (number for number in range(len(tournament)) if number not in finished)


def _lost_game(tournament: Tournament, number: int, lost: Lost) -> StoredGame:
    """Return the row of a game whose worker process died or hung.

    The side that was thinking at that moment loses; if that is unknown, the game has no result.
    """
    game = tournament.game(number)
    cause = Cause.TIMEOUT if lost.hung else Cause.CRASH
    result = None
    detail = lost.why
    if lost.side is not None:
        result = Outcome.YELLOW_WINS if lost.side == RED else Outcome.RED_WINS
        detail = f"{SIDE_NAMES[lost.side]}: {lost.why}"
    return tournament.stored(game, Record(game.start, (), result, cause, detail))
