"""The agents that take part in a tournament: their names, and checks of them."""

from dataclasses import replace

from fourlab.agent import Learned, Limit
from fourlab.agents import registry
from fourlab.agents.levels import title
from fourlab.agents.registry import make
from fourlab.agents.simple.human import Human
from fourlab.arena.tournament import Player, Tournament
from fourlab.errors import UserError
from fourlab.options import values_of


def with_titles(tournament: Tournament) -> Tournament:
    """Return a tournament in which levels without a name have one, such as "level-5 (Strong)"."""
    players = tuple(
        # The label may have limits after the spec, which stay there.
        player
        if player.name or title(player.spec) == player.spec
        else replace(player, name=player.label.replace(player.spec, title(player.spec), 1))
        for player in tournament.players
    )
    return replace(tournament, players=players)


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


def is_repeatable(player: Player) -> bool:
    """Return whether a player's moves are the same each time, given the seed.

    They are not if a clock limits the search, if threads race, or if a person or an outside program
    plays.
    """
    name, _ = registry.parse_spec(player.spec)
    preset = registry.preset(name)
    base = name if preset is None else registry.parse_spec(preset.spec)[0]
    entry = registry.AGENTS.get(base)
    if player.limit.seconds is not None or (entry is not None and not entry.repeatable):
        return False
    values = values_of(make(player.spec))
    return values.get("seconds") is None and values.get("threads", 1) == 1
