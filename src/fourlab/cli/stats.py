"""`fourlab stats`: calculators for confidence intervals, Elo and the SPRT."""

from typing import Annotated

import typer

from fourlab.arena.sprt import Sprt
from fourlab.arena.statistics import wilson as interval
from fourlab.arena.tally import Tally
from fourlab.cli.options import JsonOption, print_json
from fourlab.errors import UserError

app = typer.Typer(help="Compute confidence intervals, Elo and SPRTs.", rich_markup_mode=None)
# Far beyond any match; sums of such counts are exact as floats, which are so up to 2**53.
MAX_COUNT = 10**12
CountsArgument = Annotated[
    list[int],
    typer.Argument(
        metavar="COUNTS",
        min=0,
        max=MAX_COUNT,
        help=(
            "Wins, draws and losses (three counts of games); or the numbers of pairs with "
            "0, ½, 1, 1½ and 2 points (five counts)."
        ),
    ),
]


@app.command()
def wilson(
    successes: Annotated[int, typer.Argument(min=0, max=MAX_COUNT, help="Number of successes.")],
    trials: Annotated[int, typer.Argument(min=0, max=MAX_COUNT, help="Number of trials.")],
    json: JsonOption = False,
) -> None:
    """Compute the 95 % interval of a share (Wilson 1927).

    Example: fourlab stats wilson 98 100
    """
    if successes > trials:
        raise UserError(f"there cannot be {successes} successes in {trials} trials")
    low, high = interval(successes, trials)
    share = successes / trials if trials else None
    if json:
        print_json(
            {"successes": successes, "trials": trials, "share": share, "low": low, "high": high}
        )
    else:
        text = "unknown" if share is None else _percent(share)
        print(f"{successes} of {trials}: {text}, 95 % interval {_percent(low)} to {_percent(high)}")


@app.command()
def elo(counts: CountsArgument, json: JsonOption = False) -> None:
    """Compute an Elo difference with its 95 % interval.

    Prints Elo, normalized Elo and the likelihood that the first player is stronger. Five counts
    are of pairs of games with the colours swapped, worst first. Three counts are of single games:
    WINS DRAWS LOSSES.

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
    elo0: Annotated[float, typer.Option(help="H0: the Elo difference is at most this.")],
    elo1: Annotated[float, typer.Option(help="H1: the Elo difference is at least this.")],
    alpha: Annotated[float, typer.Option(help="Probability of accepting H1 wrongly.")] = 0.05,
    beta: Annotated[float, typer.Option(help="Probability of accepting H0 wrongly.")] = 0.05,
    model: Annotated[str, typer.Option(help="Kind of Elo: normalized or logistic.")] = "normalized",
    json: JsonOption = False,
) -> None:
    """Test whether a match may stop (SPRT).

    Runs the sequential probability ratio test of H1 against H0. Counts are the same as for
    `fourlab stats elo`.

    Example: fourlab stats sprt 4 20 41 26 9 --elo0 0 --elo1 50
    """
    verdict = Sprt(elo0, elo1, alpha, beta, model).verdict(_tally(counts))
    if json:
        print_json(verdict.as_data())
    else:
        print(verdict.sentence)


def _tally(counts: list[int]) -> Tally:
    # People write wins first and pentanomial counts worst first; a tally is always worst first.
    return Tally(tuple(counts if len(counts) == 5 else reversed(counts)))


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
