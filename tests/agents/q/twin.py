"""Q-learning written as plainly as possible, with a dictionary: the judge of the compiled one.

Both draw from the same stream of random numbers in the same order, so they must agree to the last bit.
"""

from collections.abc import Iterator

import numpy as np

from fourlab.agents.q.kernel import search_move
from fourlab.agents.q.settings import QSettings
from fourlab.compiled.random import advance, below
from fourlab.game.rules import Rules
from tests.naive import NaiveGame


class Twin:
    """A dictionary from what is judged, written as a key of the compiled table, to its value."""

    def __init__(self, settings: QSettings, state: int) -> None:
        self.s, self.state = settings, state
        self.rules = Rules.parse(settings.board)
        self.values: dict[tuple[int, int], float] = {}
        self.visits: dict[tuple[int, int], int] = {}
        self.alpha, self.epsilon = settings.alpha, settings.epsilon
        self.results = {1: 0, 0: 0, -1: 0}
        self.initial = float(np.float32(settings.initial))

    def draw(self, n: int) -> int:
        self.state = advance(self.state)
        return below(n, self.state)

    def name(self, game: NaiveGame, column: int, side: int) -> tuple[int, int]:
        """A column's value is that of the position after it, or of the position and the column."""
        discs = [list(each) for each in game.discs]
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
        """In each column a 1 above the topmost disc, and below it the side's discs."""
        key = 0
        for column, stack in enumerate(discs):
            bits = sum(1 << row for row, disc in enumerate(stack) if disc == side) | 1 << len(stack)
            key |= bits << column * (self.rules.rows + 1)
        return key

    def value(self, name: tuple[int, int]) -> float:
        return self.values.get(name, self.initial)

    def set(self, name: tuple[int, int], value: float) -> None:
        self.values[name] = float(np.float32(value))

    def learn(self, name: tuple[int, int] | None, target: float) -> None:
        if name is None:
            return
        step = self.alpha
        if self.s.alpha_by_visits:
            self.visits[name] = self.visits.get(name, 0) + 1
            step = max(step / self.visits[name], self.s.alpha_least)
        before = self.value(name)
        self.set(name, before + step * (target - before))
        self.alpha *= self.s.alpha_update
        self.epsilon = min(self.epsilon + self.s.epsilon_update, 1.0)

    def end(self, name: tuple[int, int], reward: float) -> None:
        if self.s.endings == "set":
            self.set(name, reward)
        else:
            self.learn(name, reward)

    def random_column(self, game: NaiveGame) -> int:
        while True:
            column = self.draw(self.rules.columns)
            if column in game.legal():
                return column

    def choose(self, game: NaiveGame, side: int) -> int:
        if self.draw(1 << 31) < self.epsilon * (1 << 31):
            return self.random_column(game)
        chosen, equals = -1, 0
        for column in game.legal():
            worth = self.value(self.name(game, column, side))
            best = self.value(self.name(game, chosen, side)) if chosen >= 0 else -np.inf
            if worth > best:
                chosen, equals = column, 1
            elif worth == best and self.s.tie == "random":
                equals += 1
                if self.draw(equals) == 0:
                    chosen = column
        return chosen

    def play(self, games: int, lanes: int, searches: list[int] | None = None, switches: object = None) -> None:
        """Some games, so many at a time, a disc of each in turn."""
        begun, running = 0, [None] * lanes
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
        """One game, a disc at a time; `searches` holds the opponent's simulations, one of them to be drawn, or is None."""
        n = 0 if searches is None else searches[self.draw(len(searches))]
        if searches is None:
            self.draw(1)  # the compiled loop draws here, too
        seats = {"first": {0}, "second": {1}, "both": {number % 2}}[self.s.seat] if searches is not None else {0, 1}
        game, last, side = NaiveGame(self.rules.columns, self.rules.rows, self.rules.in_a_row), [None, None], 0
        while True:
            game.to_move = side
            if side in seats:
                self.our_turn(game, side, last)
            elif n > 0:
                game.play(self.search(game, side, n, switches))
            elif not self.s.passing:
                game.play(self.random_column(game))
            side = 1 - side
            if game.is_over():
                break
            yield "goes on"
        # The side that is to move now has seen the other one end the game.
        if side in seats and last[side] is not None and self.s.target != "negamax":
            self.end(last[side], self.s.draw if game.winner is None else self.s.loss)
        us = min(seats)
        self.results[0 if game.winner is None else 1 if game.winner == us else -1] += 1
        self.alpha = max(self.alpha * self.s.alpha_decay, self.s.alpha_least)
        self.epsilon = max(self.epsilon * self.s.epsilon_decay - self.s.epsilon_fall, self.s.epsilon_least)

    def our_turn(self, game: NaiveGame, side: int, last: list[tuple[int, int] | None]) -> None:
        """Choose a column, play it, and learn from it what the earlier one was worth."""
        column = self.choose(game, side)
        names = {each: self.name(game, each, side) for each in game.legal()}
        name = names[column]
        for other in range(self.rules.columns) if self.s.form == "state-action" else [0]:
            self.values.setdefault((name[0], other), self.initial)
        worth = {each: self.value(names[each]) for each in names}
        game.play(column)
        if game.is_over():
            self.end(name, self.s.win if game.winner == side else self.s.draw)
        worth[column] = self.value(name)
        if self.s.target == "negamax":
            self.learn(last[1 - side], self.s.step + self.s.gamma * -max(worth.values()))
        else:
            after = worth[column] if self.s.target == "played" else max(worth.values())
            self.learn(last[side], self.s.step + self.s.gamma * after)
        last[side] = name

    def search(self, game: NaiveGame, side: int, simulations: int, switches: object) -> int:
        height = self.rules.rows + 1
        cells = [(c, r, disc) for c, stack in enumerate(game.discs) for r, disc in enumerate(stack)]
        own = sum(1 << c * height + r for c, r, disc in cells if disc == side)
        mask = sum(1 << c * height + r for c, r, _ in cells)
        tree = np.zeros((simulations + 3) * 3 * self.rules.columns, np.int32)
        column, self.state = search_move(own, mask, self.rules.geometry, switches, simulations, tree, self.state)
        return column
