"""Options of tree search that do not fit together."""

from typing import TYPE_CHECKING

from fourlab.errors import UserError

if TYPE_CHECKING:
    from fourlab.agents.mcts.agent import MCTS


def check_together(agent: "MCTS") -> None:
    """Raise UserError if an agent's options do not fit together."""
    _check_draw(agent)
    # A proof assumes that both sides choose, and that a win ends the game and is recognised.
    provable = (
        agent.opponent == "player" and agent.terminal == "proper" and agent.credit == "winner"
    )
    if agent.proofs and not provable:
        raise UserError(
            "proofs=1 needs opponent=player, terminal=proper and credit=winner; say proofs=0"
        )
    if agent.opponent != "player" and agent.rollouts != "uniform":
        raise UserError("rollouts=wins-and-blocks needs opponent=player; say rollouts=uniform")
    if agent.expansion == "all" and agent.opponent != "player":
        raise UserError("expansion=all needs opponent=player")
    plain = provable and agent.expansion == "one" and agent.draw_credit == "both"
    if agent.threads > 1 and agent.runs == 1 and not plain:
        raise UserError(
            "threads on one tree need opponent=player, expansion=one, terminal=proper, "
            "credit=winner and draw_credit=both; otherwise use runs"
        )
    # Nodes are merged without atomic operations, and neither `prune` nor `descend` updates the
    # table of their keys, so threads and reuse are excluded.
    if agent.transpositions and (
        agent.threads > 1
        or agent.reuse != "none"
        or agent.opponent != "player"
        or agent.expansion == "all"
    ):
        raise UserError(
            "transpositions=1 needs threads=1, reuse=none, opponent=player and expansion=one"
        )
    if agent.reuse != "none" and agent.runs > 1:
        raise UserError("reuse needs runs=1")
    _check_leaves(agent, plain)


def _check_draw(agent: "MCTS") -> None:
    """Raise UserError if the result of a draw is off the scale or no whole number of points."""
    # The step is the value of one point: a win and a loss are 2 * POINTS = 8 points apart.
    low, step = (-1, 0.25) if agent.scale == "signed" else (0, 0.125)
    if agent.draw is not None and not low <= agent.draw <= 1:
        raise UserError(f"draw is from {low} to 1 with scale={agent.scale}, not {agent.draw:g}")
    if not agent.draw_points().is_integer():
        raise UserError(
            f"draw is a multiple of {step:g} with scale={agent.scale}, not {agent.draw:g}"
        )


def _check_leaves(agent: "MCTS", plain: bool) -> None:
    """Raise UserError if patterns cannot evaluate the leaves."""
    if agent.leaves == "rollouts":
        if agent.file is not None:
            raise UserError("file is for leaves=patterns")
        return
    # The other switches change rollouts, or games in a way that pattern networks do not know.
    if not plain or agent.draw_points() != 0:
        raise UserError(
            "leaves=patterns needs opponent=player, expansion=one, terminal=proper, "
            "credit=winner, draw_credit=both and draws worth the middle"
        )
    if agent.file is not None:
        # Here, since exported files contain what a module imports, and have no patterns.
        from fourlab.nets.patterns import load

        load(agent.file)  # a damaged file is refused now, not at the first move
