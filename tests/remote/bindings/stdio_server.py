"""An MCP server over standard input and output, for tests: `python stdio_server.py BEHAVIOUR`."""

import json
import os
import signal
import subprocess
import sys
import time
from typing import Any


def send(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def answer(request: dict[str, Any], result: dict[str, Any]) -> None:
    send({"id": request["id"], "result": result})


def call(behaviour: str, request: dict[str, Any]) -> None:
    params = request["params"]
    match behaviour:
        case "echo" | "stateless":
            environment = dict(os.environ)
            files = sorted(os.listdir("/proc/self/fd")) if sys.platform == "linux" else []  # noqa: PTH208
            facts = {"environment": environment, "files": files, "directory": str(os.getcwd()), "pid": os.getpid()}  # noqa: PTH109
            answer(request, {"structuredContent": {"arguments": params["arguments"], "meta": params["_meta"], **facts}})
        case "text":
            answer(request, {"content": [{"type": "text", "text": params["arguments"]["text"]}]})
        case "error":
            answer(request, {"isError": True, "content": [{"type": "text", "text": "upstream words"}]})
        case "unknown":
            send({"id": request["id"], "error": {"code": -32602, "message": "upstream words"}})
        case "chatty":
            send({"method": "notifications/progress", "params": {}})
            send({"id": "p1", "method": "ping"})
            send({"id": "r1", "method": "roots/list"})
            replies = [json.loads(sys.stdin.readline()) for _ in range(2)]
            answer(request, {"structuredContent": {"replies": replies}})
        case "exit":
            sys.exit(3)
        case "hang":
            time.sleep(600)
        case "stubborn":
            for one in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
                signal.signal(one, signal.SIG_IGN)
            child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
            answer(request, {"structuredContent": {"pids": [os.getpid(), child.pid]}})
            time.sleep(600)
        case "flood":
            while True:
                sys.stdout.write("x" * 65_536)
        case "lines":
            while True:
                sys.stdout.write("{}\n" * 10_000)
        case "noise":
            sys.stdout.write("not json\n")
            sys.stdout.flush()


def serve(behaviour: str) -> None:
    for line in sys.stdin:
        request = json.loads(line)
        if request["method"] == "initialize":
            if behaviour == "silent":
                time.sleep(600)
            elif behaviour == "future":
                answer(request, {"protocolVersion": "2099-01-01"})
            elif behaviour == "stateless":
                send({"id": request["id"], "error": {"code": -32601, "message": "upstream words"}})
            else:
                answer(request, {"protocolVersion": request["params"]["protocolVersion"], "capabilities": {}})
        elif request["method"] == "tools/call":
            call(behaviour, request)


if __name__ == "__main__":
    serve(sys.argv[1])
