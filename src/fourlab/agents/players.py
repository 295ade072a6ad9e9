"""The agents that take part in a tournament: their names, and checks of them."""

from dataclasses import replace

from fourlab.agent import Learned, Limit
from fourlab.agents import registry
from fourlab.agents.levels import title
from fourlab.agents.own import maker, with_code
from fourlab.agents.registry import make
from fourlab.agents.simple.human import Human
from fourlab.arena.tournament import Player, Tournament
from fourlab.errors import UserError
from fourlab.options import values_of


def described(tournament: Tournament) -> Tournament:
    """Return a tournament whose players have what distinguishes their runs from others.

    Levels without a name get one, such as "level-5 (Strong)", and agents of the user's own the
    fingerprint of their code.
    """
    return replace(tournament, players=tuple(with_code(_titled(p)) for p in tournament.players))


def _titled(player: Player) -> Player:
    if player.name or title(player.spec) == player.spec:
        return player
    # The label may have limits after the spec, which stay there.
    return replace(player, name=player.label.replace(player.spec, title(player.spec), 1))


def check_players(tournament: Tournament) -> None:
    """Build every agent once, so that a wrong spec fails here and not in a worker."""
    build = maker(tournament)
    for player in tournament.players:
        agent = build(player.spec)
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
    plays. Of agents of the user's own nothing is known.
    """
    if registry.is_own(player.spec):
        return False
    name, _ = registry.parse_spec(player.spec)
    preset = registry.preset(name)
    base = name if preset is None else registry.parse_spec(preset.spec)[0]
    entry = registry.AGENTS.get(base)
    if player.limit.seconds is not None or (entry is not None and not entry.repeatable):
        return False
    values = values_of(make(player.spec))
    return values.get("seconds") is None and values.get("threads", 1) == 1
