"""OpenSpiel both ways: states, bots, and its tree search as an agent."""

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pyspiel
import pytest
from open_spiel.python.algorithms.evaluate_bots import evaluate_bots

from fourlab import RED, Agent, Limit, Position, Stop, UserError, make
from fourlab.bridges.openspiel import AgentBot, BotAgent, game_of, mcts_bot, to_position, to_state
from fourlab.bridges.openspiel_mcts import OpenSpielMCTS
from fourlab.game.rules import Rules
from fourlab.solver import Solver

BOARDS = ["7x6x4", "5x4x3", "8x6x5", "3x3x4", "12x4x5"]


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def random_games(board: str, games: int) -> list[Position]:
    """Return every position of some random games, the final ones included."""
    chance = random.Random(1)
    positions = []
    for _ in range(games):
        positions.append(position := Position(board=board))
        while position.outcome() is None:
            position = position.play(chance.choice(position.legal_columns()))
            positions.append(position)
    return positions


def as_board(position: Position) -> Position:
    """The same position without its moves."""
    return Position(position.write("fen"), position.rules)


@pytest.mark.parametrize("board", BOARDS)
def test_positions_become_states_and_states_positions(board: str) -> None:
    for position in random_games(board, 10):
        state = to_state(position)
        assert state.history() == list(position.moves or ())
        back = to_position(state)
        assert (back, back.moves) == (position, position.moves)
        assert list(position.legal_columns()) == (
            [] if state.is_terminal() else state.legal_actions()
        )


@pytest.mark.parametrize("board", BOARDS)
def test_boards_without_moves_become_starting_states(board: str) -> None:
    for position in random_games(board, 10):
        given = as_board(position)
        state = to_state(given)
        assert str(state) == str(to_state(position))
        assert (state.is_terminal(), state.returns()) == (
            to_state(position).is_terminal(),
            to_state(position).returns(),
        )
        assert to_position(state) == position
        if position.ply:
            assert state.history() == []
            assert to_position(state).moves is None
        if given.outcome() is None:
            column = given.legal_columns()[-1]
            assert to_position(state.child(column)) == position.play(column)


def test_a_board_that_no_game_leads_to_is_refused_with_the_reason(
    capfd: pytest.CaptureFixture[str],
) -> None:
    for start, to_move in (("7/7/7/7/7/rrr4 y", 1), ("7/7/7/7/7/ry5 y", 1)):
        with pytest.raises(UserError, match="OpenSpiel has no state for Position"):
            to_state(Position(start, to_move=to_move, check_counts=False))


def test_states_of_other_games_are_refused() -> None:
    with pytest.raises(UserError, match="a state of tic_tac_toe, not of connect_four"):
        to_position(pyspiel.load_game("tic_tac_toe").new_initial_state())


PLAY: list[Callable[[Any, list[Any]], list[float]]] = [
    lambda state, bots: pyspiel.evaluate_bots(state, bots, 1),
    lambda state, bots: evaluate_bots(state, bots, np.random.RandomState(1)),
]


@pytest.mark.parametrize("play", PLAY, ids=["C++", "Python"])
@pytest.mark.parametrize("board", ["7x6x4", "5x4x3"])
def test_our_agents_play_whole_games_in_openspiel(play: Any, board: str) -> None:
    game, scores = game_of(Rules.parse(board)), []
    for seed in range(10):
        ours, first, second = (
            AgentBot(make("mcts:simulations=200"), seed=seed),
            *(pyspiel.make_uniform_random_bot(side, seed) for side in (0, 1)),
        )
        scores.append(play(game.new_initial_state(), [ours, second])[0])
        scores.append(play(game.new_initial_state(), [first, ours])[1])
    assert sum(scores) > 15


def test_a_bot_tells_its_policy() -> None:
    state = to_state(Position("444444"))
    shares = [(column, 1 / 6) for column in (0, 1, 2, 4, 5, 6)]
    bot = AgentBot(make("random"))
    assert bot.provides_policy()
    policy, column = bot.step_with_policy(state)
    assert policy == bot.get_policy(state) == shares
    assert column in state.legal_actions()
    certain = AgentBot(make("minimax:depth=1")).step_with_policy(to_state(Position("121212")))
    assert certain == ([(column, float(column == 0)) for column in range(7)], 0)
    with pytest.raises(UserError, match="the game is over"):
        bot.step(to_state(Position("1212121")))


def test_the_same_seed_makes_the_same_game() -> None:
    def game(seed: int) -> list[int]:
        state, bot = game_of(Rules()).new_initial_state(), AgentBot(make("random"), seed=seed)
        bot.restart()
        while not state.is_terminal():
            state.apply_action(bot.step(state))
        return list(state.history())

    assert game(5) == game(5)
    assert len({tuple(game(seed)) for seed in range(5)}) == 5


def test_limits_are_handed_on_to_our_agents() -> None:
    asked = []

    class Asked:
        def decide(self, position: Position, limit: Limit, rng: np.random.Generator) -> Any:
            asked.append(limit)
            return make("random").decide(position, limit, rng)

    AgentBot(Asked(), Limit(simulations=7)).step(to_state(Position()))
    assert asked == [Limit(simulations=7)]


class Leftmost(pyspiel.Bot):  # type: ignore[misc]
    """A bot as OpenSpiel's users write them, with no more than it needs."""

    def step(self, state: Any) -> int:
        return int(state.legal_actions()[0])


@pytest.mark.parametrize(
    "bot",
    [
        Leftmost,
        lambda: mcts_bot(game_of(Rules()), 50, seed=1),
        lambda: pyspiel.make_uniform_random_bot(0, 1),
    ],
)
def test_their_bots_are_our_agents(bot: Callable[[], Any]) -> None:
    agent = BotAgent(bot())
    assert isinstance(agent, Agent)
    for start in (Position("444444"), as_board(Position("444444"))):
        position = start
        while position.outcome() is None:
            player = (
                agent if position.to_move == RED else make("random")
            )  # some bots are made for one side
            decision = player.decide(position, Limit(), rng())
            assert decision.column in position.legal_columns()
            assert decision.policy is None or sum(decision.policy) == pytest.approx(1)
            position = position.play(decision.column)
    if isinstance(agent.bot, Leftmost):
        assert agent.decide(Position("111111"), Limit(), rng()).column == 1


def test_the_search_finds_wins_and_blocks_and_its_proofs_are_true() -> None:
    agent, solver, proven = make("openspiel-mcts:simulations=500"), Solver(), 0
    assert agent.decide(Position("121212"), Limit(), rng()).column == 0
    assert agent.decide(Position("12131"), Limit(), rng()).column == 0
    for position in random_games("7x6x4", 12):
        if position.outcome() is not None or position.ply < 22:
            continue
        decision = agent.decide(position, Limit(), rng(position.ply))
        truth = solver.solve(position, weak=True).result
        if decision.proven is not None:
            proven += 1
            assert decision.proven.result == truth
            assert decision.value == truth
    assert proven > 10


def test_values_are_for_the_side_to_move() -> None:
    agent = make("openspiel-mcts:simulations=1000,proofs=0")
    for moves, sign in (("445533", 1), ("44553", -1)):  # red has three with room on both sides
        decision = agent.decide(Position(moves), Limit(), rng())
        assert decision.value is not None
        assert decision.value * sign > 0.2
        assert decision.proven is None


def test_options_reach_the_search() -> None:
    position = Position("4453")
    policies = set()
    for options in ("", "c=0.5", "rollouts=20"):
        agent = make(f"openspiel-mcts:{options}")
        policies.add(agent.decide(position, Limit(simulations=300), rng()).policy)
    assert len(policies) == 3
    one, other = (make("openspiel-mcts").decide(position, Limit(), rng(seed)) for seed in (1, 2))
    assert one.analysis.simulations == 1000
    assert one.policy != other.policy
    by_the_clock = make("openspiel-mcts").decide(position, Limit(seconds=0.05), rng())
    assert by_the_clock.analysis.simulations > 2


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ("simulations=1", "from 2 to 2,147,483,647 or none, not '1'"),
        ("rollouts=101", "must be a whole number from 1 to 100"),
        ("c=-1", "must be a number from 0 to 1,000"),
    ],
)
def test_what_cannot_be_is_refused(options: str, why: str) -> None:
    with pytest.raises(UserError, match=why):
        make(f"openspiel-mcts:{options}")


@pytest.mark.parametrize("spec", ["openspiel-mcts", "openspiel-mcts:rollouts=100"])
@pytest.mark.parametrize("board", ["7x6x4", "21x2x9", "31x1x4", "1x62x4"])
def test_work_between_two_looks_at_a_stop_flag_is_bounded(spec: str, board: str) -> None:
    """The search itself cannot be stopped, so searches with a flag are many small ones."""
    position = Position(board=board)
    agent = make(spec)
    assert isinstance(agent, OpenSpielMCTS)
    stop = Stop()
    stop.set()
    # With a time limit, too, which alone would be OpenSpiel's own.
    for limit in (Limit(stop=stop), Limit(stop=stop, seconds=20)):
        decision = agent.decide(position, limit, rng())
        assert decision.column in position.legal_columns()
        assert 2 <= (decision.analysis.simulations or 0) <= 2000
        assert (decision.analysis.simulations or 0) * agent.rollouts <= 2000


def test_several_searches_are_added_up() -> None:
    position = Position("4453")
    decision = make("openspiel-mcts").decide(position, Limit(simulations=5000, stop=Stop()), rng())
    assert decision.analysis.simulations == 5000
    assert decision.policy is not None
    assert sum(decision.policy) == pytest.approx(1)
    assert decision.policy[decision.column] == max(decision.policy)
    assert decision.line[0] == decision.column
    again = make("openspiel-mcts").decide(position, Limit(simulations=5000, stop=Stop()), rng())
    assert (again.column, again.policy, again.line) == (
        decision.column,
        decision.policy,
        decision.line,
    )
    # A flag that is not set changes nothing if one search is enough.
    few = [
        make("openspiel-mcts").decide(position, Limit(simulations=300, stop=stop), rng())
        for stop in (None, Stop())
    ]
    assert few[0].policy == few[1].policy
    # Proofs end the searches.
    proven = make("openspiel-mcts").decide(Position("121212"), Limit(stop=Stop()), rng())
    assert proven.proven is not None
    assert (proven.column, proven.value) == (0, 1.0)


def test_time_that_is_up_at_once_still_gives_a_column() -> None:
    agent = make("openspiel-mcts:rollouts=100")
    for _ in range(5):
        decision = agent.decide(Position(board="21x2x9"), Limit(seconds=1e-6), rng())
        assert decision.column in range(21)


def test_it_can_be_compared_by_its_settings() -> None:
    assert make("openspiel-mcts:simulations=30") == OpenSpielMCTS(simulations=30)
