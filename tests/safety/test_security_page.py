"""Every number in docs/security.md and SECURITY.md is that of a constant in the code."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from benchmarks import overrun
from fourlab import arrays, parsing
from fourlab.agents import own_files, registry
from fourlab.arena import openings, schema, tournament
from fourlab.bridges import networks
from fourlab.bridges.kaggle import export
from fourlab.cli import accuracy
from fourlab.datasets import labels
from fourlab.engines import launch, process
from fourlab.errors import UserError
from fourlab.game import position_file
from fourlab.game.position_file import read_position_file
from fourlab.jobs import executors, links
from fourlab.nets import evaluator
from fourlab.solver import book
from fourlab.web import settings as web
from tests.arena import test_verify
from tests.conftest import ROOT
from tests.safety import fuzz_soak, test_files, test_fuzz, test_parsing

MB = 1 << 20
KB = 1 << 10


def megabytes(size: float) -> str:
    """Write a size in binary or decimal megabytes, whichever gives a whole number."""
    return f"{size / (MB if size % MB == 0 else 1e6):,.0f} MB"


def calls(module: Any, text: str) -> bool:
    """Return whether a module of tests has this in its source."""
    return text in inspect.getsource(module)


SEARCHES = [
    "a search is asked to stop, and killed, after its time limit plus | "
    f"{web.GRACE_SECONDS / 2:g} s, {web.GRACE_SECONDS:g} s",
    f"after its client has gone | at once, {web.STOP_SECONDS:g} s",
    f"(Linux: `RLIMIT_DATA`) | {web.WORKER_MEGABYTES} MB",
    f"private, `--public` | {web.PRIVATE.megabytes} MB, {web.PUBLIC.megabytes} MB",
    f"searches after which a worker is replaced | {web.WORKER_SEARCHES:,}",
    "a worker that is not ready is killed, and another one started, after | "
    f"{web.START_SECONDS:g} s",
    "a process that loads kernels is killed, and another one started, after | "
    f"{web.LOAD_SECONDS:g} s",
]
REQUESTS = [
    f"path and query | {web.MOST_LINE_BYTES // KB} kB | 414",
    f"headers, their number | {web.MOST_HEADER_BYTES // KB} kB, {web.MOST_HEADERS} | 431",
    f"body | {web.MOST_BODY_BYTES // KB} kB | 413",
    f"requests sent before the first answer | {web.MOST_PIPELINED} | closed",
    f"time to send the headers, the body | {web.HEAD_SECONDS:g} s, {web.BODY_SECONDS:g} s | 408",
    f"connection without a request | {web.IDLE_SECONDS} s | closed",
    f"answer left unread | {web.READING_SECONDS:g} s | closed",
    f"connections of one address, in all | {web.MOST_CONNECTIONS_OF_ADDRESS}, "
    f"{web.MOST_CONNECTIONS:,} | 503",
    f"connections beyond these that are answered with 503 | {web.MOST_REFUSED} | closed",
    f"{web.MOST_CONNECTIONS_OF_ADDRESS} connections are enough for 30 browsers",
    f"used time counts half after {web.HALF_LIFE_SECONDS:g} s",
    f"each may send {web.BURST_REQUESTS:g} requests at once and "
    f"{web.PACED_REQUESTS_PER_SECOND:g} per second",
    f"A burst of more than {web.TOGETHER_REQUESTS} is worked on at "
    f"{web.PEAK_REQUESTS_PER_SECOND:g} per second",
    f"A dropped file has at most {megabytes(web.MOST_UPLOAD_BYTES)}",
    f"there are at most {web.MOST_OWN} agents",
    f"Figures have at most {megabytes(web.MOST_FIGURE_BYTES)}",
]
PROGRAMS = [
    f"looked at every {launch.LOOK_SECONDS:g} s. The system allows each process "
    f"{process.MEMORY_SLACK} times as much",
    f"processes and threads | {process.MOST_TASKS:,} together",
    f"output | {process.LINE_BYTES // KB} kB per line, {process.MOVE_BYTES // MB} MB and "
    f"{process.MOVE_LINES:,} lines per move",
    f"Their files have at most {megabytes(networks.MOST_BYTES)}",
    f"It has at most {megabytes(own_files.MAX_FILE)}",
    f"under the same bounds with {export.MEGABYTES:,} MB and {export.MAX_SECONDS} s",
]
FOLDERS = [
    f"A run folder may have {links.MAX_ENTRIES:,} files and {links.MAX_LEVELS} levels of folders",
    "| TOML: tournaments, settings, `config.toml` | "
    f"{megabytes(parsing.MAX_TOML_BYTES)}, {parsing.MAX_TOML_VALUES:,} values |",
    f"| `manifest.json` | {megabytes(parsing.MAX_MANIFEST_BYTES)} |",
    f"| `results.json`, `metrics.jsonl` | {megabytes(parsing.MAX_RESULTS_BYTES)} |",
    f"| values in one JSON file | {parsing.MAX_VALUES:,} |",
    "| stored work of a study, `work/*/*.json` | "
    f"{megabytes(parsing.MAX_WORK_BYTES)}, {parsing.MAX_WORK_VALUES:,} values |",
    f"| levels of tables and lists | {parsing.MAX_DEPTH} |",
    f"| whole numbers | {parsing.MOST.bit_length() + 1} bits |",
    f"| files of positions | {megabytes(parsing.MAX_POSITIONS_BYTES)}, "
    f"{position_file.MAX_LINE:,} characters per position; "
    f"{accuracy.MOST_POSITIONS:,} positions for openings and `fourlab accuracy` |",
    f"| openings of `all:K`, or in a list | {openings.MOST_OPENINGS:,} |",
    f"| agents of a tournament | {tournament.MOST_PLAYERS} |",
    f"| workers on this machine | {executors.WORKERS_PER_PROCESSOR} per processor, at least "
    f"{executors.WORKERS_ANYWHERE} |",
    f"takes at most {test_parsing.MEGABYTES} MB",
    f"values of more than {megabytes(schema.MAX_CELL_BYTES)}",
]
FILES = [
    f"twice its size and {megabytes(test_files.MAX_EXTRA_BYTES)} of resident memory",
    f"A file is refused within {test_files.MAX_SECONDS:g} seconds",
    f"weights in other files, is refused. At most {megabytes(evaluator.MAX_BYTES)}",
    f"exceed the file by at most {megabytes(arrays.SPARE_BYTES)}",
    f"up to {megabytes(labels.MAX_TEXT_BYTES)}; xz may use {megabytes(labels.MAX_XZ_MEMORY)}",
    f"a compressed file may have {labels.MAX_MEMBERS:,} parts",
    f"Header of at most {megabytes(arrays.MAX_SAFETENSORS_HEADER)}",
    f"at most {book.MAX_ENTRIES / 1e6:.1f} million entries",
    f"over {test_files.CRAFTED:,} crafted files and {test_files.MUTATIONS:,} mutated ones",
    f"`make soak` loads {test_files.SOAK_MUTATIONS:,} mutated files",
    f"A spec has at most {registry.MAX_SPEC:,} characters",
    "The tests run 3,000 random specs",
    f"99 % of the answers come at most {1000 * overrun.ALLOWED:g} ms after the deadline",
    "The tests flip 1,000 single bits",
    "100,000 in `make soak`",
]
OTHER = [
    *("address 0,", "answered with 503", "a crashed one with 500", "answered with 400"),
    "a dropped file with 403",
    *("(`/api/v1/openapi.json`)", "An address is an IPv4 address or an IPv6 network of 64 bits"),
    *(
        "`sb3:file=model.zip`",
        "[`sb3`](agents/sb3.md)",
        "a model of `sb3` can",
        "november-2026-agents-obey-the-clock",
        "one with 100 connections",
        "with exit code 2",
        "and exit code 2",
        r"`\u001b`",
    ),
]
"""What is no limit: status and exit codes, names. The guard's tests have the network of 64 bits."""


def page(name: str) -> str:
    """Return a page as one line, without code blocks."""
    text = re.sub(r"```.*?```", "", (ROOT / name).read_text(encoding="utf-8"), flags=re.S)
    return " ".join(re.sub(r"^- ", "", text, flags=re.M).split())


@pytest.mark.parametrize("statement", [*SEARCHES, *REQUESTS, *PROGRAMS, *FOLDERS, *FILES])
def test_the_page_states_the_numbers_of_the_code(statement: str) -> None:
    assert statement in page("docs/security.md")


def test_every_number_on_the_page_is_compared() -> None:
    text = page("docs/security.md")
    for statement in (*SEARCHES, *REQUESTS, *PROGRAMS, *FOLDERS, *FILES, *OTHER):
        text = text.replace(statement, "")
    left = [
        text[max(match.start() - 60, 0) : match.end() + 20] for match in re.finditer(r"\d", text)
    ]
    assert left == []


def test_the_policy_has_no_numbers_of_its_own() -> None:
    text = page("SECURITY.md")
    for statement in (
        *("exit code 2", "exit code 130"),
        f"twice their size and {megabytes(test_files.MAX_EXTRA_BYTES)} of memory",
        f"TOML and JSON take at most {test_parsing.MEGABYTES} MB of memory",
    ):
        assert statement in text
        text = text.replace(statement, "")
    assert re.search(r"\d", text) is None


def test_the_numbers_of_the_tests_are_those_that_they_run() -> None:
    assert calls(test_fuzz, "range(3)")
    assert calls(test_fuzz, "run_chunk(seed, 1000, ")
    assert calls(fuzz_soak, '"FOURLAB_FUZZ_CASES", "1000000"')
    assert calls(test_verify, "found_flips(run, 1000, ")
    assert calls(test_verify, "found_flips(run, 100_000, ")


def test_an_hour_is_the_processor_time_of_a_program() -> None:
    assert process.CPU_SECONDS == 3600
    assert "an hour for every process" in page("docs/security.md")


def test_a_tournament_has_no_more_agents_than_the_page_says() -> None:
    agents = [{"spec": "random", "name": str(number)} for number in range(501)]
    settings = {"agents": agents[: tournament.MOST_PLAYERS], "rounds": 1}
    assert len(tournament.read(settings).players) == tournament.MOST_PLAYERS
    with pytest.raises(UserError, match="501 agents are too many; at most 500 are allowed"):
        tournament.read({**settings, "agents": agents})


def test_a_file_of_positions_has_no_more_bytes_than_the_page_says(tmp_path: Path) -> None:
    file = tmp_path / "positions.txt"
    file.write_bytes(b"44\n#" + b"x" * (parsing.MAX_POSITIONS_BYTES - 4))
    assert len(list(read_position_file(file))) == 1
    with file.open("ab") as stream:
        stream.write(b"x")
    with pytest.raises(UserError, match=f"more than {parsing.MAX_POSITIONS_BYTES:,} bytes"):
        list(read_position_file(file))


def test_a_position_of_a_file_has_no_more_characters_than_the_page_says(tmp_path: Path) -> None:
    file = tmp_path / "positions.txt"
    file.write_text("44\n" + " ".join("4" * 600))
    with pytest.raises(UserError, match=f"line 2: it has more than {position_file.MAX_LINE:,} "):
        list(read_position_file(file))


def test_a_machine_has_no_more_workers_than_the_page_says() -> None:
    executors.check("local", executors.most_workers())
    with pytest.raises(UserError, match="workers"):
        executors.check("local", executors.most_workers() + 1)
