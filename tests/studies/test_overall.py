"""The overall page: questions, answers that follow from data, and the verdicts counted."""

from dataclasses import replace
from itertools import groupby

import pytest

from fourlab.reporting.blocks import to_markdown
from fourlab.sources import SOURCES
from fourlab.studies import questions
from fourlab.studies.catalogue import SCALES, all_experiments, chosen
from fourlab.studies.claims import Answer, Claim, Estimate, Source, Verdict, share, shares
from fourlab.studies.made import HOUR, Made
from fourlab.studies.overall import UNDECIDED, overall_blocks
from fourlab.studies.parts import stored
from fourlab.studies.questions import Question, answers_of, questions_of
from fourlab.studies.verdicts import may_happen

BEST = Claim(
    "best",
    "column 4 is best",
    "yes",
    Source.TEXT,
    faithful=share(67, 100),
    reproduced=Verdict(Answer.AGREES, "Wilson interval"),
    true=Verdict(Answer.DIFFERS, "comparison"),
)
OTHER = Claim("other", "column 1", Estimate(75, unit="%", digits=0), Source.TEXT)
QUESTION = Question("Which?", "In {best.faithful} runs.", ["best.true does not hold"])


def test_an_answer_needs_its_values_and_what_its_words_say() -> None:
    assert QUESTION.answered({"best": BEST}) == "In 67.0 % [57.3, 75.4] of 100 runs."
    assert QUESTION.answered({}) is None
    assert QUESTION.answered({"best": replace(BEST, true=None)}) is None, "no verdict"
    holds = replace(BEST, true=Verdict(Answer.AGREES, "comparison"))
    assert QUESTION.answered({"best": holds}) is None, "the words say something else"
    assert QUESTION.answered({"best": replace(BEST, faithful="")}) is None


def test_every_report_has_questions_whose_answers_state_what_they_expect() -> None:
    for author in SOURCES:
        asked = questions_of(author)
        assert asked, author
        # Alternative answers to one question follow each other.
        groups = [name for name, _ in groupby(question.question for question in asked)]
        assert len(set(groups)) == len(groups)
        for question in asked:
            assert question.question.endswith("?")
            assert "{" in question.answer, "an answer has at least one number of ours"
            assert question.expects, "words without a condition could contradict the data"


@pytest.mark.parametrize("report", ["vannucci-abril", "bhat", "gao", "sewell"])
def test_all_experiments_of_a_report_at_full_scale_fit_into_an_hour(report: str) -> None:
    assert sum(one.seconds[SCALES.index("full")] for one in chosen([report])) <= HOUR


def test_verdicts_are_counted_per_report_and_question() -> None:
    experiment = all_experiments()["002-table-1"]
    ours = replace(BEST, name="ours", reported="")
    done = {experiment.name: [stored(experiment, claim) for claim in (BEST, OTHER, ours)]}
    made = {experiment.name: Made("quick", 0)}
    lines = list(to_markdown(overall_blocks(done, made, ".md", others=["004"])))
    assert "| [Gao](gao/report.md) | 2 | 1 | 0 | 0 | 0 | 1 | 0 | 1 | 0 | 1 |" in lines
    assert "| [Arya](arya/report.md) | – | – | – | – | – | – | – | – | – | – |" in lines
    assert not any("bhat" in line for line in lines)
    undecided = [line for line in lines if line.startswith(UNDECIDED)]
    assert len(undecided) == 1
    assert all(question.question in undecided[0] for question in questions_of("gao"))
    assert "| Gao | 1 quick | 0 | – |" in lines
    once = replace(BEST, reproduced=may_happen(50, 100), true=None)
    done = {experiment.name: [stored(experiment, once)]}
    lines = list(to_markdown(overall_blocks(done, made, ".md")))
    assert "| [Gao](gao/report.md) | 1 | 0 | 1 | 0 | 0 | 0 | 0 | 0 | 0 | 1 |" in lines


def test_the_first_answer_that_the_data_allow_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = (
        Question("Why?", "Because of {missing.value}."),
        Question("Why?", "Not so.", ("wins.true does not hold",)),
        Question("Why?", "So.", ("wins.true holds",)),
        Question("When?", "On {missing.value}."),
    )
    monkeypatch.setattr(questions, "questions_of", lambda author: asked)
    claim = Claim("wins", "wins", "", Source.OURS, true=Verdict(Answer.AGREES, "comparison"))
    assert answers_of("arya", {"wins": claim}) == {"Why?": "So.", "When?": None}


# The margin of experiment 4 is a part of the scale of shares, so it has a verdict.
@pytest.mark.parametrize("answer", [answer for answer in Answer if answer != Answer.NONE])
def test_every_outcome_of_experiment_4_has_an_answer(answer: Answer) -> None:
    games = shares(10, 5, 1)
    verdict = Verdict(answer, "t-test over 3 trainings")
    claims = {
        name: Claim(
            name, "games", games, Source.TEXT, faithful=games, corrected=games, reproduced=verdict
        )
        for name in ("experiment-4a", "experiment-4b", "experiment-4-training")
    }
    text = answers_of("arya", claims)["What does the network add to tree search?"]
    assert text is not None
    assert f"(reported 62.5 / 31.2 / 6.2 %; {answer}). Without faults" in text


@pytest.mark.parametrize("answer", [Answer.AGREES, Answer.CANNOT_TELL])
def test_the_answer_about_minimax_has_both_opponents(answer: Answer) -> None:
    games, others = shares(397, 2, 1), shares(230, 150, 20)
    verdict = Verdict(Answer.AGREES, "Wilson interval")
    claims = {
        name: Claim(
            name,
            "games",
            games,
            Source.TEXT,
            faithful=games,
            corrected=games,
            reproduced=verdict,
            true=verdict,
        )
        for name in ("experiment-3a", "experiment-3b")
    }
    claims["experiment-3b"] = replace(claims["experiment-3b"], true=Verdict(answer, "interval"))
    claims |= {
        name: Claim(name, "games", "", Source.OURS, corrected=others)
        for name in ("experiment-3a-heuristic", "experiment-3b-heuristic")
    }
    text = answers_of("arya", claims)["Does tree search beat minimax?"]
    assert text is not None
    assert text.split()[0] == ("Yes:" if answer is Answer.AGREES else "Against")
    assert text.count("57.5 / 37.5 / 5 %") == 2
