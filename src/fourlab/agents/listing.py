"""The agents and their options, as data, as text and for notebooks."""

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

from fourlab import display
from fourlab.agents import registry
from fourlab.errors import UserError
from fourlab.options import as_text

INDENT = " " * 19
"""Lines about an agent begin two columns right of its description."""


@dataclass(frozen=True)
class AgentInfo:
    """An agent or preset as it is listed."""

    name: str
    about: str
    preset_of: str | None = None
    """The spec that a preset stands for."""
    faithful: str | None = None
    """The options with which a report's agent is as its author coded it."""
    elsewhere: str | None = None
    """The spec that a level stands for on boards without pattern networks."""
    options: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    """Name, type, unit, default, description and JSON schema of every option."""

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield f"{self.name:16} {self.about}"
        if self.preset_of:
            yield f"{INDENT}= {self.preset_of}"
            if self.elsewhere:
                yield f"{INDENT}without patterns for the board = {self.elsewhere}"
            if self.faithful:
                yield f"{INDENT}faithful=1: {self.faithful}"
            return
        for option in self.options:
            # An option such as `seconds` names its unit already.
            unit = f", in {option['unit']}" if option["unit"] not in ("", option["name"]) else ""
            kind = f"({option['type']}{unit})"
            default = as_text(option["default"])
            yield f"{INDENT}{option['name']}={default}  {kind} {option['about']}"

    def to_dict(self) -> dict[str, Any]:
        """Return everything about the agent as JSON data."""
        return {**vars(self), "options": list(self.options)}

    def _repr_html_(self) -> str:
        rows = [
            (option["name"], as_text(option["default"]), option["type"], option["about"])
            for option in self.options
        ]
        table = display.table(("option", "default", "allowed", ""), rows) if rows else ""
        return display.paragraph(f"{self.name}: {self.about}") + table


@dataclass(frozen=True)
class AgentList(Sequence[AgentInfo]):
    """Agents in the order in which they are listed; also found by name."""

    agents: tuple[AgentInfo, ...] = field(repr=False)

    @overload
    def __getitem__(self, place: int | str) -> AgentInfo: ...
    @overload
    def __getitem__(self, place: slice) -> tuple[AgentInfo, ...]: ...
    def __getitem__(self, place: int | str | slice) -> AgentInfo | tuple[AgentInfo, ...]:
        if isinstance(place, str):
            return describe(place)
        return self.agents[place]

    def __len__(self) -> int:
        return len(self.agents)

    @property
    def names(self) -> list[str]:
        """The names of the agents."""
        return [agent.name for agent in self.agents]

    def __repr__(self) -> str:
        return f"<AgentList of {len(self)} agents: {', '.join(self.names)}>"

    def __str__(self) -> str:
        return "\n".join(map(str, self.agents))

    def to_dict(self) -> dict[str, Any]:
        """Return the agents by name, as JSON data."""
        return {agent.name: agent.to_dict() for agent in self.agents}

    def to_pandas(self) -> display.DataFrame:
        """Return one row per agent."""
        return display.data_frame(
            {"name": agent.name, "about": agent.about, "preset_of": agent.preset_of}
            for agent in self.agents
        )

    def _repr_html_(self) -> str:
        rows = [(agent.name, agent.about, agent.preset_of or "") for agent in self.agents]
        return display.table(("agent", "", "short for"), rows)


def list_agents() -> AgentList:
    """Return all agents, presets and levels with their options."""
    return AgentList(tuple(_describe_or_excuse(name) for name in registry.names()))


def describe(name: str) -> AgentInfo:
    """Return an agent by its name; raise UserError if there is none."""
    preset = registry.preset(name)
    options = tuple(
        {
            "name": option.name,
            "type": option.allowed_values,
            "unit": option.unit,
            "default": None if option.default is inspect.Parameter.empty else option.default,
            "about": option.full_help,
            "json_schema": option.schema,
        }
        for option in registry.options_of(name)
    )
    about = registry.about(name)
    if preset is None:
        return AgentInfo(name, about, options=options)
    elsewhere = None if preset.level is None else preset.level.elsewhere
    return AgentInfo(name, about, preset.spec, preset.faithful, elsewhere, options)


def _describe_or_excuse(name: str) -> AgentInfo:
    """Describe an agent; one broken plug-in must not hide the other agents."""
    try:
        return describe(name)
    except UserError as error:
        return AgentInfo(name, f"unusable: {error}")
