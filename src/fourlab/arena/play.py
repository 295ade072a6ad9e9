"""Playing a tournament: what is not stored yet is played, and stored as soon as it is over."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from fourlab.agent import Agent
from fourlab.arena.executors import Executor, Lost
from fourlab.arena.judge import GameJudge
from fourlab.arena.results import Results
from fourlab.arena.store import Played, Store
from fourlab.arena.tournament import GamePlayer, Tournament
from fourlab.game.outcome import RED, SIDE_NAMES, Outcome
from fourlab.game.position import Position
from fourlab.game.record import Cause, Record


def play_tournament(
    tournament: Tournament,
    store: Store,
    executor: Executor,
    make: Callable[[str], Agent],
    told: Callable[[Results, Sequence[Played]], None] = lambda results, games: None,
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
            games = [_played(tournament, number, result) for number, result in batch]
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
    records = {game.number: replace(game.record, thoughts=()) for game in store.games("scores IS NULL")}
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


def _played(tournament: Tournament, number: int, result: Record | Lost) -> Played:
    game = tournament.game(number)
    red, yellow = (tournament.players[seat].label for seat in (game.red, game.yellow))
    record = _of_lost(game.start, result) if isinstance(result, Lost) else result
    return Played(number, game.unit, red, yellow, record, tournament.seed)


def _of_lost(start: Position, lost: Lost) -> Record:
    """Who was thinking when the process was lost has lost; if nobody knows, there is no result."""
    cause = Cause.TIMEOUT if lost.hung else Cause.CRASH
    if lost.side not in (0, 1):
        return Record(start, (), None, cause, lost.why)
    result = Outcome.YELLOW_WINS if lost.side == RED else Outcome.RED_WINS
    return Record(start, (), result, cause, f"{SIDE_NAMES[lost.side]}: {lost.why}")
