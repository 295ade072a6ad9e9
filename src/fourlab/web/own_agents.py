"""Agents of the server's owner: files that they name at the start, or drop on the page.

Requests use short names such as own-Careful; which file or program that is, only the server knows.
Files are loaded and asked by worker processes, never by the server.
"""

import ast
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from fourlab.agent import Agent, Searcher, close
from fourlab.agents import own_files, registry
from fourlab.errors import UserError
from fourlab.web.settings import MOST_OWN, MOST_UPLOAD_BYTES, OwnAgent

SUFFIXES = (".py", ".onnx", ".zip")
"""Files that can be agents: Python, a network, a model of Stable-Baselines3."""
CLOSED = "this server takes no files; on your own machine, fourlab web --allow-programs does"


class OwnAgents:
    """The agents of the server's owner, by the names that requests use."""

    def __init__(self, is_open: bool = False, agents: tuple[OwnAgent, ...] = ()) -> None:
        self.is_open = is_open
        """Whether files may be dropped."""
        self.agents: dict[str, OwnAgent] = {}
        self._folder: TemporaryDirectory[str] | None = None
        for agent in agents:
            self.add(agent)

    def add(self, agent: OwnAgent) -> str:
        """Add an agent, and return its name; a file that is dropped again keeps its name."""
        title = re.sub(r"[^\w.-]+", "-", title_of(agent.spec)).strip("-.") or "agent"
        name = f"own-{title[:60]}"
        number = 1
        while name in self.agents and self.agents[name].spec != agent.spec:
            number += 1
            name = f"own-{title[:60]}-{number}"
        if name not in self.agents and len(self.agents) >= MOST_OWN:
            raise UserError(f"there are {MOST_OWN} agents of your own already")
        self.agents[name] = agent
        return name

    def spec_of(self, name: str) -> str | None:
        """Return the spec of a name, None if no agent of the owner has it."""
        agent = self.agents.get(name)
        return None if agent is None else agent.spec

    def take(self, name: str, at: int, data: bytes) -> Path:
        """Write a piece of a dropped file, which begins at a byte; return the file."""
        if re.fullmatch(r"[A-Za-z0-9_-][A-Za-z0-9._ -]{0,79}", name) is None:
            raise UserError("the name of a file has at most 80 letters, digits and - _ .")
        if not name.lower().endswith(SUFFIXES):
            raise UserError(f"agents are files that end in {', '.join(SUFFIXES)}")
        if at + len(data) > MOST_UPLOAD_BYTES:
            raise UserError(f"a file that is dropped has at most {MOST_UPLOAD_BYTES:,} bytes")
        if self._folder is None:
            self._folder = TemporaryDirectory(prefix="fourlab-own-")
        folder = Path(self._folder.name)
        file = folder / name
        if not file.exists() and sum(1 for _ in folder.iterdir()) >= MOST_OWN:
            raise UserError(f"there are {MOST_OWN} agents of your own already")
        if at != (file.stat().st_size if at else 0):
            raise UserError("the pieces of the file are not in order; drop it again")
        with file.open("ab" if at else "wb") as stream:
            stream.write(data)
        return file

    def close(self) -> None:
        """Delete the dropped files."""
        if self._folder is not None:
            with suppress(OSError):
                self._folder.cleanup()
            self._folder = None


def title_of(spec: str) -> str:
    """Return a short name of a spec: of the class or function, of the file, or of the agent."""
    name, options = registry.parse_spec(spec)
    if own_files.file_of(name):
        return own_files.title_of(name).removesuffix(".py")
    return Path(options["file"]).stem if "file" in options else name


def checked(spec: str, make: Callable[[str], Agent] = registry.make) -> OwnAgent:
    """Make an agent once; raise UserError if that fails."""
    agent = make(spec)
    close(agent)
    about = registry.about(registry.parse_spec(spec)[0])
    return OwnAgent(spec, about, isinstance(agent, Searcher))


def spec_for(file: Path) -> str:
    """Return the spec of a file that was dropped."""
    match file.suffix.lower():
        case ".onnx":
            return f'onnx:file="{file}"'
        case ".zip":
            return f'sb3:file="{file}"'
    return f'kaggle:file="{file}"' if _is_submission(file) else str(file)


def _is_submission(file: Path) -> bool:
    """Return whether the last function of a Python file takes what Kaggle gives it."""
    try:
        # Nothing of the file is run.
        nodes = ast.parse(file.read_bytes()).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False  # loading it says what is wrong
    functions = [node for node in nodes if isinstance(node, ast.FunctionDef)]
    return bool(functions) and any(
        argument.arg.startswith("obs") for argument in functions[-1].args.args[:1]
    )
