"""One league of all agents: those of the five documents, faithful and corrected, and ours."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Any

from fourlab.arena.results import Results
from fourlab.arena.tables import Table
from fourlab.arena.tournament import Player, Tournament
from fourlab.reporting.figures import COLOURS, MARKS
from fourlab.studies.arya.alpha import AS_PLAYED, LISTED, MENDED, NETWORKS, alpha
from fourlab.studies.arya.bouts import without_paths
from fourlab.studies.arya.lessons import q_tables
from fourlab.studies.compare import share
from fourlab.studies.experiment import Experiment, Finding, Part, Picture, Text
from fourlab.studies.workbench import Workbench

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from fourlab.arena.ratings import Rating

AGENTS = {
    "000 as coded": "vannucci-abril:faithful=1",
    "000 corrected": "vannucci-abril",
    "001 MC40 as coded": "bhat-mc40:faithful=1",
    "001 MC40 corrected": "bhat-mc40",
    "001 MC200 as coded": "bhat-mc200:faithful=1",
    "001 MC200 corrected": "bhat-mc200",
    "002 MCTS 500": "gao",
    "003 MCTS 5": "sewell",
    "003 guided by its network": "sewell-guided",
    "003 negamax": "negamax",
    "004 vanilla as listed": "arya-vanilla:seconds=none,simulations=10500,faithful=1",
    "004 vanilla corrected": "arya-vanilla:seconds=none,simulations=10500",
    "004 minimax of the window": "arya-minimax:faithful=1",
    "004 minimax(4)": "arya-minimax:tie=random",
    "004 minimax(6)": "arya-minimax:depth=6,tie=random",
    "004 AlphaMCTS(10) as listed": alpha(NETWORKS[1000], 20, LISTED, AS_PLAYED),
    "004 AlphaMCTS(10) corrected": alpha(NETWORKS[1000], 20, MENDED),
    "004 AlphaMCTS(50) as listed": alpha(NETWORKS[5000], 20, LISTED, AS_PLAYED),
    "004 AlphaMCTS(50) corrected": alpha(NETWORKS[5000], 20, MENDED),
    "ours: random": "random",
    "ours: rules": "rules",
    "ours: value network": "value",
    "ours: DQN": "dqn",
    "ours: minimax(8)": "minimax:depth=8,tie=random",
    "ours: MCTS 1,000": "mcts:simulations=1000",
    "ours: MCTS 10,000": "mcts:simulations=10000",
    "ours: guided 200": "guided:simulations=200",
    "ours: alphazero, no search": "alphazero:simulations=0",
    "ours: alphazero 100": "alphazero:simulations=100",
    "ours: perfect": "perfect:choice=random",
}
"""By whose they are and what they are called."""
LEFT_OUT = """\
Document 001's Q-learning, which knows boards of five columns only. AlphaMCTS makes 20 iterations a move here, so that its network
of 128 filters and 8 blocks takes no longer than the other agents; the document's makes 1,000. Its networks learned without the
document's faults, also where the search is as listed. Document 004's tables learned from {training:,} games; the document's from
3,000,000."""
GAP, FAR = 6, 0.3
"""How far from its mark a name begins, in points; what it costs not to be level with it, for it might be taken for another's."""
PLACES = tuple((right, above) for above in (0, 6, -6, 11, -11, 16, -16) for right in (True, False))
"""Where a name may stand: right of its mark or left, and how far above; the best first, in points."""
OWNERS = ("000", "001", "002", "003", "004", "ours")


@dataclass(frozen=True)
class _Answers:
    """Asks every agent about every one of so many solved positions, and counts its CPU seconds."""

    specs: tuple[str, ...]
    positions: int
    seed: int

    def __call__(self, number: int) -> dict[str, Any]:
        """Let one agent answer: what it cost, where it could go wrong and where it did."""
        import time

        import numpy as np

        from fourlab.agent import Limit
        from fourlab.agents.registry import make
        from fourlab.training.test_set import some_positions

        agent = make(self.specs[number])
        positions, truth = some_positions(self.positions)
        agent.decide(positions[0], Limit(), np.random.default_rng(self.seed))  # what is loaded at first does not count
        mistakes = can_go_wrong = 0
        begun = time.process_time()
        for place, (position, scores) in enumerate(zip(positions, truth, strict=True)):
            column = agent.decide(position, Limit(), np.random.default_rng([self.seed, place])).column
            signs = {each: (value > 0) - (value < 0) for each, value in scores.items()}
            can_go_wrong += min(signs.values()) < max(signs.values())
            mistakes += signs[column] < max(signs.values())
        seconds = (time.process_time() - begun) / len(positions)
        return {"seconds": seconds, "mistakes": mistakes, "can_go_wrong": can_go_wrong}


def _agents(bench: Workbench) -> dict[str, str]:
    """All agents, or some of them, with the tables of document 004 that are learned now."""
    (faithful, corrected), _ = q_tables(bench, bench.size["training"])
    agents = {**AGENTS, "004 Q-learning as coded": faithful, "004 Q-learning corrected": corrected}
    return dict(list(agents.items())[:: bench.size["every"]])


def league(bench: Workbench) -> Iterator[Part]:
    """Everybody against everybody, and everybody beside the truth."""
    agents = _agents(bench)
    players = tuple(Player(spec, name=name) for name, spec in agents.items())
    tournament = Tournament(players, openings="random:4", rounds=bench.size["rounds"], seed=bench.seed)
    results = Results(tournament)
    for game in bench.play("games", tournament):
        results.add(game)
    asked = bench.repeat("answers", _Answers(tuple(agents.values()), bench.size["positions"], bench.seed), len(agents))
    answers = dict(zip(agents, asked, strict=True))
    ratings = results.ratings(bench.seed)
    rows = [
        (
            place + 1,
            rating.name,
            without_paths(agents[rating.name]),
            str(rating.elo),
            "–" if rating.score is None else f"{100 * rating.score:.1f} %",
            _right(answers[rating.name]),
            f"{answers[rating.name]['seconds']:.2g}",
        )
        for place, rating in enumerate(ratings)
    ]
    head = ("", "agent", "spec", "Elo (95 %)", "score", "right where it matters", "CPU s a move")
    yield Table(f"League of {len(agents)} agents, {results.games:,} games", head, tuple(rows))
    yield Text("Who is not here, and who is not quite the document's", LEFT_OUT.format(training=bench.size["training"]))
    yield from _comparisons(results)
    points = [(each.name, each.elo.value, each.elo.low, each.elo.high, answers[each.name]["seconds"]) for each in ratings]
    yield Picture(
        "strength",
        "Strength against thinking time: Bradley-Terry Elo with 95 % intervals, CPU seconds a move on solved positions. "
        "Who won every game has no Elo and is not shown.",
        lambda: _draw(ratings, answers),
        Table("strength", ("agent", "Elo", "low", "high", "CPU seconds a move"), tuple(points)),
    )


def _right(answer: Mapping[str, Any]) -> str:
    """How often the exact value was kept where it could be lost."""
    return share(answer["can_go_wrong"] - answer["mistakes"], answer["can_go_wrong"])


def _comparisons(results: Results) -> Iterator[Part]:
    """What the corrections are worth."""
    pairs = (
        ("000", "as coded", "corrected"),
        ("001 MC40", "as coded", "corrected"),
        ("001 MC200", "as coded", "corrected"),
        ("004 vanilla", "as listed", "corrected"),
        ("004 Q-learning", "as coded", "corrected"),
        ("004 AlphaMCTS(10)", "as listed", "corrected"),
        ("004 AlphaMCTS(50)", "as listed", "corrected"),
    )
    for whose, before, after in pairs:
        coded, mended = (results.share(f"{whose} {each}") for each in (before, after))
        what = f"{whose}: games won against all others"
        yield Finding(what, "", share(coded.wins, coded.games), share(mended.wins, mended.games))


@dataclass(frozen=True)
class _Point:
    """An agent in the figure."""

    name: str
    owner: int
    seconds: float
    elo: float
    low: float
    high: float


def _points(ratings: "Sequence[Rating]", answers: Mapping[str, Mapping[str, Any]]) -> list[_Point]:
    """Who has an Elo; an interval that is open on one side ends at the value."""
    found = []
    for rating in ratings:
        if (elo := rating.elo.value) is None:
            continue
        owner = next(place for place, name in enumerate(OWNERS) if rating.name.startswith(name))
        low, high = (elo if each is None else each for each in (rating.elo.low, rating.elo.high))
        found.append(_Point(rating.name, owner, answers[rating.name]["seconds"], elo, low, high))
    return found


def _draw(ratings: "Sequence[Rating]", answers: Mapping[str, Mapping[str, Any]]) -> "Figure":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 7.5))
    axes = figure.add_axes((0.07, 0.065, 0.915, 0.92))  # where it will be, so that names can be placed before it is drawn
    points = _points(ratings, answers)
    for each in points:
        axes.plot([each.seconds, each.seconds], [each.low, each.high], color=COLOURS[each.owner], linewidth=1, alpha=0.5)
        axes.plot(each.seconds, each.elo, color=COLOURS[each.owner], marker=MARKS[each.owner], markersize=6)
    for place, name in enumerate(OWNERS):
        axes.plot([], [], linestyle="", color=COLOURS[place], marker=MARKS[place], label=name)
    axes.set_xscale("log")
    if points:
        axes.set_ylim(min(each.low for each in points) - 50, max(each.high for each in points) + 50)
        axes.axhline(fmean(each.elo for each in points), color="#888888", linewidth=0.6)
        quickest, slowest = (end(each.seconds for each in points) for end in (min, max))
        axes.set_xlim(quickest / 2.5, slowest * 6)  # room for names
    axes.set_xlabel("CPU seconds a move")
    axes.set_ylabel("Elo")
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small", title="document", loc="upper left")
    _name(axes, points)
    return figure


def _name(axes: "Axes", points: Sequence[_Point]) -> None:
    """Write the names beside the marks, each as near as possible where nothing else is, or least."""
    figure = axes.get_figure()
    assert figure is not None
    pixels = figure.dpi / 72
    marks = [axes.transData.transform((each.seconds, each.elo)) / pixels for each in points]
    taken = [_Box(x - 4, y - 4, x + 4, y + 4) for x, y in marks]
    for each in points:  # a name may cross an interval rather than a mark or another name
        (x, low), (_, high) = (axes.transData.transform((each.seconds, end)) / pixels for end in (each.low, each.high))
        taken.append(_Box(x - 1, low, x + 1, high, cost=0.05))
    for each, (x, y) in zip(points, marks, strict=True):
        boxes = {place: _beside(x, y, each.name, *place) for place in PLACES}
        costs = {place: FAR * abs(place[1]) + sum(box.overlap(other) for other in taken) for place, box in boxes.items()}
        right, above = place = min(PLACES, key=costs.__getitem__)
        taken.append(boxes[place])
        axes.annotate(
            each.name,
            (each.seconds, each.elo),
            (GAP if right else -GAP, above),
            textcoords="offset points",
            ha="left" if right else "right",
            va="center",
            fontsize=7,
            color=COLOURS[each.owner],
        )


def _beside(x: float, y: float, name: str, right: bool, above: int) -> "_Box":
    """Where a name would stand that is written right or left of a mark and so far above it."""
    width, height = 4.1 * len(name), 8  # of letters of seven points, about
    left = x + GAP if right else x - GAP - width
    return _Box(left, y + above - height / 2, left + width, y + above + height / 2)


@dataclass(frozen=True)
class _Box:
    """A rectangle of the figure in which something stands, in points."""

    left: float
    bottom: float
    right: float
    top: float
    cost: float = 1.0
    """How bad it is to write over it."""

    def overlap(self, other: "_Box") -> float:
        """How much of another is covered, weighed by what that costs; a mere touch counts, too."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return other.cost * (10 + width * height) if width > 0 and height > 0 else 0.0


EXPERIMENTS: tuple[Experiment, ...] = (
    Experiment(
        "league",
        ("D4-19",),
        "A league of all agents",
        "Every document compares its own agents only.",
        {
            "smoke": {"every": 6, "training": 20_000, "rounds": 1, "positions": 3},
            "quick": {"every": 1, "training": 300_000, "rounds": 4, "positions": 240},
            "full": {"every": 1, "training": 3_000_000, "rounds": 50, "positions": 960},
        },
        league,
        (6, 370, 4600),
        networks=tuple(NETWORKS.values()),
    ),
)
