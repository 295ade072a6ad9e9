"""The work of worker processes: searches, reviews and the reading of run folders.

Every kind of work takes the fields of a request and returns an answer as JSON. The worker imports
this module, the server does not need to: whatever happens here happens in a process that can be
killed (`pool.py`).
"""

import json
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from fourlab.agent import Agent, Forfeit, Limit, Stop, is_unbounded
from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.rules import CLASSIC
from fourlab.web import players, run_folders
from fourlab.web import record_messages as r
from fourlab.web.messages import AnalysisRequest, Move, MoveRequest, OpinionAnswer, ReviewRequest
from fourlab.web.progress import Report, Reporter
from fourlab.web.settings import USUAL_SECONDS, Caps

if TYPE_CHECKING:  # these import the compiler, which agents that do not search do not need
    from fourlab.analysis.opinion import OnOpinion
    from fourlab.analysis.review import Review

Fields = dict[str, Any]
Work = Callable[[Fields, Caps, Stop, Report], str]


def _asked(fields: Fields) -> tuple[Fields, str | None]:
    """Return the fields of a request, and the spec that the server has added if its owner did."""
    asked = dict(fields)
    return asked, asked.pop("own", None)


def move(fields: Fields, caps: Caps, stop: Stop, report: Report) -> str:
    """Let an agent choose a column."""
    asked, own = _asked(fields)
    return choose(MoveRequest.model_validate(asked), caps, stop, own).model_dump_json()


def analysis(fields: Fields, caps: Caps, stop: Stop, report: Report) -> str:
    """Evaluate every column."""
    asked, own = _asked(fields)
    return think(AnalysisRequest.model_validate(asked), caps, stop, own).model_dump_json()


def stream(fields: Fields, caps: Caps, stop: Stop, report: Report) -> str:
    """Evaluate every column and report intermediate results."""
    asked, own = _asked(fields)
    body = AnalysisRequest.model_validate(asked)
    with Reporter(body.agent, body.position(), report) as reporter:
        answer = think(body, caps, stop, own, reporter.add)
    return reporter.with_trace(answer)


def review(fields: Fields, caps: Caps, stop: Stop, report: Report) -> str:
    """Review a game."""
    data = look_back(ReviewRequest.model_validate(fields), caps, stop).to_dict()
    return r.ReviewAnswer.model_validate(data).model_dump_json()


def review_page(fields: Fields, caps: Caps, stop: Stop, report: Report) -> str:
    """Review a game and return an HTML page, as a JSON string."""
    from fourlab.analysis.review_page import review_page as draw  # loads matplotlib, which is slow

    return json.dumps(draw(look_back(ReviewRequest.model_validate(fields), caps, stop)))


def choose(body: MoveRequest, caps: Caps, stop: Stop, own: str | None = None) -> Move:
    """Let an agent choose a column; `own` is the spec of one of the server's owner."""
    import numpy as np

    position = _open(body)
    started = time.perf_counter()
    agent = _agent(body.agent, own, position, caps)
    # An agent with bounds of its own, such as mcts:simulations=60, may use all that is allowed.
    usual = USUAL_SECONDS if is_unbounded(agent) else caps.move_seconds
    limit = _limit(body, usual, caps.move_seconds, caps, stop)
    with _faults_named():
        decision = agent.decide(position, limit, np.random.default_rng(body.seed))
    return Move.of(decision, body.agent, time.perf_counter() - started)


def think(
    body: AnalysisRequest,
    caps: Caps,
    stop: Stop,
    own: str | None = None,
    on_opinion: "OnOpinion" = lambda opinion: None,
) -> OpinionAnswer:
    """Analyse a position; `on_opinion` is called with intermediate results."""
    import numpy as np

    from fourlab.analysis.opinion import ask, solve

    position = _open(body)
    limit = _limit(body, USUAL_SECONDS, caps.analysis_seconds, caps, stop)
    if body.agent == "perfect":
        opinion = solve(position, limit, on_opinion, caps.megabytes)
    else:
        agent = _agent(body.agent, own, position, caps)
        nodes = caps.tree_nodes if body.tree else 0
        rng = np.random.default_rng(body.seed)
        with _faults_named():
            opinion = ask(agent, position, limit, rng, on_opinion, nodes)
    return OpinionAnswer.of(opinion, body.agent, position)


def _agent(name: str, own: str | None, position: Position, caps: Caps) -> Agent:
    if own is not None:
        return players.make_own(own)
    return players.make(name, position.rules, caps.megabytes)


@contextmanager
def _faults_named() -> Iterator[None]:
    """Turn what an agent of the owner does wrong into an answer."""
    try:
        yield
    except Forfeit as fault:
        raise UserError(str(fault)) from None


def check_own(fields: Fields, caps: Caps, stop: Stop, report: Report) -> str:
    """Load an agent of the server's owner; return the fields of an `OwnAgent` after its spec."""
    from fourlab.web.own_agents import checked

    agent = checked(fields["spec"], players.make_own)
    return json.dumps([agent.about, agent.xray])


def look_back(body: ReviewRequest, caps: Caps, stop: Stop) -> "Review":
    """Review a game."""
    from fourlab.analysis.review import review

    start, columns = body.game()
    limit = Limit(seconds=min(body.seconds, caps.review_seconds), stop=stop)
    return review(start, columns, limit, caps.megabytes, named_from=1)


def _open(body: MoveRequest) -> Position:
    position = body.position()
    if (outcome := position.outcome()) is not None:
        raise UserError(f"the game is over ({outcome})")
    return position


def _limit(body: MoveRequest, usual: float, most: float, caps: Caps, stop: Stop) -> Limit:
    seconds = usual if body.seconds is None else body.seconds
    simulations = caps.simulations
    if body.simulations is not None:
        simulations = min(body.simulations, simulations)
    return Limit(seconds=min(seconds, most), simulations=simulations, stop=stop)


def load(fields: Fields, caps: Caps, stop: Stop, report: Report) -> str:
    """Load compiled groups into this process."""
    for name in fields["names"]:
        load_group(name)
    return "null"


def prepare() -> None:
    """Import what plays before anything is compiled."""
    import numpy as np

    np.random.default_rng(0)
    for agent in ("random", "rules"):
        players.make(agent, CLASSIC, megabytes=1)


LOADED: set[str] = set()
"""The groups of kernels that this process has loaded; forked workers inherit them."""


def load_group(name: str) -> None:
    """Load a compiled group into this process, and the files that its first search reads.

    Without a compiled group in the cache this compiles it, which takes seconds.
    """
    from fourlab.agents import registry
    from fourlab.compiled import warmup

    if name in LOADED:
        return
    # Even a group that cannot be loaded is not tried again: a search then compiles what it needs.
    LOADED.add(name)
    warmup.load(name)
    from fourlab.analysis import opinion, review  # noqa: F401  imported for the workers

    for agent in players.AGENTS:
        registry.kernels_of(agent)  # imports the agent's class
    if name == "solver":
        from fourlab.solver.book import shipped_book

        shipped_book()
    if name == "planes":
        from fourlab.nets.evaluator import load as load_network

        load_network("alphazero")


def rows(fields: Fields, caps: Caps, stop: Stop, report: Report) -> str:
    """Describe the runs that have `changed`, and return which of all `names` are locked.

    A run that a process has begun or ceased to work on since, compared with `locked`, has changed.
    """
    home = Path(fields["home"])
    locked = {name for name in fields["names"] if run_folders.is_locked(home, name)}
    changed = {*fields["changed"], *locked.symmetric_difference(fields["locked"])}
    described = {}
    for name in sorted(changed):
        try:
            row = r.RunRow.model_validate(run_folders.row(home, name))
        except ValidationError:  # a manifest with numbers in place of words, say
            row = r.RunRow.model_validate(run_folders.damaged_row(name, "its files are damaged"))
        described[name] = row.model_dump(mode="json")
    return json.dumps({"rows": described, "locked": sorted(locked)})


READ_ERRORS = (
    *(AttributeError, LookupError, TypeError, ValueError),
    *(ArithmeticError, RecursionError, sqlite3.Error),
)
"""What reading a damaged run folder raises, besides UserError and OSError."""


@contextmanager
def _reading(home: Path) -> Iterator[None]:
    """Turn what damaged files of a run raise into a UserError of one line, without paths."""
    try:
        yield
    except ValidationError as error:  # an answer with numbers in place of words, say
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise UserError(f"the files of the run are damaged: {where}: {first['msg']}") from None
    except (UserError, OSError) as error:
        # An OSError without a number, such as a StoreError, has a message of its own.
        message = getattr(error, "strerror", None) or str(error)
        kind = type(error) if isinstance(error, UserError) else UserError
        raise kind(message.replace(f"{home}/", "").replace(str(home), "")) from None
    except READ_ERRORS as error:
        raise UserError(f"the files of the run are damaged: {type(error).__name__}") from None


def run(fields: Fields, caps: Caps, stop: Stop, report: Report) -> str:
    """Return a run: settings, tables, figures, curves."""
    from fourlab.analysis import overview

    home = Path(fields["home"])
    with _reading(home):
        data = overview.detail(run_folders.find(home, fields["name"]))
        return r.RunAnswer.model_validate(data).model_dump_json()


def compare(fields: Fields, caps: Caps, stop: Stop, report: Report) -> str:
    """Return the settings in which runs differ."""
    from fourlab.analysis import overview

    home = Path(fields["home"])
    with _reading(home):
        runs = [run_folders.find(home, name) for name in fields["names"]]
        return r.Comparison.model_validate(overview.compare(runs)).model_dump_json()


def games(fields: Fields, caps: Caps, stop: Stop, report: Report) -> str:
    """List games of a run, page by page."""
    from fourlab.analysis import overview

    home = Path(fields["home"])
    with _reading(home):
        run = run_folders.find(home, fields["name"])
        data = overview.games(run, fields["offset"], fields["limit"])
        return r.GamesAnswer.model_validate(data).model_dump_json()


def game(fields: Fields, caps: Caps, stop: Stop, report: Report) -> str:
    """Return a game with what the agents reported."""
    from fourlab.analysis import overview

    home = Path(fields["home"])
    with _reading(home):
        run = run_folders.find(home, fields["name"])
        data = overview.game(run, fields["number"])
        return r.GameAnswer.model_validate(data).model_dump_json()


def figure(fields: Fields, caps: Caps, stop: Stop, report: Report) -> str:
    """Return a figure of a run, as a JSON string."""
    home = Path(fields["home"])
    with _reading(home):
        run = run_folders.find(home, fields["name"])
        return json.dumps(run_folders.figure(run, fields["figure"]))


KINDS: dict[str, Work] = {
    work.__name__: work
    for work in (
        *(move, analysis, stream, review, review_page, load, check_own),
        *(rows, run, compare, games, game, figure),
    )
}
"""What a worker can be asked to do, by name."""
