"""The server under load: a hundred players, searches beside pings, ten times too much, a thousand idle streams.

    python benchmarks/web.py [--json] [--seconds 10]

The server and its clients share this machine's cores, so a server of its own does better. Each figure is printed beside what it
is meant to be. Clients speak HTTP over plain sockets, to be cheaper than the server they measure.
"""

import argparse
import asyncio
import json
import random
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from fourlab.game.position import Position

HOST = "127.0.0.1"
FEW_PLACES = 20
"""More streams than this do not wait for a place; on a busy machine they have not been answered yet."""


@dataclass
class Answer:
    """What came back, and after how long."""

    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float


class Client:
    """One connection that is kept open."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def ask(self, method: str, path: str, data: object = None) -> Answer:
        started = time.perf_counter()
        if self.writer is None or self.reader is None:
            self.reader, self.writer = await asyncio.open_connection(HOST, self.port)
        body = b"" if data is None else json.dumps(data).encode()
        head = [f"{method} {path} HTTP/1.1", f"Host: {HOST}:{self.port}", "Content-Type: application/json"]
        self.writer.write("\r\n".join([*head, f"Content-Length: {len(body)}", "", ""]).encode() + body)
        status, headers = await read_head(self.reader)
        content = await self.reader.readexactly(int(headers["content-length"]))
        return Answer(status, headers, content, time.perf_counter() - started)

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
        self.reader = self.writer = None


async def read_head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    fields = (line.split(": ", 1) for line in lines[1:] if line)
    return int(lines[0].split()[1]), {name.lower(): value for name, value in fields}


@dataclass
class Seen:
    """Times of answers, and what went wrong."""

    seconds: list[float] = field(default_factory=list)
    refused: int = 0
    errors: int = 0

    def share(self, part: float) -> float:
        """So many of the answers came within this many milliseconds."""
        return 1000 * sorted(self.seconds)[min(int(part * len(self.seconds)), len(self.seconds) - 1)] if self.seconds else 0.0


async def play(port: int, number: int, until: float, pause: float, seen: Seen) -> None:
    """A person who thinks for a while, drops a disc anywhere, and waits for the engine's 10 ms move."""
    chance, client, moves = random.Random(number), Client(port), ""
    await asyncio.sleep(chance.random() * pause)
    while time.perf_counter() < until:
        await asyncio.sleep(chance.expovariate(1 / pause) if pause else 0.0)
        position = Position(moves)
        if position.outcome() is None:
            moves += str(chance.choice(position.legal_columns()) + 1)
        if Position(moves).outcome() is not None:
            moves = ""
        answer = await client.ask("POST", "/api/v1/move", {"moves": moves, "agent": "mcts", "seconds": 0.01})
        seen.seconds.append(answer.seconds)
        seen.refused += answer.status == 503
        seen.errors += answer.status not in (200, 503)
        if answer.status != 200:
            await asyncio.sleep(float(answer.headers.get("retry-after", 1)))
            continue
        moves += str(json.loads(answer.body)["column"])
        if Position(moves).outcome() is not None:
            moves = ""
    client.close()


async def players(port: int, count: int, seconds: float, pause: float) -> dict[str, float]:
    """Players at the same time."""
    seen, until = Seen(), time.perf_counter() + seconds
    await asyncio.gather(*(play(port, number, until, pause, seen) for number in range(count)))
    times = {f"p{round(100 * part)}": seen.share(part) for part in (0.5, 0.95, 0.99)}
    return {"moves": len(seen.seconds), "refused": seen.refused, "errors": seen.errors, **times}


async def pings(port: int, searchers: int, seconds: float) -> dict[str, float]:
    """Small questions while others search all the time."""
    until, seen, done = time.perf_counter() + seconds, Seen(), Seen()

    async def search() -> None:
        client = Client(port)
        while time.perf_counter() < until:
            answer = await client.ask("POST", "/api/v1/move", {"agent": "mcts", "seconds": 0.2})
            done.seconds.append(answer.seconds)
            if answer.status != 200:
                await asyncio.sleep(float(answer.headers.get("retry-after", 1)))
        client.close()

    async def ping() -> None:
        client = Client(port)
        while time.perf_counter() < until:
            answer = await client.ask("GET", "/api/v1/ping")
            seen.seconds.append(answer.seconds)
            seen.errors += answer.status != 200
            await asyncio.sleep(0.01)
        client.close()

    await asyncio.gather(ping(), *(search() for _ in range(searchers)))
    return {"pings": len(seen.seconds), "errors": seen.errors, "p50": seen.share(0.5), "p99": seen.share(0.99)}


async def overload(port: int, times: float, seconds: float, cores: int) -> dict[str, float]:
    """So many times the requests that can be searched for; then silence, and how soon all is well again."""
    rate, refused, served, wrong = times * cores / 0.1, Seen(), Seen(), 0
    idle: list[Client] = []

    async def ask() -> None:
        nonlocal wrong
        client = idle.pop() if idle else Client(port)
        answer = await client.ask("POST", "/api/v1/move", {"agent": "mcts", "seconds": 0.1})
        idle.append(client)
        if answer.status in (429, 503):
            refused.seconds.append(answer.seconds)
            wrong += "retry-after" not in answer.headers or "error" not in json.loads(answer.body)
        elif answer.status == 200:
            served.seconds.append(answer.seconds)
        else:
            wrong += 1

    started, tasks = time.perf_counter(), []
    for number in range(int(rate * seconds)):
        await asyncio.sleep(max(0.0, started + number / rate - time.perf_counter()))
        tasks.append(asyncio.ensure_future(ask()))
    ended, client = time.perf_counter(), Client(port)
    while (
        answer := await client.ask("POST", "/api/v1/move", {"agent": "mcts", "seconds": 0.01})
    ).status != 200 or answer.seconds > 0.1:
        await asyncio.sleep(0.05)
    recovered = time.perf_counter() - ended
    await asyncio.gather(*tasks)
    return {
        "asked": len(tasks),
        "served": len(served.seconds),
        "refused": len(refused.seconds),
        "wrong": wrong,
        "refused p50": refused.share(0.5),
        "refused p99": refused.share(0.99),
        "recovered s": recovered,
    }


async def streams(port: int, count: int) -> dict[str, float]:
    """Streams that nobody reads."""
    request = f"GET /api/v1/analysis/stream?agent=mcts&seconds=60 HTTP/1.1\r\nHost: {HOST}:{port}\r\n\r\n".encode()
    writers, waiting = [], set()
    for _ in range(count):
        reader, writer = await asyncio.open_connection(HOST, port)
        writer.write(request)
        writers.append(writer)
        waiting.add(asyncio.ensure_future(read_head(reader)))
    statuses, answered = [], waiting
    while waiting and answered:  # whoever has no answer long after the last one waits for a place
        first = asyncio.FIRST_COMPLETED
        patience = 1 if len(waiting) < FEW_PLACES else 60
        answered, waiting = await asyncio.wait(waiting, timeout=patience, return_when=first)
        statuses += [task.result()[0] for task in answered]
    for task in waiting:
        task.cancel()
    for writer in writers:
        writer.close()
    closed, client = time.perf_counter(), Client(port)
    while (await client.ask("POST", "/api/v1/analysis", {"seconds": 0.05})).status != 200:
        await asyncio.sleep(0.05)
    return {
        "opened": statuses.count(200),
        "waiting": len(waiting),
        "refused": statuses.count(503),
        "other": sum(status not in (200, 503) for status in statuses),
        "free again s": time.perf_counter() - closed,
    }


def memory(process: int) -> float:
    """Megabytes that a process has in memory, where the system tells."""
    status = Path(f"/proc/{process}/status")
    if not status.exists():
        return 0.0
    lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
    return int(lines["VmRSS"].split()[0]) / 1024


def measure(port: int, process: int, seconds: float, pause: float, cores: int) -> dict[str, dict[str, float]]:
    """Everything, one after the other."""
    asyncio.run(players(port, 10, min(3, seconds), 0.2))  # warm up
    found = {"a hundred players": asyncio.run(players(port, 100, seconds, pause))}
    found["pings beside 16 searchers"] = asyncio.run(pings(port, 16, seconds / 2))
    found["ten times too much"] = asyncio.run(overload(port, 10, seconds / 2, cores))
    found["a thousand idle streams"] = asyncio.run(streams(port, 1000))
    found["memory"] = {"megabytes": memory(process)}
    return found


GOALS = {
    "a hundred players": {"refused": 0, "errors": 0, "p95": 400, "p99": 800},
    "pings beside 16 searchers": {"errors": 0, "p99": 100},
    "ten times too much": {"wrong": 0, "refused p99": 50, "recovered s": 2},
    "a thousand idle streams": {"other": 0},
    "memory": {"megabytes": 500},
}
"""The most that each figure is meant to be; times without a unit are milliseconds."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--pause", type=float, default=1.0, help="seconds that a player thinks, on average")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    command = [sys.executable, "-m", "fourlab", "web", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            port = int(server.stdout.readline().split("/ ")[0].rsplit(":", 1)[1])
            found = measure(port, server.pid, asked.seconds, asked.pause, 2)
        finally:
            server.terminate()
    if asked.json:
        print(json.dumps({**found, "goals": GOALS}))
        return
    for title, figures in found.items():
        print(title)
        for name, value in figures.items():
            goal = GOALS[title].get(name)
            print(f"  {name:14} {value:10,.1f}" + ("" if goal is None else f"   at most {goal}"))


if __name__ == "__main__":
    main()
