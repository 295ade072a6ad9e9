"""The page of the settings of all trainings, made from what they declare."""

from typing import Any

from fourlab.cli.train import TRAININGS
from fourlab.options import as_text, options_of
from fourlab.training.kind import Training
from tools.markdown import NOTE, code, plain, table
from tools.option_tables import row

INTRODUCTION = """# Settings of trainings

{note}

What `fourlab train KIND` can be given, as `fourlab settings KIND` prints it: on the command line as
an option (`exam_games` is `--exam-games`), with `--set NAME=VALUE`, or in a TOML file for
`--config`. [How to train](../how-to/train.md) says which of them wins.

"""


def page() -> str:
    """Return the page."""
    parts = [INTRODUCTION.format(note=NOTE)]
    parts += [_section(training) for training in TRAININGS.values()]
    return "".join(parts).rstrip() + "\n"


def _section(training: Training[Any]) -> str:
    """Return the section of a training: its settings, and what its presets change."""
    options = options_of(training.settings)
    default = training.preset(training.default_preset, False)
    rows = [row(option, _shown(getattr(default, name))) for name, option in options.items()]
    text = f"## {training.name}\n\n{plain(training.help.splitlines()[0])}\n\n"
    text += f"The defaults are those of the preset `{training.default_preset}`.\n\n"
    text += table(("setting", "default", "values", "meaning"), rows) + "\n"
    presets = [name for name in training.presets if name != training.default_preset]
    changes = [[code(name), _changes(training, name)] for name in presets]
    return text + table(("preset", "what it changes"), changes) + "\n" if changes else text


def _changes(training: Training[Any], name: str) -> str:
    default = training.preset(training.default_preset, False)
    preset = training.preset(name, False)
    changed = [
        f"{option} = {_shown(getattr(preset, option))}"
        for option in options_of(training.settings)
        if getattr(preset, option) != getattr(default, option)
    ]
    return ", ".join(map(code, changed)) or "nothing"


def _shown(value: Any) -> str:
    """Return a value as it is written in TOML, without quotes around a text."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(_shown, value))}]"
    return as_text(value)
