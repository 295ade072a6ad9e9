import numpy as np
import pytest

from fourlab import Exact, Limit, Position, UserError, make
from fourlab.agent import Stop
from fourlab.agents.simple.human import WORDS, Human, HumanSays


def decide(spec: str, position: Position, seed: int = 0) -> int:
    return make(spec).decide(position, Limit(), np.random.default_rng(seed)).column


def test_random_plays_every_column_about_equally_often() -> None:
    counts = np.bincount(
        [decide("random", Position("444444"), seed) for seed in range(1200)], minlength=7
    )
    assert counts[3] == 0
    assert min(np.delete(counts, 3)) > 140


def test_rules_wins_before_it_blocks() -> None:
    assert decide("rules", Position("121212")) == 0
    decision = make("rules").decide(Position("121212"), Limit(), np.random.default_rng(0))
    assert decision.proven == Exact(1, plies=1)
    assert decision.value == 1


def test_rules_blocks_before_it_centres() -> None:
    assert decide("rules", Position("12131")) == 0


def test_rules_plays_the_centre_otherwise_and_one_of_two_central_columns_at_random() -> None:
    assert decide("rules", Position()) == 3
    assert {decide("rules", Position("444444"), seed) for seed in range(20)} == {2, 4}
    assert {decide("rules:otherwise=random", Position(), seed) for seed in range(100)} == set(
        range(7)
    )


def ask(*answers: str) -> tuple[Human, list[str]]:
    shown: list[str] = []
    waiting = list(answers)
    return Human(lambda prompt: waiting.pop(0), shown.append), shown


def test_a_human_is_asked_again_until_the_column_is_open() -> None:
    human, shown = ask("x", "0", "8", "4", "5")
    decision = human.decide(Position("444444"), Limit(), np.random.default_rng(0))
    assert decision.column == 4
    assert shown == [
        "'x' is not a column; type a number from 1 to 7, or back, hint, eval, quit",
        "there is no column 0",
        "there is no column 8",
        "column 4 is full",
    ]


@pytest.mark.parametrize(
    ("word", "spelling"),
    [(word, spelling) for word, spellings in WORDS.items() for spelling in spellings],
)
def test_a_human_can_type_commands(word: str, spelling: str) -> None:
    human, _ = ask(f" {spelling.upper()} ")
    with pytest.raises(HumanSays, match=word):
        human.decide(Position(), Limit(), np.random.default_rng(0))


def test_the_quit_commands_of_the_reports_are_accepted() -> None:
    assert {":q", "quit", "quit()", "exit", "exit()"} <= set(WORDS["quit"])


@pytest.mark.parametrize(
    "bound",
    [{"seconds": 0}, {"simulations": -1}, {"nodes": 0}, {"depth": 0}, {"seconds": float("nan")}],
)
def test_a_limit_must_be_positive_and_finite(bound: dict[str, float]) -> None:
    with pytest.raises(UserError, match=f"limit of {next(iter(bound))} must be greater than 0"):
        Limit(**bound)  # type: ignore[arg-type]


def test_the_smaller_of_two_bounds_counts() -> None:
    assert Limit().bounds(None, None, 600) == (600, None)
    assert Limit().bounds(0, None, 600) == (0, None)
    assert Limit(simulations=50).bounds(100, 2.0, 600) == (50, 2.0)
    assert Limit(simulations=50, nodes=12, seconds=1.0).bounds(100, 2.0, 600) == (10, 1.0)
    assert Limit(seconds=1.0).bounds(None, None, 600) == (None, 1.0)
    assert Limit(stop=Stop()).bounds(None, None, 600) == (None, None)
