"""Publish reports one by one: a folder of pages that people read without Fourlab.

    report.md              the index of all reports in the folder
    bhat/report.md         the page of a report
    bhat/parts.json        all its results as data: the page can be written again from them
    bhat/claims.json       every value and verdict of its claims, a row each
    bhat/manifest.json     how every experiment was made
    bhat/data bhat/figures

The experiments of a report may be published by different runs, each with its own scale.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fourlab import parsing
from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.jobs.run import Run
from fourlab.reporting.blocks import to_markdown
from fourlab.studies import made
from fourlab.studies.catalogue import FOLDERS, all_experiments
from fourlab.studies.made import Made
from fourlab.studies.overall import overall_blocks
from fourlab.studies.pages import blocks_of
from fourlab.studies.parts import Parts, claims_json, data_files, is_part, picture_files
from fourlab.studies.report import documents_of, home_of, load_parts

PAGE = "report.md"
PARTS = "parts.json"
CLAIMS = "claims.json"
MANIFEST = "manifest.json"
COPIED = ("figures", "data")
"""Folders of a published report."""


@dataclass(frozen=True)
class Published:
    """The results of one report in a folder of published pages."""

    document: str
    home: Path
    parts: Mapping[str, Parts]
    """By the name of the experiment, in the order of the catalogue."""
    made: Mapping[str, Made]

    def page(self) -> str:
        """Return the page, written from the parts."""
        return "\n".join(to_markdown(blocks_of(self.document, self.home, self.parts, self.made)))

    def manifest(self) -> bytes:
        """Return how every experiment was made, as JSON."""
        described = {name: one.as_json() for name, one in self.made.items()}
        manifest = {"report": self.home.name, "experiments": described}
        return (json.dumps(manifest, indent=1) + "\n").encode()

    def files(self) -> set[str]:
        """Return the names of the data files and figures that belong to the report."""
        named: set[str] = set()
        for name, parts in self.parts.items():
            named |= {f"data/{file}" for file in data_files(all_experiments()[name], parts)}
            named.update(picture_files(parts))
        return named


def check_target(folder: Path) -> None:
    """Raise UserError if reports cannot be published to this path."""
    homes = [folder / name for name in FOLDERS.values()]
    for place in (folder, *homes, *(home / kind for home in homes for kind in COPIED)):
        if place.exists() and not place.is_dir():
            raise UserError(f"cannot publish to {folder}: {place} is not a folder")
    reports_in(folder)


def reports_in(folder: Path) -> list[Published]:
    """Return all reports of a folder that have their results as data, in the reports' order."""
    return [
        read_report(folder, document)
        for document, name in FOLDERS.items()
        if (folder / name / PARTS).exists()
    ]


def read_report(folder: Path, document: str) -> Published:
    """Return one published report; raise UserError if its files are damaged."""
    home = folder / FOLDERS[document]
    try:
        parts = _read(home / PARTS)
        made_by = _read(home / MANIFEST).get("experiments")
        if not isinstance(made_by, dict) or made_by.keys() != parts.keys():
            raise UserError("they name different experiments")
        if not all(
            isinstance(of_one, list) and all(is_part(part) for part in of_one)
            for of_one in parts.values()
        ):
            raise UserError(f"{PARTS} has something that is no part of a result")
        # What an earlier version had and this one has not cannot be shown any more.
        names = [name for name in all_experiments() if name in parts]
        return Published(
            document,
            home,
            {name: parts[name] for name in names},
            {name: _made(name, made_by[name]) for name in names},
        )
    except UserError as error:
        raise UserError(
            f"{home}: {PARTS} or {MANIFEST} is damaged ({error}); "
            "remove that folder and publish the report again"
        ) from None


def _made(name: str, stored: Any) -> Made:
    """Return how an experiment was made, with the reason for its scale in today's words."""
    one = made.from_json(stored)
    return replace(one, why_not_full=made.why_not_full(all_experiments()[name], one.scale))


def publish(run: Run, folder: Path, names: Sequence[str]) -> None:
    """Publish experiments of a run; other experiments and reports stay as they are.

    Files that belong to no experiment any more are removed, and the index is that of all reports in
    the folder.
    """
    for document in documents_of(names):
        new = [name for name in names if all_experiments()[name].document == document]
        report = _merged(run, folder, document, new)
        _copy(run, report, new)
        _write(report.home / PARTS, _one_part_per_line(report.parts).encode())
        _write(report.home / MANIFEST, report.manifest())
    write_pages(folder)


def _merged(run: Run, folder: Path, document: str, names: Sequence[str]) -> Published:
    """Return a published report with these experiments of a run in place of earlier ones."""
    home = folder / FOLDERS[document]
    parts: dict[str, Parts] = {}
    made_by: dict[str, Made] = {}
    if (home / PARTS).exists():
        before = read_report(folder, document)
        parts |= before.parts
        made_by |= before.made
    for name in names:
        stored = load_parts(run, name)
        if stored is None:
            raise ValueError(f"{name} is not complete")
        parts[name] = stored
        made_by[name] = made.of_experiment(run, all_experiments()[name])
    own = [name for name in all_experiments() if name in parts]
    return Published(
        document, home, {name: parts[name] for name in own}, {name: made_by[name] for name in own}
    )


def write_pages(folder: Path) -> list[str]:
    """Write the pages of every report in a folder again, and the index; return their names.

    The files of claims and tables, and the reasons for scales, follow from the same data and are
    written, too.
    """
    reports = reports_in(folder)
    for report in reports:
        for name, parts in report.parts.items():
            for file, content in data_files(all_experiments()[name], parts).items():
                _write(report.home / "data" / file, content)
        _write(report.home / CLAIMS, claims_json(report.parts))
        _write(report.home / MANIFEST, report.manifest())
        _write(report.home / PAGE, report.page().encode())
    _write(folder / PAGE, index_of(folder).encode())
    if not _without_data(folder):
        _remove_common_manifest(folder)
    return [report.home.name for report in reports]


def index_of(folder: Path) -> str:
    """Return the index of all reports in a folder."""
    parts: dict[str, Parts] = {}
    made_by: dict[str, Made] = {}
    for report in reports_in(folder):
        parts |= report.parts
        made_by |= report.made
    return "\n".join(
        to_markdown(overall_blocks(parts, made_by, ".md", others=_without_data(folder)))
    )


def _without_data(folder: Path) -> list[str]:
    """Return the numbers of reports whose version did not publish their results as data."""
    return [
        document
        for document, name in FOLDERS.items()
        if (folder / name / PAGE).exists() and not (folder / name / PARTS).exists()
    ]


def _copy(run: Run, report: Published, names: Sequence[str]) -> None:
    """Copy the pictures of some experiments of a report; remove files that belong to none."""
    files = report.files()
    for kind in COPIED:
        for file in (report.home / kind).glob("*.*"):
            if f"{kind}/{file.name}" not in files:
                file.unlink()
    source = home_of(run, report.document)
    for name in names:
        parts = report.parts[name]
        for address in picture_files(parts):
            # Without matplotlib there are no figures.
            if (source / address).exists():
                _write(report.home / address, (source / address).read_bytes())


def _remove_common_manifest(folder: Path) -> None:
    """Remove the manifest that earlier versions wrote for all reports at once."""
    file = folder / MANIFEST
    with suppress(UserError, AttributeError, KeyError):
        if parsing.read_json(file)["config"].get("kind") == "reproduce":
            file.unlink()


def _read(file: Path) -> dict[str, Any]:
    content = parsing.read_json(file, parsing.MAX_RESULTS_BYTES)
    if not isinstance(content, dict):
        raise UserError(f"{file.name} is no table")
    return content


def _one_part_per_line(parts: Mapping[str, Parts]) -> str:
    """Return the parts of experiments as JSON, in which changes are easy to see."""
    experiments = (
        f"{json.dumps(name)}: [\n"
        + ",\n".join(json.dumps(part, ensure_ascii=False) for part in of_one)
        + "\n]"
        for name, of_one in parts.items()
    )
    return "{\n" + ",\n".join(experiments) + "\n}\n"


def _write(file: Path, content: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, content)
