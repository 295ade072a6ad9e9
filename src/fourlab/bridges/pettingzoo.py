"""Connect Four for PettingZoo: the same behaviour as connect_four_v3, on any board and much faster.

    import pettingzoo
    import fourlab.bridges.pettingzoo  # registers the environment

    env = pettingzoo.make("aec", "fourlab/connect_four-v3")

Python itself is what makes an environment slow, so a step does as little as possible: everything
about a cell is computed in advance, the observations of both players are updated disc by disc, and
the checks of PettingZoo's wrappers are made here.
"""

from collections.abc import Iterator
from operator import index
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fourlab.bridges.picture import MODES, Mode, check_mode, render
from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.rules import Rules

try:
    from gymnasium import spaces
    from pettingzoo import AECEnv, register
    from pettingzoo.utils.env_logger import EnvLogger
except ImportError as error:  # also PettingZoo before 1.27, which cannot register
    raise UserError(f"this environment needs {error.name}: pip install 'fourlab[envs]'") from None

ID = "fourlab/connect_four-v3"
PLAYERS = ("player_0", "player_1")
"""Red and yellow."""
# A lookup is faster than a comparison of names in every step.
_OTHER = dict(zip(PLAYERS, reversed(PLAYERS), strict=True))


class _Cell(NamedTuple):
    """Everything that changes when a disc lands in a cell."""

    bit: int
    own: tuple[int, int, int]
    """Its index in the observation of the player who dropped it."""
    other: tuple[int, int, int]
    """Its index in the other player's observation."""
    lines: tuple[int, ...]
    """The lines that it can complete, as bitboards; a vertical one must end in this cell."""
    fills: bool
    """Whether it is the top cell of its column."""


class ConnectFour(AECEnv):  # type: ignore[misc]
    """A game of two players; player_0 moves first, and a player who chooses a full column loses."""

    metadata = {  # noqa: RUF012
        # PettingZoo's own tests expect an action mask from an environment of this name.
        "name": "connect_four_v3",
        "render_modes": MODES,
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(self, board: str = "7x6x4", render_mode: Mode | None = None) -> None:
        super().__init__()
        check_mode(render_mode)
        self.rules = Rules.parse(board)
        self.render_mode = render_mode
        self.possible_agents = list(PLAYERS)
        rows, columns = self.rules.rows, self.rules.columns
        self.action_spaces = {player: spaces.Discrete(columns) for player in PLAYERS}
        self.observation_spaces = {
            player: spaces.Dict(
                {
                    "observation": spaces.Box(0, 1, (rows, columns, 2), np.int8),
                    "action_mask": spaces.Box(0, 1, (columns,), np.int8),
                }
            )
            for player in PLAYERS
        }
        self._cells = _cells(self.rules)
        # Bit numbers as in game/bitboard.py: a column has `height` bits, one more than rows.
        self._bottom = [column * self.rules.geometry.height for column in range(columns)]
        self._columns = columns
        self._closed = np.zeros(columns, np.int8)  # the mask of a player who has to wait

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Empty the board. Nothing is random, so the seed has no effect."""
        self.agents = list(PLAYERS)
        self.agent_selection = PLAYERS[0]
        self.rewards = dict.fromkeys(PLAYERS, 0)
        self._cumulative_rewards = dict.fromkeys(PLAYERS, 0)
        self.terminations = dict.fromkeys(PLAYERS, False)
        self.truncations = dict.fromkeys(PLAYERS, False)
        self.infos: dict[str, dict[str, Any]] = {player: {} for player in PLAYERS}
        self._skip_agent_selection = None  # AECEnv uses it when players step out after the end
        self._over = False
        self._left = self.rules.rows * self.rules.columns
        self._discs = dict.fromkeys(PLAYERS, 0)
        # For every column, the bit number of its lowest empty cell.
        self._free = self._bottom.copy()
        self._open = np.ones(self.rules.columns, np.int8)
        # int8[rows, columns, 2], the top row first: own discs, then the other's.
        self._seen = {
            player: np.zeros((self.rules.rows, self.rules.columns, 2), np.int8)
            for player in PLAYERS
        }

    def step(self, action: int | None) -> None:
        """Drop a disc for the player to move; after the end, each player steps once more (None)."""
        if self._over:
            self._step_after_the_end(action)
            return
        column = action if type(action) is int else _index(action)
        # An AssertionError is what PettingZoo's own wrapper raises.
        assert 0 <= column < self._columns, f"action is not in action space: {action!r}"
        free = self._free
        # In a full column, the lowest empty cell is the guard bit, which is None.
        cell = self._cells[free[column]]
        if cell is None:
            self._lose_by_a_full_column()
            return
        free[column] += 1
        bit, own, other, lines, fills = cell
        mover = self.agent_selection
        self.agent_selection = waiting = _OTHER[mover]
        self._discs[mover] = discs = self._discs[mover] | bit
        self._seen[mover][own] = 1
        self._seen[waiting][other] = 1
        if fills:
            self._open[column] = 0
        self._left -= 1
        # Only lines through the new disc can be new.
        for line in lines:
            if discs & line == line:
                self._end({mover: 1, waiting: -1})
                return
        if not self._left:
            self._end({})

    def observe(self, agent: str) -> dict[str, NDArray[np.int8]]:
        """Return a player's observation; its action mask is all 0 in the other's turn."""
        # Copies, because learners keep observations while the board changes.
        mask = self._open if agent == self.agent_selection else self._closed
        return {"observation": self._seen[agent].copy(), "action_mask": mask.copy()}

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:
        """Yield the player to step until all players have stepped out."""
        for _ in range(max_iter):
            if not self.agents:
                return
            yield self.agent_selection

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of what `observe` returns."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of columns, counted from 0."""
        return self.action_spaces[agent]

    def render(self) -> str | NDArray[np.uint8] | None:
        """Return the board as text or pixels, according to `render_mode`."""
        seen = self._seen[PLAYERS[0]]
        position = Position((seen[..., 0] + 2 * seen[..., 1]).tolist(), self.rules)
        return render(position, self.render_mode)

    def close(self) -> None:
        """There is no window to close."""

    def _end(self, rewards: dict[str, int]) -> None:
        self._over = True
        self.rewards.update(rewards)
        self.terminations = dict.fromkeys(PLAYERS, True)
        self._accumulate_rewards()

    def _lose_by_a_full_column(self) -> None:
        """Do what PettingZoo's TerminateIllegalWrapper does."""
        # The other player keeps the reward 0 of `reset`: an illegal move is not a win.
        EnvLogger.warn_on_illegal_move()
        self.truncations = dict.fromkeys(PLAYERS, True)
        self._end({self.agent_selection: -1})
        self._deads_step_first()

    def _step_after_the_end(self, action: int | None) -> None:
        if self.agents:
            self._was_dead_step(action)
        else:
            EnvLogger.warn_step_after_terminated_truncated()


env = ConnectFour
"""The name that PettingZoo's modules have for their environment."""


def _index(action: Any) -> int:
    """Return an action as a Python int, since NumPy's overflow; -1 if it is not an integer."""
    return index(action) if hasattr(action, "__index__") else -1


def _cells(rules: Rules) -> list[_Cell | None]:
    """Return every cell by its bit number; None for the guard bit above a column."""
    g = rules.geometry
    lines = _lines(rules)
    cells: list[_Cell | None] = []
    for column in range(g.columns):
        for row in range(g.rows):
            # The top disc of a vertical line always lands last, so lower cells need not look at it.
            own_lines = [
                sum(1 << x * g.height + y for x, y in line)
                for line in lines
                if (column, row) in line and (column, row + 1) not in line
            ]
            cells.append(
                _Cell(
                    bit=1 << column * g.height + row,
                    own=(g.rows - 1 - row, column, 0),
                    other=(g.rows - 1 - row, column, 1),
                    lines=tuple(own_lines),
                    fills=row == g.rows - 1,
                )
            )
        cells.append(None)
    return cells


def _lines(rules: Rules) -> list[list[tuple[int, int]]]:
    """Return every possible line as (column, row) cells, counted from the bottom left."""
    directions = ((0, 1), (1, 0), (1, 1), (1, -1))
    cells = {(column, row) for column in range(rules.columns) for row in range(rules.rows)}
    lines = [
        [(c + n * right, r + n * up) for n in range(rules.in_a_row)]
        for c, r in cells
        for right, up in directions
    ]
    return [line for line in lines if cells.issuperset(line)]


register("aec", ID, f"{__name__}:ConnectFour")
