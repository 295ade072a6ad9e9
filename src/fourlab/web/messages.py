"""What is asked and answered, field by field. Columns count from 1 here, rows from 1 at the bottom."""

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
Seed = Annotated[int, Field(ge=0, lt=2**63)]


class Asked(BaseModel):
    """A request; a name that is not known is an error."""

    model_config = ConfigDict(extra="forbid")


class PositionAsked(Asked):
    """A position: where a game began and what was played."""

    start: str = Field(default="", max_length=1000, description="Any notation or the name of a position; empty: the empty board.")
    moves: str = Field(
        default="", max_length=300, pattern="^[0-9, ]*$", description="Columns played from the start on: 4453, or 10,4,3."
    )
    board: str | None = Field(
        default=None, max_length=20, description="COLUMNSxROWSxINAROW; by default what the start says, else 7x6x4."
    )
    any_counts: bool = Field(default=False, description="Do not check the numbers of discs of a hand-made board.")

    def game(self) -> tuple[Position, tuple[int, ...]]:
        """Where the game began and what was played from there; raises UserError."""
        start = Position(self.start, self.board, check_counts=not self.any_counts)
        return start, notation.read(self.moves, start.rules, "moves").moves or ()

    def position(self) -> Position:
        """Where the game is now; raises UserError."""
        position, columns = self.game()
        for column in columns:
            position = position.play(column)
        return position


class MoveAsked(PositionAsked):
    """A position in which an agent is to move."""

    agent: str = Field(default="level:3", max_length=300, description="A level, level:1 to level:8, or the spec of an agent.")
    seconds: Seconds | None = Field(
        default=None,
        description="So long it may take; by default what the agent needs, and a second if it would search for ever.",
    )
    simulations: Simulations | None = Field(default=None, description="So many simulations at most.")
    seed: Seed | None = Field(default=None, description="The same seed gives the same move, unless the clock decides.")


class AnalysisAsked(MoveAsked):
    """A position to think about."""

    agent: str = Field(default="perfect", max_length=300, description="Who thinks; perfect is the solver, which proves.")
    seconds: Seconds = Field(default=1.0, description="So long it may take; an agent with bounds of its own may need less.")
    tree: bool = Field(default=False, description="Also tell the search tree, as far as it is shown.")


class ReviewAsked(PositionAsked):
    """A game to look back on."""

    seconds: Seconds = Field(default=20.0, description="So long it may take.")


class AgentAsked(Asked):
    """An agent that will soon be asked for a move."""

    agent: str = Field(max_length=300, description="level:1 to level:8, or the spec of an agent.")
    board: str | None = Field(
        default=None,
        max_length=20,
        description="COLUMNSxROWSxINAROW; 7x6x4 by default.",
    )


class KaggleAsked(BaseModel):
    """What Kaggle's environments send to an agent behind an address; names not needed are left alone."""

    configuration: dict[str, Any] = Field(default_factory=dict)
    observation: dict[str, Any] | None = None
    state: dict[str, Any] | None = None


class ErrorBody(BaseModel):
    """What went wrong."""

    status: int
    code: str
    message: str


class Error(BaseModel):
    """The one form of all errors."""

    error: ErrorBody


class Proven(BaseModel):
    """A proven result for the side to move."""

    result: Literal[-1, 0, 1]
    plies: int | None = Field(description="Discs until the game is over, where known.")

    @classmethod
    def of(cls, exact: Exact | None) -> "Proven | None":
        """None if nothing is proven."""
        return None if exact is None else cls(result=exact.result, plies=exact.plies)  # type: ignore[arg-type]


class PositionTold(BaseModel):
    """Everything about a position."""

    board: str
    columns: int
    rows: int
    in_a_row: int
    start: str
    moves: str
    fen: str
    ply: int
    to_move: Side
    grid: list[list[int]] = Field(description="Top row first: 0 empty, 1 red, 2 yellow.")
    legal: list[int]
    outcome: Literal["red wins", "yellow wins", "draw"] | None
    winning_cells: list[tuple[int, int]]

    @classmethod
    def of(cls, asked: PositionAsked) -> "PositionTold":
        """Tell of a position; a start that is itself a game of moves is told as moves."""
        (start, columns), position = asked.game(), asked.position()
        rules, outcome = position.rules, position.outcome()
        if start.moves is not None:
            begun, played = "", (*start.moves, *columns)
        else:
            begun, played = start.write("fen"), tuple(columns)
        return cls(
            board=str(rules),
            columns=rules.columns,
            rows=rules.rows,
            in_a_row=rules.in_a_row,
            start=begun,
            moves=write_columns(played),
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
    value: float | None = Field(description="The result expected for the side to move, -1 to +1.")
    proven: Proven | None
    policy: list[float] | None
    line: list[int]
    seconds: float
    simulations: int | None

    @classmethod
    def of(cls, decision: Decision, agent: str, seconds: float) -> "Move":
        """Tell a decision."""
        return cls(
            column=decision.column + 1,
            agent=agent,
            value=decision.value,
            proven=Proven.of(decision.proven),
            policy=None if decision.policy is None else list(decision.policy),
            line=[column + 1 for column in decision.line],
            seconds=seconds,
            simulations=decision.analysis.simulations,
        )


class ColumnTold(BaseModel):
    """What a column is worth to the side to move."""

    column: int
    open: bool
    proven: Proven | None
    value: float | None
    visits: int | None
    prior: float | None
    policy: float | None
    says: str

    @classmethod
    def of(cls, each: "ColumnOpinion") -> "ColumnTold":
        """Tell one column."""
        return cls(
            column=each.column + 1,
            open=each.open,
            proven=Proven.of(each.proven),
            value=each.value,
            visits=each.visits,
            prior=each.prior,
            policy=each.policy,
            says=each.says,
        )


class TreeNode(BaseModel):
    """A column in a search tree."""

    column: int | None = Field(description="None at the root.")
    visits: int
    value: float | None = Field(description="For the side that plays the column; at the root for the side to move.")
    prior: float | None
    proven: Literal[-1, 0, 1] | None
    children: list["TreeNode"]

    @classmethod
    def root(cls, nodes: "Sequence[Node]", value: float | None, proven: Exact | None) -> "TreeNode":
        """The tree above these nodes."""
        visits = sum(node.stats.visits for node in nodes)
        result = None if proven is None else proven.result
        children = [cls.of(node) for node in nodes]
        return cls(column=None, visits=visits, value=value, prior=None, proven=result, children=children)  # type: ignore[arg-type]

    @classmethod
    def of(cls, node: "Node") -> "TreeNode":
        """A node with all below it."""
        stats = node.stats
        return cls(
            column=stats.column + 1,
            visits=stats.visits,
            value=stats.value,
            prior=stats.prior,
            proven=stats.proven,  # type: ignore[arg-type]
            children=[cls.of(child) for child in node.children],
        )


class PointTold(BaseModel):
    """A search after some simulations, for curves of convergence."""

    simulations: int
    visits: list[int]
    values: list[float | None]

    @classmethod
    def of(cls, opinion: "Opinion") -> "PointTold":
        """Tell what a search had found by then."""
        return cls(
            simulations=opinion.simulations or 0,
            visits=[each.visits or 0 for each in opinion.columns],
            values=[each.value for each in opinion.columns],
        )


class OpinionTold(BaseModel):
    """What somebody thinks of a position."""

    agent: str
    to_move: Side
    seconds: float
    simulations: int | None
    nodes: int | None
    best: int | None
    value: float | None
    proven: Proven | None
    columns: list[ColumnTold]
    line: list[int]
    finished: bool = Field(description="More time would change nothing.")
    tree: TreeNode | None
    trace: list[PointTold] = Field(default=[], description="In a stream: how the search went since the last event.")

    @classmethod
    def of(cls, opinion: "Opinion", agent: str, position: Position) -> "OpinionTold":
        """Tell an opinion."""
        return cls(
            agent=agent,
            to_move=SIDE_NAMES[position.to_move],  # type: ignore[arg-type]
            seconds=opinion.seconds,
            simulations=opinion.simulations,
            nodes=opinion.nodes,
            best=None if opinion.best is None else opinion.best + 1,
            value=opinion.value,
            proven=Proven.of(opinion.proven),
            columns=[ColumnTold.of(each) for each in opinion.columns],
            line=[column + 1 for column in opinion.line],
            finished=opinion.finished,
            tree=None if opinion.tree is None else TreeNode.root(opinion.tree, opinion.value, opinion.proven),
        )


class Action(BaseModel):
    """Kaggle's answer."""

    action: int = Field(description="The column, counted from 0 as Kaggle does.")


class NamedPositionTold(BaseModel):
    """A position with a name."""

    name: str
    fen: str
    about: str


class LevelTold(BaseModel):
    """A graded opponent."""

    level: int
    name: str
    agent: str
    spec: str
    about: str
    strength: str


class OptionTold(BaseModel):
    """A setting of an agent."""

    name: str
    type: str = Field(description="What it may be, in words.")
    default: Any
    about: str
    unit: str = ""
    json_schema: dict[str, Any] = Field(description="What it may be, as a JSON schema.")


class AgentTold(BaseModel):
    """An agent that can be asked."""

    name: str
    about: str
    group: Literal["agents", "documents"]
    boards: str
    xray: bool
    options: list[OptionTold]


class AgentsTold(BaseModel):
    """Who can be asked."""

    levels: list[LevelTold]
    agents: list[AgentTold]


class AgentReady(BaseModel):
    """Whether an agent can reply at once."""

    agent: str
    name: str = Field(description="The name of a level; of others, the agent.")
    ready: bool
    seconds: float = Field(description="The estimated time until it is ready; 0 if it is.")


class GroupReady(BaseModel):
    """How far a group of compiled kernels is."""

    name: str
    state: Literal["ready", "compiling", "queued"]
    seconds: float = Field(description="The estimated time until it is ready; 0 if it is.")


class ReadyTold(BaseModel):
    """Which agents can reply at once, and when the others will."""

    ready: bool = Field(description="Everything is ready and stays so; no need to ask again.")
    seconds: float = Field(description="The estimated time until everything is ready.")
    levels: list[AgentReady]
    agents: list[AgentReady]
    groups: list[GroupReady] = Field(description="The groups of kernels that agents need.")


class About(BaseModel):
    """What this server is and allows."""

    version: str
    public: bool
    caps: dict[str, int | float]


class Pong(BaseModel):
    """Still there."""

    ok: bool = True
