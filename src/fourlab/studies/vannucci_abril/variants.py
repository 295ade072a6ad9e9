"""Where Vannucci & Abril's values come from: their search, step by step towards a correct one."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

from fourlab.arena.statistics import Z_95
from fourlab.studies.claims import Claim, Estimate, Kind, Source, exactly, mean_of, share
from fourlab.studies.searches import (
    Floats,
    Line,
    Searched,
    best_places,
    central_interval,
    resampled_means,
    search_all,
)
from fourlab.studies.vannucci_abril.exact import (
    ACTIONS,
    CAPTION,
    GIVEN,
    REPORTED,
    exact_values,
)
from fourlab.studies.vannucci_abril.runs import ITERATIONS, MARGINS, RUNS, why
from fourlab.studies.verdicts import same_mean
from fourlab.studies.workbench import Part, Table, Workbench

AS_CODED = "as coded: frozen reply, √log(N/n)"
FORMULA = "frozen reply, √(log N/n)"
RESAMPLED = "reply resampled, √(log N/n)"
GREEDY = "greedy: the best mean, frozen reply"
OPTIONS = {
    GREEDY: "faithful=1,c=0",
    AS_CODED: "faithful=1",
    FORMULA: "opponent=random-frozen",
    RESAMPLED: "opponent=random",
}


@dataclass(frozen=True)
class Variant:
    """A search, with the results of an independent program for it over 20,000 runs."""

    search: str
    iterations: int
    means: tuple[float, float] | None = None
    """The other program's means of actions 4 and 6, if it ran this variant."""
    one_run_ranks: float | None = None
    """Its share of runs that rank action 4 first, if recorded."""

    @property
    def name(self) -> str:
        """The key of the variant's results."""
        return f"{self.search}, {self.iterations}"

    @property
    def spec(self) -> str:
        """The agent's spec."""
        return f"vannucci-abril:{OPTIONS[self.search]},simulations={self.iterations}"


VARIANTS = (
    Variant(AS_CODED, 1000, (0.644, 0.422), 0.63),
    Variant(AS_CODED, 1048, (0.645, 0.425)),
    Variant(AS_CODED, 2048, (0.645, 0.433)),
    Variant(FORMULA, 1000, (0.942, 0.507), 0.84),
    Variant(FORMULA, 2048, (0.970, 0.603)),
    Variant(RESAMPLED, 2048, (0.954, -0.117), 1.0),
    Variant(GREEDY, 1000),
    Variant(RESAMPLED, 200_000, (0.9990, -0.004)),
)
ANOTHER = "another program: action 4 / action 6 / P(one run does)"
ALONE = "vannucci-abril:simulations=20000"
TEXT = {1000: "the notebooks", 1048: "the command's default", 2048: "the text"}
"""Where the report states each number of iterations."""


def conduct(bench: Workbench) -> Iterator[Part]:
    """Run all variants, and action 6 on its own."""
    size = bench.size
    lines = {
        variant.name: Line(variant.spec, GIVEN, size["sets"], RUNS) for variant in VARIANTS[:-1]
    }
    longest = VARIANTS[-1]
    # 200,000 iterations a run: fewer runs do.
    lines[longest.name] = Line(longest.spec, GIVEN, size["long_sets"], 5)
    # The value of action 6 is the mean over the opponent's replies, searched one by one.
    below = GIVEN.play(ACTIONS[1])
    replies = {f"after 6 {reply}": below.play(reply) for reply in below.legal_columns()}
    for name, position in replies.items():
        lines[name] = Line(ALONE, position, size["long_sets"], 5)
    # Insertion order numbers the sets, and with them their seeds.
    searched = search_all(bench, "runs", lines)
    yield from _claims(searched)
    yield _alone([searched[name] for name in replies])
    band = f"95 % of means of {RUNS}"
    values = ("action 4", "sd of action 4", "action 6", "sd of action 6")
    numbers = (*values, f"{band}, action 4", f"{band}, action 6")
    chances = (f"P(mean of {RUNS} ranks 4 first)", "P(one run does)", "visits of 6")
    head = ("search", "iterations", "runs", *numbers, *chances, ANOTHER, "it agrees")
    rows = (_row(variant, searched[variant.name], bench.seed) for variant in VARIANTS)
    yield Table("The search and its corrections, c = 2", head, tuple(rows))


def _claims(searched: dict[str, Searched]) -> Iterator[Claim]:
    """Compare the reported values at each number of iterations that the report names."""
    exact = exact_values(GIVEN)
    # The correction at the number of iterations that the text names.
    corrected = searched[f"{RESAMPLED}, 2048"]
    # The search as coded, at the three numbers of TEXT.
    for variant in VARIANTS[:3]:
        for place, action in enumerate(ACTIONS):
            faithful_runs = searched[variant.name].runs[:, place].tolist()
            corrected_runs = corrected.runs[:, place].tolist()
            yield Claim(
                f"variant-{variant.iterations}-{action}",
                f"action {action}, {variant.iterations} iterations ({TEXT[variant.iterations]}); "
                "corrected: 2048",
                Estimate(float(CAPTION[action]), n=RUNS, digits=2),
                Source.TEXT,
                faithful=mean_of(faithful_runs),
                corrected=mean_of(corrected_runs),
                exact=exactly(exact[action]),
                # The experiment on Figure 2 has the verdict on 1000 iterations.
                reproduced=None
                if variant.iterations == ITERATIONS
                else same_mean(REPORTED[action], RUNS, faithful_runs, MARGINS[action]),
                why=why(place, corrected),
                kind=Kind.READING,
            )
    steps = (
        ("with the right formula", "B1", f"{FORMULA}, 1000"),
        ("with the reply resampled as well", "B1, B2", f"{RESAMPLED}, 2048"),
    )
    for step, fault, better in steps:
        yield Claim(
            f"variant-ranking-{fault.lower().replace(', ', '-')}",
            f"one run ranks action 4 first, {step}",
            "",
            Source.OURS,
            faithful=share(*searched[f"{AS_CODED}, 1000"].share_first(0)),
            corrected=share(*searched[better].share_first(0)),
            exact="yes",
            why=fault,
        )


def _alone(replies: list[Searched]) -> Claim:
    """Show that action 6 comes near its exact value if its replies are searched on their own.

    From the root it is hardly visited, so its mean over visits is far from its value.
    """
    best = [search.runs.max(axis=1) for search in replies]
    value = sum(float(values.mean()) for values in best) / len(best)
    variance = sum(float(values.var(ddof=1)) / len(values) for values in best)
    error = math.sqrt(variance) / len(best)
    half = Z_95 * error
    return Claim(
        "variant-6-alone",
        "action 6, each reply searched on its own, 20,000 iterations",
        "",
        Source.OURS,
        corrected=Estimate(value, value - half, value + half, digits=4),
        exact=exactly(exact_values(GIVEN)[6]),
        why="a mean over visits still includes refuted continuations, so it stays below the value",
    )


def _row(variant: Variant, searched: Searched, seed: int) -> tuple[object, ...]:
    """Return a variant's row of the table."""
    runs = searched.runs
    sets = resampled_means(runs, RUNS, seed)
    spread = runs.std(axis=0, ddof=1)
    values = [
        f"{number:.4f}" for place in (0, 1) for number in (runs[:, place].mean(), spread[place])
    ]
    bands = ["[{:.3f}, {:.3f}]".format(*central_interval(sets[:, place])) for place in (0, 1)]
    visits = searched.visits.sum(axis=(0, 1))
    return (
        variant.search,
        variant.iterations,
        len(runs),
        *values,
        *bands,
        f"{float((best_places(sets) == 0).mean()):.3f}",
        f"{searched.share_first(0)[0] / len(runs):.3f}",
        f"{100 * visits[1] / visits.sum():.1f} %",
        *_another(variant, runs.mean(axis=0), spread * math.sqrt(1 / len(runs) + 1 / 20_000)),
    )


def _another(variant: Variant, means: Floats, errors: Floats) -> tuple[str, str]:
    """Return the other program's results, and whether our means agree with them.

    They agree within four standard errors of the difference, plus rounding to three digits.
    """
    if variant.means is None:
        return "", ""
    agrees = all(
        abs(means[place] - variant.means[place]) <= 4 * errors[place] + 0.001 for place in (0, 1)
    )
    # Not every run of the other program recorded its ranking.
    ranks = "–" if variant.one_run_ranks is None else variant.one_run_ranks
    return f"{variant.means[0]} / {variant.means[1]} / {ranks}", "yes" if agrees else "no"
