"""The messages about played games: reviews, runs and stored games."""

from typing import Any, Literal

from pydantic import BaseModel, Field

from fourlab.web.messages import Side

Result = Literal[-1, 0, 1]


class StandingAnswer(BaseModel):
    """The evaluation of one position of a game."""

    ply: int = Field(description="Discs on the board.")
    to_move: Side
    proven: bool
    result: Result | None = Field(description="From red's point of view.")
    plies: int | None = Field(description="Discs until the end, where proven.")
    chance: float = Field(description="Red's expected score, 0 to 1: exact where proven.")
    estimate: float | None = Field(description="The same, estimated by a network or a search.")
    says: str = Field(description="The value in words.")


class MoveMade(BaseModel):
    """The evaluation of one move."""

    number: int = Field(description="The first move of the game is 1.")
    side: Side
    column: int
    category: Literal["forced", "best", "good", "slow", "mistake", "blunder", "unknown"]
    had: Result | None = Field(description="Result before the move, for the side that moved.")
    has: Result | None = Field(description="Result after the move, for the side that moved.")
    size: float = Field(description="How bad it was: 0 for a best move, 2 for a blunder.")
    best: list[int] = Field(description="The best columns.")
    says: str = Field(description="The move and its category in words.")


class AccuracyAnswer(BaseModel):
    """How well a side kept the game-theoretic value."""

    moves: int = Field(description="Moves that count: with a choice, and proven.")
    kept: float | None = Field(description="The share that kept win, draw or loss.")
    best: float | None = Field(description="The share that no column could better.")
    accuracy: float | None = Field(description="The mean of 1 - size / 2.")


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
    kind: str | None = Field(description="match, tournament, training and the like.")
    status: Literal["running", "finished", "stopped", "damaged"]
    done: int | None = Field(description="Units of work done so far.")
    total: int | None = Field(description="Units of work in all.")
    unit: str | None = Field(description="games, generations and the like.")
    headline: str = Field(description="The result so far in one line.")
    created: str | None


class TableAnswer(BaseModel):
    """A table of results."""

    title: str
    head: list[str]
    rows: list[list[Any]]


class CurveAnswer(BaseModel):
    """Metrics that are drawn in one chart."""

    label: str
    names: list[str] = Field(description="The metrics, as the rows call them.")
    logarithmic: bool = Field(description="Whether the axis of values is.")


class MetricsAnswer(BaseModel):
    """The metrics of a training."""

    unit: str = Field(description="What the rows count.")
    rows: list[dict[str, Any]] = Field(
        description="One object per piece of work, by the names of metrics."
    )
    curves: list[CurveAnswer]


class RunAnswer(RunRow):
    """Everything about a run except its games."""

    settings: dict[str, Any]
    tables: list[TableAnswer]
    figures: list[str] = Field(description="Names of figures, for the route of figures.")
    metrics: MetricsAnswer | None
    games: int | None = Field(description="Number of stored games.")


class GameRow(BaseModel):
    """A stored game; columns count from 1, the result is red's."""

    number: int
    red: str
    yellow: str
    board: str
    start: str = Field(description="The opening position.")
    moves: str = Field(description="Columns played from the start on.")
    result: Result | None = Field(description="1 if red won, 0 for a draw, -1 if yellow won.")
    cause: str = Field(description="Why the game ended.")
    detail: str
    plies: int


class GamesAnswer(BaseModel):
    """Some games of a run."""

    total: int = Field(description="Number of games in the run.")
    games: list[GameRow]


class ThoughtAnswer(BaseModel):
    """What an agent reported about a move."""

    value: float | None = Field(description="Expected result for the side that moved, -1 to +1.")
    visits: list[int] | None = Field(description="Of every column, in a tree search.")
    seconds: float = Field(description="How long the agent thought.")


class GameAnswer(GameRow):
    """A game with what the agents reported."""

    thoughts: list[ThoughtAnswer]
    scores: list[int] | None = Field(
        description="The exact score of every position for its side to move."
    )


class Comparison(BaseModel):
    """The settings in which runs differ, with a value per run."""

    runs: list[str]
    settings: dict[str, list[Any]] = Field(
        description="A value per run for every setting that differs."
    )
