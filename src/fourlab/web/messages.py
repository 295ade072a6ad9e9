"""The messages of the API. Columns and rows count from 1 here, rows from the bottom."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from fourlab.agent import Decision, Exact
from fourlab.arena.store import write_columns
from fourlab.game import notation
from fourlab.game.outcome import SIDE_NAMES
from fourlab.game.position import Position

if TYPE_CHECKING:  # these import the compiler
    from fourlab.agents.mcts.xray import Node
    from fourlab.analysis.opinion import ColumnOpinion, Opinion

Side = Literal["red", "yellow"]
Seconds = Annotated[float, Field(gt=0, le=600, allow_inf_nan=False)]
Simulations = Annotated[int, Field(ge=1, le=10**9)]
# Seeds stay exact in signed 64-bit integers, which compiled code uses.
Seed = Annotated[int, Field(ge=0, lt=2**63)]

# Lengths of texts are limited so that no parser ever sees a long one: 1,000 characters hold any
# board of at most 63 bits in any notation, 300 characters any game on it.


class RequestBody(BaseModel):
    """A request; unknown fields are errors."""

    model_config = ConfigDict(extra="forbid")


class PositionRequest(RequestBody):
    """A position: the start of a game and the moves from there."""

    start: str = Field(
        default="",
        max_length=1000,
        description="Start position in any notation, or its name; empty for the empty board.",
    )
    moves: str = Field(
        default="",
        max_length=300,
        pattern="^[0-9, ]*$",
        description="Columns played from the start on: 4453, or 10,4,3.",
    )
    board: str | None = Field(
        default=None,
        max_length=20,
        description="COLUMNSxROWSxINAROW; default: the board of the start, else 7x6x4.",
    )
    any_counts: bool = Field(
        default=False, description="Accept any numbers of discs, as on boards set up by hand."
    )

    def game(self) -> tuple[Position, tuple[int, ...]]:
        """Return the start position and the columns played from there; raise UserError."""
        start = Position(self.start, self.board, check_counts=not self.any_counts)
        return start, notation.read(self.moves, start.rules, "moves").moves or ()

    def position(self) -> Position:
        """Return the position after the moves; raise UserError."""
        position, columns = self.game()
        for column in columns:
            position = position.play(column, named_from=1)
        return position


class MoveRequest(PositionRequest):
    """A position in which an agent is to move."""

    agent: str = Field(
        default="level:3",
        max_length=300,
        description="A level, level:1 to level:10, or the spec of an agent.",
    )
    seconds: Seconds | None = Field(
        default=None,
        description="Time limit in seconds; default: the agent's own limits, else 1 s.",
    )
    simulations: Simulations | None = Field(
        default=None, description="Maximum number of simulations."
    )
    seed: Seed | None = Field(
        default=None,
        description="The same seed gives the same move, unless a time limit ends the search.",
    )


class AnalysisRequest(MoveRequest):
    """A position to analyse."""

    agent: str = Field(
        default="perfect",
        max_length=300,
        description="Agent that analyses; perfect is the solver, which proves results.",
    )
    seconds: Seconds = Field(
        default=1.0,
        description="Time limit in seconds; an agent with limits of its own may take less.",
    )
    tree: bool = Field(
        default=False, description="Include the search tree, up to the server's maximum of nodes."
    )


class ReviewRequest(PositionRequest):
    """A game to review."""

    seconds: Seconds = Field(default=20.0, description="Time limit in seconds.")


class AgentRequest(RequestBody):
    """An agent that will soon be asked for a move."""

    agent: str = Field(max_length=300, description="level:1 to level:10, or the spec of an agent.")
    board: str | None = Field(
        default=None,
        max_length=20,
        description="COLUMNSxROWSxINAROW; 7x6x4 by default.",
    )


class KaggleRequest(BaseModel):
    """The request of Kaggle's environments to an agent at a URL; other fields are ignored."""

    configuration: dict[str, Any] = Field(default_factory=dict)
    observation: dict[str, Any] | None = None
    state: dict[str, Any] | None = None


class ErrorBody(BaseModel):
    """An error."""

    status: int = Field(description="The HTTP status.")
    code: str = Field(description="The kind of error, in one word.")
    message: str = Field(description="What is wrong, in one line.")


class Error(BaseModel):
    """The JSON form of all errors."""

    error: ErrorBody


class Proven(BaseModel):
    """A proven result for the side to move."""

    # Made from an `Exact`, whose fields have the same names.
    model_config = ConfigDict(from_attributes=True)

    result: Literal[-1, 0, 1] = Field(description="1 win, 0 draw, -1 loss.")
    plies: int | None = Field(description="Discs until the game is over, where known.")


class PositionAnswer(BaseModel):
    """Everything about a position."""

    board: str = Field(description="COLUMNSxROWSxINAROW.")
    columns: int
    rows: int
    in_a_row: int
    start: str = Field(description="The start as FEN; empty if the moves begin at the empty board.")
    moves: str = Field(description="Columns played from the start on.")
    fen: str
    ply: int = Field(description="Discs on the board.")
    to_move: Side
    grid: list[list[int]] = Field(description="Top row first: 0 empty, 1 red, 2 yellow.")
    legal: list[int] = Field(description="Columns that are not full; none after the end.")
    outcome: Literal["red wins", "yellow wins", "draw"] | None = Field(
        description="Null while the game lasts."
    )
    winning_cells: list[tuple[int, int]] = Field(
        description="Column and row of every disc in a completed line."
    )

    @classmethod
    def of(cls, body: PositionRequest) -> "PositionAnswer":
        """Describe a position; a start given as moves becomes part of the moves."""
        start, columns = body.game()
        position = body.position()
        rules = position.rules
        outcome = position.outcome()
        # One game has one address on the page, however its start was written.
        if start.moves is not None:
            start_text, moves = "", (*start.moves, *columns)
        else:
            start_text, moves = start.write("fen"), tuple(columns)
        return cls(
            board=str(rules),
            columns=rules.columns,
            rows=rules.rows,
            in_a_row=rules.in_a_row,
            start=start_text,
            moves=write_columns(moves),
            fen=position.write("fen"),
            ply=position.ply,
            to_move=SIDE_NAMES[position.to_move],  # type: ignore[arg-type]
            grid=position.grid(),
            legal=[column + 1 for column in position.legal_columns()],
            outcome=None if outcome is None else str(outcome),  # type: ignore[arg-type]
            winning_cells=[(column + 1, row + 1) for column, row in position.winning_cells()],
        )


class Move(BaseModel):
    """A chosen column."""

    column: int
    agent: str
    value: float | None = Field(description="Expected result for the side to move, -1 to +1.")
    proven: Proven | None
    policy: list[float] | None = Field(
        description="The share of every column in the agent's choice."
    )
    line: list[int] = Field(description="The expected play, beginning with the column.")
    seconds: float = Field(description="How long the agent thought.")
    simulations: int | None = Field(description="Simulations made, by agents that count them.")

    @classmethod
    def of(cls, decision: Decision, agent: str, seconds: float) -> "Move":
        """Return the message of a decision."""
        fields = {
            **vars(decision),
            "column": decision.column + 1,
            "line": [column + 1 for column in decision.line],
            "simulations": decision.analysis.simulations,
        }
        return cls.model_validate({**fields, "agent": agent, "seconds": seconds})


class ColumnAnswer(BaseModel):
    """The evaluation of a column, from the side to move's point of view."""

    column: int
    open: bool = Field(description="Whether a disc fits into it.")
    proven: Proven | None
    value: float | None = Field(description="-1 to +1.")
    visits: int | None = Field(description="Simulations through the column, in a tree search.")
    prior: float | None = Field(description="The network's policy before the search.")
    policy: float | None = Field(description="The agent's final policy, or the share of visits.")
    says: str = Field(description="The value in words: wins in 7 if proven, 63 % if estimated.")

    @classmethod
    def of(cls, opinion: "ColumnOpinion") -> "ColumnAnswer":
        """Return the message of one column."""
        return cls.model_validate({**vars(opinion), "column": opinion.column + 1})


class TreeNode(BaseModel):
    """A column in a search tree."""

    column: int | None = Field(description="None at the root.")
    visits: int
    value: float | None = Field(
        description="For the side that plays the column; at the root for the side to move."
    )
    prior: float | None
    proven: Literal[-1, 0, 1] | None = Field(
        description="A proven result, on the same side's scale."
    )
    children: list["TreeNode"]

    @classmethod
    def root(cls, nodes: "Sequence[Node]", value: float | None, proven: Exact | None) -> "TreeNode":
        """Return the root above these nodes."""
        return cls(
            column=None,
            visits=sum(node.stats.visits for node in nodes),
            value=value,
            prior=None,
            proven=None if proven is None else proven.result,  # type: ignore[arg-type]
            children=[cls.of(node) for node in nodes],
        )

    @classmethod
    def of(cls, node: "Node") -> "TreeNode":
        """Return a node with its subtree."""
        children = [cls.of(child) for child in node.children]
        stats = {**vars(node.stats), "column": node.stats.column + 1}
        return cls.model_validate({**stats, "children": children})


class PointAnswer(BaseModel):
    """A snapshot of a search, for convergence curves."""

    simulations: int
    visits: list[int] = Field(description="Of every column.")
    values: list[float | None] = Field(description="Of every column, -1 to +1.")

    @classmethod
    def of(cls, opinion: "Opinion") -> "PointAnswer":
        """Return the message of a snapshot."""
        return cls(
            simulations=opinion.simulations or 0,
            visits=[column.visits or 0 for column in opinion.columns],
            values=[column.value for column in opinion.columns],
        )


class OpinionAnswer(BaseModel):
    """The analysis of a position."""

    agent: str
    to_move: Side
    seconds: float
    simulations: int | None
    nodes: int | None
    best: int | None = Field(description="The best column; null if there is none yet.")
    value: float | None = Field(description="Of the position for the side to move, -1 to +1.")
    proven: Proven | None
    columns: list[ColumnAnswer] = Field(description="All columns of the board, from the left.")
    line: list[int] = Field(description="The expected play.")
    finished: bool = Field(description="More time would change nothing.")
    tree: TreeNode | None
    trace: list[PointAnswer] = Field(
        default=[], description="In a stream: snapshots of the search since the last event."
    )

    @classmethod
    def of(cls, opinion: "Opinion", agent: str, position: Position) -> "OpinionAnswer":
        """Return the message of an analysis."""
        tree = None
        if opinion.tree is not None:
            tree = TreeNode.root(opinion.tree, opinion.value, opinion.proven)
        fields = {
            **vars(opinion),
            "agent": agent,
            "to_move": SIDE_NAMES[position.to_move],
            "best": None if opinion.best is None else opinion.best + 1,
            "columns": [ColumnAnswer.of(column) for column in opinion.columns],
            "line": [column + 1 for column in opinion.line],
            "tree": tree,
        }
        return cls.model_validate(fields)


class Action(BaseModel):
    """The answer that Kaggle's environment expects from an agent."""

    action: int = Field(description="The column, counted from 0 as Kaggle does.")


class NamedPositionAnswer(BaseModel):
    """A position with a name."""

    name: str
    fen: str
    about: str


class LevelAnswer(BaseModel):
    """A graded opponent."""

    level: int
    name: str
    agent: str = Field(description="What requests call it: level:1 to level:10.")
    spec: str = Field(description="The agent that plays it on the board.")
    about: str
    strength: str = Field(description="How strong it is on the board, in words.")
    elo: float | None = Field(
        description="Elo above the level before, where that was measured on the board."
    )
    low: float | None = Field(description="Lower end of its 95 % interval.")
    high: float | None = Field(description="Upper end of its 95 % interval.")
    after_win: str = Field(
        description="The adaptive opponent: the level to play after a win against this one."
    )
    after_loss: str = Field(description="The same after a loss; after a draw the level stays.")


class OptionAnswer(BaseModel):
    """An option of an agent."""

    name: str
    type: str = Field(description="What it may be, in words.")
    default: Any
    about: str
    unit: str = ""
    json_schema: dict[str, Any] = Field(description="What it may be, as a JSON schema.")
    aliases: list[str] = Field([], description="Old names, which specs may still use.")


class AgentAnswer(BaseModel):
    """An agent that can play over the web."""

    name: str
    about: str
    group: Literal["agents", "documents", "own"] = Field(
        description="documents for agents of the five reports, own for your own files."
    )
    boards: str = Field(description="any, or the boards that it plays on, by commas.")
    xray: bool = Field(description="Whether its search tree can be shown.")
    options: list[OptionAnswer]


class AgentsAnswer(BaseModel):
    """The levels and agents that can play over the web."""

    levels: list[LevelAnswer]
    agents: list[AgentAnswer]


class OwnAnswer(BaseModel):
    """What became of a piece of a file: nothing yet, or an agent."""

    agent: str | None = None
    about: str = ""


class AgentReady(BaseModel):
    """Whether an agent can reply at once."""

    agent: str
    name: str = Field(description="The name of a level; of others, the agent.")
    ready: bool
    seconds: float = Field(description="The estimated time until it is ready; 0 if it is.")


class GroupReady(BaseModel):
    """The state of a group of kernels."""

    name: str
    state: Literal["ready", "compiling", "queued"]
    seconds: float = Field(description="The estimated time until it is ready; 0 if it is.")


class ReadyAnswer(BaseModel):
    """Which agents can reply at once, and when the others will."""

    ready: bool = Field(description="Everything is ready and stays so; no need to ask again.")
    seconds: float = Field(description="The estimated time until everything is ready.")
    levels: list[AgentReady]
    agents: list[AgentReady]
    groups: list[GroupReady] = Field(description="The groups of kernels that agents need.")


class About(BaseModel):
    """The server's version and limits."""

    version: str
    public: bool = Field(description="Whether it serves strangers, with lower limits.")
    caps: dict[str, int | float] = Field(description="The limits of one request.")


class Pong(BaseModel):
    """The answer to a ping."""

    ok: bool = True
