"""What experiments found, as pages: one of each document and an index, for the browser and as Markdown."""

import csv
import io
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any

from fourlab.arena.tables import Table
from fourlab.errors import UserError
from fourlab.files import write_atomically
from fourlab.jobs.run import Run
from fourlab.reporting import figures
from fourlab.reporting.page import NO_FIGURES, how_it_was_made, page, table, within_page
from fourlab.studies.catalogue import DOCUMENTS, all_experiments
from fourlab.studies.experiment import Experiment, Finding, Part, Picture, Text
from fourlab.studies.workbench import read_json
from fourlab.version import __version__

HEAD = ("quantity", "document", "ours, faithful", "ours, corrected", "exact", "verdict", "why")
FOUND = "found.json"


def keep(run: Run, experiment: Experiment, parts: Iterable[Part]) -> None:
    """Write what an experiment found: pictures, data as CSV, and last the list of all parts.

    Without matplotlib the pictures are left out; their data are not.
    """
    home, found = run.folder / experiment.document, []
    for number, part in enumerate(parts):
        name = f"{experiment.name}-{part.name}" if isinstance(part, Picture) else f"{experiment.name}-{number}"
        if isinstance(part, Finding):
            found.append({"kind": "finding", **asdict(part)})
        elif isinstance(part, Text):
            found.append({"kind": "text", **asdict(part)})
        elif isinstance(part, Table):
            _write(home / "data" / f"{name}.csv", _csv(part))
            found.append({"kind": "table", "file": f"{name}.csv", **asdict(part)})
        else:
            _write(home / "data" / f"{name}.csv", _csv(part.data))
            if figures.can_draw():
                drawing = figures.render(part.draw(), "svg", salt=name)
                _write(home / "figures" / f"{name}.svg", drawing)
            found.append({"kind": "picture", "file": name, "caption": part.caption})
    _write(home / "data" / f"{experiment.name}.csv", _csv(_findings(found)))
    _write(run.folder / "work" / experiment.name / FOUND, json.dumps(found, ensure_ascii=False).encode())


def found_by(run: Run, name: str) -> list[dict[str, Any]] | None:
    """What an experiment found, if it is done."""
    file = run.folder / "work" / name / FOUND
    return read_json(file, list) if file.exists() else None


def lacks_figures(run: Run, name: str) -> bool:
    """Whether an experiment was done without matplotlib and could be drawn now."""
    home = run.folder / all_experiments()[name].document
    pictures = [part for part in found_by(run, name) or () if part["kind"] == "picture"]
    missing = any(not (home / "figures" / f"{part['file']}.svg").exists() for part in pictures)
    return missing and figures.can_draw()


def check_work(run: Run, experiment: Experiment) -> None:
    """Refuse to go on with what was begun with other sizes or by another version: the parts would not belong together."""
    file = run.folder / "work" / experiment.name / "begun.json"
    now = json.loads(json.dumps({"fourlab": __version__, "size": dict(experiment.sizes[run.config["scale"]])}))
    if not file.exists():
        _write(file, json.dumps(now).encode())
    elif (begun := read_json(file)) != now:
        raise UserError(
            f"{experiment.name} was begun with {begun}, not {now}; remove {file.parent} to do it again, or take another --run"
        )


def write_reports(run: Run) -> dict[str, Any]:
    """Write a report of each document of which something is done, and the index; returns all findings for machines."""
    done = _all_found(run)
    for document in _documents(done):
        parts = {name: found for name, found in done.items() if all_experiments()[name].document == document}
        title = DOCUMENTS[document] if document == "all" else f"Document {document} – {DOCUMENTS[document]}"
        html = [f"<h1>{escape(title)}</h1>", '<p><a href="../report.html">All documents</a></p>']
        for name, found in parts.items():
            html += _html(run.folder / document, name, found)
        run.write(f"{document}/report.html", page(title, [*html, *how_it_was_made(run)]))
        lines = [f"# {title}", ""]
        for name, found in parts.items():
            lines += _markdown(run.folder / document, name, found)
        run.write(f"{document}/report.md", "\n".join(lines))
    rows = [_row(name, found) for name, found in done.items()]
    head = ("experiment", "what the document says", "agrees", "differs", "without comparison")
    html = ["<h1>The experiments of the five documents, beside the truth</h1>", f"<p>{escape(_scale(run))}</p>"]
    links = "".join(
        f'<li><a href="{name}/report.html">{escape(f"{name} {DOCUMENTS[name]}")}</a></li>' for name in _documents(done)
    )
    run.write("report.html", page("The experiments", [*html, f"<ul>{links}</ul>", table(head, rows), *how_it_was_made(run)]))
    lines = ["# The experiments of the five documents, beside the truth", "", _scale(run), ""]
    lines += [f"- [{name}]({name}/report.md) {DOCUMENTS[name]}" for name in _documents(done)]
    run.write("report.md", "\n".join([*lines, "", *_markdown_table(head, rows), ""]))
    results = {"scale": run.config["scale"], "seed": run.config["seed"], "experiments": done}
    run.write("results.json", results)
    return results


def check_target(folder: Path) -> None:
    """Refuse a place where nothing can be published."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"cannot publish to {folder}: it is not a folder")


def publish(run: Run, folder: Path) -> None:
    """Copy the Markdown, figures, data and manifest of a run's reports, without what only a browser needs.

    What an earlier report of the same documents left there goes; other documents stay, but the index is that of this run.
    """
    for document in _documents(_all_found(run)):
        for kind in ("figures", "data"):
            shutil.rmtree(folder / document / kind, ignore_errors=True)
    for file in sorted(run.folder.rglob("*")):
        within = file.relative_to(run.folder)
        if file.suffix in (".md", ".svg", ".csv") and within.parts[0] != "work":
            _write(folder / within, file.read_bytes())
    _write(folder / "manifest.json", (run.folder / "manifest.json").read_bytes())


def _all_found(run: Run) -> dict[str, list[dict[str, Any]]]:
    """What all experiments found that are done."""
    return {name: found for name in all_experiments() if (found := found_by(run, name)) is not None}


def _scale(run: Run) -> str:
    thinking = ", searches by the clock" if run.config.get("time") else ""
    told = f"Scale {run.config['scale']}{thinking}, seed {run.config['seed']}. Shares have 95 % intervals (Wilson)."
    return f"{told} The documents' faults, B1 to B20, are listed in docs/reproduce.md."


def _documents(done: Mapping[str, Any]) -> list[str]:
    return sorted({all_experiments()[name].document for name in done})


def _row(name: str, found: Sequence[Mapping[str, Any]]) -> tuple[object, ...]:
    verdicts = [each["agrees"] for each in found if each["kind"] == "finding"]
    return (name, all_experiments()[name].claim, verdicts.count(True), verdicts.count(False), verdicts.count(None))


def _findings(found: Sequence[Mapping[str, Any]]) -> Table:
    kept = [
        Finding(**{key: value for key, value in each.items() if key != "kind"}) for each in found if each["kind"] == "finding"
    ]
    rows = ((each.what, each.document, each.faithful, each.corrected, each.truth, each.verdict, each.why) for each in kept)
    return Table("", HEAD, tuple(rows))


def _html(home: Path, name: str, found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    experiment, findings = all_experiments()[name], _findings(found)
    yield f'<h2 id="{name}">{escape(experiment.title)}</h2>'
    yield f"<p>{escape(', '.join(experiment.ids))}. The document: {escape(experiment.claim)}</p>"
    if findings.rows:
        yield table(*_used(findings))
    for each in found:
        if each["kind"] == "table":
            yield f"<h3>{escape(each['title'])}</h3>" + table(each["head"], each["rows"])
        elif each["kind"] == "text":
            yield f"<h3>{escape(each['title'])}</h3><pre>{escape(each['lines'])}</pre>"
        elif each["kind"] == "picture":
            file = home / "figures" / f"{each['file']}.svg"
            shown = within_page(file.read_text(encoding="utf-8")) if file.exists() else NO_FIGURES
            yield f"<figure>{shown}<figcaption>{escape(each['caption'])}</figcaption></figure>"


def _markdown(home: Path, name: str, found: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    experiment, findings = all_experiments()[name], _findings(found)
    yield from (f"## {experiment.title}", "", f"`{name}`, {', '.join(experiment.ids)}. The document: {experiment.claim}", "")
    if findings.rows:
        yield from (*_markdown_table(*_used(findings)), "")
    for each in found:
        if each["kind"] == "table":
            yield from (
                f"**{each['title']}** ([data](data/{each['file']}))",
                "",
                *_markdown_table(each["head"], each["rows"]),
                "",
            )
        elif each["kind"] == "text":
            yield from (f"**{each['title']}**", "", "```text", each["lines"], "```", "")
        elif each["kind"] == "picture":
            file = each["file"]
            drawn = (home / "figures" / f"{file}.svg").exists()
            picture = f"![{each['caption']}](figures/{file}.svg)"
            yield picture if drawn else f"({figures.NEEDS_PLOTS})"
            yield from ("", f"{each['caption']} ([data](data/{file}.csv))", "")


def _used(findings: Table) -> tuple[tuple[str, ...], list[tuple[object, ...]]]:
    """The head and the rows without columns in which nothing stands."""
    used = [place for place in range(len(findings.head)) if any(row[place] for row in findings.rows)]
    return tuple(findings.head[place] for place in used), [tuple(row[place] for place in used) for row in findings.rows]


def _markdown_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> Iterator[str]:
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows:
        cells = (str(cell).replace("|", "\\|") for cell in row)
        yield f"| {' | '.join(cells)} |"


def _csv(data: Table) -> bytes:
    written = io.StringIO()
    writer = csv.writer(written, lineterminator="\n")
    writer.writerow(data.head)
    writer.writerows(data.rows)
    return written.getvalue().encode()


def _write(file: Path, data: bytes) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, data)
