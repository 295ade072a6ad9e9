"""Published results are run again from their seeds; a changed number is noticed."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fourlab.arena.tables import Table
from fourlab.studies.catalogue import all_experiments
from fourlab.studies.claims import Answer, Claim, Estimate, Source, Verdict, shares
from fourlab.studies.made import Made
from fourlab.studies.parts import stored
from fourlab.studies.verify import Sample, differences, draw
from tests.conftest import Result

Fourlab = Callable[..., Result]
MATCH = Claim(
    "match",
    "a match",
    shares(7, 2, 1),
    Source.TEXT,
    faithful=shares(70, 20, 10),
    corrected=Estimate(0.25, 0.2, 0.3, n=40, note="of forty"),
    exact="a draw",
    reproduced=Verdict(Answer.AGREES, "a test", p=0.5, power=0.9),
)


def sample(name: str, claims: int = 1, made: Made | None = None) -> Sample:
    """Return a published experiment with a number of claims."""
    experiment = all_experiments()[name]
    parts = [stored(experiment, replace(MATCH, name=f"match-{i}")) for i in range(claims)]
    return Sample(experiment, parts, made or Made("quick", 0))


def compare(one: Claim, other: Claim) -> list[str]:
    """Return the differences between two claims in words."""
    experiment = all_experiments()["000-exact"]
    parts = ([stored(experiment, claim)] for claim in (one, other))
    return [str(difference) for difference in differences("000-exact", *parts)]


def test_every_value_is_compared_and_words_are_not() -> None:
    assert compare(MATCH, MATCH) == []
    assert compare(MATCH, replace(MATCH, why="B1", quantity="the match")) == []
    rounded = replace(MATCH, corrected=Estimate(0.25 + 1e-12, 0.2, 0.3, n=40, note="40"))
    assert compare(MATCH, rounded) == []
    assert compare(MATCH, replace(MATCH, faithful=shares(71, 19, 10))) == [
        "vannucci-abril exact: match: faithful.won is 71, published 70",
        "vannucci-abril exact: match: faithful.lost is 19, published 20",
    ]
    assert compare(MATCH, replace(MATCH, corrected=Estimate(0.25, 0.2, 0.31, n=40))) == [
        "vannucci-abril exact: match: corrected.high is 0.31, published 0.3"
    ]
    assert compare(MATCH, replace(MATCH, exact="a win")) == [
        "vannucci-abril exact: match: exact is a win, published a draw"
    ]
    assert compare(replace(MATCH, reproduced=None), MATCH)[0].endswith("published missing")
    assert len(compare(MATCH, replace(MATCH, name="another"))) == 2 * 14


def test_cells_of_tables_are_compared_except_for_measured_times() -> None:
    experiment = all_experiments()["league"]

    def table(score: str, seconds: str) -> list[dict[str, object]]:
        head = ("agent", "score", "CPU seconds per move")
        return [stored(experiment, Table("Strength", head, (("mcts", score, seconds),)))]

    assert not list(differences("league", table("0.5", "0.1"), table("0.5", "0.2")))
    (one,) = differences("league", table("0.5", "0.1"), table("0.6", "0.1"))
    assert str(one) == ("league: league-strength-table.csv: score in row 1 is 0.6, published 0.5")


def test_a_tenth_of_the_claims_is_drawn_at_random() -> None:
    names = [name for name in all_experiments() if not all_experiments()[name].clock]
    samples = [sample(name) for name in names]
    plans = [draw(samples, seed, 1e9) for seed in range(40)]
    for plan in plans:
        assert plan.cells == len(names)
        assert plan.covered == -(-len(names) // 10)
    drawn = {one.experiment.name for plan in plans for one in plan.samples}
    assert len(drawn) > len(names) // 2
    assert plans[0] == draw(samples, 0, 1e9)


def test_the_clock_and_the_budget_leave_experiments_out() -> None:
    samples = [
        sample("004-speed", 50),
        sample("004-experiment-3", 50, Made("quick", 0, by_clock=True)),
        sample("league", 50),
        sample("000-exact", 5),
    ]
    plan = draw(samples, 0, 2)
    assert [one.experiment.name for one in plan.samples] == ["000-exact"]
    assert plan.cells == 55
    assert plan.left_out["004-speed"] == "depends on the clock"
    assert plan.left_out["004-experiment-3"] == "depends on the clock"
    assert plan.left_out["league"].startswith("takes about 370 s, and ")


def test_a_changed_number_is_found(fourlab: Fourlab, tmp_path: Path) -> None:
    names = ("vannucci-abril", "exact", "own-moves")
    made = fourlab("study", *names, "--scale", "smoke", "--run", "run", "--publish", "pages")
    assert made.returncode == 0, made.stderr
    for folder in ("pages", "run"):
        done = fourlab("study", "verify", folder, "--seed", "3", "--quiet", "--workers", "1")
        assert (done.returncode, done.stderr) == (0, "")
        assert "drawn with --seed 3" in done.stdout
        assert done.stdout.splitlines()[-1].endswith("claims agree")
    file = tmp_path / "pages" / "vannucci-abril" / "parts.json"
    parts = json.loads(file.read_text(encoding="utf-8"))
    action_4, action_6 = parts["000-exact"][:2]
    action_6["exact"]["value"] = 0.75
    (table,) = (part for part in parts["000-exact"] if part["kind"] == "table")
    table["rows"][0][1] = "0.9"
    del parts["000-own-moves"]
    file.write_text(json.dumps(parts), encoding="utf-8")
    refused = fourlab("study", "verify", "pages")
    assert refused.returncode == 2, "the manifest names another experiment"
    assert "damaged" in refused.stderr
    manifest = tmp_path / "pages" / "vannucci-abril" / "manifest.json"
    described = json.loads(manifest.read_text(encoding="utf-8"))
    del described["experiments"]["000-own-moves"]
    manifest.write_text(json.dumps(described), encoding="utf-8")
    done = fourlab("study", "verify", "pages", "--quiet", "--workers", "1")
    assert done.returncode == 1
    assert done.stdout.splitlines()[1:] == [
        f"vannucci-abril exact: {action_6['name']}: exact.value is 0.65625, published 0.75",
        f"vannucci-abril exact: {table['file']}: {table['head'][1]} in row 1 is 1, published 0.9",
        "1 table differs",
        "1 of 4 claims differ",
    ]
    printed = json.loads(fourlab("study", "verify", "pages", "--json", "--quiet").stdout)
    difference, of_table = printed["differences"]
    assert of_table["published"] == "0.9"
    assert (difference["published"], difference["ours"]) == (0.75, 0.65625)
    assert printed["experiments"] == ["000-exact"]
    assert action_4["name"] != action_6["name"]


@pytest.mark.parametrize("budget", ["1", "86400"])
def test_what_cannot_be_verified_is_said(fourlab: Fourlab, tmp_path: Path, budget: str) -> None:
    made = fourlab("study", "gao", "parallel", "--scale", "smoke", "--publish", "pages")
    assert made.returncode == 0, made.stderr
    done = fourlab("study", "verify", "pages", "--budget-seconds", budget)
    assert (done.returncode, done.stdout) == (2, "")
    assert "nothing of pages can be verified: gao parallel depends on the clock" in done.stderr
