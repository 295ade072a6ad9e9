"""The results of a run's experiments: stored, and as pages, one per report and an index."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.jobs.run import Run
from fourlab.reporting import figures
from fourlab.reporting.blocks import to_html, to_markdown
from fourlab.reporting.page import how_it_was_made, page
from fourlab.studies import data, made
from fourlab.studies.catalogue import DOCUMENTS, FOLDERS, Experiment, all_experiments
from fourlab.studies.overall import overall_blocks
from fourlab.studies.pages import blocks_of
from fourlab.studies.parts import Parts, csv_of, data_files, is_part, stored
from fourlab.studies.workbench import Part, Picture, read_json
from fourlab.version import __version__

FOUND = "found.json"
"""The file in an experiment's work folder that holds its parts, written when it is complete."""
BEGUN = "begun.json"
"""The file there that says with which sizes and by which version the experiment was begun."""


def save_parts(
    run: Run, experiment: Experiment, parts: Iterable[Part], worked: bool = True
) -> None:
    """Write an experiment's figures and CSV data, and finally the list of all its parts.

    Without matplotlib, figures are omitted but their data are written. `worked` tells whether
    numbers were computed for these parts, or only those of earlier work were judged again.
    """
    home = home_of(run, experiment.document)
    kept: list[dict[str, Any]] = []
    for part in parts:
        kept.append(stored(experiment, part))
        if isinstance(part, Picture):
            name = kept[-1]["file"]
            _write(home / "data" / f"{name}.csv", csv_of(data.numeric(part.data)))
            if figures.can_draw():
                drawing = figures.render(part.draw(), "svg", salt=name)
                _write(home / "figures" / f"{name}.svg", drawing)
    for name, content in data_files(experiment, kept).items():
        _write(home / "data" / name, content)
    made.record(run, experiment.name, worked)
    _write(
        run.folder / "work" / experiment.name / FOUND,
        json.dumps(kept, ensure_ascii=False).encode(),
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
    if not all(is_part(part) for part in parts):
        raise UserError(f"{file} is damaged; remove it and give the command again")
    return parts


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
    file = run.folder / "work" / experiment.name / BEGUN
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
    done = all_parts(run)
    for document in documents_of(done):
        _write_document(run, document, done)
    _write_index(run, done)
    results = {"scale": run.config["scale"], "seed": run.config["seed"], "experiments": done}
    run.write("results.json", results)
    return results


def _write_document(run: Run, document: str, done: Mapping[str, Parts]) -> None:
    """Write the page of one report, with those of the experiments that belong to it."""
    home = home_of(run, document)
    blocks = list(blocks_of(document, home, done, dict.fromkeys(done, made.of_run(run))))
    html = ['<p><a href="../report.html">All reports</a></p>', *to_html(blocks)]
    contents = page(DOCUMENTS[document], [*html, *how_it_was_made(run)])
    run.write(f"{home.name}/report.html", contents)
    run.write(f"{home.name}/report.md", "\n".join(to_markdown(blocks)))


def _write_index(run: Run, done: Mapping[str, Parts]) -> None:
    """Write the index of all experiments with the counts of their verdicts."""
    made_by = dict.fromkeys(done, made.of_run(run))
    folders = {document: home_of(run, document).name for document in documents_of(done)}
    html = to_html(overall_blocks(done, made_by, ".html", folders))
    run.write("report.html", page("The experiments", [*html, *how_it_was_made(run)]))
    lines = to_markdown(overall_blocks(done, made_by, ".md", folders))
    run.write("report.md", "\n".join(lines))


def all_parts(run: Run) -> dict[str, list[dict[str, Any]]]:
    """Return the parts of all complete experiments, by name."""
    return {
        name: parts for name in all_experiments() if (parts := load_parts(run, name)) is not None
    }


def documents_of(done: Iterable[str]) -> list[str]:
    """Return the numbers of the reports of these experiments."""
    return sorted({all_experiments()[name].document for name in done})


def _write(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, data)
