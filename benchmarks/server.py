"""``dovetail serve`` under load: clients at once, memory, and the time of a sentence at half load.

    python benchmarks/server.py [--clients 100] [--seconds 60] [--queue 256] [--model english-names]

First so many clients each send a sentence, wait for the answer, and send the next: how many a second are answered, with
which status, and how the memory of the server grows. Then sentences come at half that pace, whether or not earlier ones
have been answered: how long an answer takes. In the same run, and at the same pace, a server that does nothing, whose
times are those of the machine; and what the model alone does with the same sentences. At last all of it by processor
time, which says more where other programs are at work.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import dovetail

Clock = Callable[[], float]
NAMES = ("Ada Lovelace", "Jordan", "Hillary Clinton", "the Bank of England", "Samsung", "Vienna", "Paris Hilton")
VERBS = ("met", "left", "praised", "was seen near", "wrote about", "bought a house in", "endorsed")
ENDS = ("on Monday.", "in London.", "after the war, as The Washington Post said.", "again.", "for no reason at all.")


def sentences(count: int, seed: int = 1) -> list[str]:
    """Sentences of 10 to 30 words, most of them unlike each other."""
    rng = random.Random(seed)
    of = lambda: f"{rng.choice(NAMES)} {rng.choice(VERBS)} {rng.choice(NAMES)}"  # noqa: E731
    made = (f"{of()}, and {of()} {rng.choice(ENDS)}" for _ in range(count))
    return [text[0].upper() + text[1:] for text in made]


class Client:
    """One connection that stays open."""

    def __init__(self, host: str, port: int, clock: Clock = time.perf_counter) -> None:
        self.host, self.port, self.clock = host, port, clock
        self.reader: asyncio.StreamReader | None = None

    async def post(self, text: str) -> tuple[int, float]:
        """The status of an answer, and how long it took."""
        began = self.clock()
        try:
            status = await self._post(text)
        except (asyncio.IncompleteReadError, ConnectionError):  # the server had closed what was idle
            self.reader = None
            status = await self._post(text)
        return status, self.clock() - began

    async def _post(self, text: str) -> int:
        if self.reader is None:
            self.reader, self.writer = await asyncio.open_connection(self.host, self.port)
        body = json.dumps({"text": text}).encode()
        head = f"POST /annotate HTTP/1.1\r\nHost: {self.host}\r\nContent-Type: application/json\r\n"
        self.writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        await self.reader.readexactly(int(answer.split("content-length:")[1].split("\r\n")[0]))
        if "connection: close" in answer:
            self.writer.close()
            self.reader = None
        return int(answer.split()[1])


async def flood(host: str, port: int, clients: int, seconds: float, pid: int) -> tuple[Counter[int], list[float]]:
    """Statuses, and the memory of the server in MB at ten times."""
    statuses: Counter[int] = Counter()
    texts, end = sentences(5000), time.perf_counter() + seconds

    async def one(number: int) -> None:
        client = Client(host, port)
        while time.perf_counter() < end:
            status, _ = await client.post(texts[(number * 31 + sum(statuses.values())) % len(texts)])
            statuses[status] += 1
            if status == 503:
                await asyncio.sleep(0.05)

    async def watch() -> list[float]:
        found = []
        for _ in range(10):
            await asyncio.sleep(seconds / 10.5)
            found.append(memory(pid))
        return found

    memories, *_ = await asyncio.gather(watch(), *(one(number) for number in range(clients)))
    return statuses, memories


async def paced(host: str, port: int, pace: float, seconds: float, clock: Clock = time.perf_counter) -> list[float]:
    """The times of answers to sentences that come at random, so many a second."""
    free = [Client(host, port, clock) for _ in range(400)]
    waits = clock is time.perf_counter  # processor time goes on only while something is done
    texts, rng, times = sentences(5000, seed=2), random.Random(3), []

    async def one(text: str) -> None:
        client = free.pop()
        status, took = await client.post(text)
        assert status == 200, status
        times.append(took)
        free.append(client)

    tasks, due, end = [], clock(), clock() + seconds
    while due < end:
        due += rng.expovariate(pace)
        while (left := due - clock()) > 0:
            await asyncio.sleep(left if waits else 0)
        tasks.append(asyncio.create_task(one(rng.choice(texts))))
    await asyncio.gather(*tasks)
    return sorted(times)


def in_processor_time(model: str) -> None:
    """The same with server and clients in one process, by its processor time: what one core of one's own would give.

    The clients, and their waiting for the next sentence, take a part of it, so that the times are rather too long.
    """
    import threading

    import uvicorn

    from dovetail.serve import make_app
    from dovetail.serve.annotator import Annotator
    from dovetail.serve.roster import roster
    from dovetail.serve.running import listen

    sys.setswitchinterval(1e-4)  # the clients never sleep, and must not keep the model from its work
    listening = listen("127.0.0.1", 0)
    app = make_app([Annotator(roster([model])).part()])
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    host, port, texts = "127.0.0.1", listening.getsockname()[1], sentences(3000)

    async def flood_with(some: Sequence[str]) -> float:
        clients, began, left = [Client(host, port) for _ in range(100)], time.process_time(), iter(some)

        async def one(client: Client) -> None:
            for text in left:
                assert (await client.post(text))[0] == 200

        await asyncio.gather(*map(one, clients))
        return len(some) / (time.process_time() - began)

    asyncio.run(flood_with(texts[:300]))
    pace = asyncio.run(flood_with(texts))
    print(f"in processor time, one process for all: {pace:.0f} sentences/s")
    times = asyncio.run(paced(host, port, pace / 2, 8.0, time.process_time))
    told(f"half load, {pace / 2:.0f} a second of processor time", times)
    server.should_exit = True
    thread.join(20)


def do_nothing() -> None:
    """A server that answers everything with nothing, and prints its port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while head := (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower():
                await reader.readexactly(int(head.split("content-length:")[1].split("\r\n")[0]))
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    async def run() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        print(server.sockets[0].getsockname()[1], flush=True)
        await server.serve_forever()

    asyncio.run(run())


def told(name: str, times: Sequence[float]) -> None:
    """Print the times of answers."""
    at = lambda share: 1000 * times[min(len(times) - 1, int(share * len(times)))]  # noqa: E731
    print(f"{name}: p50 {at(0.5):.0f} ms, p99 {at(0.99):.0f} ms, worst {at(1):.0f} ms", flush=True)


def memory(pid: int) -> float:
    """Return the resident memory of a process in MB, files mapped into it included, as the system counts it."""
    told = Path(f"/proc/{pid}/status").read_text()
    return int(re.findall(r"VmRSS:\s+(\d+)", told)[0]) / 1024


def processor_time(pid: int) -> float:
    """Seconds of processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def alone(model: str, texts: Sequence[str]) -> float:
    """Sentences a second of processor time that the model annotates one by one, without a server."""
    tagger = dovetail.load(model)
    tagger.set_params(threads=1)
    list(map(tagger.annotate, texts[:200]))
    began = time.process_time()
    list(map(tagger.annotate, texts[:1000]))
    return 1000 / (time.process_time() - began)


def main() -> None:
    """Run it, and print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--queue", type=int, default=256)
    parser.add_argument("--model", default="english-names")
    parser.add_argument("--nothing", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.nothing:
        do_nothing()
    options = ["--model", asked.model, "--port", "0", "--queue", str(asked.queue)]
    process = subprocess.Popen([sys.executable, "-m", "dovetail", "serve", *options], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        process.stderr.readline()
        host, port = re.findall(r"http://([\d.]+):(\d+)/", process.stderr.readline())[0]
        asyncio.run(paced(host, int(port), 20.0, 3.0))  # everything is compiled now
        before = processor_time(process.pid)
        statuses, memories = asyncio.run(flood(host, int(port), asked.clients, asked.seconds, process.pid))
        cost = (processor_time(process.pid) - before) / max(1, statuses[200])
        pace = statuses[200] / asked.seconds
        print(f"{asked.clients} clients for {asked.seconds:g} s: {dict(statuses)}, {pace:.0f} sentences/s")
        grown = 100 * (memories[-1] / memories[1] - 1)
        print(f"resident memory: {' '.join(f'{m:.0f}' for m in memories)} MB ({grown:+.1f} % after the first fifth)")
        told(f"half load, {pace / 2:.0f} a second", asyncio.run(paced(host, int(port), pace / 2, asked.seconds / 2)))
        nothing = subprocess.Popen([sys.executable, __file__, "--nothing"], stdout=subprocess.PIPE, text=True)
        assert nothing.stdout is not None
        bare = int(nothing.stdout.readline())
        told("a server that does nothing", asyncio.run(paced(host, bare, pace / 2, asked.seconds / 4)))
        nothing.kill()
        single = alone(asked.model, sentences(1000))
        print(f"processor time: {1000 * cost:.2f} ms a sentence; the model alone, one by one, {1000 / single:.2f} ms")
    finally:
        process.terminate()
        process.wait(20)
    in_processor_time(asked.model)


if __name__ == "__main__":
    main()
