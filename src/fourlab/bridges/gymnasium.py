"""Connect Four for Gymnasium: one player learns, a Fourlab agent is the opponent.

import gymnasium
import fourlab.bridges.gymnasium  # registers the environment

env = gymnasium.make("fourlab/ConnectFour-v0", opponent="mcts:simulations=50", seat="random")
"""

from operator import index
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from fourlab.agent import Agent, Limit, close
from fourlab.agents.own import Thing, as_agent
from fourlab.bridges.picture import MODES, Mode, check_mode, render
from fourlab.errors import UserError
from fourlab.game.position import Position

# Imported after Fourlab's modules, so that a missing package becomes a one-line UserError.
try:
    import gymnasium
except ModuleNotFoundError:
    raise UserError("this environment needs gymnasium: pip install 'fourlab[envs]'") from None

ID = "fourlab/ConnectFour-v0"
Seat = Literal["first", "second", "random"]
Illegal = Literal["lose", "error"]
Planes = NDArray[np.int8]


class ConnectFour(gymnasium.Env[Planes, np.int64]):
    """A game against an agent. The reward is +1 for a win, -1 for a loss and 0 otherwise.

    An observation is int8[rows, columns, 2], the top row first: a plane of the learner's discs and
    one of the opponent's. An action is a column, counted from 0. `action_masks()` and
    `info["action_mask"]` list the open columns.
    """

    # Gymnasium reads this dictionary from the class.
    metadata = {"render_modes": MODES, "render_fps": 2}  # noqa: RUF012

    def __init__(
        self,
        opponent: Thing = "random",
        seat: Seat = "first",
        board: str | None = None,
        start: str = "",
        illegal: Illegal = "lose",
        render_mode: Mode | None = None,
    ) -> None:
        """Set up the environment.

        `opponent` is a spec, a function, a class or an object (`as_agent`). `seat` is the
        learner's: first, second, or one of them at random. `board` and `start` are those of
        `Position`. `illegal` says what a full column does: the learner loses the game, or
        `IllegalColumn` is raised.
        """
        self.start = Position(start, board)
        self.opponent = opponent
        self.seat = seat
        self.illegal = illegal
        self.render_mode: Mode | None = render_mode
        self._check()
        rules = self.start.rules
        self.observation_space = gymnasium.spaces.Box(0, 1, (rules.rows, rules.columns, 2), np.int8)
        self.action_space = gymnasium.spaces.Discrete(rules.columns)
        self.position = self.start
        self.side = self.start.to_move  # the learner's, which `reset` may change
        self._lost = False  # by a full column, which leaves the position as it was
        self._agent = self._make_opponent()
        height = rules.geometry.height
        # int[rows, columns, 1]: the bit of every cell, the top row first.
        self._bits = np.array(
            [[[c * height + r] for c in range(rules.columns)] for r in reversed(range(rules.rows))]
        )

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Planes, dict[str, Any]]:
        """Start a game. A seed makes all that follows repeatable and makes a new opponent."""
        super().reset(seed=seed)
        if options:
            raise UserError(
                f"reset takes no options, not {options}; give them when you make the environment"
            )
        # An agent may keep a memory between games, which a repeatable run must not inherit.
        if seed is not None:
            self._agent = self._make_opponent()
        self.position = self.start
        self._lost = False
        if self.seat == "second" or (self.seat == "random" and self.np_random.integers(2)):
            self._reply()
        self.side = self.position.to_move
        return self._observation(), self._info()

    def step(self, action: np.int64 | int) -> tuple[Planes, float, bool, bool, dict[str, Any]]:
        """Drop the learner's disc, then the opponent's."""
        # `index` accepts NumPy's integers and refuses floats.
        column = index(action)
        if self._lost:
            raise UserError("the game was lost by choosing a full column; reset starts the next")
        if self.illegal == "lose" and self.position.outcome() is None and self._is_full(column):
            self._lost = True
            return self._observation(), -1.0, True, False, {**self._info(), "illegal": True}
        self.position = self.position.play(column)
        if self.position.outcome() is None:
            self._reply()
        outcome = self.position.outcome()
        reward = 0.0 if outcome is None else float(outcome.score(self.side))
        return self._observation(), reward, outcome is not None, False, self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """Return bool[columns], the open columns; none when the game is over.

        Learners that mask actions, such as MaskablePPO, look for a method of this name.
        """
        mask = np.zeros(self.start.rules.columns, bool)
        # A finished position has no legal columns, but one lost by a full column does.
        mask[list(self.position.legal_columns())] = not self._lost
        return mask

    def render(self) -> Any:
        """Return the board as text or pixels, according to `render_mode`."""
        return render(self.position, self.render_mode)

    def close(self) -> None:
        """Release what the opponent holds, such as an engine's process."""
        close(self._agent)

    def _check(self) -> None:
        for name, value, allowed in (("seat", self.seat, Seat), ("illegal", self.illegal, Illegal)):
            if value not in get_args(allowed):
                raise UserError(f"{name} is {' or '.join(get_args(allowed))}, not {value!r}")
        check_mode(self.render_mode)
        if (outcome := self.start.outcome()) is not None:
            raise UserError(f"no game can start here, it is over ({outcome}): {self.start!r}")
        # `reset` must return an observation of a game that is not over.
        ends = [
            column + 1
            for column in self.start.legal_columns()
            if self.start.play(column).outcome() is not None
        ]
        if ends and self.seat != "first":
            raise UserError(
                "the opponent could end the game before the learner's first move,"
                f" in column {ends[0]}: {self.start!r}"
            )

    def _make_opponent(self) -> Agent:
        return as_agent(self.opponent)

    def _reply(self) -> None:
        column = self._agent.decide(self.position, Limit(), self.np_random).column
        self.position = self.position.play(column)

    def _is_full(self, column: int) -> bool:
        return (
            0 <= column < self.start.rules.columns and column not in self.position.legal_columns()
        )

    def _observation(self) -> Planes:
        sides = (self.position.red, self.position.yellow)
        # int64[2] shifted by int[rows, columns, 1] gives [rows, columns, 2].
        discs = np.array([sides[self.side], sides[1 - self.side]])
        planes: Planes = (discs >> self._bits & 1).astype(np.int8)
        return planes

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.action_masks().astype(np.int8)}


gymnasium.register(ID, entry_point=f"{__name__}:ConnectFour")
