"""Two minimal protocols: a score for every position, or a column for every column."""

from collections.abc import Callable

import numpy as np

from fourlab.agent import Agent, Limit
from fourlab.agents.perfect import Perfect
from fourlab.agents.registry import make
from fourlab.engines.serve import Read, Say, read_lines
from fourlab.errors import UserError
from fourlab.game.position import Position
from fourlab.game.rules import Rules
from fourlab.solver import Solver


def solver_of(spec: str) -> Solver:
    """Return the solver of the agent `perfect`, the only one with exact scores."""
    agent = make(spec)
    if not isinstance(agent, Perfect):
        raise UserError(
            "with the protocol pons only agent 'perfect' can be served, since scores are exact, "
            f"not {spec!r}"
        )
    return Solver(agent.memory_mb, agent.threads, "shipped" if agent.book else None)


def serve_pons(
    solver: Solver,
    read: Read,
    say: Say,
    complain: Callable[[str], None],
    rules: Rules,
    limit: Limit,
) -> None:
    """Answer every line, a position, with the position and its exact score.

    This is the format of Pascal Pons's solver. A line that is not a position to solve is answered
    with an empty line and a message to `complain`. A score that the limit leaves unproven is
    written as LOWER..UPPER.
    """
    for number, line in enumerate(read_lines(read), 1):
        text = line.strip()
        try:
            solution = solver.solve(Position(text, rules), limit)
        except UserError as error:
            # One line of output per line of input, so that a caller can pair them.
            complain(f"line {number}: {error}")
            say("")
            continue
        bounds = f"{solution.lower}..{solution.upper}"
        say(f"{text} {bounds if solution.score is None else solution.score}")


def serve_line(agent: Agent, read: Read, say: Say, rules: Rules, limit: Limit, seed: int) -> None:
    """Answer every line, the opponent's column, with the agent's column.

    `go` asks the agent to move first, `new` starts a new game, `quit` ends.
    """
    rng = np.random.default_rng(seed)
    position = Position(board=rules)
    for line in read_lines(read):
        word = line.strip()
        match word:
            case "quit":
                return
            case "new":
                position = Position(board=rules)
                continue
        try:
            if word != "go":
                position = position.play(_column(word), named_from=1)
        except UserError as error:
            say(f"error: {' '.join(str(error).split())}")
            continue
        if (outcome := position.outcome()) is None:
            column = agent.decide(position, limit, rng).column
            position = position.play(column)
            say(str(column + 1))
        else:
            say(f"over: {outcome}")


def _column(word: str) -> int:
    if not (word.isascii() and word.isdecimal() and len(word) < 4):
        raise UserError(f"{word[:20]!r} is neither a column nor go, new or quit")
    return int(word) - 1
