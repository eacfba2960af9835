"""How fast skills are listed and read over MCP, beside fastmcp with the same skills in a directory.

    python -m bench.doors            (some minutes; writes bench/doors.md; wants what `make clients` installs)

One run starts the real server over a project of 100 skills and fastmcp over a directory with the same files, each with
as many worker processes, checks that both give the same skills, and drives them in turns over loopback with one load
tool, so that what else the machine does falls on both.
"""

import json
import os
import signal
import statistics
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bench import load, site
from tests.clients import tools

SKILLS, WORKERS, CLIENTS, ROUNDS = 100, 2, 4, 5
AIM = 10
VERSION = "2026-07-28"
_META = {"io.modelcontextprotocol/protocolVersion": VERSION, "io.modelcontextprotocol/clientCapabilities": {}}
LIST, READ = "skills/list", "resources/read"
# What one round asks of ours and of theirs. Theirs takes longer for each, so that it is asked less often.
REQUESTS = {LIST: (1_200, 12), READ: (1_200, 200)}
OURS, EXTENSION, PLAIN = "Skillsite", "fastmcp, skills extension", "fastmcp, files only"
NEW = "Skillsite, no kept answer"


@dataclass(frozen=True)
class Calls(load.Request):
    """Calls of one method, sent in turn."""

    method: str = ""
    given: Sequence[dict[str, Any]] = ()

    def messages(self, port: int) -> list[bytes]:
        return [self._message(port, params) for params in self.given]

    def _message(self, port: int, params: dict[str, Any]) -> bytes:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": self.method, "params": {"_meta": _META, **params}})
        said = {
            "Host": f"127.0.0.1:{port}",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": VERSION,
            "Mcp-Method": self.method,
            **({"Mcp-Name": params["uri"]} if "uri" in params else {}),
            **self.headers,
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in said.items())
        return f"POST {self.paths[0]} HTTP/1.1\r\n{lines}\r\n{body}".encode()


@dataclass
class Measured:
    """One method of one server over all rounds."""

    method: str
    server: str
    rates: list[float] = field(default_factory=list)
    latencies: list[float] = field(default_factory=list)

    def add(self, result: load.Result) -> None:
        self.rates.append(result.per_second)
        self.latencies += result.latencies

    @property
    def rate(self) -> float:
        return statistics.median(self.rates)

    def latency(self, share: float) -> float:
        return load.Result(0, 0, self.latencies).latency(share)


@dataclass(frozen=True)
class Server:
    name: str
    port: int
    headers: dict[str, str]

    def calls(self, method: str, *given: dict[str, Any]) -> Calls:
        return Calls(["/mcp"], self.headers, method=method, given=given or ({},))

    def ask(self, method: str, **params: Any) -> Any:
        head, _, body = self.calls(method, params).messages(self.port)[0].partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/mcp", data=body, headers=fields)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["result"]

    def listed(self) -> dict[str, dict[str, str]]:
        """The digest of every file of every skill."""
        return {
            skill["uri"]: {file["uri"]: file["digest"] for file in skill["resources"]}
            for skill in self.ask(LIST)["skills"]
        }

    def text(self, uri: str) -> str:
        said: str = self.ask(READ, uri=uri)["contents"][0]["text"]
        return said


@contextmanager
def peer(directory: Path, name: str) -> Iterator[Server]:
    """Its own process group, so that its workers end with it."""
    port = site.free_port()
    command = [str(tools.python()), "-m", "uvicorn", "bench.peer:app", "--port", str(port)]
    command += ["--workers", str(WORKERS), "--log-level", "error"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(directory), "BENCH_SKILLS": str(directory / "skills")}
    environment |= {"BENCH_PLAIN": "1"} if name == PLAIN else {}
    process = subprocess.Popen(
        command, cwd=site.ROOT, env=environment, stdout=subprocess.DEVNULL, start_new_session=True
    )
    server = Server(name, port, {})
    try:
        _until_it_answers(server, process)
        yield server
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(30)


def _until_it_answers(server: Server, process: "subprocess.Popen[bytes]") -> None:
    deadline = time.monotonic() + 90
    while True:
        try:
            server.ask("server/discover")
            return
        except (urllib.error.URLError, ConnectionError):
            if process.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def check_same(ours: Server, extension: Server, plain: Server) -> list[str]:
    """The addresses of every SKILL.md, after all of them were found to offer the same."""
    listed = ours.listed()
    if len(listed) != SKILLS or listed != extension.listed():
        raise RuntimeError("The servers do not list the same skills with the same digests.")
    for uri in list(listed)[::10]:
        if not ours.text(uri) == extension.text(uri) == plain.text(uri):
            raise RuntimeError(f"The servers do not give the same text of {uri}.")
    return list(listed)


def measure(ours: Server, extension: Server, plain: Server) -> list[Measured]:
    reads = tuple({"uri": uri} for uri in check_same(ours, extension, plain))
    results = {
        (method, name): Measured(method, name)
        for method, name in [
            (LIST, OURS),
            (LIST, EXTENSION),
            (READ, OURS),
            (READ, NEW),
            (READ, EXTENSION),
            (READ, PLAIN),
        ]
    }

    def once(method: str, server: Server, calls: Calls, requests: int, label: str = "") -> None:
        result = load.run(server.port, calls, clients=CLIENTS, requests=requests)
        results[method, label or server.name].add(result)

    for turn in range(ROUNDS):
        mine, theirs = REQUESTS[LIST]
        once(LIST, ours, ours.calls(LIST), mine)
        once(LIST, extension, extension.calls(LIST), theirs)
        mine, theirs = REQUESTS[READ]
        once(READ, ours, ours.calls(READ, *reads), mine)
        once(READ, extension, extension.calls(READ, *reads), theirs)
        once(READ, plain, plain.calls(READ, *reads), theirs)
        # A parameter that nobody knows makes another question of it, and what was kept does not answer that.
        new = [{**reads[number % SKILLS], "turn": f"{turn}-{number}"} for number in range(theirs)]
        once(READ, ours, ours.calls(READ, *new), theirs, NEW)
    return list(results.values())


def report(results: list[Measured], busy: float) -> str:
    by = {(one.method, one.server): one for one in results}
    lines = [
        "# How fast skills are listed and read over MCP",
        "",
        f"Last run of `python -m bench.doors`: {datetime.now(UTC):%Y-%m-%d}, {site.machine()}. {SKILLS} skills of",
        f"three files in both; {tools.PYTHON[0]} over a directory, Skillsite with SQLite, tokens checked, rates",
        f"and loads counted. {WORKERS} worker processes each, {CLIENTS} keep-alive clients over loopback on the same",
        f"machine, in turns. Requests a second are medians of {ROUNDS} rounds, latencies are over all requests.",
        f"Before the run the machine had a load of {busy:.1f} from other work.",
        "",
        "| method | server | requests | requests a second | median ms | 99th ms |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for one in results:
        lines.append(
            f"| `{one.method}` | {one.server} | {len(one.latencies):,} | {one.rate:,.{0 if one.rate > 10 else 1}f} "
            f"| {one.latency(0.5):.2f} | {one.latency(0.99):.2f} |"
        )
    lines.append("")
    for method, ours, theirs in (
        (LIST, OURS, EXTENSION),
        (READ, OURS, EXTENSION),
        (READ, OURS, PLAIN),
        (READ, NEW, EXTENSION),
        (READ, NEW, PLAIN),
    ):
        lines.append(_held(by[method, ours], by[method, theirs]))
    lines += [
        "",
        "`pull` of 1,000 skills, cold and with one changed: `bench/pull.py` has its figures.",
    ]
    return "\n".join(lines) + "\n"


def _held(ours: Measured, theirs: Measured) -> str:
    times = ours.rate / theirs.rate
    slow, middle = ours.latency(0.99), theirs.latency(0.5)
    return (
        f"- `{ours.method}`, {ours.server}: {times:.1f} times the requests a second of {theirs.server}; "
        f"the aim is {AIM}, {'reached' if times >= AIM else 'missed'}. Our 99th percentile of {slow:.2f} ms is "
        f"{'below' if slow < middle else 'not below'} its median of {middle:.2f} ms."
    )


def main() -> None:
    tools.install_python()
    busy = os.getloadavg()[0]
    with site.fresh() as directory, ExitStack() as running:
        os.environ["WEB_WORKERS"] = str(WORKERS)
        token = site.prepare(SKILLS)
        site.manage("shell", "-c", f"from bench import many; many.write({SKILLS}, {str(directory / 'skills')!r})")
        port = int(os.environ["PORT"])
        running.enter_context(site.served(port))
        ours = Server(OURS, port, {"Authorization": f"Bearer {token}"})
        extension, plain = (running.enter_context(peer(directory, name)) for name in (EXTENSION, PLAIN))
        text = report(measure(ours, extension, plain), busy)
    print(text)
    (site.ROOT / "bench" / "doors.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
