"""The messages about played games: reviews, runs and stored games."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from fourlab.web.messages import Side

Result = Literal[-1, 0, 1]


class StandingAnswer(BaseModel):
    """The evaluation of one position of a game."""

    ply: int
    to_move: Side
    proven: bool
    result: Result | None = Field(description="From red's point of view.")
    plies: int | None
    chance: float = Field(description="Red's expected score, 0 to 1: exact where proven.")
    estimate: float | None = Field(description="The same, estimated by a network or a search.")
    says: str


class MoveMade(BaseModel):
    """The evaluation of one move."""

    number: int
    side: Side
    column: int
    category: Literal["forced", "best", "good", "slow", "mistake", "blunder", "unknown"]
    had: Result | None = Field(description="Result before the move, for the side that moved.")
    has: Result | None = Field(description="Result after the move, for the side that moved.")
    size: float
    best: list[int]
    says: str


class AccuracyAnswer(BaseModel):
    """How well a side kept the game-theoretic value."""

    moves: int
    kept: float | None
    best: float | None
    accuracy: float | None


class ReviewAnswer(BaseModel):
    """A game with exact evaluations."""

    board: str
    start: str
    moves: str
    outcome: str | None
    complete: bool = Field(description="Whether every position is proven.")
    positions: list[StandingAnswer]
    moves_made: list[MoveMade]
    accuracy: dict[Side, AccuracyAnswer]
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


class TableAnswer(BaseModel):
    """A table of results."""

    title: str
    head: list[str]
    rows: list[list[Any]]


class CurveAnswer(BaseModel):
    """Metrics that are drawn in one chart."""

    label: str
    names: list[str]
    logarithmic: bool


class MetricsAnswer(BaseModel):
    """The metrics of a training."""

    unit: str
    rows: list[dict[str, Any]]
    curves: list[CurveAnswer]


class RunAnswer(RunRow):
    """Everything about a run except its games."""

    settings: dict[str, Any]
    tables: list[TableAnswer]
    figures: list[str]
    metrics: MetricsAnswer | None
    games: int | None


class GameRow(BaseModel):
    """A stored game; columns count from 1, the result is red's."""

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


class GamesAnswer(BaseModel):
    """Some games of a run."""

    total: int
    games: list[GameRow]


class ThoughtAnswer(BaseModel):
    """What an agent reported about a move."""

    value: float | None
    visits: list[int] | None
    seconds: float


class GameAnswer(GameRow):
    """A game with what the agents reported."""

    thoughts: list[ThoughtAnswer]
    scores: list[int] | None = Field(
        description="The exact score of every position for its side to move."
    )


class Comparison(BaseModel):
    """The settings in which runs differ, with a value per run."""

    runs: list[str]
    settings: dict[str, list[Any]]
