"""The five reports and their faults, and the names by which studies are asked for."""

import pytest

from fourlab.errors import UserError
from fourlab.faults import FAULTS
from fourlab.sources import AUTHOR_OF, SOURCES
from fourlab.studies.catalogue import all_experiments, chosen, title_of
from tests.conftest import ROOT


def test_every_fault_belongs_to_a_report_and_is_in_the_documentation() -> None:
    page = (ROOT / "docs" / "reproduce.md").read_text()
    assert list(FAULTS) == [f"B{number}" for number in range(1, 21)]
    for name, fault in FAULTS.items():
        assert set(fault.authors) <= SOURCES.keys()
        cells = (name, ", ".join(fault.authors), fault.faulty, fault.corrected, fault.switch)
        assert f"| {' | '.join(cells)} |" in page


def test_every_experiment_of_a_report_is_found_by_author_and_item() -> None:
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
        (["bhat", "table-5", "demos", "arya"], ["001-table-5", "001-demos", "004"]),
        (["001-table-5", "bhat"], ["001"]),
        (["all"], ["000", "001", "002", "003", "004", "all"]),
    ],
)
def test_authors_mean_all_that_is_theirs_unless_items_follow(names: list[str], same: list[str]) -> None:
    assert chosen(names) == chosen(same)


@pytest.mark.parametrize("names", [["bhat", "tabel-5"], ["table-5"], ["bath"], ["gao", "table-5"], [""]])
def test_what_nobody_has_is_refused(names: list[str]) -> None:
    with pytest.raises(UserError, match="there is no experiment"):
        chosen(names)
