"""One league of all agents: those of the five reports, faithful and corrected, and ours."""

import math
import re
import textwrap
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from fourlab.agent import Limit
from fourlab.agents.registry import make
from fourlab.arena.ratings import Rating
from fourlab.arena.results import Results, Share
from fourlab.arena.tournament import Player, Tournament
from fourlab.reporting.figures import COLOURS, MARKS, SMALL, Axes, Figure, frame
from fourlab.sources import AUTHOR_OF
from fourlab.studies.arya.alpha import (
    AS_PLAYED,
    ITERATIONS,
    LISTED,
    LISTED_NETWORKS,
    NETWORKS,
    WITHOUT_FAULTS,
    alpha,
    judged,
    trainings,
)
from fourlab.studies.arya.bouts import without_paths
from fourlab.studies.claims import Claim, Estimate, Source, Value, Verdict, share
from fourlab.studies.verdicts import larger_share
from fourlab.studies.workbench import Part, Picture, Table, Text, Workbench
from fourlab.training.test_set import solved_positions

AGENTS = {
    "Vannucci & Abril as coded": "vannucci-abril:faithful=1",
    "Vannucci & Abril corrected": "vannucci-abril",
    "Bhat MC40 as coded": "bhat-mc40:faithful=1",
    "Bhat MC40 corrected": "bhat-mc40",
    "Bhat MC200 as coded": "bhat-mc200:faithful=1",
    "Bhat MC200 corrected": "bhat-mc200",
    "Gao MCTS 500": "gao",
    "SeWell MCTS 5 as coded": "sewell:faithful=1",
    "SeWell MCTS 5 corrected": "sewell",
    "SeWell guided as coded": "sewell-guided:faithful=1",
    "SeWell guided corrected": "sewell-guided",
    "SeWell negamax": "negamax",
    "Arya vanilla as listed": "arya-vanilla:seconds=none,simulations=10500,faithful=1",
    "Arya vanilla corrected": "arya-vanilla:seconds=none,simulations=10500",
    "Arya Q-learning as coded": "arya-q:faithful=1",
    "Arya Q-learning corrected": "arya-q",
    "Arya minimax of the window": "arya-minimax:faithful=1",
    "Arya minimax(4)": "arya-minimax:ties=random",
    "Arya minimax(6)": "arya-minimax:depth=6,ties=random",
    "ours: random": "random",
    "ours: rules": "rules",
    "ours: value network": "value",
    "ours: DQN": "dqn",
    "ours: minimax(8)": "minimax:depth=8,ties=random",
    "ours: MCTS 1,000": "mcts:simulations=1000",
    "ours: MCTS 10,000": "mcts:simulations=10000",
    "ours: guided 200": "guided:simulations=200",
    "ours: alphazero, no search": "alphazero:simulations=0",
    "ours: alphazero 100": "alphazero:simulations=100",
    "ours: patterns 1,000": "patterns:nodes=1000",
    "ours: anytime 10,000": "anytime:nodes=10000",
    "ours: perfect": "perfect:ties=random",
}
"""Specs by name: the author or "ours", and the agent. Names are stored with the games.

AlphaMCTS comes on top, since its networks may be missing.
"""
SIMULATIONS = 20
"""Simulations per move of AlphaMCTS here, so that it takes no longer than the other agents."""
LEFT_OUT = """\
Bhat's Q-learning is missing because it plays only on boards of five columns. AlphaMCTS makes
{simulations} simulations per move here, because its network has 128 filters and 8 blocks; Arya's
makes {iterations:,}. {networks} Arya's tables are those of 3,000,000 games as in the report, as far
as 10 discs. SeWell's search keeps one tree for all its games against an opponent: {games} from
random openings here, 500 from the empty board in the report. The vanilla search has the rollouts of
Arya's Experiment 2."""
LISTED_TRAINED = "{agent} as listed was trained by the listed program, too."
SOUND_NETWORK = """\
Of {agent} only the search is as listed: its network was trained without the report's faults."""
SEARCH_ONLY = "search as listed"
"""How the name of an agent ends that has the report's faults only in its search."""
OPPONENT = "SeWell negamax"
"""Kaggle's agent, against which SeWell's learns."""
POINTS = 5
"""Margin of shares of games won, in percentage points."""
WHY = (
    "games won against all others; true means that the corrected agent wins more of them than the "
    "faithful one"
)
SHORT = (
    f"no verdict, because AlphaMCTS makes {SIMULATIONS} simulations per move here and "
    f"{ITERATIONS:,} in the report"
)
KEPT = "keeps the value where it can be lost"
"""The header of the share of decisive positions without a mistake."""
OWNERS = ("Vannucci & Abril", "Bhat", "Gao", "SeWell", "Arya", "ours")
OLD_OWNERS = dict(zip(AUTHOR_OF, OWNERS, strict=False))
"""How names of agents begin in games that were stored by earlier versions, 000 to 004, and now."""
CORRECTED_PAIRS = (
    ("Vannucci & Abril", "as coded", "corrected"),
    ("Bhat MC40", "as coded", "corrected"),
    ("Bhat MC200", "as coded", "corrected"),
    ("SeWell MCTS 5", "as coded", "corrected"),
    ("SeWell guided", "as coded", "corrected"),
    ("Arya vanilla", "as listed", "corrected"),
    ("Arya Q-learning", "as coded", "corrected"),
    ("Arya AlphaMCTS(10)", "as listed", "corrected"),
    ("Arya AlphaMCTS(50)", "as listed", "corrected"),
)
"""Agents that play with and without their faults, and the endings of the two names."""

# Labels in the figure, in points.
GAP = 6
"""The distance of a label from its marker."""
FAR = 0.3
"""The cost per point of a vertical offset: the label might be taken for another marker's."""
PLACES = tuple((right, above) for above in (0, 6, -6, 11, -11, 16, -16) for right in (True, False))
"""Candidate places of a label, best first: right or left of its marker, and how far above."""


def _answers(specs: tuple[str, ...], count: int, seed: int, number: int) -> dict[str, Any]:
    """Let agent `number` choose a move in `count` solved positions.

    Returns CPU seconds per move, mistakes, and the positions where a mistake was possible.
    """
    agent = make(specs[number])
    positions, scores = solved_positions(count)
    # Loading and compiling do not count.
    agent.decide(positions[0], Limit(), np.random.default_rng(seed))
    begun = time.process_time()
    chosen = [
        agent.decide(position, Limit(), np.random.default_rng([seed, place])).column
        for place, position in enumerate(positions)
    ]
    seconds = (time.process_time() - begun) / len(positions)
    mistakes, can_go_wrong = map(sum, zip(*map(judged, chosen, scores), strict=True))
    return {"seconds": seconds, "mistakes": mistakes, "can_go_wrong": can_go_wrong}


def alpha_agents() -> dict[str, str]:
    """Return AlphaMCTS as listed and corrected.

    Where no network of the listed program exists, the name says that only the search is listed.
    """
    agents = {}
    for games, net in NETWORKS.items():
        # The first seed; Experiment 4 plays all of them.
        own = next(iter(trainings(LISTED_NETWORKS[games]).values()), None)
        name = f"Arya {_alpha_name(games)}"
        version = SEARCH_ONLY if own is None else "as listed"
        agents[f"{name} {version}"] = alpha(own or net, SIMULATIONS, LISTED, AS_PLAYED)
        agents[f"{name} corrected"] = alpha(net, SIMULATIONS, WITHOUT_FAULTS)
    return agents


def _alpha_name(games: int) -> str:
    """Return what the thesis calls AlphaMCTS after a number of games of training."""
    return f"AlphaMCTS({games // 100})"


def _agents(bench: Workbench) -> dict[str, str]:
    """Return every n-th agent, with n from the scale."""
    return dict(list({**AGENTS, **alpha_agents()}.items())[:: bench.size["every"]])


def _renamed(name: str) -> str:
    """Return the name of an agent today."""
    owner, _, rest = name.partition(" ")
    return f"{OLD_OWNERS[owner]} {rest}" if owner in OLD_OWNERS else name


def league(bench: Workbench) -> Iterator[Part]:
    """Play a round robin of all agents, and test all agents on solved positions."""
    agents = _agents(bench)
    players = tuple(Player(spec, name=name) for name, spec in agents.items())
    tournament = Tournament(
        players, openings="random:4", rounds=bench.size["rounds"], seed=bench.seed
    )
    results = Results(tournament)
    for game in bench.play("games", tournament):
        # Games stored by earlier versions have the reports' numbers in their names.
        results.add(game._replace(red=_renamed(game.red), yellow=_renamed(game.yellow)))
    specs = tuple(agents.values())
    tested = bench.repeat(
        "answers", _answers, len(agents), specs, bench.size["positions"], bench.seed
    )
    answers = dict(zip(agents, tested, strict=True))
    ratings = results.ratings(bench.seed)
    rows = [
        (
            place,
            rating.name,
            without_paths(agents[rating.name]),
            str(rating.elo),
            "–" if rating.score is None else f"{100 * rating.score:.1f} %",
            _right(answers[rating.name]),
            f"{answers[rating.name]['seconds']:.2g}",
        )
        for place, rating in enumerate(ratings, 1)
    ]
    head = ("rank", "agent", "spec", "Elo (95 %)", "score", KEPT, "CPU seconds per move")
    yield Table(f"League, {len(agents)} agents, {results.games:,} games", head, tuple(rows))
    yield Text("Agents that are missing or differ from the reports", _left_out(bench))
    yield from _strongest(ratings)
    yield from _comparisons(results, agents)
    points = [
        (one.name, one.elo.value, one.elo.low, one.elo.high, answers[one.name]["seconds"])
        for one in ratings
    ]
    yield Picture(
        "strength",
        "Strength and thinking time: Bradley-Terry Elo with 95 % intervals, "
        "CPU seconds per move on solved positions. "
        "An agent that won every game has no Elo and is not shown.",
        lambda: _draw(ratings, answers),
        Table(
            "strength",
            ("agent", "Elo", "Elo low", "Elo high", "CPU seconds per move"),
            tuple(points),
        ),
    )


def _left_out(bench: Workbench) -> str:
    """Return what the league lacks, in lines of at most 100 columns."""
    networks = [
        (LISTED_TRAINED if trainings(listed) else SOUND_NETWORK).format(agent=_alpha_name(games))
        for games, listed in LISTED_NETWORKS.items()
    ]
    text = LEFT_OUT.format(
        simulations=SIMULATIONS,
        iterations=ITERATIONS,
        networks=" ".join(networks),
        # Two for every opening, with colours swapped.
        games=2 * bench.size["rounds"],
    )
    return textwrap.fill(text, 100)


def _right(answer: Mapping[str, Any]) -> str:
    """Return how often the game-theoretic value was kept where it could be lost."""
    return str(share(answer["can_go_wrong"] - answer["mistakes"], answer["can_go_wrong"]))


def _strongest(ratings: Sequence[Rating]) -> Iterator[Claim]:
    """Yield the best agent of each report, as published and corrected, beside perfect play."""
    perfect = next((one for one in ratings if one.name == "ours: perfect"), None)
    for owner in OWNERS[:-1]:
        own = [
            one
            for one in ratings
            # An agent with a corrected network and a listed search is neither.
            if one.name.startswith(owner)
            and one.name != OPPONENT
            and not one.name.endswith(SEARCH_ONLY)
        ]
        # Ratings are sorted, strongest first.
        faithful = next((one for one in own if not one.name.endswith(" corrected")), None)
        corrected = next((one for one in own if one.name.endswith(" corrected")), None)
        if faithful is not None:
            yield Claim(
                f"league-best-{slug(owner)}",
                f"{owner}: the best agent",
                "",
                Source.OURS,
                faithful=_rated(faithful, owner),
                corrected="" if corrected is None else _rated(corrected, owner),
                exact="" if perfect is None else _rated(perfect, "ours:"),
            )


def _rated(rating: Rating, owner: str) -> Value:
    """Return the Elo of an agent with its name; zero is the mean of the league."""
    name = rating.name.removeprefix(owner).strip()
    elo = rating.elo
    if elo.value is None:
        return f"{name}: {elo.why}"
    if elo.low is None or elo.high is None:
        # A number with one end only would be shown without its interval.
        name = f"{name}, {elo}"
    return Estimate(elo.value, elo.low, elo.high, rating.games, unit="Elo", digits=0, note=name)


def _comparisons(results: Results, agents: Mapping[str, str]) -> Iterator[Claim]:
    """Compare agents with and without their faults."""
    for agent, before, after in CORRECTED_PAIRS:
        names = [f"{agent} {ending}" for ending in (before, after)]
        if not agents.keys() >= set(names):
            continue
        faithful, corrected = map(results.share, names)
        why = SHORT if "AlphaMCTS" in agent else WHY
        yield Claim(
            f"league-{slug(agent)}",
            f"{agent}: games won",
            "",
            Source.OURS,
            faithful=_won(faithful),
            corrected=_won(corrected),
            true=_more(corrected, faithful) if why == WHY else None,
            why=why,
        )


def slug(agent: str) -> str:
    """Return an agent as part of the name of a claim: arya-alphamcts-10."""
    return re.sub(r"[^a-z0-9]+", "-", agent.lower()).strip("-")


def _won(results: Share) -> Estimate:
    return share(results.wins, results.games)


def _more(one: Share, other: Share) -> Verdict:
    return larger_share(one.wins, one.games, other.wins, other.games, POINTS)


@dataclass(frozen=True)
class _Point:
    """An agent in the figure."""

    name: str
    owner: int
    """An index into OWNERS."""
    seconds: float
    elo: float
    low: float
    high: float

    @property
    def colour(self) -> str:
        """The colour of the owner."""
        return COLOURS[self.owner]


def _points(ratings: Sequence[Rating], answers: Mapping[str, Mapping[str, Any]]) -> list[_Point]:
    """Return the agents that have an Elo; an unbounded interval ends at the Elo."""
    points = []
    for rating in ratings:
        elo = rating.elo.value
        if elo is None:
            continue
        owner = next(place for place, name in enumerate(OWNERS) if rating.name.startswith(name))
        # An agent that lost every game, say, has no lower end.
        low = elo if rating.elo.low is None else rating.elo.low
        high = elo if rating.elo.high is None else rating.elo.high
        points.append(_Point(rating.name, owner, answers[rating.name]["seconds"], elo, low, high))
    return points


def _draw(ratings: Sequence[Rating], answers: Mapping[str, Mapping[str, Any]]) -> Figure:
    from matplotlib.figure import Figure

    # Not `panels`: a constrained layout moves the axes when the figure is drawn.
    figure = Figure(figsize=(10, 7.5))
    # Fixed axes, because labels are placed before the figure is drawn.
    axes = figure.add_axes((0.07, 0.065, 0.915, 0.92))
    points = _points(ratings, answers)
    for point in points:
        axes.plot(
            [point.seconds, point.seconds],
            [point.low, point.high],
            color=point.colour,
            linewidth=1,
            alpha=0.5,
        )
        axes.plot(
            point.seconds, point.elo, color=point.colour, marker=MARKS[point.owner], markersize=6
        )
    for place, name in enumerate(OWNERS):
        # Empty plots give the legend one entry per author, not one per agent.
        axes.plot([], [], linestyle="", color=COLOURS[place], marker=MARKS[place], label=name)
    axes.set_xscale("log")
    if points:
        lowest = min(point.low for point in points)
        highest = max(point.high for point in points)
        axes.set_ylim(lowest - 50, highest + 50)
        axes.axhline(fmean(point.elo for point in points), color="#888888", linewidth=0.6)
        seconds = [point.seconds for point in points]
        axes.set_xlim(min(seconds) / 2.5, max(seconds) * 6)  # room for labels
    legend = {**SMALL, "title": "report", "loc": "upper left"}
    frame(axes, legend, xlabel="CPU seconds per move", ylabel="Elo")
    _label(axes, points)
    return figure


def _label(axes: Axes, points: Sequence[_Point]) -> None:
    """Write each name beside its marker, at the place that covers least."""
    figure = axes.get_figure()
    assert figure is not None
    # Transforms give pixels; boxes and offsets are in points, 72 to the inch.
    pixels = figure.dpi / 72
    marks = [axes.transData.transform((point.seconds, point.elo)) / pixels for point in points]
    # Markers first: no label may cover one.
    taken = [_Box(x - 4, y - 4, x + 4, y + 4) for x, y in marks]
    # Nor may it leave the panel, where the numbers of the axes are.
    left, right = axes.bbox.x0 / pixels, axes.bbox.x1 / pixels
    taken += [
        _Box(-math.inf, -math.inf, left, math.inf),
        _Box(right, -math.inf, math.inf, math.inf),
    ]
    for point in points:
        x, low = axes.transData.transform((point.seconds, point.low)) / pixels
        _, high = axes.transData.transform((point.seconds, point.high)) / pixels
        # Better to cross an interval than a marker or another label.
        taken.append(_Box(x - 1, low, x + 1, high, cost=0.05))
    for point, (x, y) in zip(points, marks, strict=True):
        # Greedy, best rating first: a label never moves to make room for a later one.
        boxes = {place: _beside(x, y, point.name, *place) for place in PLACES}
        costs = {
            place: FAR * abs(place[1]) + sum(box.overlap(other) for other in taken)
            for place, box in boxes.items()
        }
        right, above = place = min(PLACES, key=costs.__getitem__)
        taken.append(boxes[place])
        axes.annotate(
            point.name,
            (point.seconds, point.elo),
            (GAP if right else -GAP, above),
            textcoords="offset points",
            ha="left" if right else "right",
            va="center",
            fontsize=7,
            color=point.colour,
        )


def _beside(x: float, y: float, name: str, right: bool, above: int) -> "_Box":
    """Return the box of a label to the right or left of a marker and `above` points higher."""
    width = 4.1 * len(name)  # roughly, for characters of 7 points
    height = 8
    left = x + GAP if right else x - GAP - width
    return _Box(left, y + above - height / 2, left + width, y + above + height / 2)


@dataclass(frozen=True)
class _Box:
    """A rectangle of the figure that something occupies, in points."""

    left: float
    bottom: float
    right: float
    top: float
    cost: float = 1.0
    """The weight of an overlap with this box."""

    def overlap(self, other: "_Box") -> float:
        """Return the weighted area shared with another box, plus a constant for any contact."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        # The constant keeps labels from touching where the shared area is tiny.
        return other.cost * (10 + width * height) if width > 0 and height > 0 else 0.0
