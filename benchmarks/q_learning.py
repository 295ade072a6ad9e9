"""Q-learning: games per second of self-play, beside the obvious dictionary in plain Python, in one run."""

import random
import time
from dataclasses import replace

from fourlab import Position, Rules
from fourlab.agents.q.settings import QSettings, preset
from fourlab.agents.q.table import QTable
from fourlab.agents.q.training import NEVER, Opposition, Progress, form_of, rule_of
from fourlab.reporting.speed import rates

AFTERSTATES = replace(
    preset("bhat"), against=("self",), seat="both", alpha=0.1, epsilon=0.1, epsilon_decay=1.0, exam_against=("random",)
)
SETTINGS = {
    "5x4, afterstates, negamax": preset("self-play"),
    "5x4, afterstates, document 001's rule": AFTERSTATES,
    "7x6, columns, document 004's rule": preset("arya"),
    "7x6, afterstates, negamax": replace(preset("self-play"), board="7x6x4"),
}


class Obvious:
    """The same learning as anybody would write it: positions that play themselves, values in a dictionary."""

    def __init__(self, settings: QSettings) -> None:
        self.s, self.q, self.rules = settings, dict[object, float](), Rules.parse(settings.board)

    def name(self, position: Position, column: int) -> object:
        if self.s.form == "state-action":
            return position, column
        return position.play(column)

    def play(self, games: int) -> int:
        s, q = self.s, self.q
        for _ in range(games):
            position, last = Position(board=self.rules), [None, None]
            while position.outcome() is None:
                side, legal = position.to_move, position.legal_columns()
                names = {column: self.name(position, column) for column in legal}
                worth = {column: q.get(names[column], s.initial) for column in legal}
                column = random.choice(legal) if random.random() < s.epsilon else max(worth, key=lambda each: worth[each])
                position = position.play(column)
                if (outcome := position.outcome()) is not None:
                    q[names[column]] = worth[column] = s.draw if outcome.winner is None else s.win
                best = max(worth.values())
                earlier = last[1 - side] if s.target == "negamax" else last[side]
                if earlier is not None:
                    after = -best if s.target == "negamax" else best if s.target == "best" else worth[column]
                    old = q.get(earlier, s.initial)
                    q[earlier] = old + s.alpha * (s.step + s.gamma * after - old)
                if outcome is not None and last[1 - side] is not None and s.target != "negamax":
                    q[last[1 - side]] = s.draw if outcome.winner is None else s.loss
                last[side] = names[column]
        return games


class Ours:
    """The compiled loop, with a table that goes on growing from turn to turn."""

    def __init__(self, settings: QSettings) -> None:
        self.rule, self.games = rule_of(settings, learning=True), 0
        self.table = QTable(form_of(settings))
        self.opposition = Opposition(settings.opponents, replace(settings, memory=16_000))
        self.progress = Progress.new(settings.alpha, settings.epsilon, [0])

    def play(self, games: int) -> int:
        self.games += games
        self.opposition.play(self.table, self.rule, self.games, NEVER, self.progress)
        return games


def main() -> None:
    print("self-play, games per CPU second of one thread; the tables grow from turn to turn")
    for name, settings in SETTINGS.items():
        ours, obvious = Ours(settings), Obvious(settings)
        measured = rates({"fourlab": lambda: ours.play(200_000), "dictionary": lambda: obvious.play(100)})  # noqa: B023
        ratio = measured["fourlab"] / measured["dictionary"]
        print(f"  {name:38} {measured['fourlab']:>12,.0f}  dictionary {measured['dictionary']:>6,.0f}  {ratio:>7,.0f} x")
    print("sustained: a million games at a time")
    for name, settings in SETTINGS.items():
        ours = Ours(settings)
        ours.play(1000)
        for _ in range(3):
            before = time.thread_time()
            rate = ours.play(1_000_000) / (time.thread_time() - before)
            print(f"  {name:38} {rate:>12,.0f}  {len(ours.table):>12,} positions, {ours.table.megabytes:,.0f} MB")


if __name__ == "__main__":
    main()
