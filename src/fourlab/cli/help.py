"""`fourlab help`: show the help of a command."""

from typing import Annotated

import typer


def help_on(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", help="One or two words, such as train alphazero."),
    ] = None,
) -> None:
    """Show the help of a command.

    Example: fourlab help train alphazero
    """
    from fourlab.cli.commands import parser

    parser().main([*(command or []), "--help"], prog_name="fourlab", standalone_mode=False)
