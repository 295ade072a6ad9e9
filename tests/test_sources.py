"""The five reports, their faults, and the names of studies."""

import pytest

from fourlab.errors import UserError
from fourlab.faults import FAULTS
from fourlab.sources import AUTHOR_OF, SOURCES
from fourlab.studies.catalogue import all_experiments, chosen, title_of
from tests.conftest import ROOT


def test_every_fault_belongs_to_a_report_and_is_in_the_documentation() -> None:
    page = (ROOT / "docs" / "reference" / "faults.md").read_text()
    assert list(FAULTS) == [f"B{number}" for number in range(1, 21)]
    for name, fault in FAULTS.items():
        assert set(fault.authors) <= SOURCES.keys()
        cells = (name, ", ".join(fault.authors), fault.faulty, fault.corrected, fault.switch)
        assert f"| {' | '.join(cells)} |" in page


def test_every_experiment_can_be_chosen_by_author_and_item() -> None:
    for experiment in all_experiments().values():
        words = title_of(experiment).split()
        assert chosen(words) == [experiment]
        assert chosen([experiment.name]) == [experiment]
        assert len(words) == (2 if experiment.document in AUTHOR_OF else 1)


@pytest.mark.parametrize(
    ("names", "same"),
    [
        (["bhat"], ["001"]),
        (["bhat", "gao"], ["001", "002"]),
        (["bhat", "001-figure-6"], ["001-figure-6"]),
        (["001", "table-5"], ["001-table-5"]),
        (["001", "001-table-5", "figure-6"], ["001-table-5", "001-figure-6"]),
        (["bhat", "002-games"], ["001", "002-games"]),
        (["bhat", "table-5", "demos", "arya"], ["001-table-5", "001-demos", "004"]),
        (["001-table-5", "bhat"], ["001"]),
        (["all"], ["000", "001", "002", "003", "004", "all"]),
    ],
)
def test_an_author_means_all_experiments_unless_items_follow(
    names: list[str], same: list[str]
) -> None:
    assert chosen(names) == chosen(same)


@pytest.mark.parametrize(
    "names",
    [["bhat", "tabel-5"], ["table-5"], ["bath"], ["gao", "table-5"], [""], ["bhat", "001-tab"]],
)
def test_an_unknown_experiment_is_refused(names: list[str]) -> None:
    with pytest.raises(UserError, match="there is no experiment"):
        chosen(names)
