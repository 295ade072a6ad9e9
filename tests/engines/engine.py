"""An engine for the tests: `python engine.py KIND [FILE]`.

It plays the leftmost open column or misbehaves, as KIND says. FILE receives the process ids of the
engine and of its children, one per line.
"""

import itertools
import os
import random
import re
import signal
import subprocess
import sys
import time

KIND = sys.argv[1]
FILE = sys.argv[2] if len(sys.argv) > 2 else os.devnull


def say(text: str) -> None:
    print(text, flush=True)


def note(pid: int) -> None:
    with open(FILE, "a") as file:
        file.write(f"{pid}\n")


class Board:
    """The heights of the columns, which are enough for legal play."""

    columns = 7
    rows = 6
    seed = 0
    favourite = 1
    rank = 0
    heights = [0] * 7

    def newgame(self, words: list[str]) -> None:
        if KIND == "wants-a-board" and "x" not in "".join(words[:1]):
            sys.exit("no board")
        if KIND == "classic-only" and words[:1] not in ([], ["seed"], ["7x6x4"]):
            sys.exit("another board")
        self.columns, self.rows, _ = (
            map(int, words[0].split("x")) if "x" in "".join(words[:1]) else (7, 6, 4)
        )
        self.seed = int(words[-1]) if "seed" in words else self.seed

    def position(self, words: list[str]) -> None:
        if words[0] == "fen" and KIND != "one-size":
            self.columns = sum(
                1 if word in "ry" else int(word)
                for word in re.findall(r"[ry]|\d+", words[1].split("/")[0])
            )
            self.rows = len(words[1].split("/"))
        self.heights = [0] * self.columns
        if words[0] == "fen" and KIND == "no-fen":
            return
        for row in words[1].split("/") if words[0] == "fen" else []:
            cells = "".join(
                word if word in "ry" else "." * int(word) for word in re.findall(r"[ry]|\d+", row)
            )
            for column, cell in enumerate(cells[: self.columns]):
                self.heights[column] += cell != "."
        if words[0] == "fen" and KIND == "fen-without-moves":
            return
        for word in words[words.index("moves") + 1 :] if "moves" in words else []:
            self.heights[int(word) - 1] += 1

    def open(self) -> list[int]:
        return [column + 1 for column in range(self.columns) if self.heights[column] < self.rows]


def flood() -> None:
    """Write, or allocate memory, without end."""
    data = {
        "lines": b"x\n" * 1000,
        "no-newline": b"x" * 10000,
        "long-lines": b"info string " + b"x" * 9000 + b"\n",
    }
    allocated = []
    while True:
        match KIND:
            case "noise":
                os.write(1, os.urandom(5000))
            case "stderr":
                os.write(2, b"x" * 10000)
            case "memory":
                allocated.append(b"x" * 16_000_000)
                time.sleep(0.005)
            case _:
                os.write(1, data[KIND])


def answer(board: Board) -> None:
    leftmost = board.open()[0]
    match KIND:
        case "crash":
            raise RuntimeError("boom")
        case "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        case "busy":
            while True:
                pass
        case "hang":
            time.sleep(100_000)
        case "illegal":
            say("bestmove 9")
        case "full":
            say(f"bestmove {min(set(range(1, board.columns + 1)) - set(board.open()))}")
        case "words":
            say("bestmove left")
        case "noise" | "lines" | "no-newline" | "long-lines" | "stderr" | "memory":
            flood()
        case "late":
            time.sleep(1)
            say(f"bestmove {leftmost}")
        case "twice":
            say(f"bestmove {leftmost}\nbestmove 99\nbestmove")
        case "close":
            os.close(1)
            time.sleep(100_000)
        case "until-stop":
            while input() != "stop":
                pass
            say(f"bestmove {leftmost}")
        case "noisy":  # a lot of output, but within bounds, and more on stderr
            os.write(2, b"thinking\n" * 100_000)
            say(
                "rubbish\ninfo\ninfo score\ninfo nodes many pv 4 x\n"
                + "info depth 1 nodes 5 score wdl 1 2\n" * 500
            )
            say(f"info depth 2 nodes 7 score wdl 500 300 200 pv {leftmost}")
            say("info string score loss 1")
            say(f"bestmove {leftmost}")
        case "settable":
            infos = [
                f"info multipv {rank} score wdl {900 - 100 * rank} 0 0{rank}00 pv {rank}"
                for rank in range(1, board.rank + 1)
            ]
            say("\n".join([*infos, f"bestmove {board.favourite}"]))
        case "banana":
            say(f"info depth 3 score win pv banana\nbestmove {leftmost}")
        case "after":
            say(f"bestmove {leftmost}\ninfo depth 3")
        case "any":
            say(f"bestmove {random.choice(board.open())}")
        case "good":
            column = random.Random(f"{board.seed} {board.heights}").choice(board.open())
            say(f"info depth 1 nodes 7 simulations 7 score draw pv {column}\nbestmove {column}")
        case _:
            say(f"bestmove {leftmost}")


def main() -> None:
    note(os.getpid())
    if KIND == "dies":
        sys.exit("no licence")
    if KIND in ("ignores-quit", "ignores-sigterm"):
        signal.signal(
            signal.SIGTERM, signal.SIG_IGN if KIND == "ignores-sigterm" else signal.SIG_DFL
        )
    if KIND == "child":
        note(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(100_000)"]).pid)
    if KIND == "daemon":
        # A child in a session of its own, whose parent exits: only the launcher still knows it.
        script = (
            "import os, time\n"
            "if os.fork() == 0:\n"
            "    os.setsid()\n"
            f"    open({FILE!r}, 'a').write(f'{os.getpid()}\\n')\n"
            "    time.sleep(100_000)"
        )
        subprocess.run([sys.executable, "-S", "-c", script], check=True)
    if KIND == "environment":
        with open(f"{FILE}.environment", "w") as file:
            file.write("\n".join(sorted(os.environ)))
    board = Board()
    for line in itertools.chain(sys.stdin, itertools.repeat("end")):
        match line.split():
            case _ if KIND == "silent":
                time.sleep(100_000)
            case ["quit"] | ["end"] if KIND in ("ignores-quit", "ignores-sigterm", "daemon"):
                time.sleep(100_000)
            case ["quit"] | ["end"]:
                return
            case ["c4i"] if KIND == "settable":
                say("option name Favourite Column type spin default 1")
                say("option name Other type check\nc4iok")
            case ["setoption", "name", "Favourite", "Column", "value", number] if (
                KIND == "settable"
            ):
                board.favourite = int(number)
            case ["c4i"] if KIND == "nameless":
                say("c4iok")
            case ["c4i"] if KIND == "no-options":
                say(f"id name {KIND}\nid author Fourlab")
                say("option name Depth type spin default 3\nc4iok")
            case ["setoption", *_] if KIND == "no-options":
                sys.exit("no option")
            case ["c4i"]:
                say(f"id name {KIND}\nid author Fourlab\nc4iok")
            case ["isready"]:
                say("readyok")
            case ["ping", "2"] if KIND == "deaf-to-ping-2":
                pass
            case ["ping", number]:
                say(f"pong {number}")
            case ["stop"] if KIND == "answers-stop":
                say("bestmove 1")
            case ["newgame", *words]:
                board.newgame(words)
            case ["position", *words]:
                board.position(words)
            case ["go", *words]:
                board.rank = int(words[words.index("multipv") + 1]) if "multipv" in words else 0
                answer(board)
            case [word, *_] if KIND == "guesses" and word.startswith("go"):
                answer(board)
            case _ if KIND == "knows-all":
                sys.exit("what?")


main()
