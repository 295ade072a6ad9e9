import json
import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from fourlab.arena.sprt import Sprt
from fourlab.arena.tally import NORMALIZED, Tally
from fourlab.errors import UserError


@pytest.mark.parametrize(
    ("counts", "elo1", "beta", "llr", "digits"),
    [
        ((379, 10170, 21828, 10640, 343), 2, 0.05, 2.946, 3),
        ((177, 1629, 3083, 1780, 221), 3, 0.10, 2.91, 2),
        ((241, 3440, 6895, 3664, 258), 3, 0.10, 2.90, 2),
    ],
)
def test_log_likelihood_ratios_agree_with_fastchess(
    counts: tuple[int, ...], elo1: float, beta: float, llr: float, digits: int
) -> None:
    test = Sprt(0, elo1, beta=beta)
    value = test.llr(Tally(counts))
    assert value is not None
    assert round(value, digits) == llr
    assert test.verdict(Tally(counts)).accepted == "H1"


def test_bounds_are_walds() -> None:
    assert Sprt(0, 5).bounds == pytest.approx((-2.944, 2.944), abs=1e-3)
    assert Sprt(0, 5, alpha=0.05, beta=0.1).bounds == pytest.approx((-2.251, 2.890), abs=1e-3)


@pytest.mark.parametrize("model", ["normalized", "logistic"])
@given(
    counts=st.lists(st.integers(0, 40), min_size=5, max_size=5).filter(
        lambda counts: sum(map(bool, counts)) > 1
    )
)
def test_the_variance_is_the_most_likely_one(model: str, counts: list[int]) -> None:
    tally = Tally(tuple(counts))
    test = Sprt(-10, 40, model=model)
    scores = np.repeat(np.linspace(0, 1, 5), counts)

    def best(elo: float) -> float:
        def negative_log_likelihood(log_sigma: float) -> float:
            sigma = math.exp(log_sigma)
            mean = (
                0.5 + elo / NORMALIZED * math.sqrt(2) * sigma
                if model == "normalized"
                else 1 / (1 + 10 ** (-elo / 400))
            )
            return float(len(scores) * log_sigma + ((scores - mean) ** 2).sum() / (2 * sigma**2))

        return -float(
            minimize_scalar(
                negative_log_likelihood, bounds=(-5, 1), method="bounded", options={"xatol": 1e-9}
            ).fun
        )

    assert test.llr(tally) == pytest.approx(best(40) - best(-10), abs=1e-4)


@given(
    st.lists(st.integers(0, 40), min_size=5, max_size=5),
    st.sampled_from(["normalized", "logistic"]),
)
def test_swapping_the_agents_swaps_the_hypotheses(counts: list[int], model: str) -> None:
    there = Sprt(-5, 30, model=model).llr(Tally(tuple(counts)))
    back = Sprt(-30, 5, model=model).llr(Tally(tuple(reversed(counts))))
    assert (there is None) == (back is None)
    assert there is None or back is None or there == pytest.approx(-back, abs=1e-7)


@pytest.mark.parametrize(("truth", "wrong"), [(0, "H1"), (80, "H0")])
def test_the_test_is_wrong_about_as_often_as_it_promises(truth: float, wrong: str) -> None:
    chances = tilted(np.array([0.15, 0.1, 0.5, 0.1, 0.15]), truth)
    rng = np.random.default_rng(4)
    test = Sprt(0, 80)
    tests = 400
    verdicts: Counter[str] = Counter()
    for _ in range(tests):
        counts = [0] * 5
        accepted = None
        while accepted is None:
            counts[rng.choice(5, p=chances)] += 1
            accepted = test.verdict(Tally(tuple(counts))).accepted
        verdicts[accepted] += 1
    assert 0.01 < verdicts[wrong] / tests < 0.09  # it promises 0.05


def tilted(
    chances: np.ndarray[Any, np.dtype[np.float64]], elo: float
) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the probabilities nearest to `chances` that have this normalized Elo."""
    scores = np.linspace(0, 1, 5)

    def shifted(tilt: float) -> np.ndarray[Any, np.dtype[np.float64]]:
        weights: np.ndarray[Any, np.dtype[np.float64]] = chances * np.exp(tilt * scores)
        return weights / weights.sum()

    def miss(tilt: float) -> float:
        p = shifted(tilt)
        mean = p @ scores
        return float(
            ((mean - 0.5) / math.sqrt(2 * (p @ (scores - mean) ** 2)) * NORMALIZED - elo) ** 2
        )

    return shifted(float(minimize_scalar(miss, bounds=(-3, 3), method="bounded").x))


def test_even_pairs_carry_no_information() -> None:
    verdict = Sprt(0, 10).verdict(Tally((0, 0, 500, 0, 0)))
    assert (verdict.llr, verdict.accepted) == (None, None)
    assert (
        verdict.sentence
        == "undecided after 500 pairs: every pair ended alike: not enough information"
    )
    assert Sprt(0, 10).llr(Tally((0, 0, 0))) is None


@pytest.mark.parametrize("model", ["normalized", "logistic"])
def test_an_agent_that_wins_everything_ends_the_test(model: str) -> None:
    verdict = Sprt(0, 50, model=model).verdict(Tally((0, 0, 0, 0, 40)), "A", "B")
    assert verdict.accepted == "H1"
    assert verdict.sentence.startswith(
        "H1 accepted after 40 pairs: A is stronger than B by more than 0 "
    )
    assert Sprt(0, 50, model=model).verdict(Tally((40, 0, 0, 0, 0))).accepted == "H0"


def test_fewer_than_ten_pairs_decide_nothing() -> None:
    assert Sprt(0, 2000).verdict(Tally((0, 0, 0, 0, 9))).accepted is None
    assert Sprt(0, 2000).verdict(Tally((0, 0, 0, 0, 10))).accepted == "H1"


def test_sentences() -> None:
    verdict = Sprt(0, 50).verdict(Tally((30, 20, 41, 26, 9)), "A", "B")
    assert verdict.sentence == (
        "H0 accepted after 126 pairs: A is not stronger than B by 50 normalized Elo "
        "(LLR -8.33, bounds -2.94 to 2.94)"
    )
    undecided = Sprt(0, 5).verdict(Tally((4, 20, 41, 26, 9)))
    assert undecided.sentence.startswith("undecided after 100 pairs (LLR 0.")
    json.dumps(undecided.as_data(), allow_nan=False)


@pytest.mark.parametrize(
    "settings",
    [
        {"elo0": 5, "elo1": 5},
        {"elo0": 5, "elo1": 2},
        {"elo0": 0, "elo1": math.inf},
        {"elo0": 0, "elo1": math.nan},
        {"elo0": 0, "elo1": 5, "alpha": 0},
        {"elo0": 0, "elo1": 5, "beta": 1},
        {"elo0": 0, "elo1": 5, "alpha": 0.6, "beta": 0.4},
        {"elo0": 0, "elo1": 5, "model": "bayesian"},
    ],
)
def test_impossible_tests_are_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        Sprt(**settings)
