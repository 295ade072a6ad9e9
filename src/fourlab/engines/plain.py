"""Two protocols for programs that want no more than an answer: a score for a position, or a column for a column."""

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
    """The solver behind the agent `perfect`, which alone knows exact scores."""
    agent = make(spec)
    if not isinstance(agent, Perfect):
        raise UserError(f"with the protocol pons only agent 'perfect' can be served, since scores are exact, not {spec!r}")
    return Solver(agent.megabytes, agent.threads, "shipped" if agent.book else None)


def serve_pons(solver: Solver, read: Read, say: Say, complain: Callable[[str], None], rules: Rules, limit: Limit) -> None:
    """A position a line in, the position and its exact score out, as Pascal Pons's solver does; an empty line if it has none."""
    for number, line in enumerate(read_lines(read), 1):
        text = line.strip()
        try:
            found = solver.solve(Position(text, rules), limit)
        except UserError as error:
            complain(f"line {number}: {error}")
            say("")
            continue
        say(f"{text} {found.lower}" if found.score is not None else f"{text} {found.lower}..{found.upper}")


def serve_line(agent: Agent, read: Read, say: Say, rules: Rules, limit: Limit, seed: int) -> None:
    """The opponent's column in, our own out; `go` if we are to begin, `new` for a new game."""
    rng, position = np.random.default_rng(seed), Position(board=rules)
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
                position = position.play(_column(word))
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
