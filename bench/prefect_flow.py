"""A flow of Prefect with the steps of bench/workflow_plans.py. Runs with the Python of `--prefect`.

Reads one JSON line for each measurement, and prints one with the results. Results of tasks are persisted, because those
of our steps are too.
"""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from prefect import flow, task


@task(persist_result=True)
def echo(value: Any) -> Any:
    return value


@flow
def run(edges: dict[str, list[str]]) -> int:
    """Run a step as soon as the steps before it have ended, with the value of the first of them."""
    futures: dict[str, Any] = {}
    for name, needed in edges.items():
        value = futures[needed[0]] if needed else name
        futures[name] = echo.submit(value, wait_for=[futures[each] for each in needed])
    return sum(future.result() == next(iter(edges)) for future in futures.values())


def measure(edges: dict[str, list[str]], runs: int, at_once: int) -> dict[str, float]:
    started, used = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(at_once) as threads:
        done = list(threads.map(lambda _: run(edges), range(runs)))
    if done != [len(edges)] * runs:
        raise RuntimeError(f"The flows have other results: {done}.")
    return {"seconds": time.perf_counter() - started, "cpu": time.process_time() - used}


def main() -> None:
    for line in sys.stdin:
        print(json.dumps(measure(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
