"""The reference page of the Python API, made from signatures and docstrings.

    python -m tests.python_api       # write docs/reference/python-api.md again

`tests/api/test_reference.py` compares the page with what this makes, and tests/test_docs.py runs
its examples.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fourlab as fl
from fourlab.api import GameOptions, MatchOptions, TournamentOptions
from fourlab.api_runs import RunOptions
from fourlab.files import write_atomically

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "python-api.md"
WIDTH = 100
BEGIN = """\
# The Python API

`import fourlab as fl` has a function for everything that the commands do. Every argument has a
default, and positions are accepted in every form: a `Position`, moves such as `"4453"`, a name, any
[notation](positions.md), or the cells of a board. A first session, in a notebook or at a prompt:

```python
>>> import fourlab as fl
>>> fl.Position("4453")
Position('4453')
>>> fl.solve("4453", all_columns=True)
Solution(lower=-2, upper=-2, left=38, ...
>>> fl.analyse("4453", agent="mcts", simulations=1000)
<PositionAnalysis of Position('4453'): mcts plays 4, expecting +0.1733; line 4 5 6 7 7 1 7>
>>> fl.match("mcts:simulations=100", "rules", games=20)
<MatchResult mcts:simulations=100 against rules: 20 games, score 97.5%, Elo ...
```

Every result is data, words and pictures: `to_dict()` is ready for JSON, `to_pandas()` a data frame,
`str()` the text that the command prints, `plot()` a matplotlib figure, and a notebook shows tables
and boards. Columns count from 0 in Python and from 1 in texts and in `to_dict()`.

Matches, tournaments, trainings and studies are stored in [run folders](run-folders.md), those of
the commands: the same call resumes a stopped run, and a changed setting with the same `run=` is
refused by name. On a terminal a bar shows the progress; elsewhere nothing is printed, and
`on_progress=` is called instead. Ctrl-C finishes the games in progress and raises
`KeyboardInterrupt`; the same call resumes. A mistake in the arguments is a `UserError` of one line.

An agent is a spec such as `"mcts:simulations=1000"`, an agent from `make`, or [your
own](../tutorials/write-an-agent.md): a function of a position that returns a column, an object with
a method `decide`, its class, or a file. Objects that are defined in a notebook or script play in
that process; agents in modules and files use all processors.

This page is made from the docstrings.
"""
FUNCTIONS = (
    *("solve", "analyse", "analyze", "review", "list_agents", "make"),
    *("match", "tournament", "train", "study", "add_position"),
)
RESULTS = (
    *("Solution", "Decision", "PositionAnalysis", "Review", "MatchResult", "TournamentResult"),
    *("TrainingResult", "StudyResult", "AgentList", "AgentInfo", "Progress"),
)
KEYWORDS: dict[str, Any] = {"match": MatchOptions, "tournament": TournamentOptions}
EXAMPLES = {
    "analyze": ">>> fl.analyze is fl.analyse\nTrue",
    "add_position": '>>> fl.add_position("my-trap", "4453")\n>>> fl.Position("my-trap").ply\n4',
    "Solution": '>>> fl.solve("445566").plies\n1',
    "Decision": (
        '>>> print(fl.make("mcts", simulations=500).decide(fl.Position("445566")))\n'
        "plays ..., a proven win; line ..."
    ),
    "PositionAnalysis": (
        '>>> analysis = fl.analyse("445566", "rules")\n'
        ">>> str(analysis.exact.columns[2])\n'wins in 1'"
    ),
    "Review": '>>> print(fl.review("4455661").mistakes[0])\n'
    "column 5 turns a win into a loss; column 4 wins in 39",
    "MatchResult": (
        '>>> result = fl.match("rules", "random", games=20)\n'
        ">>> (result.wins, result.draws, result.losses)\n(20, 0, 0)"
    ),
    "TournamentResult": (
        '>>> result = fl.tournament(["random", "rules", "minimax"], rounds=5)\n'
        ">>> list(result.ratings)\n['minimax', 'rules', 'random']"
    ),
    "TrainingResult": (
        '>>> result = fl.train("q", board="4x3x3", games=2000)\n'
        '>>> fl.make(result.spec).decide(fl.Position(board="4x3x3")).column in range(4)\nTrue'
    ),
    "StudyResult": (
        '>>> result = fl.study("vannucci-abril", "exact", scale="smoke")\n'
        ">>> list(result.claims)\n['vannucci-abril exact']"
    ),
    "AgentList": ">>> fl.list_agents().names[:3]\n['alphazero', ...",
    "AgentInfo": ('>>> fl.list_agents()["minimax"].about\n\'Alpha-beta search ...'),
    "Progress": (
        ">>> events = []\n"
        '>>> _ = fl.match("rules", "random", games=30, on_progress=events.append)\n'
        ">>> (events[-1].done, events[-1].total, events[-1].unit)\n(30, 30, 'games')"
    ),
    "RED": ">>> fl.Position().to_move == fl.RED\nTrue",
    "YELLOW": '>>> fl.Position("4").to_move == fl.YELLOW\nTrue',
    "Agent": '>>> isinstance(fl.make("rules"), fl.Agent)\nTrue',
    "Analysis": (
        '>>> fl.make("mcts", simulations=50).decide(fl.Position()).analysis.simulations\n50'
    ),
    "Batch": '>>> batch = fl.Batch.of([fl.Position("44"), fl.Position("45")])\n>>> len(batch)\n2',
    "ColumnAnalysis": (
        '>>> fl.make("mcts", simulations=50).decide(fl.Position()).analysis.columns[0].column\n0'
    ),
    "Evaluation": (
        ">>> import numpy as np\n"
        ">>> even = fl.Evaluation(np.zeros(1), np.full((1, 7), 1 / 7))\n"
        ">>> even.values\narray([0.])"
    ),
    "Evaluator": (
        ">>> from fourlab.nets.evaluator import load\n"
        '>>> isinstance(load("alphazero"), fl.Evaluator)\nTrue'
    ),
    "Exact": '>>> fl.solve("445566").exact\nExact(result=<Result.WIN: 1>, plies=1)',
    "IllegalColumn": (
        '>>> fl.Position("444444").play(3)\n'
        "Traceback (most recent call last):\n"
        "fourlab.game.position.IllegalColumn: column 3 (counted from 0) is full: "
        "Position('444444')"
    ),
    "ImpossiblePosition": (
        '>>> fl.Position("7/7/7/7/3r3/7 y 4")\n'
        "Traceback (most recent call last):\n"
        "fourlab.game.position.ImpossiblePosition: a disc floats above an empty cell in column 4"
    ),
    "Limit": '>>> fl.make("perfect").decide(fl.Position("4453"), fl.Limit(seconds=5)).column\n2',
    "Outcome": '>>> fl.Position("1212121").outcome()\n<Outcome.RED_WINS: 1>',
    "Position": '>>> fl.Position("4453").play(2).legal_columns()\n(0, 1, 2, 3, 4, 5, 6)',
    "Result": ">>> -fl.Result.WIN\n<Result.LOSS: -1>",
    "Rules": ">>> str(fl.Rules(5, 4))\n'5x4x4'",
    "Solver": ">>> str(fl.Solver().solve(\"32751571231557\"))\n'loses in 24'",
    "Stop": (
        ">>> stop = fl.Stop()\n>>> stop.set()\n"
        '>>> fl.make("mcts").decide(fl.Position(), fl.Limit(stop=stop)).column in range(7)\nTrue'
    ),
    "UserError": (
        '>>> fl.make("mctss")\n'
        "Traceback (most recent call last):\n"
        "fourlab.errors.UserError: there is no agent 'mctss' (did you mean 'mcts'?); agents are ..."
    ),
}
"""Examples of names whose docstrings have none."""


def page() -> str:
    """Return the whole page."""
    others = [name for name in fl.__all__ if name not in {*FUNCTIONS, *RESULTS}]
    parts = [
        BEGIN,
        "## Functions\n",
        *map(_function, FUNCTIONS),
        "## Keywords of every run\n",
        "`match`, `tournament`, `train` and `study` also take these, which change no results:\n",
        _keywords(RunOptions, set()),
        "## Results\n",
        *map(_object, RESULTS),
        "## Other names\n",
        *map(_object, others),
    ]
    return "\n".join(parts)


def _function(name: str) -> str:
    function = getattr(fl, name)
    about, example = _docs(name)
    if name == "analyze":  # the same function as analyse
        about, example = "The American spelling of `analyse`.", EXAMPLES[name]
    parts = [f"### `{name}`\n", _block("text", _signature(name, function)), about, ""]
    if name in KEYWORDS:
        parts += ["Keywords:\n", _keywords(KEYWORDS[name], set(RunOptions.__annotations__))]
    return "\n".join([*parts, _block("python", example)])


def _object(name: str) -> str:
    thing = getattr(fl, name)
    if not isinstance(thing, type):
        side = "red, who moves first" if name == "RED" else "yellow"
        about, example = f"The side {side}: {thing!r}.", EXAMPLES[name]
        return "\n".join([f"### `{name}`\n", about, "", _block("python", example)])
    about, example = _docs(name)
    parts = [f"### `{name}`\n"]
    if not issubclass(thing, Exception) and not getattr(thing, "_is_protocol", False):
        parts.append(_block("text", _signature(name, thing)))
    rows = "".join(f"{_filled(f'- {member}')}\n" for member in _members(thing))
    return "\n".join([*parts, about, "", *([rows] if rows else []), _block("python", example)])


def _docs(name: str) -> tuple[str, str]:
    """Return the docstring of a name without its example, refilled, and the example."""
    text = inspect.getdoc(getattr(fl, name)) or ""
    words, _, example = text.partition("\n\n>>> ")
    if name in EXAMPLES:
        example = EXAMPLES[name]
    else:
        # Docstrings call functions by their own names.
        calls = "|".join(FUNCTIONS)
        example = re.sub(rf"(?<![\w.])({calls}|Position)\(", r"fl.\1(", f">>> {example}")
    paragraphs = [textwrap.fill(part, WIDTH) for part in words.split("\n\n") if part.strip()]
    return "\n\n".join(paragraphs), example


def _signature(name: str, thing: Any) -> str:
    words = []
    has_star = False
    returns = ""
    try:
        signature = inspect.signature(thing)
    except ValueError:
        return name
    for parameter in signature.parameters.values():
        if parameter.kind == parameter.VAR_KEYWORD:
            words.append("**settings" if parameter.name != "options" else "**options")
            continue
        if parameter.kind == parameter.VAR_POSITIONAL:
            has_star = True
            words.append(f"*{parameter.name}")
            continue
        if parameter.kind == parameter.KEYWORD_ONLY and not has_star:
            has_star = True
            words.append("*")
        has_default = parameter.default is not parameter.empty
        default = repr(parameter.default)
        # Defaults that are made anew for every object, and enumerations, have no short form.
        words.append(parameter.name + (f"={_short(default)}" if has_default else ""))
    if not isinstance(thing, type) and signature.return_annotation not in (None, "None"):
        returned = signature.return_annotation
        word = returned if isinstance(returned, str) else getattr(returned, "__name__", "")
        returns = f" -> {word}" if word else ""
    line = f"fl.{name}({', '.join(words)}){returns}"
    return textwrap.fill(line, WIDTH, subsequent_indent="    ", break_long_words=False)


def _short(default: str) -> str:
    return "…" if default.startswith("<") or len(default) > 40 else default


def _members(kind: type) -> Iterator[str]:
    """Yield the fields, properties and methods of a class, each with its first sentence."""
    seen = set()
    for parent in kind.__mro__:
        if not parent.__module__.startswith("fourlab"):
            continue
        for name, about in _fields(parent).items():
            if name not in seen:
                seen.add(name)
                yield f"`{name}`: {about}"
        for name, value in vars(parent).items():
            is_method = inspect.isfunction(value) or isinstance(value, classmethod | staticmethod)
            is_property = isinstance(value, property) or type(value).__name__ == "cached_property"
            # Older names are the same functions under another name.
            is_older = inspect.isfunction(value) and value.__name__ != name
            if name.startswith("_") or name in seen or not (is_method or is_property) or is_older:
                continue
            seen.add(name)
            yield f"`{name}{'()' if is_method else ''}`: {_sentence(inspect.getdoc(value) or '')}"


def _fields(kind: type) -> dict[str, str]:
    """Return the annotated fields of a class that have a docstring below them."""
    source = textwrap.dedent(inspect.getsource(kind))
    (tree,) = ast.parse(source).body
    assert isinstance(tree, ast.ClassDef)
    fields = {}
    for statement, following in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            match following:
                case ast.Expr(value=ast.Constant(value=str(text))):
                    if not statement.target.id.startswith("_"):
                        fields[statement.target.id] = _sentence(text)
    return fields


def _keywords(kind: Any, left_out: set[str]) -> str:
    """Return a list of the keys of a TypedDict with their docstrings."""
    # A TypedDict does not say which others it extends.
    about = {**_fields(RunOptions), **_fields(GameOptions), **_fields(kind)}
    names = [name for name in kind.__annotations__ if name not in left_out]
    return "".join(f"{_filled(f'- `{name}`: {about[name]}')}\n" for name in names)


def _sentence(text: str) -> str:
    """Return the first sentence of a docstring, in one line."""
    line = " ".join(text.partition("\n\n")[0].split())
    return re.split(r"(?<=\.) (?=[A-Z`])", line)[0]


def _filled(line: str) -> str:
    return textwrap.fill(line, WIDTH, subsequent_indent="  ")


def _block(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```\n"


def main() -> None:
    """Write the page."""
    write_atomically(PAGE, page().encode())


if __name__ == "__main__":
    main()
