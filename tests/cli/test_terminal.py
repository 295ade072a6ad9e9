"""Control characters reach the terminal as escapes, from wherever they come."""

import io
import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fourlab import terminal
from fourlab.jobs.job import Progress
from fourlab.reporting.progress import line
from tests.cli.hostile import without_hashes

Command = Callable[..., subprocess.CompletedProcess[str]]

LINES = "one\nrun: /etc\tdone"
LINES_SHOWN = r"one\u000arun: /etc\u0009done"
NASTY = "x\x1b[31m\x1b]0;title\x07\rfourlab: \x9b2J\u202e"
SHOWN = r"x\u001b[31m\u001b]0;title\u0007\u000dfourlab: \u009b2J\u202e"
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]")


def test_control_characters_are_escaped_and_others_are_not() -> None:
    assert terminal.visible(NASTY) == SHOWN
    plain = "Zug um Zug\tübung → 四\n"
    assert terminal.visible(plain) == plain
    assert json.loads(f'"{terminal.visible(NASTY)}"') == NASTY


def test_the_end_of_all_colours_is_obeyed() -> None:
    raw = io.StringIO()
    stream = terminal.VisibleStream(raw)
    stream.write("\x1b[0m")
    stream.write("\x1b[0m\x1b[31m")
    assert raw.getvalue() == "\x1b[0m\\u001b[0m\\u001b[31m"


def test_streams_escape_text_and_keep_their_other_attributes(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    raw = io.StringIO()
    monkeypatch.setattr(sys, "stdout", raw)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    terminal.protect()
    terminal.protect()  # a second time does nothing
    print(NASTY)
    sys.stdout.writelines([NASTY])
    assert raw.getvalue() == f"{SHOWN}\n{SHOWN}"
    assert sys.stdout.isatty() is False


def test_rich_keeps_its_own_sequences_and_escapes_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    from rich.text import Text

    raw = io.StringIO()
    monkeypatch.setattr(sys, "stdout", raw)
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal.protect()
    screen = terminal.console(force_terminal=True, color_system="standard", soft_wrap=True)
    screen.print(Text("disc", style="red"))
    screen.print(f"{NASTY}[/no markup]")
    coloured, note = raw.getvalue().split("\n", 1)
    assert coloured == "\x1b[31mdisc\x1b[0m"
    assert note == f"{SHOWN}[/no markup]\n"


def test_names_in_files_are_escaped(fourlab: Command, tmp_path: Path) -> None:
    agents = [{"spec": "random", "name": NASTY}, {"spec": "rules", "name": "b\x1b[0m"}]
    entries = "\n".join(
        f"[[agents]]\nspec = {json.dumps(agent['spec'])}\nname = {json.dumps(agent['name'])}"
        for agent in agents
    )
    (tmp_path / "t.toml").write_text(f"rounds = 1\n{entries}\n")
    for command in (
        ("tournament", "t.toml", "--workers", "1"),
        ("games", "last"),
        ("games", "last", "0"),
        ("games", "last", "--json"),
        ("games", "last", "--csv", "-"),
        ("runs",),
        ("runs", "last", "--json"),
        ("resume", "last"),
    ):
        done = fourlab(*command)
        assert done.returncode == 0, (command, done.stderr)
        assert not CONTROLS.search(done.stdout + done.stderr), command
    assert [agent["name"] for agent in agents] == [
        json.loads(fourlab("games", "last", "0", "--json").stdout)[side]
        for side in ("red", "yellow")
    ]


def test_a_name_with_line_breaks_stays_in_its_line(fourlab: Command, tmp_path: Path) -> None:
    (tmp_path / "t.toml").write_text(
        f'rounds = 1\nagents = [{{spec = "random", name = {json.dumps(LINES)}}}, "rules"]\n'
    )
    for command in (
        ("tournament", "t.toml", "--workers", "1"),
        ("games", "last"),
        ("games", "last", "0"),
        ("runs",),
        ("runs", "last"),
        ("resume", "last"),
    ):
        done = fourlab(*command)
        assert done.returncode == 0, (command, done.stderr)
        assert LINES_SHOWN in done.stdout, command
        assert "one\n" not in done.stdout + done.stderr, command
        assert "\t" not in done.stdout + done.stderr, command
    assert json.loads(fourlab("games", "last", "0", "--json").stdout)["red"] == LINES


def test_progress_and_notes_are_one_line() -> None:
    assert line(Progress(1, 2, "games", text=LINES), 0.0) == f"1/2 games  {LINES_SHOWN}"
    data = {LINES: [LINES, 1, None, (LINES,)]}
    assert terminal.in_one_line(data) == {LINES_SHOWN: [LINES_SHOWN, 1, None, [LINES_SHOWN]]}


def test_stored_details_and_specs_are_escaped(fourlab: Command, small_match: Path) -> None:
    without_hashes(small_match)
    with sqlite3.connect(small_match / "games.sqlite") as connection:
        connection.execute("UPDATE games SET detail = ?, cause = 'crash'", (NASTY,))
    connection.close()
    done = fourlab("games", "last", "0")
    assert SHOWN in done.stdout
    for command in (("analyze", "44", "--agent", NASTY), ("match", NASTY, "random"), (NASTY,)):
        done = fourlab(*command)
        assert done.returncode == 2
        assert not CONTROLS.search(done.stdout + done.stderr)
