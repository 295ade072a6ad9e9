"""The server under load: 100 players, pings during searches, a greedy client, overload, streams.

    python benchmarks/web.py [--json] [--seconds 10]
    python benchmarks/web.py --soak 600            200 players for ten minutes, and nothing else

The server and its clients share the cores of this machine, so a server alone does better. Every
figure is printed with its limit. Clients use HTTP over plain sockets, which is cheaper than the
server they measure.
"""

import argparse
import asyncio
import json
import os
import random
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from fourlab.game.position import Position
from fourlab.processors import usable_processors

HOST = "127.0.0.1"
ANOTHER_HOST = "127.0.0.2"
"""An address of this machine that the server takes for another client (Linux)."""
GREEDY = 100
"""Connections of a greedy client, each of which asks again as soon as it has an answer."""
CORES = usable_processors()
FEW_PLACES = 20
"""Fewer streams than this wait for a place. If more are unanswered, the machine is busy and the
answers are still to come."""

CLOSED = 0
"""In place of a status: the server closes connections far beyond its limits without an answer."""


@dataclass
class Response:
    """A response, and the seconds until it arrived."""

    status: int
    headers: dict[str, str]
    body: bytes
    seconds: float


class Client:
    """An HTTP client with one persistent connection."""

    def __init__(self, port: int, address: str = HOST) -> None:
        self.port = port
        self.address = address
        self.reader: asyncio.StreamReader | None = None
        self.writer: asyncio.StreamWriter | None = None

    async def request(self, method: str, path: str, data: object = None) -> Response:
        started = time.perf_counter()
        if self.reader is not None and self.reader.at_eof():
            self.close()  # the server closes idle connections
        if self.writer is None or self.reader is None:
            local = (self.address, 0)
            self.reader, self.writer = await asyncio.open_connection(
                HOST, self.port, local_addr=local
            )
        body = b"" if data is None else json.dumps(data).encode()
        head = [
            f"{method} {path} HTTP/1.1",
            f"Host: {HOST}:{self.port}",
            "Content-Type: application/json",
            f"Content-Length: {len(body)}",
        ]
        self.writer.write("\r\n".join([*head, "", ""]).encode() + body)
        status, headers = await read_head(self.reader)
        content = await self.reader.readexactly(int(headers["content-length"]))
        if headers.get("connection") == "close":
            self.close()
        return Response(status, headers, content, time.perf_counter() - started)

    def close(self) -> None:
        if self.writer is not None:
            self.writer.close()
        self.reader = None
        self.writer = None


async def read_head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    """Return the status and headers of a response."""
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    fields = (line.split(": ", 1) for line in lines[1:] if line)
    return int(lines[0].split()[1]), {name.lower(): value for name, value in fields}


@dataclass
class Tally:
    """Response times and failures."""

    seconds: list[float] = field(default_factory=list)
    refused: int = 0
    errors: int = 0

    def quantile(self, share: float) -> float:
        """Return the milliseconds within which this share of the responses arrived."""
        if not self.seconds:
            return 0.0
        place = min(int(share * len(self.seconds)), len(self.seconds) - 1)
        return 1000 * sorted(self.seconds)[place]


async def play(port: int, number: int, until: float, pause: float, tally: Tally) -> None:
    """Play like a person who thinks, makes a random move, and waits for the 10 ms reply."""
    rng = random.Random(number)
    client = Client(port)
    moves = ""
    await asyncio.sleep(rng.random() * pause)
    while time.perf_counter() < until:
        await asyncio.sleep(rng.expovariate(1 / pause) if pause else 0.0)
        position = Position(moves)
        if position.outcome() is None:
            moves += str(rng.choice(position.legal_columns()) + 1)
        if Position(moves).outcome() is not None:
            moves = ""
        response = await client.request(
            "POST", "/api/v1/move", {"moves": moves, "agent": "mcts", "seconds": 0.01}
        )
        tally.seconds.append(response.seconds)
        tally.refused += response.status == 503
        tally.errors += response.status not in (200, 503)
        if response.status != 200:
            await asyncio.sleep(float(response.headers.get("retry-after", 1)))
            continue
        moves += str(json.loads(response.body)["column"])
        if Position(moves).outcome() is not None:
            moves = ""
    client.close()


async def players(port: int, count: int, seconds: float, pause: float) -> dict[str, float]:
    """Let `count` players play at the same time."""
    tally = Tally()
    until = time.perf_counter() + seconds
    await asyncio.gather(*(play(port, number, until, pause, tally) for number in range(count)))
    times = {f"p{round(100 * share)}": tally.quantile(share) for share in (0.5, 0.95, 0.99)}
    return {"moves": len(tally.seconds), "refused": tally.refused, "errors": tally.errors, **times}


async def pings(port: int, searchers: int, seconds: float) -> dict[str, float]:
    """Send pings while other clients search all the time."""
    until = time.perf_counter() + seconds
    tally = Tally()

    async def search() -> None:
        client = Client(port)
        while time.perf_counter() < until:
            response = await client.request(
                "POST", "/api/v1/move", {"agent": "mcts", "seconds": 0.2}
            )
            if response.status != 200:
                await asyncio.sleep(float(response.headers.get("retry-after", 1)))
        client.close()

    async def ping() -> None:
        client = Client(port)
        while time.perf_counter() < until:
            response = await client.request("GET", "/api/v1/ping")
            tally.seconds.append(response.seconds)
            tally.errors += response.status != 200
            await asyncio.sleep(0.01)
        client.close()

    await asyncio.gather(ping(), *(search() for _ in range(searchers)))
    return {
        "pings": len(tally.seconds),
        "errors": tally.errors,
        "p50": tally.quantile(0.5),
        "p99": tally.quantile(0.99),
    }


async def ask(port: int, address: str, seconds: float, pause: float) -> Tally:
    """Ask for moves of 10 ms, one at a time."""
    until = time.perf_counter() + seconds
    tally = Tally()
    client = Client(port, address)
    while time.perf_counter() < until:
        response = await client.request("POST", "/api/v1/move", {"agent": "mcts", "seconds": 0.01})
        tally.seconds.append(response.seconds)
        tally.refused += response.status == 503
        tally.errors += response.status not in (200, 503)
        if response.status == 200:
            await asyncio.sleep(pause)
    client.close()
    return tally


async def be_greedy(port: int, seconds: float) -> None:
    """Ask for moves on many connections, without a pause."""
    asking = (ask(port, ANOTHER_HOST, seconds, 0.0) for _ in range(GREEDY))
    print(sum(len(tally.seconds) for tally in await asyncio.gather(*asking)))


async def fairness(port: int, seconds: float) -> dict[str, float]:
    """Compare the response times of a polite client with and without a greedy one."""
    idle = await ask(port, HOST, seconds, 0.01)
    # A process of its own, so that the greedy client delays the server and not the other's clock.
    command = [sys.executable, __file__, "--greedy", str(port), "--seconds", str(seconds)]
    greedy = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    beside = await ask(port, HOST, seconds, 0.01)
    while greedy.poll() is None:
        await asyncio.sleep(0.1)
    assert greedy.stdout is not None
    return {
        "moves": len(beside.seconds),
        "greedy asked": int(greedy.stdout.read()),
        "refused": beside.refused,
        "errors": idle.errors + beside.errors,
        "idle p50": idle.quantile(0.5),
        "idle p99": idle.quantile(0.99),
        "p50": beside.quantile(0.5),
        "p99": beside.quantile(0.99),
        "p99 / idle p99": beside.quantile(0.99) / idle.quantile(0.99),
    }


async def overload(port: int, times: float, seconds: float, cores: int) -> dict[str, float]:
    """Send `times` as many requests as can be served, then measure how soon the server recovers."""
    rate = times * cores / 0.1  # every request searches for 0.1 s
    refused = Tally()
    served = Tally()
    wrong = 0
    idle: list[Client] = []

    async def send() -> None:
        nonlocal wrong
        client = idle.pop() if idle else Client(port)
        response = await client.request("POST", "/api/v1/move", {"agent": "mcts", "seconds": 0.1})
        idle.append(client)
        if response.status in (429, 503):
            refused.seconds.append(response.seconds)
            wrong += "retry-after" not in response.headers or "error" not in json.loads(
                response.body
            )
        elif response.status == 200:
            served.seconds.append(response.seconds)
        else:
            wrong += 1

    started = time.perf_counter()
    tasks = []
    for number in range(int(rate * seconds)):
        await asyncio.sleep(max(0.0, started + number / rate - time.perf_counter()))
        tasks.append(asyncio.ensure_future(send()))
    ended = time.perf_counter()
    client = Client(port)
    while True:
        response = await client.request("POST", "/api/v1/move", {"agent": "mcts", "seconds": 0.01})
        if response.status == 200 and response.seconds <= 0.1:
            break
        await asyncio.sleep(0.05)
    recovered = time.perf_counter() - ended
    await asyncio.gather(*tasks)
    return {
        "asked": len(tasks),
        "served": len(served.seconds),
        "refused": len(refused.seconds),
        "wrong": wrong,
        "refused p50": refused.quantile(0.5),
        "refused p99": refused.quantile(0.99),
        "recovered s": recovered,
    }


def status_of(answer: "asyncio.Future[tuple[int, dict[str, str]]]") -> int:
    """Return the status of an answer, or CLOSED if the connection was closed without one."""
    try:
        return answer.result()[0]
    except (ConnectionError, asyncio.IncompleteReadError):
        return CLOSED


async def streams(port: int, count: int) -> dict[str, float]:
    """Open `count` streams and read nothing from them."""
    path = "/api/v1/analysis/stream?agent=mcts&seconds=60"
    request = f"GET {path} HTTP/1.1\r\nHost: {HOST}:{port}\r\n\r\n".encode()
    writers = []
    waiting = set()
    for _ in range(count):
        reader, writer = await asyncio.open_connection(HOST, port)
        writer.write(request)
        writers.append(writer)
        waiting.add(asyncio.ensure_future(read_head(reader)))
    statuses = []
    answered = waiting
    # A stream without an answer long after the last one is waiting for a place.
    while waiting and answered:
        first = asyncio.FIRST_COMPLETED
        timeout = 1 if len(waiting) < FEW_PLACES else 60
        answered, waiting = await asyncio.wait(waiting, timeout=timeout, return_when=first)
        statuses += [status_of(task) for task in answered]
    for task in waiting:
        task.cancel()
    for writer in writers:
        writer.close()
    closed = time.perf_counter()
    client = Client(port)
    while (await client.request("POST", "/api/v1/analysis", {"seconds": 0.05})).status != 200:
        await asyncio.sleep(0.05)
    return {
        "opened": statuses.count(200),
        "waiting": len(waiting),
        "refused": statuses.count(503),
        "closed": statuses.count(CLOSED),
        "other": sum(status not in (200, 503, CLOSED) for status in statuses),
        "free again s": time.perf_counter() - closed,
    }


def memory(process: int) -> float:
    """Return the memory of a process and its descendants in megabytes, 0 where it is not known.

    Memory that processes share counts once: each has its proportional share (PSS).
    """
    total = 0.0
    parents = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # the process has ended meanwhile
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
    family = {process}
    while new := {child for child, parent in parents.items() if parent in family} - family:
        family |= new
    for member in family:
        with suppress(OSError):
            rollup = Path(f"/proc/{member}/smaps_rollup").read_text()
            total += int(rollup.split("\nPss:")[1].split()[0]) / 1024
    return total


@dataclass
class Soak:
    """What happened to the moves of many players."""

    moves: int = 0
    retried: int = 0
    """Answers 503 with Retry-After, after which the player asks again."""
    lost: int = 0
    """Moves without an answer, or with a column that cannot be played."""
    faults: int = 0
    """Answers 5xx, except 503 with Retry-After."""


async def play_until(port: int, number: int, until: float, soak: Soak) -> None:
    """Play games against agents of all kinds like a person who thinks for two seconds."""
    rng = random.Random(number)
    # Ten players share an address, as the pupils of a school do.
    address = f"127.0.0.{1 + number // 10}" if sys.platform == "linux" else HOST
    client = Client(port, address)
    position = Position()
    while time.perf_counter() < until:
        await asyncio.sleep(rng.expovariate(1 / 2))
        if position.outcome() is not None:
            position = Position()
        agent = rng.choice([*["mcts"] * 6, *(f"level:{level}" for level in range(1, 11))])
        body = {"start": position.write("fen"), "agent": agent, "seconds": 0.01}
        status = 503
        while status == 503:
            try:
                response = await client.request("POST", "/api/v1/move", body)
            except (OSError, asyncio.IncompleteReadError):
                soak.lost += 1
                client.close()
                break
            status = response.status
            if status == 503 and "retry-after" in response.headers:
                soak.retried += 1
                await asyncio.sleep(float(response.headers["retry-after"]))
            elif status == 200:
                soak.moves += 1
                column = json.loads(response.body)["column"] - 1
                soak.lost += column not in position.legal_columns()
                position = position.play(column)
            else:
                soak.faults += status >= 500
                soak.lost += 1
    client.close()


async def soaked(port: int, process: int, count: int, seconds: float) -> dict[str, float]:
    """Let `count` players play, and compare the memory at the end with that after a fifth."""
    soak = Soak()
    started = time.perf_counter()
    playing = [
        asyncio.ensure_future(play_until(port, number, started + seconds, soak))
        for number in range(count)
    ]
    await asyncio.sleep(seconds / 5)
    readings = []
    while time.perf_counter() < started + seconds - 1:
        readings.append(memory(process))
        await asyncio.sleep(seconds / 50)
    await asyncio.gather(*playing)
    tenth = max(len(readings) // 10, 1)
    first = sum(readings[:tenth]) / tenth
    last = sum(readings[-tenth:]) / tenth
    growth = 100 * (last / first - 1) if first else 0.0
    return {**vars(soak), "megabytes": last, "growth %": growth}


def measure(
    port: int, process: int, seconds: float, pause: float, cores: int, only: str | None
) -> dict[str, dict[str, float]]:
    """Run all measurements, or only one, one after the other."""
    asyncio.run(players(port, 10, min(3, seconds), 0.2))  # warms up
    measurements = {
        "a hundred players": lambda: asyncio.run(players(port, 100, seconds, pause)),
        "pings beside 16 searchers": lambda: asyncio.run(pings(port, 16, seconds / 2)),
        "polite beside a greedy client": lambda: asyncio.run(fairness(port, seconds)),
        "ten times too much": lambda: asyncio.run(overload(port, 10, seconds / 2, cores)),
        "a thousand idle streams": lambda: asyncio.run(streams(port, 1000)),
        "memory": lambda: {"megabytes": memory(process)},
    }
    return {title: run() for title, run in measurements.items() if only in (None, title)}


GOALS = {
    "a hundred players": {"refused": 0, "errors": 0, "p95": 50},
    "pings beside 16 searchers": {"errors": 0, "p99": 100},
    "polite beside a greedy client": {"refused": 0, "errors": 0, "p99 / idle p99": 2},
    "ten times too much": {"wrong": 0, "refused p99": 50, "recovered s": 2},
    "a thousand idle streams": {"other": 0},
    "memory": {"megabytes": 500},
    "200 players": {"lost": 0, "faults": 0, "growth %": 5},
}
"""Upper limits; times without a unit are in milliseconds."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument(
        "--pause", type=float, default=1.0, help="mean thinking time of a player in seconds"
    )
    parser.add_argument("--greedy", type=int, help="be the greedy client of this port")
    parser.add_argument("--only", help="the title of one measurement")
    parser.add_argument("--soak", type=float, help="seconds for which 200 players play")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.greedy is not None:
        asyncio.run(be_greedy(options.greedy, options.seconds))
        return
    command = [sys.executable, "-m", "fourlab", "web", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        try:
            port = int(server.stdout.readline().split("/ ")[0].rsplit(":", 1)[1])
            if options.soak is None:
                results = measure(
                    port, server.pid, options.seconds, options.pause, CORES, options.only
                )
            else:
                asyncio.run(players(port, 10, 3, 0.2))  # warms up
                played = asyncio.run(soaked(port, server.pid, 200, options.soak))
                results = {"200 players": played}
        finally:
            server.terminate()
    if options.json:
        print(json.dumps({**results, "goals": GOALS}))
        return
    if hasattr(os, "getloadavg"):
        print(f"load of the last minute: {os.getloadavg()[0]:.1f} on {CORES} cores")
    for title, figures in results.items():
        print(title)
        for name, value in figures.items():
            goal = GOALS[title].get(name)
            print(f"  {name:14} {value:10,.1f}" + ("" if goal is None else f"   at most {goal}"))


if __name__ == "__main__":
    main()
