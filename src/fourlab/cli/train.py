"""`fourlab train …`: agents that learn, one command for each kind."""

from importlib import import_module
from typing import TYPE_CHECKING

import typer

from fourlab.cli import train_alphazero, train_dqn, train_q, train_value
from fourlab.cli.training import carry_out, require_torch

if TYPE_CHECKING:
    from fourlab.jobs.run import Run

app = typer.Typer(help="Train agents that learn; every training can be stopped and goes on.", rich_markup_mode=None)
app.command("alphazero")(train_alphazero.alphazero)
app.command("dqn")(train_dqn.dqn)
app.command("q")(train_q.q)
app.command("value")(train_value.value)

KINDS = {
    "train-alphazero": "fourlab.agents.alphazero.training",
    "train-dqn": "fourlab.agents.dqn.training",
    "train-q": "fourlab.agents.q.training",
    "train-value": "fourlab.agents.value.training",
}
"""The kind of a run to the module whose `trainee_of` makes its trainee from the configuration."""


def resume(run: "Run", quiet: bool, json: bool) -> None:
    """Go on with a training that was stopped; one that is complete shows its result."""
    if run.config["kind"] != "train-q":
        require_torch()
    carry_out(run, import_module(KINDS[run.config["kind"]]).trainee_of(run.config), quiet, json)
