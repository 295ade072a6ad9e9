"""SeWell's Experiment 1: one tree for 500 games against negamax, five rollouts per own move."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fourlab.agent import Limit
from fourlab.agents.minimax.negamax import Negamax
from fourlab.arena.tournament import Player, Tournament
from fourlab.game.position import Position
from fourlab.studies.claims import (
    COUNTS,
    RESULTS,
    Answer,
    Claim,
    Estimate,
    Source,
    Verdict,
    share,
)
from fourlab.studies.sewell import curves
from fourlab.studies.sewell.curves import Runs, over_trainings
from fourlab.studies.sewell.learner import TreeTraining, train_all
from fourlab.studies.verdicts import at_least, larger_mean, may_happen, same_mean
from fourlab.studies.workbench import Part, Picture, Text, Workbench

GAMES = 500
MAX_ROLLOUTS = 52_500
"""Five rollouts before each of 21 moves in 500 games."""
FIRST_GAMES = 100
LAST_GAMES = 50
LEAST_RUNS = 3
"""The spread of runs is part of every interval, so fewer runs give no verdict."""
ITERATIONS_MARGIN = 8
"""Margins of a single run's numbers; SeWell's run needs 17 iterations."""
AVERAGE_MARGIN = 0.3
START_MARGIN = 0.4
STEP_MARGIN = 0.1
ALWAYS = 0.9
"""Share of runs that must win every game for "it will always win"; 40 runs can show it."""
POSITIONS = 200
ASKED = 20
"""Times that negamax is asked about the same position."""
DETERMINISTIC = "negamax:ties=first"
RANDOM = "negamax:ties=random"
AGENT = "sewell:faithful=1"
CORRECTED_AGENT = "sewell"
"""The presets of Fourlab's agents, as coded and corrected."""
KEPT = (
    "B2, B11, B13: SeWell's games follow the replies that the tree has kept and never consult "
    "negamax again. Corrected, negamax breaks ties at random, as it does today, and is consulted "
    "at every visit"
)


@dataclass(frozen=True)
class TrainedRuns:
    """Runs of three kinds of training, each followed by real games against both negamaxes."""

    first_tie: Runs
    """As in the report: negamax takes the first of equal columns, and its replies are kept."""
    random_tie: Runs
    """Negamax breaks ties at random, as today (B13); its replies are kept."""
    resampled: Runs
    """Negamax breaks ties at random and is consulted whenever it is to move (B2)."""

    @property
    def kinds(self) -> dict[str, Runs]:
        """The runs by the names that tables and figures use."""
        return {
            "first of equals, replies kept": self.first_tie,
            "random ties (B13), replies kept": self.random_tie,
            "random ties, sampled anew (B2, B13)": self.resampled,
        }


def conduct(bench: Workbench) -> Iterator[Part]:
    """Train with all three kinds of negamax, and test the trees in real games."""
    runs = _train(bench)
    # Verdicts need the report's number of games, and several runs.
    judged = bench.size["games"] == GAMES and len(runs.first_tie) >= LEAST_RUNS
    yield from _curve(runs, judged)
    yield from _after_training(runs, judged)
    yield _agents(bench)
    yield from _negamax(bench, judged)
    if bench.size["games"] <= GAMES:
        yield Picture(
            "avg-win-vs-iters",
            "The figure of Experiment 1: SeWell's run beside ours, on the same axes.",
            lambda: curves.draw_beside_reported(runs.first_tie),
            curves.beside_reported(runs.first_tie),
        )
    yield Picture(
        "all-runs",
        "All runs (thin) and their average: negamax as it was then and as it is today, with its "
        "replies kept, and consulted again at every visit.",
        lambda: curves.draw_kinds(runs.kinds),
        curves.data(runs.kinds),
    )
    yield curves.table("All runs", runs.kinds)
    yield Text(
        "Five games of the first run after training, against the replies kept in its tree",
        _transcript(runs.first_tie[0]["shown"]),
    )


def _train(bench: Workbench) -> TrainedRuns:
    first_tie = TreeTraining(
        bench.seed,
        bench.size["games"],
        opponents=(DETERMINISTIC, RANDOM),
        games_after=bench.size["afterwards"],
    )
    # Each kind adds one change to the kind before.
    random_tie = replace(first_tie, ties="random")
    resampled = replace(random_tie, keep_replies=False)
    trainings = {"first_tie": first_tie, "random_tie": random_tie, "resampled": resampled}
    return TrainedRuns(**train_all(bench, trainings))


def _curve(runs: TrainedRuns, judged: bool) -> Iterator[Claim]:
    """Compare the learning curve with SeWell's."""
    points = curves.reported_curve()
    first = curves.won_from(points)
    assert first is not None  # SeWell's curve ends at 1
    faithful, corrected = runs.first_tie, runs.resampled
    winners = curves.winners(faithful), len(faithful)
    yield Claim(
        "experiment-1-found",
        "runs that win every game from some iteration on",
        "yes, its one run",
        Source.TEXT,
        faithful=share(*winners),
        corrected=share(curves.winners(corrected), len(corrected)),
        reproduced=may_happen(*winners) if judged else None,
        # A strategy that most runs do not find is not one that the method finds.
        true=at_least(curves.winners(corrected), len(corrected), 0.5) if judged else None,
        why=KEPT,
    )
    ours = curves.iterations(faithful)
    yield Claim(
        "experiment-1-iterations",
        "iterations before all games are won",
        Estimate(first, digits=0, note='"around 20" in the text'),
        Source.FIGURE,
        curves.mean_iterations(faithful),
        curves.mean_iterations(corrected),
        reproduced=same_mean(first, 1, ours, ITERATIONS_MARGIN) if judged else None,
        why=KEPT,
    )
    averages = curves.mean_results(faithful)
    mean = float(np.mean(points))
    yield Claim(
        "experiment-1-average",
        "average result of all games",
        Estimate(mean),
        Source.FIGURE,
        over_trainings(averages, within=RESULTS),
        over_trainings(curves.mean_results(corrected), within=RESULTS),
        reproduced=same_mean(mean, 1, averages, AVERAGE_MARGIN, RESULTS) if judged else None,
        why=KEPT,
    )
    starts = _starts(faithful)
    start = float(np.mean(points[: FIRST_GAMES // curves.BLOCK]))
    yield Claim(
        "experiment-1-start",
        f"average result of the first {FIRST_GAMES} games",
        Estimate(start),
        Source.FIGURE,
        over_trainings(starts, within=RESULTS),
        over_trainings(_starts(corrected), within=RESULTS),
        reproduced=same_mean(start, 1, starts, START_MARGIN, RESULTS) if judged else None,
        why=KEPT,
    )
    yield _jagged(runs, points, judged)
    yield _rollouts(runs, judged)


def _rollouts(runs: TrainedRuns, judged: bool) -> Claim:
    """Compare the number of rollouts with SeWell's bound."""
    rollouts = [run["rollouts"] for run in runs.first_tie]
    # Every run is below the bound or not: chance has no part in it.
    below = Answer.AGREES if max(rollouts) < MAX_ROLLOUTS else Answer.DIFFERS
    return Claim(
        "experiment-1-rollouts",
        "rollouts in 500 games",
        f"fewer than {MAX_ROLLOUTS:,}",
        Source.TEXT,
        faithful=over_trainings(rollouts, 0, within=COUNTS),
        corrected=over_trainings([run["rollouts"] for run in runs.resampled], 0, within=COUNTS),
        exact=f"at most {MAX_ROLLOUTS + 1:,}",
        reproduced=Verdict(below, "comparison of the largest number") if judged else None,
        true=Verdict(Answer.AGREES, "arithmetic") if judged else None,
        why="one rollout before the first game, then five before each of at most 21 own moves",
    )


def _starts(runs: Runs) -> list[float]:
    return [float(np.mean(run["results"][:FIRST_GAMES])) for run in runs]


def _jagged(runs: TrainedRuns, points: Sequence[float], judged: bool) -> Claim:
    """Test whether the curve is jagged because negamax is deterministic."""
    first_tie, random_tie = (
        [curves.mean_step(curves.blocks(run["results"])) for run in kind]
        for kind in (runs.first_tie, runs.random_tie)
    )
    step = curves.mean_step(points)
    return Claim(
        "experiment-1-jagged",
        "mean step from point to point before all games are won",
        Estimate(step),
        Source.FIGURE,
        over_trainings(first_tie, within=COUNTS),
        over_trainings(random_tie, within=COUNTS),
        reproduced=same_mean(step, 1, first_tie, 2 * STEP_MARGIN) if judged else None,
        true=larger_mean(first_tie, random_tie, STEP_MARGIN) if judged else None,
        why="B13: SeWell explains the jagged curve by a deterministic negamax. In the corrected "
        "column negamax breaks ties at random. Averages of only ten games are jagged in any case: "
        "the average of ten results of +1 or -1 has a standard deviation of up to 0.32",
    )


def _after_training(runs: TrainedRuns, judged: bool) -> Iterator[Claim]:
    """Check whether a winning line always wins: against kept replies and in real games."""
    last = [run["results"][-LAST_GAMES:] for run in runs.first_tie]
    yield Claim(
        "always-wins-kept",
        f"runs that win all of the last {LAST_GAMES} games, against kept replies",
        "all",
        Source.TEXT,
        faithful=share(sum(map(_all_won, last)), len(last)),
        corrected="no replies are kept",
        reproduced=may_happen(sum(map(_all_won, last)), len(last)) if judged else None,
        why=KEPT,
    )
    # Real games: the opponent decides anew, whatever the tree holds.
    for name, opponent, description in (
        ("then", DETERMINISTIC, "that takes the first of equal columns"),
        ("now", RANDOM, "of today, which breaks ties at random"),
    ):
        first_tie, resampled = (
            [run["afterwards"][opponent] for run in kind]
            for kind in (runs.first_tie, runs.resampled)
        )
        counts = [(sum(map(_all_won, kind)), len(kind)) for kind in (first_tie, resampled)]
        yield Claim(
            f"always-wins-{name}",
            f"won of real games after training, against negamax {description}",
            "it will always win",
            Source.TEXT,
            faithful=_won(first_tie),
            corrected=_won(resampled),
            reproduced=at_least(*counts[0], ALWAYS) if judged else None,
            true=at_least(*counts[1], ALWAYS) if judged else None,
            why="the verdicts count runs that win every game. What was learned ends at the first "
            "reply that differs from the kept one; a tree that has seen many replies has seen each "
            "of them only a few times",
            statement="always-wins",
        )


def _agents(bench: Workbench) -> Claim:
    """Play the agents that Fourlab makes of SeWell's learner, in matches that they learn from."""
    games = bench.size["games"]
    last = min(LAST_GAMES, games // 2)
    faithful, corrected = (
        learning_match(bench, *specs)[-last:]
        for specs in ((AGENT, DETERMINISTIC), (CORRECTED_AGENT, RANDOM))
    )
    return Claim(
        "experiment-1-agents",
        f"won of the last {last} of {games} games in a match that the agent learns from",
        "",
        Source.OURS,
        faithful=share(faithful.count(1), last),
        corrected=share(corrected.count(1), last),
        labels={
            "faithful": f"{AGENT} against {DETERMINISTIC}",
            "corrected": f"{CORRECTED_AGENT} against {RANDOM}",
        },
        why="a match carries the tree of this agent from game to game, so it shows what Experiment "
        "1 shows, in real games; a new agent in every game would not learn",
    )


def learning_match(bench: Workbench, agent: str, opponent: str) -> list[int]:
    """Return the results, +1, 0 or -1, of a match from the empty board that `agent` begins.

    Its games are played in order, and an agent that remembers learns from them.
    """
    players = Player(agent, name="learner"), Player(opponent, name="opponent")
    tournament = Tournament(
        players, openings="empty", rounds=bench.size["games"], starts="fixed", seed=bench.seed
    )
    name = f"match-{agent.partition(':')[2] or 'corrected'}".replace("=", "-")
    return [game.result or 0 for game in bench.play(name, tournament)]


def _all_won(results: Sequence[int]) -> bool:
    # Results are the learner's: 1 is a win.
    return min(results) == 1


def _won(runs: Sequence[Sequence[int]]) -> Estimate:
    """Return the share of won games in per cent; its interval is over runs."""
    return over_trainings([100 * results.count(1) / len(results) for results in runs], 1, "%")


def _negamax(bench: Workbench, judged: bool) -> Iterator[Claim]:
    """Check what SeWell says about negamax."""
    counts = bench.calculate("negamax", lambda: same_answers(bench.seed))
    then, now = counts["first"], counts["random"]
    yield Claim(
        "negamax-deterministic",
        f"positions in which negamax gives the same answer {ASKED} times",
        "deterministic",
        Source.TEXT,
        faithful=share(then, POSITIONS),
        corrected=share(now, POSITIONS),
        reproduced=at_least(then, POSITIONS, ALWAYS) if judged else None,
        true=at_least(now, POSITIONS, ALWAYS) if judged else None,
        why="B13: Kaggle's negamax took the first of equal columns until 9 March 2020, eleven days "
        "before the report's date; since then it chooses among them at random. SeWell's program "
        "expects results 0, 1/2 and 1, which Kaggle replaced by -1, 0 and 1 on 26 February 2020, "
        "so it ran with a deterministic version",
    )
    yield Claim(
        "negamax-alpha-beta",
        "how negamax searches",
        '"apparently built using alpha-beta pruning"',
        Source.TEXT,
        exact="plain negamax to a depth of 4, without pruning",
        true=Verdict(Answer.DIFFERS, "reading of Kaggle's program") if judged else None,
        why="pruning would change its speed, not its moves",
    )
    yield Claim(
        "title-q-learning",
        "Q-learning in the program",
        "the title says Q-learning",
        Source.TEXT,
        faithful="none is implemented",
        reproduced=Verdict(Answer.DIFFERS, "reading of the program") if judged else None,
        why="a table of values or a network that learns from its own estimates would be "
        "Q-learning; the tree learns from results of rollouts, and the network from solved "
        "positions",
    )


def same_answers(seed: int) -> dict[str, int]:
    """Count positions of random games in which negamax always gives the same answer, by ties."""
    rng = np.random.default_rng(seed)
    positions = [_random_position(rng) for _ in range(POSITIONS)]
    counts = dict[str, int]()
    for ties in ("first", "random"):
        negamax = Negamax(ties=ties)
        counts[ties] = sum(
            len({negamax.decide(position, Limit(), rng).column for _ in range(ASKED)}) == 1
            for position in positions
        )
    return counts


def _random_position(rng: np.random.Generator) -> Position:
    """Return a position after up to 20 random moves that is not over."""
    while True:
        position = Position()
        for _ in range(int(rng.integers(21))):
            if position.outcome() is None:
                position = position.play(int(rng.choice(position.legal_columns())))
        if position.outcome() is None:
            return position


def _transcript(games: list[str]) -> str:
    """Return the moves, final positions and outcomes of games; the learner is X."""
    return "\n\n".join(
        f"game {number}: {moves}\n{_final_position(Position(moves))}"
        for number, moves in enumerate(games, 1)
    )


def _final_position(position: Position) -> str:
    """Draw a board, with the outcome in place of the last line, which names the side to move."""
    return "\n".join([*str(position).splitlines()[:-1], str(position.outcome())])
