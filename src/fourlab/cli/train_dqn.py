"""`fourlab train dqn`: a network that tells what every column is worth, learned from games."""

from dataclasses import asdict
from typing import Annotated

import typer

from fourlab.agents.dqn.settings import DqnSettings
from fourlab.cli.options import DEFAULT_HOME, HomeOption, JsonOption, QuietOption, RunOption
from fourlab.cli.train_value import layers as read_layers
from fourlab.cli.training import begin, require_torch
from fourlab.game.rules import Rules

DEFAULT = DqnSettings()


def dqn(
    board: Annotated[str, typer.Option(metavar="7x6x4", help="COLUMNSxROWSxINAROW.")] = DEFAULT.board,
    moves: Annotated[int, typer.Option(help="How many moves to play in all.")] = DEFAULT.moves,
    against: Annotated[
        list[str], typer.Option(metavar="AGENT", help="self, or any agent; given several times, one is drawn for each game.")
    ] = list(DEFAULT.against),  # noqa: B006 - typer makes a new list of it
    games: Annotated[int, typer.Option(help="Games played at a time, in step.")] = DEFAULT.games,
    epsilon: Annotated[float, typer.Option(help="The chance of a random move at first.")] = DEFAULT.epsilon,
    epsilon_end: Annotated[float, typer.Option(help="The chance of a random move later.")] = DEFAULT.epsilon_end,
    epsilon_moves: Annotated[int, typer.Option(help="In so many moves the chance comes down.")] = DEFAULT.epsilon_moves,
    gamma: Annotated[float, typer.Option(help="What a result is worth one move earlier.")] = DEFAULT.gamma,
    replay: Annotated[int, typer.Option(help="How many of the last moves are remembered.")] = DEFAULT.replay,
    warmup: Annotated[int, typer.Option(help="Learning begins after so many moves.")] = DEFAULT.warmup,
    batch: Annotated[int, typer.Option(help="Moves an update learns from.")] = DEFAULT.batch,
    updates: Annotated[int, typer.Option(help="Updates after each move of the games in step.")] = DEFAULT.updates,
    rate: Annotated[float, typer.Option(help="The learning rate at first; it falls to a tenth.")] = DEFAULT.rate,
    clip: Annotated[float, typer.Option(help="Longer gradients are shortened to this.")] = DEFAULT.clip,
    target: Annotated[int, typer.Option(help="Updates between two renewals of the target network.")] = DEFAULT.target,
    mirror: Annotated[bool, typer.Option(help="Learn half of the moves mirrored.")] = DEFAULT.mirror,
    features: Annotated[str, typer.Option(help="What the network sees: cells, stones or threats.")] = DEFAULT.features,
    layers: Annotated[str, typer.Option(metavar="LAYERS", help="The network but for its last layer.")] = ", ".join(
        DEFAULT.layers
    ),
    piece: Annotated[int, typer.Option(help="Moves to a row of metrics.")] = DEFAULT.piece,
    exam_every: Annotated[int, typer.Option(help="Rows of metrics to an examination.")] = DEFAULT.exam_every,
    exam_games: Annotated[int, typer.Option(help="Games of an examination against each opponent.")] = DEFAULT.exam_games,
    exam_positions: Annotated[int, typer.Option(help="Solved positions of an examination.")] = DEFAULT.exam_positions,
    threads: Annotated[int, typer.Option(help="Threads of torch; the result depends on it.")] = DEFAULT.threads,
    seed: Annotated[int, typer.Option(min=0, help="The same seed gives the same network.")] = DEFAULT.seed,
    name: Annotated[str | None, typer.Option(help="What the run is called.")] = None,
    run: RunOption = None,
    home: HomeOption = DEFAULT_HOME,
    quiet: QuietOption = False,
    json: JsonOption = False,
) -> None:
    """Train a network to tell what every column is worth, from games against itself or others (double DQN).

    The run's folder gets dqn.onnx for playing, dqn.safetensors and dqn.json for training on, the curves and a report.

    Example: fourlab train dqn --board 5x4x4 --moves 300000 --against self --against rules
    """
    require_torch()
    from fourlab.agents.dqn.training import DqnTrainee

    settings = DqnSettings(
        board=str(Rules.parse(board)),
        moves=moves,
        against=tuple(against),
        games=games,
        epsilon=epsilon,
        epsilon_end=epsilon_end,
        epsilon_moves=epsilon_moves,
        gamma=gamma,
        replay=replay,
        warmup=warmup,
        batch=batch,
        updates=updates,
        rate=rate,
        clip=clip,
        target=target,
        mirror=mirror,
        features=features,
        layers=read_layers(layers) or (),
        piece=piece,
        exam_every=exam_every,
        exam_games=exam_games,
        exam_positions=exam_positions,
        threads=threads,
        seed=seed,
    )
    begin(
        name or f"dqn-{settings.board}", {"kind": "train-dqn", **asdict(settings)}, DqnTrainee(settings), run, home, quiet, json
    )
