"""`fourlab completion`: completion of commands, options, agents and runs in the shell.

The script of a shell calls `fourlab completion words …` with the words typed so far, the last one
being completed, and offers the lines that it prints. This imports at most the module of the command
that is being typed, and never a compiler.
"""

from collections.abc import Iterator
from typing import Annotated, Any

import typer

from fourlab.errors import UserError
from fourlab.options import perhaps

BASH = """\
# fourlab completion bash > ~/.local/share/bash-completion/completions/fourlab
_fourlab() {
    local -a words
    read -ra words <<< "${COMP_LINE:0:COMP_POINT}"
    [[ "${COMP_LINE:0:COMP_POINT}" == *[[:space:]] ]] && words+=("")
    local word="${words[-1]}" current="${COMP_WORDS[COMP_CWORD]}"
    # bash splits words at colons and equals signs, too, and replaces only the last part.
    [[ "$current" == [:=] ]] && current=""
    local prefix="${word%"$current"}" line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("${line#"$prefix"}")
    done < <(fourlab completion words -- "${words[@]:1}" 2>/dev/null)
    [[ "${COMPREPLY[0]}" == *[:=,] ]] && compopt -o nospace
}
complete -o default -F _fourlab fourlab
"""
ZSH = """\
#compdef fourlab
# fourlab completion zsh > a folder of $fpath, named _fourlab
_fourlab() {
    local -a candidates
    candidates=("${(@f)$(fourlab completion words -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    if [[ -n "${candidates[1]}" ]]; then
        compadd -S '' -- ${(M)candidates:#*[:=,]}
        compadd -- ${candidates:#*[:=,]}
    else
        _files
    fi
}
if [[ "$funcstack[1]" == _fourlab ]]; then _fourlab "$@"; else compdef _fourlab fourlab; fi
"""
FISH = """\
# fourlab completion fish > ~/.config/fish/completions/fourlab.fish
function __fourlab_candidates
    set -l words (commandline -opc) (commandline -ct)
    fourlab completion words -- $words[2..-1] 2>/dev/null
end
complete -c fourlab -a '(__fourlab_candidates)'
"""
SCRIPTS = {"bash": BASH, "zsh": ZSH, "fish": FISH}

AGENT_METAVARS = ("A", "B", "AGENT", "OPPONENT", "SPEC", "AGENTS")
"""What stands for an agent in the help of commands."""


def completion(
    shell: Annotated[str, typer.Argument(metavar="SHELL", help="bash, zsh or fish.")],
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="WORD", hidden=True, help="Words typed so far."),
    ] = None,
) -> None:
    """Print a script for the shell's completion.

    It completes commands, options, agents and their options, trainings, presets and runs. For bash,
    put this line into ~/.bashrc; for zsh the same into ~/.zshrc with "zsh":

      eval "$(fourlab completion bash)"

    For fish: fourlab completion fish > ~/.config/fish/completions/fourlab.fish

    Example: fourlab completion bash
    """
    if shell == "words":
        for candidate in candidates(words or []):
            print(candidate)
        return
    if shell not in SCRIPTS:
        raise UserError(
            f"there is no completion for {shell!r}{perhaps(shell, SCRIPTS)}; "
            f"shells are {', '.join(SCRIPTS)}"
        )
    print(SCRIPTS[shell], end="")


def candidates(words: list[str]) -> list[str]:
    """Return what the last of the words can become; the words begin after `fourlab`."""
    from fourlab.cli.commands import COMMANDS, load

    *before, word = words or [""]
    listed = [name for name, entry in COMMANDS.items() if not entry.hidden]
    if not before:
        return _matching([*listed, "--help", "--version"], word)
    if before[0] == "help":
        before = before[1:]
        if not before:
            return _matching(listed, word)
    if before[0] not in COMMANDS:
        return []
    command = load(before[0])
    rest = before[1:]
    # The commands of a group such as `train`.
    if subcommands := getattr(command, "commands", None):
        if not rest:
            return _matching([*subcommands, "--help"], word)
        if rest[0] not in subcommands:
            return []
        command = subcommands[rest[0]]
        rest = rest[1:]
    return _of_command(command, rest, word, before)


def _of_command(command: Any, rest: list[str], word: str, path: list[str]) -> list[str]:
    """Return candidates for an option, for the value of an option, or for an argument."""
    flags = {
        flag: parameter
        for parameter in command.params
        if parameter.param_type_name == "option" and not parameter.hidden
        for flag in [*parameter.opts, *parameter.secondary_opts]
    }
    last = flags.get(rest[-1]) if rest else None
    if last is not None and not last.is_flag:
        return _matching(_values(last, path), word, last)
    if word.startswith("-"):
        return _matching([*flags, "--help"], word)
    arguments = [parameter for parameter in command.params if parameter not in flags.values()]
    arguments = [one for one in arguments if one.param_type_name == "argument"]
    if not arguments:
        return []
    # The last argument of a command may take any number of words.
    position = min(_count_arguments(rest, flags), len(arguments) - 1)
    return _matching(_values(arguments[position], path), word, arguments[position])


def _count_arguments(words: list[str], flags: dict[str, Any]) -> int:
    """Return how many of the words are arguments: no options, and no values of options."""
    count = 0
    is_value = False
    for word in words:
        if is_value:
            is_value = False
        elif word in flags:
            is_value = not flags[word].is_flag
        elif not word.startswith("-"):
            count += 1
    return count


def _values(parameter: Any, path: list[str]) -> Iterator[str]:
    """Yield the values of an option or argument, as far as they can be listed."""
    metavar = parameter.metavar or ""
    if metavar in AGENT_METAVARS or parameter.name == "agents":
        from fourlab.agents import registry

        yield from registry.names()
    elif metavar == "RUN" or parameter.name == "run":
        yield from _runs()
    elif metavar == "TRAINING" or parameter.name == "preset":
        yield from _trainings(parameter.name, path)
    elif metavar == "SHELL":
        yield from SCRIPTS
    elif metavar == "COMMAND":
        from fourlab.cli.commands import COMMANDS

        yield from COMMANDS
    elif "|" in metavar:
        yield from metavar.split("|")
    elif parameter.name == "name" and path[:1] == ["agents"]:
        from fourlab.agents import registry

        yield from registry.names()


def _trainings(name: str, path: list[str]) -> Iterator[str]:
    """Yield the trainings, or the presets of the one that was typed."""
    from fourlab.agents.trainings import TRAININGS

    if name != "preset":
        yield from TRAININGS
        return
    training = next((TRAININGS[word] for word in path if word in TRAININGS), None)
    yield from training.presets if training is not None else ()


def _runs() -> Iterator[str]:
    """Yield the names of the runs in the folder of runs."""
    import os
    from pathlib import Path

    from fourlab.cli.options import DEFAULT_HOME
    from fourlab.jobs.run import all_runs

    home = Path(os.environ.get("FOURLAB_RUNS") or DEFAULT_HOME)
    names = [run.name for run in all_runs(home)]
    if names:
        yield "last"
    yield from names


def _matching(values: Any, word: str, parameter: Any = None) -> list[str]:
    """Return the values that begin with the word; for an agent with a colon, its options."""
    values = list(values)
    matching = [value for value in values if value.startswith(word)]
    if matching or parameter is None or ":" not in word:
        return matching
    from fourlab.agents import registry

    name = word.partition(":")[0]
    if name not in values or name not in registry.names():
        return []
    # Options are completed after the colon and after every comma.
    written = word[: max(word.rfind(":"), word.rfind(",")) + 1]
    begun = word[len(written) :]
    if "=" in begun:
        option, _, text = begun.partition("=")
        choices = next((one.choices for one in registry.options_of(name) if one.name == option), ())
        return [f"{written}{option}={choice}" for choice in choices if str(choice).startswith(text)]
    return [
        f"{written}{option.name}="
        for option in registry.options_of(name)
        if option.name.startswith(begun)
    ]
