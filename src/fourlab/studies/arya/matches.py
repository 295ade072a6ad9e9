"""Document 004's Experiments 1 to 3 without a network, and what belongs to them: its search as listed, thinking time, DQN."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from fourlab.arena.tables import Table
from fourlab.reporting.figures import COLOURS, MARKS
from fourlab.studies.arya.bouts import CORRECTED, ENOUGH, FAITHFUL, Bout, Reading, Score, conduct, match, play, score
from fourlab.studies.arya.lessons import q_tables
from fourlab.studies.compare import falls, same_share, share
from fourlab.studies.experiment import Experiment, Finding, Part, Picture
from fourlab.studies.workbench import Workbench

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WITHOUT_HEURISTIC = "evaluation=terminal,tie=random"
"""Minimax as the document's text has it: nothing but finished games counts, and equal columns are drawn by lot."""
THE_WINDOWS, PLAIN_SEARCH = "the window's minimax", "search corrected"
AGAINST_CORRECTED = "as listed against corrected"


def vanilla(rollouts: int, faithful: bool, seconds: float | None = None) -> str:
    """The document's vanilla search with rollouts in place of seconds, or with seconds."""
    budget = f"seconds=none,simulations={rollouts}" if seconds is None else f"seconds={seconds:g}"
    return f"arya-vanilla:{budget},faithful={int(faithful)}"


def stands_for(rollouts: int, seconds: float | None) -> str:
    """What a search had, for people."""
    return f"{rollouts:,} rollouts a move stand for the seconds" if seconds is None else f"{seconds:g} CPU seconds a move"


def experiments_1_and_2(bench: Workbench) -> Iterator[Part]:
    """Q-learning against minimax of depth 4 and against the vanilla search."""
    (faithful, corrected), told = q_tables(bench, bench.size["training"])
    as_coded, as_meant = (f"{each['positions']:,}" for each in told[-1])
    yield Finding(f"positions in the table after {bench.size['training']:,} games of self-play", "", as_coded, as_meant)
    blind, rollouts, seconds = f"minimax:depth=4,{WITHOUT_HEURISTIC}", bench.size["rollouts"], bench.seconds(1)
    first = Bout(
        "experiment-1",
        ("minimax(4)", "Q-learning"),
        "minimax(4)",
        Score(73, 23, 4),
        {
            FAITHFUL: Reading(blind, faithful, "alternate"),
            f"{THE_WINDOWS} begins": Reading("arya-minimax:depth=4,faithful=1", faithful),
            f"{THE_WINDOWS}, in turn": Reading("arya-minimax:depth=4,faithful=1", faithful, "alternate"),
            "no table, random columns": Reading(blind, "random", "alternate"),
            CORRECTED: Reading("arya-minimax:depth=4", corrected, "alternate"),
        },
        "B18: a minimax that sees four discs ahead, as the document's text has it, hardly ever loses to a table, with a "
        "heuristic or without. 23 losses need one that does not see: the window's takes everything for a win and plays the "
        "leftmost column, which is often enough against a table, and comes near the document's score if it begins. Neither "
        "which minimax played nor who began is told; here they begin in turn",
    )
    second = Bout(
        "experiment-2",
        ("Q-learning", "MCTS 1 s"),
        "MCTS 1 s",
        Score(100, 0, 0),
        {
            FAITHFUL: Reading(faithful, vanilla(rollouts, True, seconds)),
            PLAIN_SEARCH: Reading(faithful, vanilla(rollouts, False, seconds)),
            CORRECTED: Reading(corrected, vanilla(rollouts, False, seconds)),
        },
        f"B15: as listed, the search knows only the ends of games inside its tree; {stands_for(rollouts, seconds)}",
    )
    yield from conduct(bench, (first, second), bench.size["games"])


def experiment_3(bench: Workbench) -> Iterator[Part]:
    """Minimax against the vanilla search, in two parts."""
    size, three, one = bench.size, bench.seconds(3), bench.seconds(1)
    elsewhere = () if bench.by_clock else (size["rollouts_1s_elsewhere"],)
    needs = "98-2 needs a search without B15, or the window's minimax, which cannot block (B18)"
    between = "71-16-13 lies between the search as listed and the one without B15, which hardly ever loses to such a minimax"
    parts = (
        ("experiment-3a", 4, "MCTS 3 s", Score(98, 2, 0), size["rollouts_3s"], three, (), needs),
        ("experiment-3b", 6, "MCTS 1 s", Score(71, 16, 13), size["rollouts_1s"], one, elsewhere, between),
    )
    yield from conduct(bench, [_against_minimax(*each) for each in parts], size["games"])


def _against_minimax(
    name: str, depth: int, search: str, reported: Score, rollouts: int, seconds: float | None, also: Sequence[int], why: str
) -> Bout:
    """A part of Experiment 3; `also` with so many rollouts, where the document contradicts itself."""
    listed, mended = (vanilla(rollouts, faithful, seconds) for faithful in (True, False))
    window, blind = f"arya-minimax:depth={depth},faithful=1", f"minimax:depth={depth},{WITHOUT_HEURISTIC}"
    return Bout(
        name,
        (f"minimax({depth})", search),
        search,
        reported,
        {
            FAITHFUL: Reading(blind, listed),
            PLAIN_SEARCH: Reading(blind, mended),
            THE_WINDOWS: Reading(window, listed),
            **{f"{CORRECTED}, {each:,} rollouts": Reading(f"arya-minimax:depth={depth}", vanilla(each, False)) for each in also},
            CORRECTED: Reading(f"arya-minimax:depth={depth}", mended),
        },
        "B15: the listed search ignores its rollouts, and so loses games to minimax as the text has it, without heuristic. "
        f"{why}. Which minimax played is not told; {stands_for(rollouts, seconds)}",
    )


def listed_search(bench: Workbench) -> Iterator[Part]:
    """The search as listed, with its credit to the wrong side, against the corrected one and a random player."""
    listed, corrected = (vanilla(bench.size["rollouts"], faithful) for faithful in (True, False))
    wrong_side = "B15: the result of a rollout goes to the side to move at its end, so the leaf is always credited with a win"
    matches: tuple[tuple[str, tuple[str, str], tuple[str, str], tuple[int, int] | None, str], ...] = (
        (
            AGAINST_CORRECTED,
            ("listed", "corrected"),
            (listed, corrected),
            (2, 60),
            f"{wrong_side}; a search that works wins half",
        ),
        ("as listed against a random player", ("listed", "random"), (listed, "random"), (97, 100), wrong_side),
        ("corrected against a random player", ("corrected", "random"), (corrected, "random"), (100, 100), ""),
        (
            "only the credit as listed, against corrected",
            ("listed credit", "corrected"),
            (f"{corrected},credit=leaf", corrected),
            None,
            "B15 alone",
        ),
        (
            "only draws as listed, against corrected",
            ("listed draws", "corrected"),
            (f"{corrected},draw_credit=leaf,draw=0", corrected),
            None,
            "B16 alone: a draw counts 1 at the leaf and 0 above, which hardly matters as long as draws are rare",
        ),
    )
    played = play(bench, "games", [match(bench, specs, players, bench.size["games"]) for _, players, specs, _, _ in matches])
    rows = []
    for (what, players, _, known, why), games in zip(matches, played, strict=True):
        found = score(games, players[0])
        told, is_claim = share(found.won, found.games), what == AGAINST_CORRECTED
        yield Finding(
            f"{what}: wins",
            "a working tree search" if is_claim else "",
            told if "listed" in what else "",
            told if "listed" not in what else "",
            agrees=same_share(found.won, found.games, found.lost, found.games) if is_claim and found.games >= ENOUGH else None,
            why=why,
        )
        if known is not None:
            rows.append((what, told, share(*known)))
    yield Table(
        "Wins beside those of another program, written independently after the listing", ("match", "ours", "its"), tuple(rows)
    )


def thinking_time(bench: Workbench) -> Iterator[Part]:
    """Minimax's share of wins against a search that thinks longer and longer, as listed and corrected."""
    budgets, depths = bench.size["budgets"], bench.size["depths"]
    curves = [(faithful, depth) for faithful in (True, False) for depth in depths]
    matches = [
        match(
            bench,
            (f"minimax:depth={depth},tie=random", vanilla(budget, faithful)),
            ("minimax", "MCTS"),
            bench.size["games"],
            openings="random:4",
        )
        for faithful, depth in curves
        for budget in budgets
    ]
    scores = iter([score(games, "minimax") for games in play(bench, "games", matches)])
    found = {curve: list(islice(scores, len(budgets))) for curve in curves}
    for depth in depths:
        listed, corrected = ((found[faithful, depth][0], found[faithful, depth][-1]) for faithful in (True, False))
        told = ["; ".join(share(each.won, each.games) for each in ends) for ends in (listed, corrected)]
        first, last = corrected
        yield Finding(
            f"minimax({depth}) wins against {budgets[0]:,} and against {budgets[-1]:,} rollouts a move",
            "falls as the search thinks longer",
            told[0],
            told[1],
            agrees=falls(first.won, first.games, last.won, last.games),
            why="the figure is of another program's search, so the corrected one is compared (B15)",
        )
    rows = [
        ("as listed" if faithful else "corrected", depth, budget, *each)
        for (faithful, depth), curve in found.items()
        for budget, each in zip(budgets, curve, strict=True)
    ]
    head = ("search", "depth", "rollouts a move", "minimax wins", "losses", "draws")
    yield Picture(
        "thinking-time",
        "Minimax's share of wins against the search's thinking time, as in the document's Figure 10 (after Sheoran and others): "
        "rollouts a move in place of seconds, random openings of four discs with both colours, 95 % intervals.",
        lambda: _draw_thinking(budgets, found),
        Table("minimax against MCTS", head, tuple(rows)),
    )


def _draw_thinking(budgets: Sequence[int], found: "dict[tuple[bool, int], list[Score]]") -> "Figure":
    from matplotlib.figure import Figure

    from fourlab.arena.statistics import wilson

    figure = Figure(figsize=(9.5, 3.6), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    depths = list(dict.fromkeys(depth for _, depth in found))
    for (faithful, depth), scores in found.items():
        place = depths.index(depth)
        middle = [100 * each.won / each.games for each in scores]
        ends = [wilson(each.won, each.games) for each in scores]
        below = [max(0.0, value - 100 * low) for value, (low, _) in zip(middle, ends, strict=True)]  # not less by rounding
        above = [max(0.0, 100 * high - value) for value, (_, high) in zip(middle, ends, strict=True)]
        panels[0 if faithful else 1].errorbar(
            budgets,
            middle,
            (below, above),
            color=COLOURS[place],
            marker=MARKS[place],
            markersize=4,
            capsize=2,
            label=f"minimax({depth})",
        )
    for axes, title in zip(panels, ("the search as listed", "the search corrected"), strict=True):
        axes.set_title(title, fontsize="medium")
        axes.set_xscale("log")
        axes.set_ylim(-3, 103)
        axes.set_xlabel("rollouts a move of MCTS")
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("games won by minimax, %")
    panels[1].legend(fontsize="small")
    return figure


def dqn(bench: Workbench) -> Iterator[Part]:
    """A network of Q-values in the place of the table."""
    rollouts = bench.size["rollouts"]
    others = {
        "random": "random",
        "minimax(4), no heuristic": f"minimax:depth=4,{WITHOUT_HEURISTIC}",
        "minimax(4)": "minimax:depth=4,tie=random",
        "minimax(6)": "minimax:depth=6,tie=random",
        f"MCTS as listed, {rollouts:,} rollouts": vanilla(rollouts, True),
        f"MCTS corrected, {rollouts:,} rollouts": vanilla(rollouts, False),
    }
    matches = [
        match(bench, ("dqn", spec), ("DQN", name), bench.size["games"], openings="random:2") for name, spec in others.items()
    ]
    rows = []
    for name, games in zip(others, play(bench, "games", matches), strict=True):
        found = score(games, "DQN")
        yield Finding(f"DQN against {name}: wins", "", "", share(found.won, found.games))
        rows += [(name, ("first", "second")[side], *score(games, "DQN", side)) for side in (0, 1)]
    yield Table("DQN by side", ("against", "DQN moves", "wins", "losses", "draws"), tuple(rows))


EXPERIMENTS = (
    Experiment(
        "004-experiments-1-2",
        ("D4-12", "D4-13", "D4-14", "D4-15", "D4-18"),
        "Experiments 1 and 2: Q-learning against minimax and against tree search",
        "Minimax of depth 4, which is not shown, wins 73, loses 23 and draws 4 of 100 games against a table learned in 3,000,000 "
        "games; tree search with one second a move wins all 100 games against it, moving second.",
        {
            "smoke": {"training": 20_000, "games": 4, "rollouts": 100},
            "quick": {"training": 1_000_000, "games": 100, "rollouts": 10_500},
            "full": {"training": 3_000_000, "games": 100, "rollouts": 30_000},
        },
        experiments_1_and_2,
        (4, 35, 120),
    ),
    Experiment(
        "004-experiment-3",
        ("D4-02", "D4-16", "D4-18"),
        "Experiment 3: minimax against tree search",
        "Tree search, moving second, wins 98-2 against minimax of depth 4 with three seconds a move, and 71-16-13 against depth "
        "6 with one; that minimax is not shown, and said to have no heuristic.",
        {
            "smoke": {"games": 2, "rollouts_3s": 300, "rollouts_1s": 100, "rollouts_1s_elsewhere": 300},
            "quick": {"games": 40, "rollouts_3s": 30_000, "rollouts_1s": 10_500, "rollouts_1s_elsewhere": 30_000},
            "full": {"games": 100, "rollouts_3s": 95_000, "rollouts_1s": 10_500, "rollouts_1s_elsewhere": 30_000},
        },
        experiment_3,
        (2, 40, 450),
    ),
    Experiment(
        "004-listed-search",
        ("D4-01", "D4-02"),
        "The search as listed against the search as meant",
        "The listing is said to be a working tree search.",
        {
            "smoke": {"games": 6, "rollouts": 300},
            "quick": {"games": 60, "rollouts": 2000},
            "full": {"games": 600, "rollouts": 2000},
        },
        listed_search,
        (1, 6, 60),
    ),
    Experiment(
        "004-thinking-time",
        ("D4-23",),
        "Figure 10: minimax against tree search that thinks longer",
        "The longer tree search may think, the fewer games minimax wins.",
        {
            "smoke": {"games": 4, "budgets": (10, 300), "depths": (4,)},
            "quick": {"games": 40, "budgets": (10, 30, 100, 300, 1000, 3000, 10_500), "depths": (2, 4, 6)},
            "full": {"games": 400, "budgets": (10, 30, 100, 300, 1000, 3000, 10_500, 30_000, 95_000), "depths": (2, 4, 6, 8)},
        },
        thinking_time,
        (2, 40, 4000),
    ),
    Experiment(
        "004-dqn",
        ("D4-23", "D4-24"),
        "DQN against minimax and tree search",
        "A network of Q-values is described as what comes after the table, and not tried.",
        {
            "smoke": {"games": 4, "rollouts": 300},
            "quick": {"games": 100, "rollouts": 2000},
            "full": {"games": 1000, "rollouts": 10_500},
        },
        dqn,
        (1, 7, 400),
    ),
)
