"""Checks of the agents that take part in a tournament."""

from fourlab.agent import Learned, Limit
from fourlab.agents.registry import make
from fourlab.agents.simple.human import Human
from fourlab.arena.tournament import Tournament
from fourlab.errors import UserError


def check_players(tournament: Tournament) -> None:
    """Build every agent once, so that a wrong spec fails here and not in a worker."""
    for player in tournament.players:
        agent = make(player.spec)
        if isinstance(agent, Human):
            raise UserError("a human cannot play in a match; use fourlab play")
        # Reading the starting positions also reports openings that do not exist.
        for starts in tournament.starts_on:
            # A learned agent refuses boards other than the one it was trained on.
            if isinstance(agent, Learned):
                import numpy as np

                agent.decide(starts[0], Limit(simulations=1), np.random.default_rng(0))
