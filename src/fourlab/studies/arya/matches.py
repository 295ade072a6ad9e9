"""Arya's Experiments 1 to 3, which use no network, and related claims.

The related claims concern the search as listed in the thesis, thinking time, and DQN.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from typing import NamedTuple

from fourlab.reporting.figures import COLOURS, MARKS, SMALL, Figure, frame, panels
from fourlab.studies.arya.bouts import (
    CORRECTED,
    FAITHFUL,
    OUTCOMES,
    POINTS,
    Bout,
    Reading,
    Score,
    conduct,
    error_bars,
    fitting,
    match,
    play,
    reported_score,
    score,
    training_of,
)
from fourlab.studies.arya.lessons import q_tables
from fourlab.studies.claims import COUNTS, Claim, Source, brief, mean_of, share
from fourlab.studies.trainings import ONE_TRAINING
from fourlab.studies.verdicts import half_of_decided, larger_share
from fourlab.studies.workbench import Part, Picture, Table, Workbench

WITHOUT_HEURISTIC = "evaluation=terminal,ties=random"
"""Minimax as the text describes it: only finished games have a value, ties are broken at random."""
WINDOW_MINIMAX = "window-mode minimax"
CORRECTED_SEARCH = "search corrected"
AGAINST_HEURISTIC = "search corrected, our minimax with a heuristic"
LEARNER_AGAINST_HEURISTIC = "learner corrected, our minimax with a heuristic"
WINDOW_BEGINS, WINDOW_ALTERNATING = f"{WINDOW_MINIMAX} begins", f"{WINDOW_MINIMAX}, alternating"
RANDOM_COLUMNS = "no table, random columns"
AGAINST_CORRECTED = "as listed against corrected"
CREDIT_FAULT = (
    "B15: a decided rollout is credited to the side that moved to the leaf, whoever won it, "
    "so every leaf is credited with a win"
)


def vanilla(rollouts: int, faithful: bool, seconds: float | None = None) -> str:
    """Return the spec of Arya's vanilla search, limited by CPU seconds or else by rollouts."""
    budget = f"seconds=none,simulations={rollouts}" if seconds is None else f"seconds={seconds:g}"
    return f"arya-vanilla:{budget},faithful={int(faithful)}"


def describe_budget(rollouts: int, seconds: float | None) -> str:
    """Describe the budget of a vanilla search in words."""
    if seconds is None:
        return f"{rollouts:,} rollouts per move stand in for the time limit"
    return f"{seconds:g} CPU seconds per move"


def experiments_1_and_2(bench: Workbench) -> Iterator[Part]:
    """Run Arya's Experiments 1 and 2: Q-learning against minimax and against plain MCTS."""
    training = bench.size["training"]
    faithful, corrected = q_tables(bench, training, bench.size["seeds"])
    yield Claim(
        "q-positions",
        f"positions in the table after {training:,} games of self-play",
        "",
        Source.OURS,
        faithful=mean_of(faithful.positions, 0, within=COUNTS),
        corrected=mean_of(corrected.positions, 0, within=COUNTS),
    )
    bouts = (
        _q_against_minimax(faithful.specs, corrected.specs),
        _q_against_search(
            faithful.specs, corrected.specs, bench.size["rollouts"], bench.seconds(1)
        ),
    )
    yield from conduct(bench, bouts, bench.size["games"])


def _q_against_minimax(faithful: Sequence[str], corrected: Sequence[str]) -> Bout:
    """Return Experiment 1 for the specs of the faithful and the corrected Q-learning agents.

    `corrected` changes the learner alone, as Experiment 3 changes the search alone.
    """
    no_heuristic = f"minimax:depth=4,{WITHOUT_HEURISTIC}"
    window = "arya-minimax:depth=4,faithful=1"
    # 100 games. The thesis does not say who began, hence several readings.
    readings = {
        training_of(FAITHFUL, seed): Reading(no_heuristic, table, "alternate")
        for seed, table in enumerate(faithful)
    }
    readings |= {
        WINDOW_BEGINS: Reading(window, faithful[0]),
        WINDOW_ALTERNATING: Reading(window, faithful[0], "alternate"),
        RANDOM_COLUMNS: Reading(no_heuristic, "random", "alternate"),
    }
    readings |= {
        training_of(CORRECTED, seed): Reading(no_heuristic, table, "alternate")
        for seed, table in enumerate(corrected)
    }
    readings[LEARNER_AGAINST_HEURISTIC] = Reading("arya-minimax:depth=4", corrected[0], "alternate")
    return Bout(
        "experiment-1",
        ("minimax(4)", "Q-learning"),
        "minimax(4)",
        reported_score("experiment-1"),
        readings,
        explain_experiment_1,
        trained=True,
    )


def explain_experiment_1(scores: Mapping[str, Score]) -> str:
    """Return what the games of Experiment 1 say about the reported score."""
    own = {name: result for name, result in scores.items() if name not in (FAITHFUL, CORRECTED)}
    return (
        "B18: minimax as the text describes it, which looks four plies ahead, has "
        f"{scores[FAITHFUL]} against the tables trained as listed, and {scores[RANDOM_COLUMNS]} "
        "against random columns. The minimax of the window takes every position for a win and "
        f"plays the leftmost open column: it has {scores[WINDOW_BEGINS]} if it begins and "
        f"{scores[WINDOW_ALTERNATING]} if the players alternate. "
        f"{fitting(reported_score('experiment-1'), own)}. The thesis does not say which minimax "
        "played or who began; here the players alternate unless a reading says otherwise. "
        "Corrected is the learner alone, against the same minimax"
    )


def _q_against_search(
    faithful: Sequence[str], corrected: Sequence[str], rollouts: int, seconds: float | None
) -> Bout:
    """Return Experiment 2 for the specs of the faithful and the corrected Q-learning agents.

    `corrected` changes the search alone; a corrected learner is a reading of its own.
    """
    listed = vanilla(rollouts, True, seconds)
    sound = vanilla(rollouts, False, seconds)
    # The search moves second and wins all 100 games.
    readings = {
        training_of(FAITHFUL, seed): Reading(table, listed) for seed, table in enumerate(faithful)
    }
    readings |= {
        training_of(CORRECTED, seed): Reading(table, sound) for seed, table in enumerate(faithful)
    }
    readings["learner and search corrected"] = Reading(corrected[0], sound)
    return Bout(
        "experiment-2",
        ("Q-learning", "MCTS 1 s"),
        "MCTS 1 s",
        reported_score("experiment-2"),
        readings,
        "B15: the search as listed learns only from games that end inside its tree; corrected is "
        f"the search alone, against the same tables; {describe_budget(rollouts, seconds)}",
        trained=True,
    )


def experiment_3(bench: Workbench) -> Iterator[Part]:
    """Play minimax against the vanilla search, at depth 4 and at depth 6."""
    size = bench.size
    # The search moves second.
    part_a = _search_against_minimax(
        "experiment-3a",
        4,
        "MCTS 3 s",
        size["rollouts_3s"],
        bench.seconds(3),
    )
    part_b = _search_against_minimax(
        "experiment-3b",
        6,
        "MCTS 1 s",
        size["rollouts_1s"],
        bench.seconds(1),
    )
    yield from conduct(bench, (part_a, part_b), size["games"])


def _search_against_minimax(
    name: str,
    depth: int,
    search: str,
    rollouts: int,
    seconds: float | None,
) -> Bout:
    """Return one part of Experiment 3.

    `corrected` changes the search alone: the minimax is the one that the text describes. A minimax
    with a heuristic is another opponent, and so a reading of its own.
    """
    listed = vanilla(rollouts, True, seconds)
    sound = vanilla(rollouts, False, seconds)
    no_heuristic = f"minimax:depth={depth},{WITHOUT_HEURISTIC}"
    heuristic = f"arya-minimax:depth={depth}"
    readings = {
        FAITHFUL: Reading(no_heuristic, listed),
        CORRECTED: Reading(no_heuristic, sound),
        WINDOW_MINIMAX: Reading(f"{heuristic},faithful=1", listed),
        AGAINST_HEURISTIC: Reading(heuristic, sound),
    }
    return Bout(
        name,
        (f"minimax({depth})", search),
        search,
        reported_score(name),
        readings,
        partial(explain_experiment_3, rollouts, seconds),
        also={AGAINST_HEURISTIC: "heuristic"},
    )


def explain_experiment_3(rollouts: int, seconds: float | None, scores: Mapping[str, Score]) -> str:
    """Return what the games of one part of Experiment 3 say about the search as listed."""
    listed, corrected = scores[FAITHFUL], scores[CORRECTED]
    return (
        "B15: the search as listed ignores the results of its rollouts. Against a minimax without "
        f"a heuristic, as the text describes it, it loses {listed.lost} of {listed.games} games, "
        f"and corrected, against the same minimax, {corrected.lost} of {corrected.games}. The code "
        f"of that minimax is not shown; {describe_budget(rollouts, seconds)}"
    )


class _Comparison(NamedTuple):
    """A match of the search as listed, or of parts of it, against another player."""

    name: str
    label: str
    players: tuple[str, str]
    specs: tuple[str, str]
    independent: tuple[int, int] | None
    """Wins and games of an independent implementation of the listing, where there is one."""
    why: str


def _comparisons(rollouts: int) -> tuple[_Comparison, ...]:
    """Return the matches that isolate the faults B15 and B16."""
    listed = vanilla(rollouts, True)
    corrected = vanilla(rollouts, False)
    return (
        _Comparison(
            "listed-against-corrected",
            AGAINST_CORRECTED,
            ("listed", "corrected"),
            (listed, corrected),
            # Independent results: wins and games, played with a program written from the listing
            # alone.
            (2, 60),
            f"{CREDIT_FAULT}. A working search would win half",
        ),
        _Comparison(
            "listed-against-random",
            "as listed against a random player",
            ("listed", "random"),
            (listed, "random"),
            (97, 100),
            CREDIT_FAULT,
        ),
        _Comparison(
            "corrected-against-random",
            "corrected against a random player",
            ("corrected", "random"),
            (corrected, "random"),
            (100, 100),
            "",
        ),
        _Comparison(
            "credit-against-corrected",
            "only the credit as listed, against corrected",
            ("listed credit", "corrected"),
            (f"{corrected},credit=leaf", corrected),
            None,
            "B15 alone",
        ),
        _Comparison(
            "draws-against-corrected",
            "only draws as listed, against corrected",
            ("listed draws", "corrected"),
            (f"{corrected},draw_credit=leaf,draw=0", corrected),
            None,
            "B16 alone: a draw counts 1 at the leaf and 0 above it",
        ),
    )


def listed_search(bench: Workbench) -> Iterator[Part]:
    """Play the search as listed, and its faults one by one, against the corrected search."""
    comparisons = _comparisons(bench.size["rollouts"])
    matches = [
        match(bench, comparison.specs, comparison.players, bench.size["games"])
        for comparison in comparisons
    ]
    rows = []
    for comparison, games in zip(comparisons, play(bench, "games", matches), strict=True):
        result = score(games, comparison.players[0])
        # Only this match tests the claim; the others locate the fault.
        is_claim = comparison.label == AGAINST_CORRECTED
        is_listed = "listed" in comparison.label
        # A working search would win as often as it loses.
        working = half_of_decided(result.won, result.lost) if is_claim else None
        yield Claim(
            comparison.name,
            f"{comparison.label}: won / lost / drawn",
            "a working tree search" if is_claim else "",
            Source.TEXT,
            faithful=result.counts if is_listed else "",
            corrected="" if is_listed else result.counts,
            reproduced=working,
            true=working,
            why=_with_decided(comparison.why, result),
        )
        if comparison.independent is not None:
            wins = str(share(result.won, result.games))
            rows.append((comparison.label, wins, str(share(*comparison.independent))))
    yield Table(
        "Wins beside those of an independent implementation of the listing",
        ("match", "ours", "its"),
        tuple(rows),
    )


def _with_decided(why: str, result: Score) -> str:
    """Add to an explanation how many games are not drawn, and how many of them are won."""
    decided = result.won + result.lost
    if not why or not decided:
        return why
    return f"{why}. Of {decided} decided games it wins {brief(share(result.won, decided))}"


Curves = Mapping[tuple[bool, int], Sequence[Score]]
"""Scores of minimax, one per budget of the search, by (search is faithful, minimax depth)."""


def thinking_time(bench: Workbench) -> Iterator[Part]:
    """Play minimax against the search, as listed and corrected, at increasing budgets."""
    budgets = bench.size["budgets"]
    depths = bench.size["depths"]
    # The order of the matches: all budgets of one key after another.
    keys = [(faithful, depth) for faithful in (True, False) for depth in depths]
    matches = [
        match(
            bench,
            (f"minimax:depth={depth},ties=random", vanilla(budget, faithful)),
            ("minimax", "MCTS"),
            bench.size["games"],
            # Deterministic players would repeat one game from the empty board.
            openings="random:4",
        )
        for faithful, depth in keys
        for budget in budgets
    ]
    scores = iter([score(games, "minimax") for games in play(bench, "games", matches)])
    curves = {key: list(islice(scores, len(budgets))) for key in keys}
    for depth in depths:
        yield _thinking_claim(depth, budgets, curves)
    yield Claim(
        "figure-9",
        "Figure 9, results of Sheoran et al.: minimax against tree search",
        "quoted; the figure was not seen",
        Source.TEXT,
        corrected=f"in its place: minimax of depth {', '.join(map(str, depths))} against "
        f"{len(budgets)} budgets of the search",
        why="nothing to compare with: no number of the figure is in the text",
    )
    rows = [
        ("as listed" if faithful else "corrected", depth, budget, *result)
        for (faithful, depth), curve in curves.items()
        for budget, result in zip(budgets, curve, strict=True)
    ]
    head = ("search", "depth", "rollouts a move", "minimax wins", "losses", "draws")
    yield Picture(
        "thinking-time",
        "Share of games won by minimax as the search thinks longer, after Arya's Figure 10 (taken "
        "from Sheoran et al.): rollouts per move instead of seconds, random openings of four discs "
        "played with both colours, 95 % intervals.",
        lambda: _draw_thinking(budgets, curves),
        Table("minimax against MCTS", head, tuple(rows)),
    )


def _thinking_claim(depth: int, budgets: Sequence[int], curves: Curves) -> Claim:
    """Compare minimax's wins at the smallest and at the largest budget of the search."""

    def both_ends(curve: Sequence[Score]) -> str:
        return "; ".join(str(share(end.won, end.games)) for end in (curve[0], curve[-1]))

    corrected = curves[False, depth]
    # The smallest and the largest budget.
    first = corrected[0]
    last = corrected[-1]
    return Claim(
        f"thinking-time-{depth}",
        f"minimax({depth}) wins against {budgets[0]:,} and against {budgets[-1]:,} "
        "rollouts per move",
        "falls as the search thinks longer",
        Source.TEXT,
        faithful=both_ends(curves[True, depth]),
        corrected=both_ends(corrected),
        true=larger_share(first.won, first.games, last.won, last.games, POINTS),
        why="the figure shows another program's search, so only the corrected search is tested "
        "(B15)",
        statement="thinking-time",
    )


def _draw_thinking(budgets: Sequence[int], curves: Curves) -> Figure:
    figure, (listed, corrected) = panels(9.5, 3.6, columns=2, sharey=True)
    depths = list(dict.fromkeys(depth for _, depth in curves))
    for (faithful, depth), curve in curves.items():
        place = depths.index(depth)
        shares = [100 * result.won / result.games for result in curve]
        (listed if faithful else corrected).errorbar(
            budgets,
            shares,
            error_bars((result.won, result.games) for result in curve),
            color=COLOURS[place],
            marker=MARKS[place],
            markersize=4,
            capsize=2,
            label=f"minimax({depth})",
        )
    for axes, version in ((listed, "as listed"), (corrected, "corrected")):
        axes.set_title(f"the search {version}", fontsize="medium")
        frame(axes, xscale="log", ylim=(-3, 103), xlabel="rollouts per move of MCTS")
    listed.set_ylabel("games won by minimax, %")
    corrected.legend(**SMALL)
    return figure


def dqn(bench: Workbench) -> Iterator[Part]:
    """Play a DQN agent, which replaces the Q-table by a network, against the other agents."""
    rollouts = bench.size["rollouts"]
    opponents = {
        "random": "random",
        "minimax(4), no heuristic": f"minimax:depth=4,{WITHOUT_HEURISTIC}",
        "minimax(4)": "minimax:depth=4,ties=random",
        "minimax(6)": "minimax:depth=6,ties=random",
        f"MCTS as listed, {rollouts:,} rollouts": vanilla(rollouts, True),
        f"MCTS corrected, {rollouts:,} rollouts": vanilla(rollouts, False),
    }
    matches = [
        match(bench, ("dqn", spec), ("DQN", name), bench.size["games"], openings="random:2")
        for name, spec in opponents.items()
    ]
    rows = []
    for name, games in zip(opponents, play(bench, "games", matches), strict=True):
        result = score(games, "DQN")
        slug = re.sub(r"[^a-z0-9]+", "-", name.split(",")[0].lower()).strip("-")
        reported = ""
        # The literature that the thesis quotes: DQN beats minimax, and tree search beats DQN.
        if name.startswith("minimax"):
            reported = "DQN wins"
        elif name.startswith("MCTS"):
            reported = "tree search wins"
        yield Claim(
            f"dqn-against-{slug}" + ("-no-heuristic" if "no heuristic" in name else ""),
            f"DQN against {name}: won / lost / drawn",
            reported,
            Source.TEXT,
            corrected=result.counts,
            why="the thesis quotes this and did not try it; the network is the one that ships with "
            f"Fourlab: {ONE_TRAINING}"
            if reported
            else "",
            statement="dqn-against-" + slug.partition("-")[0],
            labels={"corrected": "ours"},
        )
        # Both sides were played equally often.
        rows += [(name, ("first", "second")[side], *score(games, "DQN", side)) for side in (0, 1)]
    yield Table("DQN by side", ("against", "DQN moves", *OUTCOMES), tuple(rows))
