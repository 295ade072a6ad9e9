"""Connect Four for PettingZoo: their connect_four_v3 to the letter, on any board and many times as fast.

    import pettingzoo
    import fourlab.bridges.pettingzoo  # makes the name known

    env = pettingzoo.make("aec", "fourlab/connect_four-v3")

What is slow in an environment is Python itself, so a step does little: everything about a cell is worked out in advance, the
observations of both players are kept up to date disc by disc, and what PettingZoo's wrappers check is checked here.
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
_OTHER = dict(zip(PLAYERS, reversed(PLAYERS), strict=True))


class _Cell(NamedTuple):
    """All that a disc in a cell changes."""

    bit: int
    own: tuple[int, int, int]
    """Where it is in the observation of the player who dropped it."""
    other: tuple[int, int, int]
    """Where it is in the other's."""
    lines: tuple[int, ...]
    """The lines that it may complete, as bits; since it is the highest of its column, only one of them is upright."""
    fills: bool
    """Whether its column is full with it."""


class ConnectFour(AECEnv):  # type: ignore[misc]
    """Two players, player_0 first; whoever chooses a full column loses."""

    metadata = {  # noqa: RUF012
        # Their name: it is their environment, and their tests know by it that observations come with a mask.
        "name": "connect_four_v3",
        "render_modes": MODES,
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(self, board: str = "7x6x4", render_mode: Mode | None = None) -> None:
        super().__init__()
        check_mode(render_mode)
        self.rules, self.render_mode = Rules.parse(board), render_mode
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
        self._bottom = [column * self.rules.geometry.height for column in range(columns)]
        self._columns = columns
        self._closed = np.zeros(columns, np.int8)

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Empty the board; there is no chance in it, so the seed changes nothing."""
        self.agents = list(PLAYERS)
        self.agent_selection = PLAYERS[0]
        self.rewards = dict.fromkeys(PLAYERS, 0)
        self._cumulative_rewards = dict.fromkeys(PLAYERS, 0)
        self.terminations = dict.fromkeys(PLAYERS, False)
        self.truncations = dict.fromkeys(PLAYERS, False)
        self.infos: dict[str, dict[str, Any]] = {player: {} for player in PLAYERS}
        self._skip_agent_selection = None
        self._over = False
        self._left = self.rules.rows * self.rules.columns
        self._stones = dict.fromkeys(PLAYERS, 0)
        self._free = self._bottom.copy()  # of every column, the number of the lowest cell without a disc
        self._open = np.ones(self.rules.columns, np.int8)
        self._seen = {player: np.zeros((self.rules.rows, self.rules.columns, 2), np.int8) for player in PLAYERS}

    def step(self, action: int | None) -> None:
        """Drop a disc of the player whose turn it is; when the game is over, each of them steps once more with None."""
        if self._over:
            self._step_after_the_end(action)
            return
        column = action if type(action) is int else _index(action)
        assert 0 <= column < self._columns, f"action is not in action space: {action!r}"
        free = self._free
        cell = self._cells[free[column]]
        if cell is None:
            self._lose_by_a_full_column()
            return
        free[column] += 1
        bit, own, other, lines, fills = cell
        mover = self.agent_selection
        self.agent_selection = waiting = _OTHER[mover]
        self._stones[mover] = stones = self._stones[mover] | bit
        self._seen[mover][own] = 1
        self._seen[waiting][other] = 1
        if fills:
            self._open[column] = 0
        self._left -= 1
        for line in lines:
            if stones & line == line:
                self._end({mover: 1, waiting: -1})
                return
        if not self._left:
            self._end({})

    def observe(self, agent: str) -> dict[str, NDArray[np.int8]]:
        """What a player sees: its own discs, the other's, and where it may play if it is its turn."""
        mask = self._open if agent == self.agent_selection else self._closed
        return {"observation": self._seen[agent].copy(), "action_mask": mask.copy()}

    def agent_iter(self, max_iter: int = 2**63) -> Iterator[str]:
        """Whose turn it is, as long as anybody is to step."""
        for _ in range(max_iter):
            if not self.agents:
                return
            yield self.agent_selection

    def observation_space(self, agent: str) -> spaces.Dict:
        """What `observe` returns."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """The columns, from 0."""
        return self.action_spaces[agent]

    def render(self) -> str | NDArray[np.uint8] | None:
        """The board as a drawing or as pixels."""
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
        """What their TerminateIllegalWrapper does."""
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
"""What PettingZoo's modules call their environments."""


def _index(action: Any) -> int:
    """An action as one of Python's own numbers, since NumPy's overflow; -1 if it is none."""
    return index(action) if hasattr(action, "__index__") else -1


def _cells(rules: Rules) -> list[_Cell | None]:
    """Every cell by the number of its bit; None above the top, where no disc can lie."""
    g, lines = rules.geometry, _lines(rules)
    return [
        None
        if row == g.rows
        else _Cell(
            bit=1 << column * g.height + row,
            own=(g.rows - 1 - row, column, 0),
            other=(g.rows - 1 - row, column, 1),
            lines=tuple(
                sum(1 << each * g.height + up for each, up in line)
                for line in lines
                if (column, row) in line and (column, row + 1) not in line
            ),
            fills=row == g.rows - 1,
        )
        for column in range(g.columns)
        for row in range(g.height)
    ]


def _lines(rules: Rules) -> list[list[tuple[int, int]]]:
    """Every line of the board, as columns and rows from the bottom left."""
    ways = ((0, 1), (1, 0), (1, 1), (1, -1))
    cells = {(column, row) for column in range(rules.columns) for row in range(rules.rows)}
    lines = [[(c + n * right, r + n * up) for n in range(rules.in_a_row)] for c, r in cells for right, up in ways]
    return [line for line in lines if cells.issuperset(line)]


register("aec", ID, f"{__name__}:ConnectFour")
