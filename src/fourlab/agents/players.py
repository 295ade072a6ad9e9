"""Agents as players of matches and tournaments."""

from fourlab.agent import Learned, Limit
from fourlab.agents.registry import make
from fourlab.agents.simple.human import Human
from fourlab.arena.tournament import Tournament
from fourlab.errors import UserError


def check_players(tournament: Tournament) -> None:
    """Make every agent once, so that a wrong spec is told now and not by a worker."""
    for player in tournament.players:
        agent = make(player.spec)
        if isinstance(agent, Human):
            raise UserError("people do not play in matches; fourlab play is for them")
        for starts in tournament.starts_on:  # openings that cannot be had are told now, too
            if isinstance(agent, Learned):  # it knows the board that it has learned on only
                import numpy as np

                agent.decide(starts[0], Limit(simulations=1), np.random.default_rng(0))
