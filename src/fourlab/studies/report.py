"""The results of experiments as pages: one per report and an index, in HTML and Markdown."""

import csv
import io
import json
import re
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

from fourlab.analysis.overview import ANSWERS, count_answers
from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.jobs.run import Run
from fourlab.reporting import figures
from fourlab.reporting.blocks import Heading, markdown_table, to_html, to_markdown
from fourlab.reporting.page import how_it_was_made, page, table
from fourlab.studies import data
from fourlab.studies.catalogue import (
    DOCUMENTS,
    FOLDERS,
    Experiment,
    all_experiments,
    title_of,
)
from fourlab.studies.claims import Claim, is_claim, table_of
from fourlab.studies.pages import STORED_NAMES, Parts, blocks_of, claims_of, finding_rows
from fourlab.studies.workbench import Finding, Part, Table, Text, read_json
from fourlab.version import __version__

INDEX_TITLE = "The experiments of the five reports, replicated"
INDEX_HEAD = ("experiment", "claim of the report", *ANSWERS)
FOUND = "found.json"
"""The file in an experiment's work folder that holds its parts, written when it is complete."""
_FILE_NAME = re.compile(r"[\w.,+=-]{1,200}")


def save_parts(run: Run, experiment: Experiment, parts: Iterable[Part]) -> None:
    """Write an experiment's figures and CSV data, and finally the list of all its parts.

    Without matplotlib, figures are omitted but their data are written.
    """
    home = home_of(run, experiment.document)
    item = experiment.name.removeprefix(f"{experiment.document}-")
    stored: list[dict[str, Any]] = []
    for part in parts:
        if isinstance(part, Claim | Finding | Text):
            fields = asdict(part)
            if isinstance(part, Finding):
                fields = {STORED_NAMES.get(name, name): value for name, value in fields.items()}
            stored.append({"kind": type(part).__name__.lower(), **fields})
        elif isinstance(part, Table):
            name = data.file_name(item, part.title, "table")
            _write(home / "data" / f"{name}.csv", _csv(data.numeric(part)))
            stored.append({"kind": "table", "file": f"{name}.csv", **asdict(part)})
        else:
            name = data.file_name(item, part.name)
            _write(home / "data" / f"{name}.csv", _csv(data.numeric(part.data)))
            if figures.can_draw():
                drawing = figures.render(part.draw(), "svg", salt=name)
                _write(home / "figures" / f"{name}.svg", drawing)
            stored.append({"kind": "picture", "file": name, "caption": part.caption})
    # The claims of an experiment form one CSV file, and so do its findings without tests.
    if claims := claims_of(stored):
        _write(home / "data" / f"{item}-claims.csv", _csv(table_of(claims)))
    if findings := list(finding_rows(stored)):
        _write(home / "data" / f"{item}-findings.csv", _csv(data.findings(findings)))
    _write(
        run.folder / "work" / experiment.name / FOUND,
        json.dumps(stored, ensure_ascii=False).encode(),
    )


def home_of(run: Run, document: str) -> Path:
    """Return the folder of a report's pages, named after its authors.

    A run of an earlier version keeps the folder named by the report's number.
    """
    numbered = run.folder / document
    return numbered if numbered.is_dir() else run.folder / FOLDERS[document]


def load_parts(run: Run, name: str) -> list[dict[str, Any]] | None:
    """Return the stored parts of an experiment, or None if it is not complete."""
    file = run.folder / "work" / name / FOUND
    if not file.exists():
        return None
    parts: list[dict[str, Any]] = read_json(file, list)
    if not all(_is_part(part) for part in parts):
        raise UserError(f"{file} is damaged; remove it and give the command again")
    return parts


def _is_part(part: Any) -> bool:
    """Return whether data have the fields of a stored part, with values of their types."""
    if not isinstance(part, dict) or not isinstance(kind := part.get("kind"), str):
        return False
    if kind == "claim":
        return is_claim(part)
    fields = [STORED_NAMES.get(name, name) for name in Finding.__dataclass_fields__]
    texts = {
        "finding": [name for name in fields if name != "agrees"],
        "text": ["title", "lines"],
        "table": ["title", "file"],
        "picture": ["caption", "file"],
    }
    if kind not in texts or not all(isinstance(part.get(name), str) for name in texts[kind]):
        return False
    # Pages are made with names of files; these must not lead elsewhere.
    if kind in ("table", "picture") and not _FILE_NAME.fullmatch(part["file"]):
        return False
    if kind == "finding":
        return part.get("agrees", "") in (True, False, None)
    if kind == "table":
        head, rows = part.get("head"), part.get("rows")
        return (
            isinstance(head, list)
            and all(isinstance(cell, str) for cell in head)
            and isinstance(rows, list)
            and all(isinstance(row, list) for row in rows)
        )
    return True


def lacks_figures(run: Run, name: str) -> bool:
    """Return whether an experiment lacks figures that could be drawn now."""
    home = home_of(run, all_experiments()[name].document)
    pictures = [part for part in load_parts(run, name) or () if part["kind"] == "picture"]
    # Without matplotlib a run is complete all the same, with data in place of figures.
    missing = any(not (home / "figures" / f"{part['file']}.svg").exists() for part in pictures)
    return missing and figures.can_draw()


def check_work(run: Run, experiment: Experiment) -> None:
    """Raise UserError if the experiment was begun with other sizes or by another version.

    Its old and new results must not be mixed. Work that has not begun is put on record.
    """
    file = run.folder / "work" / experiment.name / "begun.json"
    sizes = dict(experiment.sizes[run.config["scale"]])
    # Through JSON, so that tuples compare equal to the lists that are read back.
    now = json.loads(json.dumps({"fourlab": __version__, "size": sizes}))
    if not file.exists():
        _write(file, json.dumps(now).encode())
    elif (begun := read_json(file)) != now:
        raise UserError(
            f"{experiment.name} was begun with {begun}, not {now}; "
            f"remove {file.parent} to do it again, or use another --run"
        )


def write_reports(run: Run) -> dict[str, Any]:
    """Write a page for each report with complete experiments, and the index; return all parts."""
    done = _all_parts(run)
    for document in _documents(done):
        _write_document(run, document, done)
    _write_index(run, done)
    results = {"scale": run.config["scale"], "seed": run.config["seed"], "experiments": done}
    run.write("results.json", results)
    return results


def _write_document(run: Run, document: str, done: Mapping[str, Parts]) -> None:
    """Write the page of one report, with those of the experiments that belong to it."""
    home = home_of(run, document)
    title = DOCUMENTS[document]
    blocks = [Heading(title, 1), *blocks_of(document, home, done)]
    html = ['<p><a href="../report.html">All reports</a></p>', *to_html(blocks)]
    run.write(f"{home.name}/report.html", page(title, [*html, *how_it_was_made(run)]))
    run.write(f"{home.name}/report.md", "\n".join(to_markdown(blocks)))


def _write_index(run: Run, done: Mapping[str, Parts]) -> None:
    """Write the index of all experiments with the counts of their verdicts."""
    scale = _scale(run)
    rows = [_index_row(name, parts) for name, parts in done.items()]
    homes = {home_of(run, document).name: DOCUMENTS[document] for document in _documents(done)}
    links = "".join(
        f'<li><a href="{home}/report.html">{escape(title)}</a></li>'
        for home, title in homes.items()
    )
    html = [f"<h1>{INDEX_TITLE}</h1>", f"<p>{escape(scale)}</p>", f"<ul>{links}</ul>"]
    html += [table(INDEX_HEAD, rows), *how_it_was_made(run)]
    run.write("report.html", page("The experiments", html))
    lines = [f"# {INDEX_TITLE}", "", scale, ""]
    lines += [f"- [{title}]({home}/report.md)" for home, title in homes.items()]
    run.write("report.md", "\n".join([*lines, "", *markdown_table(INDEX_HEAD, rows), ""]))


def check_target(folder: Path) -> None:
    """Raise UserError if reports cannot be published to this path."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"cannot publish to {folder}: it is not a folder")


def publish(run: Run, folder: Path) -> None:
    """Copy the Markdown, figures, data and manifest of a run's reports.

    Replaces earlier figures and data of the same reports. Other reports stay, but the index is
    that of this run.
    """
    for document in _documents(_all_parts(run)):
        # Files of experiments that no longer exist must not stay behind.
        for kind in ("figures", "data"):
            shutil.rmtree(folder / home_of(run, document).name / kind, ignore_errors=True)
    for file in sorted(run.folder.rglob("*")):
        within = file.relative_to(run.folder)
        # HTML pages embed their figures and would only repeat them.
        if file.suffix in (".md", ".svg", ".csv") and within.parts[0] != "work":
            _write(folder / within, file.read_bytes())
    _write(folder / "manifest.json", (run.folder / "manifest.json").read_bytes())


def _all_parts(run: Run) -> dict[str, list[dict[str, Any]]]:
    """Return the parts of all complete experiments, by name."""
    return {
        name: parts for name in all_experiments() if (parts := load_parts(run, name)) is not None
    }


def _scale(run: Run) -> str:
    clock = ", searches by the clock" if run.config.get("time") else ""
    return (
        f"Scale {run.config['scale']}{clock}, seed {run.config['seed']}. "
        "Shares have 95 % Wilson intervals. "
        "The reports' faults, B1 to B20, are listed in docs/reference/faults.md."
    )


def _documents(done: Mapping[str, Any]) -> list[str]:
    return sorted({all_experiments()[name].document for name in done})


def _index_row(name: str, parts: Parts) -> tuple[object, ...]:
    answers = count_answers(parts)
    counts = (answers[answer] for answer in ANSWERS)
    experiment = all_experiments()[name]
    return title_of(experiment), experiment.claim, *counts


def _csv(content: Table) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(content.head)
    writer.writerows(content.rows)
    return text.getvalue().encode()


def _write(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, data)
