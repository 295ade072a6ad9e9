"""`fourlab train …`: agents that learn, one command for each kind."""

import typer

app = typer.Typer(help="Train agents that learn; every training can be stopped and goes on.", rich_markup_mode=None)
