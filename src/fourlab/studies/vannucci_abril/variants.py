"""Why document 000's values are what they are: its search and better ones, at several numbers of iterations."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from fourlab.arena.tables import Table
from fourlab.studies.compare import consistent, mean, share
from fourlab.studies.experiment import Finding, Part
from fourlab.studies.searches import Floats, Line, Searched, best_places, means_of_so_many, middle, search_all
from fourlab.studies.vannucci_abril.exact import ACTIONS, CAPTION, GIVEN, REPORTED, exact_values, told
from fourlab.studies.vannucci_abril.runs import RUNS, why
from fourlab.studies.workbench import Workbench

AS_CODED, FORMULA, ANEW = "as coded: frozen reply, √log(N/n)", "frozen reply, √(log N/n)", "reply drawn anew, √(log N/n)"
GREEDY = "greedy: the best mean, frozen reply"
OPTIONS = {GREEDY: "faithful=1,c=0", AS_CODED: "faithful=1", FORMULA: "opponent=random-frozen", ANEW: "opponent=random"}


@dataclass(frozen=True)
class Variant:
    """A search with what an independent program, written for the purpose, found by it in 20,000 runs."""

    search: str
    iterations: int
    means: tuple[float, float] | None = None
    """Of actions 4 and 6, where that was done."""
    one_run_ranks: float | None = None
    """The chance that one run ranks action 4 first, where it was told."""

    @property
    def name(self) -> str:
        """What it goes by."""
        return f"{self.search}, {self.iterations}"

    @property
    def spec(self) -> str:
        """The agent."""
        return f"vannucci-abril:{OPTIONS[self.search]},simulations={self.iterations}"


VARIANTS = (
    Variant(AS_CODED, 1000, (0.644, 0.422), 0.63),
    Variant(AS_CODED, 1048, (0.645, 0.425)),
    Variant(AS_CODED, 2048, (0.645, 0.433)),
    Variant(FORMULA, 1000, (0.942, 0.507), 0.84),
    Variant(FORMULA, 2048, (0.970, 0.603)),
    Variant(ANEW, 2048, (0.954, -0.117), 1.0),
    Variant(GREEDY, 1000),
    Variant(ANEW, 200_000, (0.9990, -0.004)),
)
ALONE = "vannucci-abril:simulations=20000"
TEXT = {1000: "the notebooks", 1048: "the command's default", 2048: "the text"}


def conduct(bench: Workbench) -> Iterator[Part]:
    """All variants."""
    size = bench.size
    lines = {each.name: Line(each.spec, GIVEN, size["sets"], RUNS) for each in VARIANTS[:-1]}
    lines[VARIANTS[-1].name] = Line(VARIANTS[-1].spec, GIVEN, size["long_sets"], 5)
    below = GIVEN.play(ACTIONS[1])
    for reply in below.legal_columns():  # action 6 searched alone: its value is the mean over both replies
        lines[f"after 6 {reply}"] = Line(ALONE, below.play(reply), size["long_sets"], 5)
    found = search_all(bench, "runs", lines)
    yield from _findings(found)
    yield _alone([found[f"after 6 {reply}"] for reply in below.legal_columns()])
    numbers = ("action 4", "sd", "action 6", "sd", f"95 % of means of {RUNS}, action 4", "action 6")
    chances = (f"P(mean of {RUNS} ranks 4 first)", "P(one run does)", "visits of 6")
    head = ("search", "iterations", "runs", *numbers, *chances, "another program", "it agrees")
    rows = (_row(each, found[each.name], bench.seed) for each in VARIANTS)
    yield Table("The search and its corrections, c = 2", head, tuple(rows))


def _findings(found: dict[str, Searched]) -> Iterator[Finding]:
    """The document's values beside its search at each number of iterations that it names."""
    exact, corrected = exact_values(GIVEN), found[f"{ANEW}, 2048"]
    for each in VARIANTS[:3]:
        for place, action in enumerate(ACTIONS):
            runs, right = (some.runs[:, place].tolist() for some in (found[each.name], corrected))
            yield Finding(
                f"action {action}, {each.iterations} iterations ({TEXT[each.iterations]})",
                CAPTION[action],
                mean(runs),
                f"{mean(right)} (2048 iterations)",
                told(exact[action]),
                consistent(REPORTED[action], runs, of=RUNS),
                why(place, corrected),
            )
    steps = (("the right formula", "B1", f"{FORMULA}, 1000"), ("and the reply drawn anew", "B1, B2", f"{ANEW}, 2048"))
    for name, fault, better in steps:
        yield Finding(
            f"one run ranks action 4 first, {name}",
            "",
            share(*found[f"{AS_CODED}, 1000"].share_first(0)),
            share(*found[better].share_first(0)),
            "yes",
            why=fault,
        )


def _alone(replies: list[Searched]) -> Finding:
    """A mean over visits is not a value: the root hardly visits action 6. Searched alone it gets near its exact value."""
    best = [each.runs.max(axis=1) for each in replies]
    value = sum(float(each.mean()) for each in best) / len(best)
    error = math.sqrt(sum(float(each.var(ddof=1)) / len(each) for each in best)) / len(best)
    return Finding(
        "action 6, searched for itself after each reply, 20,000 iterations",
        "",
        "",
        f"{value:.4f} ± {1.96 * error:.4f}",
        told(exact_values(GIVEN)[6]),
        why="a mean over visits still counts what was tried and found bad, so it stays below the value",
    )


def _row(variant: Variant, found: Searched, seed: int) -> tuple[object, ...]:
    """One line of the table."""
    runs, sets = found.runs, means_of_so_many(found.runs, RUNS, seed)
    spread = runs.std(axis=0, ddof=1)
    values = [f"{number:.4f}" for place in (0, 1) for number in (runs[:, place].mean(), spread[place])]
    bands = ["[{:.3f}, {:.3f}]".format(*middle(sets[:, place])) for place in (0, 1)]
    first = float((best_places(sets) == 0).mean())
    visits = found.visits.sum(axis=(0, 1))
    return (
        variant.search,
        variant.iterations,
        len(runs),
        *values,
        *bands,
        f"{first:.3f}",
        f"{found.share_first(0)[0] / len(runs):.3f}",
        f"{100 * visits[1] / visits.sum():.1f} %",
        *_another(variant, runs.mean(axis=0), spread * math.sqrt(1 / len(runs) + 1 / 20_000)),
    )


def _another(variant: Variant, means: Floats, errors: Floats) -> tuple[str, str]:
    """What the other program found, and whether our means are within four standard errors, and the rounding, of its own."""
    if variant.means is None:
        return "", ""
    agrees = all(abs(means[place] - variant.means[place]) <= 4 * errors[place] + 0.001 for place in (0, 1))
    ranks = "" if variant.one_run_ranks is None else f", {variant.one_run_ranks}"
    return f"{variant.means[0]} / {variant.means[1]}{ranks}", "yes" if agrees else "no"
