import math
import time
from collections.abc import Sequence

import choix
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fourlab.arena.ratings import ELO, Rating, Unit, bootstrap
from fourlab.arena.statistics import Estimate, elo_of, score_of
from fourlab.errors import UserError
from tests.promises import Report


def ratings(names: Sequence[str], units: Sequence[Unit]) -> list[Rating]:
    """Return the ratings where intervals do not matter."""
    return bootstrap(names, units, seed=0, resamples=1)


def played(strengths: Sequence[float], number: int, seed: int = 0) -> list[Unit]:
    """Return simulated pairs of games between random agents of given strengths."""
    rng = np.random.default_rng(seed)
    units: list[Unit] = []
    for _ in range(number):
        i, j = map(int, rng.choice(len(strengths), 2, replace=False))
        quarters = rng.binomial(4, 1 / (1 + math.exp(strengths[j] - strengths[i])))
        units.append((i, j, quarters / 4, 2))
    return units


def by_name(rated: list[Rating]) -> dict[str, Rating]:
    return {rating.name: rating for rating in rated}


def elo(rating: Rating) -> float:
    assert rating.elo.value is not None
    return rating.elo.value


@given(
    st.integers(2, 6).flatmap(
        lambda n: st.lists(
            st.tuples(
                st.integers(0, n - 1),
                st.integers(0, n - 1),
                st.sampled_from([0, 0.25, 0.5, 0.75, 1]),
                st.just(2),
            ).filter(lambda unit: unit[0] != unit[1]),
            max_size=25,
        ).map(lambda units: (n, units))
    )
)
def test_ratings_agree_with_choix(case: tuple[int, list[Unit]]) -> None:
    n, units = case
    ring = [(i, (i + 1) % n, 0.5, 2) for i in range(n)]  # so that all agents can be compared
    wins = []
    for i, j, score, games in units + ring:  # in quarters of a point
        wins += [(i, j)] * round(2 * score * games) + [(j, i)] * round(2 * (1 - score) * games)
    expected = choix.ilsr_pairwise(n, wins, max_iter=1000)
    rated = by_name(ratings([str(agent) for agent in range(n)], units + ring))
    assert [elo(rated[str(agent)]) for agent in range(n)] == pytest.approx(
        list(ELO * (expected - expected.mean())), abs=1e-3
    )


def test_two_agents_are_as_far_apart_as_their_score_says() -> None:
    best, worst = ratings(["A", "B"], [(0, 1, 0.25, 2), (1, 0, 1, 2), (0, 1, 0.5, 2)])
    assert (best.name, worst.name) == ("B", "A")
    assert elo(best) - elo(worst) == pytest.approx(elo_of(0.75))
    assert elo(best) + elo(worst) == pytest.approx(0)
    assert (best.games, best.score) == (6, 0.75)


def test_far_apart_agents_are_rated_too() -> None:
    """Undamped Newton steps would diverge here."""
    chain: list[Unit] = [(i, i + 1, score, 2) for i in range(8) for score in [1.0] * 999 + [0.75]]
    rated = by_name(ratings([str(i) for i in range(9)], chain))
    for i in range(8):
        assert elo(rated[str(i)]) - elo(rated[str(i + 1)]) == pytest.approx(elo_of(0.99975))


def test_an_agent_without_a_finite_rating_has_a_reason() -> None:
    units: list[Unit] = [
        (0, 1, 1, 2),
        (0, 2, 1, 2),
        (1, 2, 0.75, 2),
        (1, 3, 1, 2),
        (2, 3, 1, 2),
        (3, 4, 1, 2),
    ]
    rated = ratings(["ace", "B", "C", "low", "lowest", "idle"], units)
    assert [rating.name for rating in rated] == ["ace", "B", "C", "low", "lowest", "idle"]
    words = {rating.name: rating.elo.why for rating in rated}
    assert words["ace"] == "won every game"
    assert words["low"] == "lost every game against the rest"
    assert words["lowest"] == "lost every game"
    assert words["idle"] == "played no game"
    assert elo(rated[1]) - elo(rated[2]) == pytest.approx(elo_of(0.75))
    assert rated[-1].score is None


def test_groups_that_never_met_cannot_be_compared() -> None:
    rated = ratings(["A", "B", "C", "D"], [(0, 1, 0.5, 2), (2, 3, 0.75, 2)])
    assert all(str(rating.elo).startswith("cannot be compared") for rating in rated)
    assert [rating.name for rating in rated] == ["C", "A", "B", "D"], "by regularised ratings"


def regularised_slowly(points: list[list[float]]) -> list[float]:
    """Climb the likelihood with one more drawn game per agent against a player of strength 0."""
    strengths = [0.0] * len(points)
    for _ in range(20_000):
        for i, row in enumerate(points):
            gradient = 0.5 - 1 / (1 + math.exp(-strengths[i]))
            for j, taken in enumerate(row):
                games = taken + points[j][i]
                gradient += taken - games / (1 + math.exp(strengths[j] - strengths[i]))
            strengths[i] += 0.05 * gradient
    return [ELO * strength for strength in strengths]


def test_agents_without_a_rating_have_that_of_a_fit_with_a_weak_prior() -> None:
    units: list[Unit] = [(0, 1, 0.5, 2), (2, 3, 0.75, 2), (0, 2, 1, 2), (1, 3, 1, 2)]
    points = [[0.0] * 4 for _ in range(4)]
    for first, second, score, games in units:
        points[first][second] += score * games
        points[second][first] += (1 - score) * games
    slow = regularised_slowly(points)
    rated = by_name(ratings(["0", "1", "2", "3"], units))
    for i in range(4):
        assert rated[str(i)].elo.regularised == pytest.approx(slow[i], abs=1e-3)
        assert rated[str(i)].elo.as_data()["regularised"] == rated[str(i)].elo.regularised


def test_who_won_everything_has_a_bound_at_which_that_has_a_probability_of_5_percent() -> None:
    rivals: list[Unit] = [(1, 2, score, 2) for score in (0.25, 0.5, 1.0)]
    units = [*rivals, *[(0, 1, 1.0, 2)] * 3, *[(0, 2, 1.0, 2)] * 4]
    rated = by_name(ratings(["ace", "B", "C"], units))
    bound = rated["ace"].elo.low
    assert bound is not None
    first, second = (score_of(bound - elo(rated[name])) for name in "BC")
    assert first**3 * second**4 == pytest.approx(0.05)
    assert rated["ace"].elo.high is None
    mirrored = by_name(ratings(["ace", "B", "C"], [(a, b, 1 - s, g) for a, b, s, g in units]))
    assert mirrored["ace"].elo.high == pytest.approx(-bound)
    assert str(rated["ace"].elo).startswith("won every game; at least ")
    assert ratings(["ace", "B", "C"], units)[0].name == "ace"


def test_groups_of_which_one_took_no_point_from_the_other_cannot_be_compared() -> None:
    rated = ratings(
        ["A", "B", "C", "D"], [(0, 1, 0.5, 2), (2, 3, 0.75, 2), (0, 2, 1, 2), (1, 3, 1, 2)]
    )
    assert all(str(rating.elo).startswith("cannot be compared") for rating in rated)


def test_without_agents_or_games_there_are_no_ratings() -> None:
    assert ratings([], []) == []
    assert bootstrap([], [], seed=0) == []
    (alone,) = bootstrap(["A"], [], seed=0)
    assert str(alone.elo) == "played no game"


def test_intervals_depend_on_the_seed_but_not_on_the_order() -> None:
    units = played([0, 0.5, 1], 300)
    first = bootstrap(["A", "B", "C"], units, seed=1, resamples=200)
    assert bootstrap(["A", "B", "C"], units[::-1], seed=1, resamples=200) == first
    assert bootstrap(["A", "B", "C"], units, seed=2, resamples=200) != first


def test_intervals_cover_the_true_rating_about_as_often_as_they_promise() -> None:
    strengths = [-0.6, 0, 0.6]
    held = 0
    for seed in range(40):
        for rating in bootstrap(["0", "1", "2"], played(strengths, 150, seed), seed, resamples=100):
            assert rating.elo.low is not None
            assert rating.elo.high is not None
            held += rating.elo.low <= ELO * strengths[int(rating.name)] <= rating.elo.high
    assert 0.88 <= held / 120 <= 0.99


def test_an_agent_that_might_have_won_everything_has_no_upper_bound() -> None:
    """One drawn pair in twenty is missing from a third of the resamples."""
    best, worst = bootstrap(["A", "B"], [(0, 1, 1, 2)] * 19 + [(0, 1, 0.5, 2)], seed=0)
    assert best.elo.high is None
    assert best.elo.low is not None
    assert worst.elo.low is None
    assert str(best.elo).endswith("no bound]")


def test_an_anchor_has_the_rating_zero_and_takes_its_uncertainty_to_the_others() -> None:
    units = played([0.0, 1.0, 2.0], 150)
    free = by_name(bootstrap(["A", "B", "C"], units, seed=0, resamples=200))
    fixed = by_name(bootstrap(["A", "B", "C"], units, seed=0, resamples=200, anchor=2))
    assert fixed["C"].elo == Estimate(0.0, 0.0, 0.0)
    assert elo(fixed["A"]) == pytest.approx(elo(free["A"]) - elo(free["C"]))
    widths = {}
    for kind, rated in (("free", free), ("fixed", fixed)):
        low, high = rated["A"].elo.low, rated["A"].elo.high
        assert low is not None
        assert high is not None
        widths[kind] = high - low
    assert widths["fixed"] > widths["free"], "a difference of two ratings has the errors of both"
    assert all(
        rating.elo.value is None
        for rating in bootstrap(["A", "B"], [(0, 1, 0.0, 2)], seed=0, anchor=0)
    ), "an anchor that lost every game"


@pytest.mark.soak
def test_a_large_tournament_is_rated_fast(figure: Report) -> None:
    """CPU time depends on the machine, so this is not among the fast tests."""
    names, units = [str(i) for i in range(10)], played(list(np.linspace(-1, 1, 10)), 10_000)
    began = time.process_time()
    bootstrap(names, units, seed=0)
    figure("ratings from 10,000 pairs", time.process_time() - began, 10, "CPU s")


def test_a_large_tournament_is_ranked_by_strength() -> None:
    names, units = [str(i) for i in range(10)], played(list(np.linspace(-1, 1, 10)), 10_000)
    assert [rating.name for rating in bootstrap(names, units, seed=0)] == names[::-1]


@pytest.mark.parametrize(
    "unit",
    [
        (0, 0, 0.5, 2),
        (0, 2, 0.5, 2),
        (-1, 0, 0.5, 2),
        (0, 1, 1.5, 2),
        (0, 1, math.nan, 2),
        (0, 1, 0.5, 0),
    ],
)
def test_impossible_units_are_refused(unit: Unit) -> None:
    with pytest.raises(UserError, match="not the result of two agents"):
        ratings(["A", "B"], [unit])
