"""`fourlab stats`: calculators for shares, leads and tests."""

from typing import TYPE_CHECKING, Annotated

import typer

from fourlab.cli.options import JsonOption, print_json
from fourlab.errors import UserError

if TYPE_CHECKING:
    from fourlab.arena.tally import Tally

app = typer.Typer(help="Calculators: how much do these results say?", rich_markup_mode=None)
MOST = 10**12
CountsArgument = Annotated[
    list[int],
    typer.Argument(
        metavar="COUNTS...",
        min=0,
        max=MOST,
        help="Three counts of games: wins, draws, losses. Or five of pairs, worst first: pairs with 0, ½, 1, 1½ and 2 points.",
    ),
]


@app.command()
def wilson(
    successes: Annotated[int, typer.Argument(min=0, max=MOST, help="How often it happened.")],
    trials: Annotated[int, typer.Argument(min=0, max=MOST, help="Out of how many times.")],
    json: JsonOption = False,
) -> None:
    """The 95 % interval of a share (Wilson 1927).

    Example: fourlab stats wilson 98 100
    """
    from fourlab.arena.statistics import wilson as interval

    if successes > trials:
        raise UserError(f"there cannot be {successes} successes in {trials} trials")
    low, high = interval(successes, trials)
    share = successes / trials if trials else None
    if json:
        print_json({"successes": successes, "trials": trials, "share": share, "low": low, "high": high})
    else:
        found = "unknown" if share is None else _percent(share)
        print(f"{successes} of {trials}: {found}, 95 % interval {_percent(low)} to {_percent(high)}")


@app.command()
def elo(counts: CountsArgument, json: JsonOption = False) -> None:
    """The lead of an agent in Elo and in normalized Elo, with 95 % intervals, and how surely it is the stronger one.

    Five counts are of pairs of games with the colours swapped, worst first. Three counts are of single games: WINS DRAWS
    LOSSES.

    Example: fourlab stats elo 4 20 41 26 9
    """
    tally = _tally(counts)
    if json:
        print_json(
            {
                "counts": tally.counts,
                "unit": tally.unit,
                "units": tally.units,
                "score": tally.score if tally.units else None,
                "elo": tally.elo().as_data(),
                "normalized_elo": tally.normalized_elo().as_data(),
                "los": tally.los().as_data(),
            }
        )
        return
    print(f"{tally.unit + 's':14}  {tally.units}")
    print(f"score           {_percent(tally.score) if tally.units else 'unknown'}")
    print(f"Elo             {tally.elo()}")
    print(f"normalized Elo  {tally.normalized_elo()}")
    print(f"superiority     {tally.los()}")


@app.command()
def sprt(
    counts: CountsArgument,
    elo0: Annotated[float, typer.Option(help="H0: the lead is so many Elo or less.")],
    elo1: Annotated[float, typer.Option(help="H1: the lead is so many Elo or more.")],
    alpha: Annotated[float, typer.Option(help="How often H1 may be accepted wrongly.")] = 0.05,
    beta: Annotated[float, typer.Option(help="How often H0 may be accepted wrongly.")] = 0.05,
    model: Annotated[str, typer.Option(help="The kind of Elo: normalized or logistic.")] = "normalized",
    json: JsonOption = False,
) -> None:
    """Whether a match may stop: the sequential probability ratio test of H1 against H0.

    Counts are given as to fourlab stats elo.

    Example: fourlab stats sprt 4 20 41 26 9 --elo0 0 --elo1 50
    """
    from fourlab.arena.sprt import Sprt

    verdict = Sprt(elo0, elo1, alpha, beta, model).verdict(_tally(counts))
    if json:
        print_json(verdict.as_data())
    else:
        print(verdict.sentence)


def _tally(counts: list[int]) -> "Tally":
    from fourlab.arena.tally import Tally

    # People write wins first and pentanomial counts worst first; a tally is always worst first.
    return Tally(tuple(counts if len(counts) == 5 else reversed(counts)))


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
