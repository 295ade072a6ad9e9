"""What is told of games that were played, field by field."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from fourlab.web.messages import Side

Result = Literal[-1, 0, 1]


class StandingTold(BaseModel):
    """What one position of a game was worth."""

    ply: int
    to_move: Side
    proven: bool
    result: Result | None = Field(description="In red's view.")
    plies: int | None
    chance: float = Field(description="Red's expected score, 0 to 1: exact where proven.")
    estimate: float | None = Field(description="The same by a network's or a search's judgement.")
    says: str


class MoveMade(BaseModel):
    """What one move made of its position."""

    number: int
    side: Side
    column: int
    category: Literal["forced", "best", "good", "slow", "mistake", "blunder", "unknown"]
    had: Result | None = Field(description="What the position was worth to the side that moved.")
    has: Result | None = Field(description="What is left of it.")
    size: float
    best: list[int]
    says: str


class AccuracyTold(BaseModel):
    """How well a side kept to the truth."""

    moves: int
    kept: float | None
    best: float | None
    accuracy: float | None


class ReviewTold(BaseModel):
    """A game beside the truth."""

    board: str
    start: str
    moves: str
    outcome: str | None
    complete: bool = Field(description="Whether every position is proven.")
    positions: list[StandingTold]
    moves_made: list[MoveMade]
    accuracy: dict[Side, AccuracyTold]
    mistakes: list[int] = Field(description="Numbers of moves, the worst first.")


class RunRow(BaseModel):
    """One line about a run."""

    name: str
    kind: str | None
    status: Literal["running", "finished", "stopped", "damaged"]
    done: int | None
    total: int | None
    unit: str | None
    headline: str
    created: str | None


class TableTold(BaseModel):
    """A table of results."""

    title: str
    head: list[str]
    rows: list[list[Any]]


class CurveTold(BaseModel):
    """Which metrics are drawn together."""

    label: str
    names: list[str]
    logarithmic: bool


class MetricsTold(BaseModel):
    """How a training went."""

    unit: str
    rows: list[dict[str, Any]]
    curves: list[CurveTold]


class RunTold(RunRow):
    """All about a run but its games."""

    settings: dict[str, Any]
    tables: list[TableTold]
    figures: list[str]
    metrics: MetricsTold | None
    games: int | None


class GameRow(BaseModel):
    """A stored game; columns count from 1, the result is in red's view."""

    number: int
    red: str
    yellow: str
    board: str
    start: str
    moves: str
    result: Result | None
    cause: str
    detail: str
    plies: int


class GamesTold(BaseModel):
    """Some games of a run."""

    total: int
    games: list[GameRow]


class ThoughtTold(BaseModel):
    """What an agent told about a move."""

    value: float | None
    visits: list[int] | None
    seconds: float


class GameTold(GameRow):
    """A game with what the agents thought."""

    thoughts: list[ThoughtTold]
    scores: list[int] | None = Field(description="The exact score of every position for its side to move.")


class Comparison(BaseModel):
    """The settings in which runs differ, a value for each run."""

    runs: list[str]
    settings: dict[str, list[Any]]
