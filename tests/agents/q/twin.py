"""Plain Q-learning with a dictionary: the reference for the compiled one.

Both use the same random numbers in the same order, so they must agree to the last bit.
"""

from collections.abc import Iterator

import numpy as np

from fourlab.agents.q.kernel import search_move
from fourlab.agents.q.settings import QSettings
from fourlab.compiled.random import advance, below
from fourlab.game.rules import Rules
from tests.naive import NaiveGame


class Twin:
    """A learner whose values are in a dictionary, under the keys of the compiled table."""

    def __init__(self, settings: QSettings, state: int) -> None:
        self.s = settings
        self.state = state
        self.rules = Rules.parse(settings.board)
        self.values: dict[tuple[int, int], float] = {}
        self.visits: dict[tuple[int, int], int] = {}
        self.alpha = settings.alpha
        self.epsilon = settings.epsilon
        self.results = {1: 0, 0: 0, -1: 0}
        self.initial = float(np.float32(settings.initial))

    def draw(self, n: int) -> int:
        self.state = advance(self.state)
        return below(n, self.state)

    def entry(self, game: NaiveGame, column: int, side: int) -> tuple[int, int]:
        """Return the key of a column's value and the index of its number there."""
        discs = [list(stack) for stack in game.discs]
        if self.s.form == "afterstate":
            discs[column].append(side)
            column = 0
            keys = [self.key(discs, side), self.key(discs[::-1], side)]
            return (min(keys) if self.s.mirror else keys[0]), 0
        keys = [self.key(discs, side), self.key(discs[::-1], side)]
        if self.s.mirror and keys[1] < keys[0]:
            return keys[1], self.rules.columns - 1 - column
        return keys[0], column

    def key(self, discs: list[list[int]], side: int) -> int:
        """Return a key with, per column, the side's discs and a 1 above the topmost disc."""
        key = 0
        for column, stack in enumerate(discs):
            bits = sum(1 << row for row, disc in enumerate(stack) if disc == side) | 1 << len(stack)
            key |= bits << column * (self.rules.rows + 1)
        return key

    def value(self, entry: tuple[int, int]) -> float:
        return self.values.get(entry, self.initial)

    def set(self, entry: tuple[int, int], value: float) -> None:
        self.values[entry] = float(np.float32(value))

    def update(self, entry: tuple[int, int] | None, target: float) -> None:
        if entry is None:
            return
        step = self.alpha
        if self.s.alpha_by_visits:
            self.visits[entry] = self.visits.get(entry, 0) + 1
            step = max(step / self.visits[entry], self.s.alpha_least)
        before = self.value(entry)
        self.set(entry, before + step * (target - before))
        self.alpha *= self.s.alpha_update
        self.epsilon = min(self.epsilon + self.s.epsilon_update, 1.0)

    def update_ending(self, entry: tuple[int, int], reward: float) -> None:
        if self.s.endings == "set":
            self.set(entry, reward)
        else:
            self.update(entry, reward)

    def random_column(self, game: NaiveGame) -> int:
        while True:
            column = self.draw(self.rules.columns)
            if column in game.legal():
                return column

    def choose(self, game: NaiveGame, side: int) -> int:
        if self.draw(1 << 31) < self.epsilon * (1 << 31):
            return self.random_column(game)
        chosen = -1
        equals = 0
        for column in game.legal():
            value = self.value(self.entry(game, column, side))
            best = self.value(self.entry(game, chosen, side)) if chosen >= 0 else -np.inf
            if value > best:
                chosen = column
                equals = 1
            elif value == best and self.s.ties == "random":
                equals += 1
                if self.draw(equals) == 0:
                    chosen = column
        return chosen

    def play(
        self, games: int, lanes: int, searches: list[int] | None = None, switches: object = None
    ) -> None:
        """Play games, `lanes` at a time, a disc of each in turn."""
        begun = 0
        running = [None] * lanes
        while begun < games or any(running):
            for lane in range(lanes):
                if not running[lane]:
                    if begun == games:
                        continue
                    running[lane] = self.game(begun, searches, switches)
                    begun += 1
                if next(running[lane], "over") == "over":
                    running[lane] = None

    def game(self, number: int, searches: list[int] | None, switches: object) -> Iterator[str]:
        """Play a game, a disc at a time.

        `searches` has the opponent's simulations, one of which is sampled; None is self-play.
        """
        n = 0 if searches is None else searches[self.draw(len(searches))]
        if searches is None:
            self.draw(1)  # the compiled loop samples here, too
        seats = {0, 1}
        if searches is not None:
            seats = {"first": {0}, "second": {1}, "both": {number % 2}}[self.s.seat]
        game = NaiveGame(self.rules.columns, self.rules.rows, self.rules.in_a_row)
        last = [None, None]
        side = 0
        while True:
            game.to_move = side
            if side in seats:
                self.learner_move(game, side, last)
            elif n > 0:
                game.play(self.search(game, side, n, switches))
            elif not self.s.passing:
                game.play(self.random_column(game))
            side = 1 - side
            if game.is_over():
                break
            yield "running"
        # The side to move learns from the other side's last disc.
        if side in seats and last[side] is not None and self.s.target != "negamax":
            self.update_ending(last[side], self.s.draw if game.winner is None else self.s.loss)
        us = min(seats)
        self.results[0 if game.winner is None else 1 if game.winner == us else -1] += 1
        self.alpha = max(self.alpha * self.s.alpha_decay, self.s.alpha_least)
        self.epsilon = max(
            self.epsilon * self.s.epsilon_decay - self.s.epsilon_fall, self.s.epsilon_least
        )

    def learner_move(self, game: NaiveGame, side: int, last: list[tuple[int, int] | None]) -> None:
        """Choose and play a column, and update the value of the earlier one."""
        column = self.choose(game, side)
        entries = {legal: self.entry(game, legal, side) for legal in game.legal()}
        entry = entries[column]
        for number in range(self.rules.columns) if self.s.form == "state-action" else [0]:
            self.values.setdefault((entry[0], number), self.initial)
        values = {legal: self.value(entries[legal]) for legal in entries}
        game.play(column)
        if game.is_over():
            self.update_ending(entry, self.s.win if game.winner == side else self.s.draw)
        values[column] = self.value(entry)
        if self.s.target == "negamax":
            self.update(last[1 - side], self.s.step + self.s.gamma * -max(values.values()))
        else:
            after = values[column] if self.s.target == "played" else max(values.values())
            self.update(last[side], self.s.step + self.s.gamma * after)
        last[side] = entry

    def search(self, game: NaiveGame, side: int, simulations: int, switches: object) -> int:
        height = self.rules.rows + 1
        cells = [(c, r, disc) for c, stack in enumerate(game.discs) for r, disc in enumerate(stack)]
        own = sum(1 << c * height + r for c, r, disc in cells if disc == side)
        mask = sum(1 << c * height + r for c, r, _ in cells)
        tree = np.zeros((simulations + 3) * 3 * self.rules.columns, np.int32)
        column, self.state = search_move(
            own, mask, self.rules.geometry, switches, simulations, tree, self.state
        )
        return column
