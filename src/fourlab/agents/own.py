"""Agents of the user's own in Python: functions, classes and objects wherever agents are named.

    player = as_player(lambda position: position.legal_columns()[0], name="leftmost")

Live objects are kept in a table of this process under specs such as `own:leftmost`. Those that can
be pickled are sent to worker processes; for others, games are played in this process.
"""

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from typing import Any

from fourlab.agent import UNLIMITED, Agent, Limit, remembers
from fourlab.agents import own_files, registry
from fourlab.agents.own_agent import fingerprint, name_of, wrap
from fourlab.arena.tournament import Player, Tournament
from fourlab.errors import UserError

Thing = Any
"""A spec, a path of a file, a function, a class, or an object with a method `decide`."""


_codes: dict[str, str] = {}
"""Fingerprints of the live objects by their specs, from before they played: some count or cache."""


def as_agent(thing: Thing) -> Agent:
    """Return the agent of a spec, a function, a class or an object; raise UserError otherwise.

    The answers of functions and of other people's objects are checked (`OwnAgent`).
    """
    if isinstance(thing, str | PathLike):
        return registry.make(fspath(thing))
    return wrap(thing)


def as_player(thing: Thing, limit: Limit = UNLIMITED, name: str = "") -> Player:
    """Return a player of a tournament for a spec, a function, a class or an object.

    Live objects are registered in this process under their name, which by default is that of the
    function or class; another object under the same name replaces the first.
    """
    if isinstance(thing, Player):
        return thing
    if isinstance(thing, str | PathLike):
        return with_code(Player(fspath(thing), limit, name))
    wrap(thing)  # raises UserError if it cannot play
    spec = f"{registry.LIVE}{name or name_of(thing)}"
    if registry.LIVE_AGENTS.get(spec) is not thing:
        registry.LIVE_AGENTS[spec] = thing
        _codes[spec] = fingerprint(thing)
    return with_code(Player(spec, limit, name or name_of(thing)))


def with_code(player: Player) -> Player:
    """Return the player with the fingerprint of its code if that is the user's own."""
    return replace(player, code=_code(player.spec)) if registry.is_own(player.spec) else player


def _code(spec: str) -> str:
    if not spec.startswith(registry.LIVE):
        return own_files.code_of(spec)
    registry.own_thing(spec)  # raises UserError if this process does not have it
    return _codes[spec]


@dataclass(frozen=True)
class Maker:
    """Builds the agents of a tournament in this process or, pickled, in a worker."""

    things: Mapping[str, Any] = field(default_factory=dict)
    """Live objects by their specs."""
    tied: tuple[str, ...] = ()
    """The names of those that cannot be sent to another process."""

    def __call__(self, spec: str) -> Agent:
        """Return the agent of a spec."""
        if spec in self.things:
            return wrap(self.things[spec], spec.removeprefix(registry.LIVE))
        return registry.make(spec)


def maker(tournament: Tournament) -> Maker:
    """Return what builds a tournament's agents.

    Raises UserError if the code of an agent is not that with which the tournament began, or if its
    object is not in this process.
    """
    things = {}
    for player in tournament.players:
        if player.code and player.code != _code(player.spec):
            raise UserError(
                f"{player.label} has changed since this run began, and its games would not be "
                "comparable; play the match again, which begins a new run"
            )
        if player.spec.startswith(registry.LIVE):
            thing = things[player.spec] = registry.own_thing(player.spec)
            if not isinstance(thing, type) and remembers(wrap(thing)):
                raise UserError(
                    f"{player.label} remembers its games; pass its class and not an object, so "
                    "that every opponent meets a new one"
                )
    tied = (spec for spec, thing in things.items() if not _can_move(thing))
    return Maker(things, tuple(spec.removeprefix(registry.LIVE) for spec in tied))


def _can_move(thing: Any) -> bool:
    """Return whether a worker process can have a copy of an object."""
    try:
        copy = pickle.dumps(thing)
    except Exception:  # a user's class can fail in any way
        return False
    # Workers do not have what a notebook or a script has defined: they run neither.
    return b"__main__" not in copy
