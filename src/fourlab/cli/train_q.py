"""`fourlab train q`: a table of values, learned game by game."""

from dataclasses import fields, replace
from typing import Annotated, Any

import typer

from fourlab.agents.q import settings as q_settings
from fourlab.cli.options import DEFAULT_HOME, HomeOption, JsonOption, QuietOption, RunOption
from fourlab.cli.training import begin
from fourlab.game.rules import Rules

Number = float | None
Count = int | None
Text = str | None


def q(
    preset: Annotated[
        str, typer.Option(help="self-play: negamax by oneself; bhat: document 001's; arya: document 004's.")
    ] = "self-play",
    faithful: Annotated[bool, typer.Option("--faithful", help="The document's settings as they were, faults included.")] = False,
    board: Annotated[Text, typer.Option(metavar="5x4x4", help="COLUMNSxROWSxINAROW.")] = None,
    form: Annotated[Text, typer.Option(help="What has a value: afterstate or state-action.")] = None,
    mirror: Annotated[bool | None, typer.Option(help="Mirror images share their values.")] = None,
    target: Annotated[Text, typer.Option(help="Learn from the column played next, the best, or negamax.")] = None,
    endings: Annotated[Text, typer.Option(help="At a game's end set the value, or learn it like the others.")] = None,
    tie: Annotated[Text, typer.Option(help="Of equally good columns play the first, or a random one.")] = None,
    win: Annotated[Number, typer.Option(help="The reward of a win.")] = None,
    draw: Annotated[Number, typer.Option(help="The reward of a draw.")] = None,
    loss: Annotated[Number, typer.Option(help="The reward of a loss.")] = None,
    step: Annotated[Number, typer.Option(help="The reward of every other disc.")] = None,
    initial: Annotated[Number, typer.Option(help="The value of what has never been met.")] = None,
    gamma: Annotated[Number, typer.Option(help="What a value is worth one disc earlier.")] = None,
    alpha: Annotated[Number, typer.Option(help="The step size, at first.")] = None,
    alpha_update: Annotated[Number, typer.Option(help="Multiplies alpha after every update.")] = None,
    alpha_decay: Annotated[Number, typer.Option(help="Multiplies alpha after every game.")] = None,
    alpha_least: Annotated[Number, typer.Option(help="Decay and visits make alpha no smaller.")] = None,
    alpha_by_visits: Annotated[bool | None, typer.Option(help="Divide alpha by the value's number of updates.")] = None,
    epsilon: Annotated[Number, typer.Option(help="The chance of a random column, at first.")] = None,
    epsilon_update: Annotated[Number, typer.Option(help="Added to epsilon at every update.")] = None,
    epsilon_decay: Annotated[Number, typer.Option(help="Multiplies epsilon after every game.")] = None,
    epsilon_fall: Annotated[Number, typer.Option(help="Taken off epsilon after every game.")] = None,
    epsilon_least: Annotated[Number, typer.Option(help="Games make epsilon no smaller.")] = None,
    against: Annotated[
        list[str] | None,
        typer.Option(
            metavar="AGENT",
            help="self, any agent, or a range such as 'bhat-mc{0..25}', quoted; given several times, one is drawn for each game.",
        ),
    ] = None,
    seat: Annotated[Text, typer.Option(help="The learner moves first, second, or both in turn.")] = None,
    passing: Annotated[bool | None, typer.Option(help="MC0 does not move, as in document 001.")] = None,
    games: Annotated[Count, typer.Option(help="How many games to play at most.")] = None,
    wins: Annotated[Count, typer.Option(help="Stop when the learner has won so many.")] = None,
    block: Annotated[Count, typer.Option(help="Games to a row of metrics, which is a piece of work.")] = None,
    exam_against: Annotated[
        list[str] | None, typer.Option(metavar="AGENT", help="Who examines; default the trainers, after self-play random.")
    ] = None,
    exam_games: Annotated[Count, typer.Option(help="Games of an examination; 0 for none.")] = None,
    exam_exploring: Annotated[bool | None, typer.Option(help="Examine with the epsilon of the training.")] = None,
    seed: Annotated[Count, typer.Option(help="The same seed gives the same table.")] = None,
    memory: Annotated[
        Number, typer.Option(metavar="MEGABYTES", help="The most memory for the table; a training that needs more ends there.")
    ] = None,
    name: Annotated[Text, typer.Option(help="What the run is called.")] = None,
    run: RunOption = None,
    home: HomeOption = DEFAULT_HOME,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Learn a table of values by Q-learning: against oneself, or against any agents.

    A preset has all settings; every option changes one. The run's folder gets table.q, which `q:table=FILE` plays, the metrics,
    the curves and a report.

    Example: fourlab train q --preset bhat --board 5x3x4 --games 50000
    """
    settable = {field.name for field in fields(q_settings.QSettings)}
    given: dict[str, Any] = {key: value for key, value in locals().items() if key in settable and value is not None}
    from fourlab.agents.q.training import QTrainee, config_of, with_short_pieces

    given |= {key: tuple(given[key]) for key in ("against", "exam_against") if key in given}
    settings = with_short_pieces(replace(q_settings.preset(preset, faithful), **given), given)
    settings = replace(settings, board=str(Rules.parse(settings.board)))
    called = name or f"q-{preset}{'-faithful' if faithful else ''}-{settings.board}"
    begin(called, config_of(settings), QTrainee(settings), run, home, quiet, json)
