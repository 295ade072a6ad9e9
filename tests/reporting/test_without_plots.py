"""Without matplotlib everything works; in place of figures a line says what to install."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from fourlab import Limit, Position
from fourlab.analysis.review import review
from fourlab.analysis.review_page import review_page
from fourlab.jobs.run import open_run
from fourlab.reporting import figures
from fourlab.studies.catalogue import all_experiments
from fourlab.studies.publish import publish
from fourlab.studies.report import lacks_figures, save_parts, write_reports
from fourlab.studies.workbench import Picture, Table
from fourlab.training.loop import train
from fourlab.training.report import write_training_report
from tests.arena.test_report import Page, made
from tests.training.test_loop import Sum, sum_run

LINE = "figures need: pip install 'fourlab[plots]'"
Command = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def no_plots(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide matplotlib from this process."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)


@pytest.fixture
def without_plots(tmp_path: Path) -> Command:
    """Run the command in a process that has no matplotlib."""
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    module = "raise ModuleNotFoundError('hidden', name='matplotlib')\n"
    (hidden / "matplotlib.py").write_text(module)
    path = os.pathsep.join([str(hidden), *filter(None, [os.environ.get("PYTHONPATH")])])

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        return fourlab(tmp_path, arguments, {"PYTHONPATH": path})

    return run


def fourlab(
    folder: Path,
    arguments: Sequence[str],
    environment: Mapping[str, str],
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fourlab", *arguments],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, **environment},
    )


def test_matplotlib_is_hidden_here_and_present_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    assert figures.can_draw()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert not figures.can_draw()


@pytest.mark.usefixtures("no_plots")
def test_a_report_has_all_its_tables_and_one_line_for_its_figures(tmp_path: Path) -> None:
    run, page = made(tmp_path, ["random", "rules", "mcts:simulations=20"], openings="random:16")
    assert "svg" not in page.tags
    assert page.words.count(LINE) == 1
    assert len(page.links) == 36
    for words in ("Agreement with the solver", "Every game", "rounds = 6"):
        assert words in page.words
    assert not (run.folder / "figures").exists()


def test_outdated_figures_are_deleted(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = sum_run(tmp_path)
    trainee = Sum()
    write_training_report(run, trainee, train(run, trainee))
    assert (run.folder / "figures" / "training.svg").exists()
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    write_training_report(run, trainee, train(run, trainee))
    assert not (run.folder / "figures").exists()
    page = run.report_file.read_text()
    assert page.count(LINE) == 1
    assert "the sum is 210" in page


@pytest.mark.usefixtures("no_plots")
def test_a_review_keeps_its_boards_and_moves() -> None:
    page = Page(review_page(review(Position(), (3, 3, 3, 3, 3, 0, 2, 2, 2, 2, 0, 1, 1), Limit())))
    assert page.words.count(LINE) == 1
    assert page.tags.count("svg") == 3  # a board for each mistake, drawn without matplotlib
    assert "Every move" in page.words


def test_a_study_without_plots_keeps_the_data_and_draws_later(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    run = open_run(tmp_path, "x", {"kind": "reproduce", "scale": "smoke", "seed": 0})
    experiment = all_experiments()["000-exact"]
    data = Table("data", ("games",), ((5,),))
    part = Picture("lengths", "How long games are.", lambda: figures.lengths({5: 1}), data)
    with monkeypatch.context() as hidden:
        hidden.setitem(sys.modules, "matplotlib", None)
        save_parts(run, experiment, [part])
        write_reports(run)
        assert not lacks_figures(
            run, experiment.name
        )  # without matplotlib, missing figures do not count
    publish(run, tmp_path / "pages", [experiment.name])
    text = (tmp_path / "pages" / "vannucci-abril" / "report.md").read_text(encoding="utf-8")
    assert LINE in text
    assert "How long games are. ([data](data/exact-lengths.csv), `fourlab study" in text
    assert "![" not in text
    page = (run.folder / "vannucci-abril" / "report.html").read_text(encoding="utf-8")
    assert LINE in page
    assert "<svg" not in page

    assert lacks_figures(run, experiment.name)
    save_parts(run, experiment, [part])
    write_reports(run)
    assert not lacks_figures(run, experiment.name)
    text = (run.folder / "vannucci-abril" / "report.md").read_text(encoding="utf-8")
    assert "![exact lengths](figures/exact-lengths.svg)" in text
    assert LINE not in text


def test_a_plot_is_refused_before_the_search(
    without_plots: Command,
    tmp_path: Path,
) -> None:
    done = without_plots("analyze", "44", "--agent", "mcts:simulations=100", "--plot", "a.svg")
    assert done.returncode == 2
    assert done.stderr == "fourlab: --plot needs matplotlib: pip install 'fourlab[plots]'\n"
    assert done.stdout == ""
    assert not (tmp_path / "a.svg").exists()


def test_the_same_command_draws_the_figures_after_the_installation(
    without_plots: Command,
    tmp_path: Path,
) -> None:
    command = ["reproduce", "000-figure-2", "--scale", "smoke", "--run", "run", "--workers", "1"]
    done = without_plots(*command)
    assert done.returncode == 0, done.stderr
    report = tmp_path / "run" / "vannucci-abril" / "report.md"
    assert LINE in report.read_text(encoding="utf-8")
    again = fourlab(tmp_path, command, {})
    assert again.returncode == 0, again.stderr
    assert LINE not in report.read_text(encoding="utf-8")
    assert list((tmp_path / "run" / "vannucci-abril" / "figures").glob("*.svg"))


def test_matches_and_trainings_run_to_the_end(
    without_plots: Command,
    tmp_path: Path,
) -> None:
    runs = {
        "match": ["match", "random", "rules", "--games", "4", "--workers", "1"],
        "training": ["train", "q", "--board", "4x3x3", "--games", "200"],
    }
    for name, command in runs.items():
        done = without_plots(*command, "--run", name, "--quiet")
        assert done.returncode == 0, done.stderr
        assert (tmp_path / name / "report.html").read_text(encoding="utf-8").count(LINE) == 1
