"""Requests per second over MCP, compared with fastmcp on the same skills.

    python -m bench.mcp      (several minutes; writes bench/mcp.md; needs the packages that `make clients` installs)

One run starts our server with a project of 100 skills, and fastmcp with a directory of the same files. Both have the
same number of worker processes. The run checks that both return the same skills, then alternates between them with the
same load tool, so that other work on the machine affects both.
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
# Requests in one round, to us and to fastmcp. It gets fewer, because each takes longer.
REQUESTS = {LIST: (1_200, 12), READ: (1_200, 200)}
OURS, EXTENSION, PLAIN = "Skillsite", "fastmcp, skills extension", "fastmcp, files only"
UNCACHED = "Skillsite, uncached"


@dataclass(frozen=True)
class Calls(load.Request):
    """Calls of one method with varying parameters, sent in rotation."""

    method: str = ""
    parameters: Sequence[dict[str, Any]] = ()

    def messages(self, port: int) -> list[bytes]:
        return [self._message(port, params) for params in self.parameters]

    def _message(self, port: int, params: dict[str, Any]) -> bytes:
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": self.method, "params": {"_meta": _META, **params}})
        headers = {
            "Host": f"127.0.0.1:{port}",
            "Content-Type": "application/json",
            "Content-Length": str(len(body)),
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": VERSION,
            "Mcp-Method": self.method,
            **({"Mcp-Name": params["uri"]} if "uri" in params else {}),
            **self.headers,
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
        return f"POST {self.paths[0]} HTTP/1.1\r\n{lines}\r\n{body}".encode()


@dataclass
class Measured:
    """Results of one method of one server over all rounds."""

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

    def calls(self, method: str, *parameters: dict[str, Any]) -> Calls:
        return Calls(["/mcp"], self.headers, method=method, parameters=parameters or ({},))

    def ask(self, method: str, **params: Any) -> Any:
        head, _, body = self.calls(method, params).messages(self.port)[0].partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().split("\r\n")[1:])
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/mcp", data=body, headers=fields)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return json.load(answer)["result"]

    def listed(self) -> dict[str, dict[str, str]]:
        """Return the digest of every file of every skill."""
        return {
            skill["uri"]: {file["uri"]: file["digest"] for file in skill["resources"]}
            for skill in self.ask(LIST)["skills"]
        }

    def text(self, uri: str) -> str:
        text: str = self.ask(READ, uri=uri)["contents"][0]["text"]
        return text


@contextmanager
def fastmcp(directory: Path, name: str) -> Iterator[Server]:
    """Run fastmcp in its own process group, so that its workers end with it."""
    port = site.free_port()
    command = [str(tools.python()), "-m", "uvicorn", "bench.fastmcp_server:app", "--port", str(port)]
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
    """Check that all servers return the same skills, and return the URI of every SKILL.md."""
    listed = ours.listed()
    if len(listed) != SKILLS or listed != extension.listed():
        raise RuntimeError("The servers do not list the same skills with the same digests.")
    for uri in list(listed)[::10]:
        if not ours.text(uri) == extension.text(uri) == plain.text(uri):
            raise RuntimeError(f"The servers return different texts for {uri}.")
    return list(listed)


def measure(ours: Server, extension: Server, plain: Server) -> list[Measured]:
    reads = tuple({"uri": uri} for uri in check_same(ours, extension, plain))
    results = {
        (method, name): Measured(method, name)
        for method, name in [
            (LIST, OURS),
            (LIST, EXTENSION),
            (READ, OURS),
            (READ, UNCACHED),
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
        # An unknown parameter makes each request different, so that the cache has no response for it.
        uncached = [{**reads[number % SKILLS], "turn": f"{turn}-{number}"} for number in range(theirs)]
        once(READ, ours, ours.calls(READ, *uncached), theirs, UNCACHED)
    return list(results.values())


def report(results: list[Measured], busy: float) -> str:
    by = {(one.method, one.server): one for one in results}
    lines = [
        "# Requests per second over MCP",
        "",
        f"Last run of `python -m bench.mcp`: {datetime.now(UTC):%Y-%m-%d}, {site.machine()}. Both servers have",
        f"{SKILLS} skills with three files each and {WORKERS} worker processes. {tools.PYTHON[0]} reads a directory.",
        "Skillsite uses SQLite, checks tokens, applies rate limits and counts loads. The servers take turns with",
        f"{CLIENTS} keep-alive clients over loopback on the same machine. Requests per second are medians of {ROUNDS}",
        f"rounds, latencies are over all requests. The load average before the run was {busy:.1f}.",
        "",
        "| method | server | requests | requests per second | median ms | 99th ms |",
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
        (READ, UNCACHED, EXTENSION),
        (READ, UNCACHED, PLAIN),
    ):
        lines.append(_compare(by[method, ours], by[method, theirs]))
    lines += [
        "",
        "`bench/pull.py` contains the results for a `pull` of 1,000 skills.",
    ]
    return "\n".join(lines) + "\n"


def _compare(ours: Measured, theirs: Measured) -> str:
    times = ours.rate / theirs.rate
    slow, middle = ours.latency(0.99), theirs.latency(0.5)
    return (
        f"- `{ours.method}`, {ours.server}: {times:.1f} times the requests per second of {theirs.server}; "
        f"the target is {AIM}, {'reached' if times >= AIM else 'missed'}. Our 99th percentile of {slow:.2f} ms is "
        f"{'below' if slow < middle else 'not below'} its median of {middle:.2f} ms."
    )


def main() -> None:
    tools.install_python()
    busy = os.getloadavg()[0]
    with site.fresh() as directory, ExitStack() as running:
        os.environ["WEB_WORKERS"] = str(WORKERS)
        token = site.prepare(SKILLS)
        site.manage(
            "shell", "-c", f"from bench import bulk_skills; bulk_skills.write({SKILLS}, {str(directory / 'skills')!r})"
        )
        port = int(os.environ["PORT"])
        running.enter_context(site.served(port))
        ours = Server(OURS, port, {"Authorization": f"Bearer {token}"})
        extension, plain = (running.enter_context(fastmcp(directory, name)) for name in (EXTENSION, PLAIN))
        text = report(measure(ours, extension, plain), busy)
    print(text)
    (site.ROOT / "bench" / "mcp.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
