"""The commands `run`, `runs`, `show-run`, `cancel-run`, `capabilities` and `call`."""

import argparse
import json
import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from registry.client import exit_codes, run_values, strict_json
from registry.client.client import SkillsiteClient
from registry.client.errors import ClientError, LocalProblem, Misconfigured
from registry.client.output import print_line, print_note, print_text
from registry.client.run_values import Run, RunQuestion, RunStep, RunSummary

_CODES = {
    run_values.COMPLETED: exit_codes.DONE,
    run_values.FAILED: exit_codes.RUN_FAILED,
    run_values.DENIED: exit_codes.RUN_DENIED,
    run_values.EXPIRED: exit_codes.RUN_EXPIRED,
    run_values.CANCELLED: exit_codes.RUN_CANCELLED,
    run_values.WAITING: exit_codes.RUN_WAITING,
}
_STATES = {
    run_values.COMPLETED: "is complete",
    run_values.FAILED: "failed",
    run_values.DENIED: "was denied",
    run_values.EXPIRED: "ended without an answer",
    run_values.CANCELLED: "was cancelled",
    run_values.WAITING: "is waiting for a person",
}
_MOST_INPUT_BYTES = 1024 * 1024


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    run = commands.add_parser("run", help="start the workflow of a skill, and watch it until it is finished")
    run.add_argument("skill")
    _add_inputs(run)
    run.add_argument("--version", default=None, help="this version of the skill instead of the current one")
    run.add_argument("--max-workers", type=int, default=None, metavar="N", help="the most calls at the same time")
    run.add_argument("--keep-going", action="store_true", help="go on after a failure with what does not depend on it")
    run.add_argument("--deadline", type=float, default=None, metavar="SECONDS", help="the longest time of the run")
    _add_watching(run, "watch for at most so long; 0 only starts it")
    run.set_defaults(run=start)

    runs = commands.add_parser("runs", help="the runs of the project, newest first")
    runs.add_argument("--state", default="", help="a state of runs, unfinished or finished")
    runs.add_argument("--skill", default="", help="only runs of this skill")
    runs.add_argument("--mine", action="store_true", help="only runs that you started")
    runs.add_argument("--limit", type=int, default=20, help="how many runs; the default is 20")
    runs.add_argument("--json", action="store_true", help="print the list as JSON")
    runs.set_defaults(run=list_runs)

    show = commands.add_parser("show-run", help="one run: its steps, its questions and its outputs")
    show.add_argument("id")
    show.add_argument("--watch", action="store_true", help="watch it until it is finished")
    _add_watching(show, "watch for at most so long")
    show.set_defaults(run=show_run)

    cancel = commands.add_parser("cancel-run", help="cancel a run")
    cancel.add_argument("id")
    cancel.set_defaults(run=cancel_run)

    capabilities = commands.add_parser("capabilities", help="the capabilities that workflows can use")
    capabilities.add_argument("words", nargs="*", help="only those with all of these words")
    capabilities.add_argument("--json", action="store_true", help="print them as JSON, with everything about them")
    capabilities.set_defaults(run=list_capabilities)

    call = commands.add_parser("call", help="call one capability, under the same policy as in a workflow")
    call.add_argument("capability")
    _add_inputs(call)
    _add_watching(call, "watch for at most so long; 0 only starts it")
    call.set_defaults(run=call_capability)


def _add_inputs(parser: argparse.ArgumentParser) -> None:
    help_text = "an input as NAME=TEXT, or as NAME:=JSON for other types; can be repeated"
    parser.add_argument("--input", action="append", default=[], metavar="NAME=TEXT", help=help_text)
    parser.add_argument(
        "--inputs", default="", metavar="FILE", help="a JSON object with inputs; - reads standard input"
    )


def _add_watching(parser: argparse.ArgumentParser, help_text: str) -> None:
    parser.add_argument("--wait", type=_seconds, default=None, metavar="SECONDS", help=help_text)
    parser.add_argument("--json", action="store_true", help="print the run as JSON instead of its outputs")


def _seconds(text: str) -> float:
    seconds = float(text)
    if not 0 <= seconds <= 10**7:
        raise ValueError(text)
    return seconds


def start(client: SkillsiteClient, arguments: Namespace) -> int:
    run = client.start_run(
        arguments.skill,
        inputs(arguments),
        version=arguments.version,
        max_workers=arguments.max_workers,
        fail_fast=not arguments.keep_going,
        deadline_seconds=arguments.deadline,
    )
    print_note(f"Run {run.id} of {run.skill} {run.version} is {run.state}: {client.run_page(run.id)}")
    return _watch_started(client, run.id, arguments)


def call_capability(client: SkillsiteClient, arguments: Namespace) -> int:
    number = client.start_call(arguments.capability, inputs(arguments))
    print_note(f"Run {number} calls {arguments.capability}: {client.run_page(number)}")
    return _watch_started(client, number, arguments)


def _watch_started(client: SkillsiteClient, number: int, arguments: Namespace) -> int:
    if arguments.wait != 0:
        return watch(client, number, seconds=arguments.wait, as_json=arguments.json)
    if arguments.json:
        _print_result(client, client.get_run(number), as_json=True)
    return exit_codes.DONE


def show_run(client: SkillsiteClient, arguments: Namespace) -> int:
    if arguments.watch or arguments.wait is not None:
        return watch(client, arguments.id, seconds=arguments.wait, as_json=arguments.json)
    run = client.get_run(arguments.id)
    print_note(f"Run {run.id} of {run.skill} {run.version}, started by {run.started_by}: {client.run_page(run.id)}")
    _print_steps(run.steps)
    _print_questions(client, run)
    return _finish(client, run, as_json=arguments.json)


def watch(client: SkillsiteClient, number: int | str, *, seconds: float | None, as_json: bool) -> int:
    """Print the steps of a run as they happen, and its outputs at the end."""
    asked: set[int] = set()
    try:
        for update in client.watch_run(number, seconds=seconds, on_lost=_print_lost):
            _print_steps(update.steps)
            _print_questions(client, update.run, but=asked)
            asked.update(question.id for question in update.run.questions)
        return _finish(client, client.get_run(number), as_json=as_json)
    except KeyboardInterrupt:
        print_note(f"The run goes on. Watch it again: skillsite-client show-run {number} --watch")
        print_note(f"Cancel it: skillsite-client cancel-run {number}")
        raise


def list_runs(client: SkillsiteClient, arguments: Namespace) -> int:
    filters = {name: getattr(arguments, name) for name in ("state", "skill", "mine", "limit")}
    page = client.list_runs(**filters)
    if arguments.json:
        print_json([run.data for run in page.runs])
        return exit_codes.DONE
    for run in page.runs:
        reason = f"  {run.reason}" if run.reason else ""
        print_line(f"{run.id:>6}  {run.state:<9}  {run.created_at[:16]}  {run.skill} {run.version}{reason}")
    if not page.runs:
        print_note("No runs found.")
    elif page.has_more:
        print_note("There are more runs. Use --limit, --state or --skill.")
    return exit_codes.DONE


def cancel_run(client: SkillsiteClient, arguments: Namespace) -> int:
    run = client.cancel_run(arguments.id)
    print_line(f"Run {run.id} will be cancelled. A call that is on its way may still have an effect.")
    return exit_codes.DONE


def list_capabilities(client: SkillsiteClient, arguments: Namespace) -> int:
    words = [word.lower() for word in arguments.words]
    found = [
        each for each in client.capabilities() if all(word in f"{each.id} {each.description}".lower() for word in words)
    ]
    if arguments.json:
        print_json([each.data for each in found])
        return exit_codes.DONE
    for each in found:
        print_line(f"{each.id}  {each.description}")
        for name, type_ in each.inputs.items():
            print_line(f"    {name}: {type_}")
    if not found:
        print_note("No capabilities found.")
    return exit_codes.DONE


def inputs(arguments: Namespace) -> dict[str, Any]:
    """Return the inputs of `--inputs`, and those of `--input` over them."""
    found = _from_file(arguments.inputs) if arguments.inputs else {}
    for text in arguments.input:
        name, sign, value = text.partition("=")
        if not sign or not name.strip(":"):
            raise Misconfigured(f"{text[:80]!r} is not an input. Write NAME=TEXT or NAME:=JSON.")
        found[name.removesuffix(":")] = _json_value(name, value) if name.endswith(":") else value
    return found


def _json_value(name: str, value: str) -> Any:
    try:
        return strict_json.parse(value.encode())
    except ValueError as error:
        reason = f"The value of {name[:-1]!r} is not JSON: {error}. Write NAME=TEXT for a text."
        raise Misconfigured(reason) from error


def _from_file(path: str) -> dict[str, Any]:
    try:
        if path == "-":
            content = sys.stdin.buffer.read(_MOST_INPUT_BYTES + 1)
        else:
            with Path(path).open("rb") as file:
                content = file.read(_MOST_INPUT_BYTES + 1)
    except OSError as error:
        raise LocalProblem(f"Could not read {path}: {error.strerror or error}.") from error
    if len(content) > _MOST_INPUT_BYTES:
        raise LocalProblem(f"{path} has more than the allowed {_MOST_INPUT_BYTES:,} bytes.")
    try:
        found = strict_json.parse(content)
    except ValueError as error:
        raise LocalProblem(f"{path} is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise LocalProblem(f"{path} must be a JSON object with a value for each input.")
    return found


def _finish(client: SkillsiteClient, run: Run, *, as_json: bool) -> int:
    reason = f" {run.reason}" if run.reason else ""
    print_note(f"Run {run.id} {_STATES.get(run.state, f'is {run.state}')}.{reason}")
    _print_result(client, run, as_json=as_json)
    return _CODES.get(run.state, exit_codes.RUN_UNFINISHED)


def _print_result(client: SkillsiteClient, run: RunSummary, *, as_json: bool) -> None:
    if as_json:
        values = {"outputs": run.outputs} if isinstance(run, Run) else {}
        steps = {"steps": [step.data for step in run.steps]} if isinstance(run, Run) else {}
        print_json({**run.data, **values, **steps, "page": client.run_page(run.id)})
    elif isinstance(run, Run) and run.state == run_values.COMPLETED:
        print_json(run.outputs)


def _print_steps(steps: Iterable[RunStep]) -> None:
    for step in steps:
        attempts = f" (attempt {step.attempts})" if step.attempts > 1 else ""
        reason = f"  {step.reason}" if step.reason else ""
        print_note(f"  {step.state:<9}  {step.path}{attempts}{reason}")


def _print_questions(client: SkillsiteClient, run: Run, *, but: Iterable[int] = ()) -> None:
    for question in run.questions:
        if question.id not in but:
            print_note(f"  A person has to {_TODO.get(question.kind, 'answer')}: {question.text}{_until(question)}")
    if any(question.id not in but for question in run.questions):
        print_note(f"  Open {client.run_page(run.id)}")


_TODO = {"approve": "approve this", "input": "give an input", "doubt": "say whether a call happened"}


def _until(question: RunQuestion) -> str:
    return f" (until {question.expires_at[:16]})" if question.expires_at else ""


def _print_lost(error: ClientError) -> None:
    print_note(f"{error.message} The run is not affected. Trying again.")


def print_json(value: Mapping[str, Any] | list[Any]) -> None:
    print_text(json.dumps(value, ensure_ascii=not sys.stdout.isatty(), indent=2))
