"""Playing a tournament: what is not stored yet is played, and stored as soon as it is over."""

from collections.abc import Callable, Iterator, Sequence

from fourlab.agent import Agent
from fourlab.arena.judge import GameJudge
from fourlab.arena.results import Results
from fourlab.arena.store import Store, StoredGame
from fourlab.arena.tournament import GamePlayer, Tournament
from fourlab.game.outcome import RED, SIDE_NAMES, YELLOW, Outcome
from fourlab.game.record import Cause, Record
from fourlab.jobs.executors import Executor, Lost


def play_tournament(
    tournament: Tournament,
    store: Store,
    executor: Executor,
    make: Callable[[str], Agent],
    told: Callable[[Results, Sequence[StoredGame]], None] = lambda results, games: None,
) -> Results:
    """Play what is missing; `told` hears of games once they are stored and counted. Returns what is known then.

    The games and the results do not depend on the executor, nor on how often the play was stopped and resumed. A sequential
    test is applied to the games in the order of their numbers, and what was played beyond its decision is forgotten.
    """
    results = Results.of(tournament, store)
    missing = _missing(tournament, store, results)
    batches = executor.map(GamePlayer(tournament, make), missing)
    try:
        for batch in batches:
            games = [_of_lost(tournament, number, game) if isinstance(game, Lost) else game for number, game in batch]
            store.add(games)
            for game in games:
                results.add(game)
            told(results, games)
            if results.decided_at is not None:
                break
    finally:
        getattr(batches, "close", lambda: None)()
    if results.decided_at is not None:
        store.drop_from((results.decided_at + 1) * tournament.games_a_unit)
        results = Results.of(tournament, store)
    return results


def judge_games(store: Store, executor: Executor, told: Callable[[int, int], None] = lambda done, of: None) -> None:
    """Solve every stored game that has not been solved yet; `told` hears how many of how many are."""
    records = {game.number: game.record for game in store.games("scores IS NULL")}
    done = 0
    for batch in executor.map(GameJudge(records), sorted(records)):
        for number, scores in batch:
            if not isinstance(scores, Lost):
                store.judge(number, scores)
            done += 1
        told(done, len(records))


def _missing(tournament: Tournament, store: Store, results: Results) -> Iterator[int]:
    if results.decided_at is not None:
        return iter(())
    finished = store.finished()
    return (number for number in range(len(tournament)) if number not in finished)


def _of_lost(tournament: Tournament, number: int, lost: Lost) -> StoredGame:
    """Who was thinking when the process was lost has lost; if nobody knows, there is no result."""
    game, cause = tournament.game(number), Cause.TIMEOUT if lost.hung else Cause.CRASH
    result = {RED: Outcome.YELLOW_WINS, YELLOW: Outcome.RED_WINS}.get(lost.side)  # type: ignore[arg-type]
    detail = lost.why if result is None else f"{SIDE_NAMES[lost.side or 0]}: {lost.why}"
    return tournament.stored(game, Record(game.start, (), result, cause, detail))
