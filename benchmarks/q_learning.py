"""Q-learning: self-play games per second, compared with a dictionary in plain Python in one run."""

import random
import time
from dataclasses import replace
from functools import partial

from fourlab import Position, Rules
from fourlab.agents.q.settings import QSettings, preset
from fourlab.agents.q.table import QTable
from fourlab.agents.q.training import NEVER, Opponents, Progress, form_of, rule_of
from fourlab.reporting.speed import rates

AFTERSTATES = replace(
    preset("bhat"),
    against=("self",),
    seat="both",
    alpha=0.1,
    epsilon=0.1,
    epsilon_decay=1.0,
    exam_against=("random",),
)
SETTINGS = {
    "5x4, afterstates, negamax": preset("self-play"),
    "5x4, afterstates, Bhat's rule": AFTERSTATES,
    "7x6, columns, Arya's rule": preset("arya"),
    "7x6, afterstates, negamax": replace(preset("self-play"), board="7x6x4"),
}


class PlainLearner:
    """The same learning in plain Python, with values in a dictionary."""

    def __init__(self, settings: QSettings) -> None:
        self.s = settings
        self.q: dict[object, float] = {}
        self.rules = Rules.parse(settings.board)

    def name(self, position: Position, column: int) -> object:
        """Return the key of an action in the dictionary."""
        if self.s.form == "state-action":
            return position, column
        return position.play(column)

    def play(self, games: int) -> int:
        s = self.s
        q = self.q
        for _ in range(games):
            position = Position(board=self.rules)
            last: list[object | None] = [None, None]  # the last action of either side
            while position.outcome() is None:
                side = position.to_move
                legal = position.legal_columns()
                names = {column: self.name(position, column) for column in legal}
                values = {column: q.get(names[column], s.initial) for column in legal}
                if random.random() < s.epsilon:
                    column = random.choice(legal)
                else:
                    column = max(values, key=values.__getitem__)
                position = position.play(column)
                outcome = position.outcome()
                if outcome is not None:
                    values[column] = s.draw if outcome.winner is None else s.win
                    q[names[column]] = values[column]
                self.update(last[1 - side] if s.target == "negamax" else last[side], values, column)
                if outcome is not None and last[1 - side] is not None and s.target != "negamax":
                    q[last[1 - side]] = s.draw if outcome.winner is None else s.loss
                last[side] = names[column]
        return games

    def update(self, earlier: object | None, values: dict[int, float], column: int) -> None:
        """Move the value of an earlier action towards its target."""
        if earlier is None:
            return
        s = self.s
        if s.target == "negamax":
            after = -max(values.values())
        else:
            after = max(values.values()) if s.target == "best" else values[column]
        old = self.q.get(earlier, s.initial)
        self.q[earlier] = old + s.alpha * (s.step + s.gamma * after - old)


class Ours:
    """The compiled loop; its table grows from turn to turn."""

    def __init__(self, settings: QSettings) -> None:
        self.rule = rule_of(settings, learning=True)
        self.games = 0
        self.table = QTable(form_of(settings))
        self.opposition = Opponents(settings.opponents, replace(settings, memory=16_000))
        self.progress = Progress.new(settings.alpha, settings.epsilon, [0])

    def play(self, games: int) -> int:
        self.games += games
        self.opposition.play(self.table, self.rule, self.games, NEVER, self.progress)
        return games


def main() -> None:
    print("self-play, games per CPU second of one thread; the tables grow from turn to turn")
    for name, settings in SETTINGS.items():
        ours = Ours(settings)
        plain = PlainLearner(settings)
        measured = rates(
            {"fourlab": partial(ours.play, 200_000), "dictionary": partial(plain.play, 100)}
        )
        rate = measured["fourlab"]
        peer = measured["dictionary"]
        print(f"  {name:38} {rate:>12,.0f}  dictionary {peer:>6,.0f}  {rate / peer:>7,.0f} x")
    print("sustained: a million games at a time")
    for name, settings in SETTINGS.items():
        ours = Ours(settings)
        ours.play(1000)
        for _ in range(3):
            before = time.thread_time()
            rate = ours.play(1_000_000) / (time.thread_time() - before)
            size = f"{len(ours.table):>12,} positions, {ours.table.megabytes:,.0f} MB"
            print(f"  {name:38} {rate:>12,.0f}  {size}")


if __name__ == "__main__":
    main()
