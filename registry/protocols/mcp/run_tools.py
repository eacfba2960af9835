"""MCP tools for agents that run workflows and watch them. Only people approve, so there is no tool for that."""

from dataclasses import replace
from typing import Any

from registry.core import roles
from registry.core.errors import InvalidRequest
from registry.models import Project, Run
from registry.protocols.mcp import run_results
from registry.protocols.mcp.context import Context, LaterResult, MethodResult
from registry.protocols.mcp.tool import TEXT, Arguments, Tool, structured
from registry.services import throttle
from registry.services.capabilities import capability_registry
from registry.services.workflows import run_list, run_watch, runs
from registry.services.workflows.runs import Options

_MOST_RUNS, _DEFAULT_RUNS = 50, 20
_MOST_CAPABILITIES = 25  # described in one result
_CALL_SECONDS = 10
_MOST_ID = 2**62
_BUSY = "Too many wait for runs already, so this one was not waited for. Call wait_for_run again in 5 seconds."


def _start(context: Context, arguments: Arguments) -> MethodResult:
    throttle.take(context.caller.token_id, writing=True)
    project = _project(context)
    options = _options(arguments.get("options", {}))
    run = runs.start(
        project,
        arguments["skill"],
        inputs=arguments.get("inputs", {}),
        version=arguments.get("version") or None,
        options=options,
        by=context.caller.actor,
    )
    return _result(context, project, run)


def _get(context: Context, arguments: Arguments) -> MethodResult:
    project = _project(context)
    run = runs.find(project, _id(arguments), by=context.caller.actor)
    first = arguments.get("first_step", 0)
    if not 0 <= first <= _MOST_ID:
        raise InvalidRequest("first_step is a number from 0. Use next_step of the last result.")
    result = _result(context, project, run, first_step=first)
    if name := arguments.get("output"):
        body = result.body["structuredContent"]
        return MethodResult(structured({**body, "outputs": run_results.one_output(run, name)}))
    return result


def _list(context: Context, arguments: Arguments) -> MethodResult:
    limit = arguments.get("limit", _DEFAULT_RUNS)
    if not 1 <= limit <= _MOST_RUNS:
        raise InvalidRequest(f"limit is a number from 1 to {_MOST_RUNS}.")
    state = arguments.get("state", "")
    if state and state not in run_list.STATES:
        raise InvalidRequest(f"state is one of {', '.join(run_list.STATES)}.")
    criteria = run_list.Filter(state=state, skill=arguments.get("skill", ""))
    found = run_list.list_runs(_project(context), criteria, by=context.caller.actor)
    if "before" in arguments:
        found = found.filter(pk__lt=max(0, min(arguments["before"], _MOST_ID)))
    shown = list(found[: limit + 1])
    before = shown[limit - 1].pk if len(shown) > limit else None
    listed = [run_results.summary(run) for run in shown[:limit]]
    return MethodResult(structured({"ok": True, "runs": listed, "next_before": before}))


def _cancel(context: Context, arguments: Arguments) -> MethodResult:
    throttle.take(context.caller.token_id, writing=True)
    project = _project(context)
    run = runs.cancel(project, _id(arguments), by=context.caller.actor)
    return _result(context, project, run, advice="The run stops soon. A call that is on its way may still finish.")


def _wait(context: Context, arguments: Arguments) -> MethodResult:
    project, number, seconds = _project(context), _id(arguments), arguments.get("seconds", run_watch.MOST_SECONDS)
    run_watch.require_seconds(seconds)
    seen, by = arguments.get("seen"), context.caller.actor
    if not seconds or run_watch.has_news(project, number, seen=seen, by=by):
        return _result(context, project, runs.find(project, number, by=by))
    return _later(context, project, runs.find(project, number, by=by), seen, seconds)


def _later(context: Context, project: Project, run: Run, seen: int | None, seconds: float) -> MethodResult:
    """Return the run as it is, and the wait for its news. Without a free place, say when to ask again."""
    result, by = _result(context, project, run), context.caller.actor
    wait = run_watch.wait(project, run.pk, seen=seen, seconds=seconds, token_id=context.caller.token_id, by=by)
    if wait is None:
        return _result(context, project, run, advice=_BUSY)
    return replace(
        result, later=LaterResult(wait, lambda: _result(context, project, runs.find(project, run.pk, by=by)).body)
    )


def _list_capabilities(context: Context, arguments: Arguments) -> MethodResult:
    words = arguments.get("query", "").lower().split()
    found = [
        capability
        for capability in capability_registry.of(context.caller.project_id).by_id.values()
        if all(word in f"{capability.id} {capability.description}".lower() for word in words)
    ]
    found.sort(key=lambda capability: capability.id)
    shown, others = found[:_MOST_CAPABILITIES], found[_MOST_CAPABILITIES:]
    body = {
        "ok": True,
        "capabilities": [run_results.capability_json(capability) for capability in shown],
        "omitted": [capability.id for capability in others],
    }
    return MethodResult(structured(body))


def _call_capability(context: Context, arguments: Arguments) -> MethodResult:
    """Start a run of one call, and wait a moment for its result."""
    throttle.take(context.caller.token_id, writing=True)
    project, by = _project(context), context.caller.actor
    run = runs.start_call(project, arguments["capability"], inputs=arguments.get("inputs", {}), by=by)
    return _later(context, project, run, None, _CALL_SECONDS)


def _project(context: Context) -> Project:
    return Project.objects.get(pk=context.caller.project_id)


def _id(arguments: Arguments) -> int:
    """Return the id of a run. No run has one that is too large for a database."""
    return min(int(arguments["id"]), _MOST_ID) if arguments["id"] > 0 else 0


def _result(context: Context, project: Project, run: Run, *, first_step: int = 0, advice: str = "") -> MethodResult:
    body = run_results.run_json(project, run, first_step=first_step, by=context.caller.actor)
    return MethodResult(structured({**body, "next": advice} if advice and not run.is_finished else body))


_OPTIONS: dict[str, tuple[type | tuple[type, ...], str]] = {
    "max_workers": (int, "an integer"),
    "fail_fast": (bool, "true or false"),
    "deadline_seconds": ((int, float), "a number"),
}


def _options(given: dict[str, Any]) -> Options:
    for name, value in given.items():
        if name not in _OPTIONS:
            raise InvalidRequest(f"Unknown option: {name[:64]}. Known options: {', '.join(_OPTIONS)}.", field="options")
        kind, label = _OPTIONS[name]
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            raise InvalidRequest(f"The option {name} must be {label}.", field="options")
    return replace(Options(), **given)


_RUN_ID = {"type": "integer", "description": "The id of a run."}
_INPUTS = {"type": "object", "description": "The inputs by name."}

TOOLS = (
    Tool(
        "start_run",
        "Start the workflow of a skill",
        "Start the workflow of a skill with its inputs. The site carries out its steps. It asks a person where the "
        "workflow wants that. The result has the id of the run, for wait_for_run.",
        _start,
        {
            "skill": {**TEXT, "description": "The name of a skill that has a workflow."},
            "inputs": _INPUTS,
            "version": {**TEXT, "description": "A version of the skill. Default: the current one."},
            "options": {"type": "object", "description": "max_workers, fail_fast, deadline_seconds."},
        },
        ("skill",),
        scope=roles.RUN,
        reads=False,
        changes_others=True,
        output=run_results.RUN_SCHEMA,
    ),
    Tool(
        "wait_for_run",
        "Wait for a run",
        "Wait until a run has ended or needs a person. Call this instead of asking again and again with get_run.",
        _wait,
        {
            "id": _RUN_ID,
            "seen": {
                "type": "integer",
                "description": "The number `changes` of the last result, to wait for something newer.",
            },
            "seconds": {
                "type": "integer",
                "minimum": 0,
                "maximum": run_watch.MOST_SECONDS,
                "description": f"How long to wait. The default is {run_watch.MOST_SECONDS}.",
            },
        },
        ("id",),
        scope=roles.RUN,
        output=run_results.RUN_SCHEMA,
    ),
    Tool(
        "get_run",
        "Get a run",
        "The state of a run, its steps, its outputs, and the questions that wait for a person.",
        _get,
        {
            "id": _RUN_ID,
            "first_step": {"type": "integer", "minimum": 0, "description": "The number of the first step to show."},
            "output": {**TEXT, "description": "Only this output, if all of them are too large for one result."},
        },
        ("id",),
        scope=roles.RUN,
        output=run_results.RUN_SCHEMA,
    ),
    Tool(
        "list_runs",
        "List runs",
        "The runs that you started, newest first.",
        _list,
        {
            "state": {**TEXT, "enum": list(run_list.STATES), "description": "Only runs in this state."},
            "skill": {**TEXT, "description": "Only runs of this skill."},
            "limit": {
                "type": "integer",
                "minimum": 1,
                "maximum": _MOST_RUNS,
                "description": f"How many runs. The default is {_DEFAULT_RUNS}.",
            },
            "before": {"type": "integer", "description": "Only older runs: next_before of the last result."},
        },
        scope=roles.RUN,
        output=run_results.RUNS_SCHEMA,
    ),
    Tool(
        "cancel_run",
        "Cancel a run",
        "Cancel a run that has not ended. A call that is on its way may still have an effect.",
        _cancel,
        {"id": _RUN_ID},
        ("id",),
        scope=roles.RUN,
        reads=False,
        output=run_results.RUN_SCHEMA,
    ),
    Tool(
        "list_capabilities",
        "List capabilities",
        "The capabilities that workflows use and call_capability can call, with their inputs and outputs.",
        _list_capabilities,
        {"query": {**TEXT, "description": "Only capabilities with all of these words in their id or description."}},
        scope=roles.RUN,
        output=run_results.CAPABILITIES_SCHEMA,
    ),
    Tool(
        "call_capability",
        "Call a capability",
        "Call one capability, under the same policy as in a workflow. If the call needs a person or takes long, the "
        "result is a run to wait for.",
        _call_capability,
        {"capability": {**TEXT, "description": "An id from list_capabilities."}, "inputs": _INPUTS},
        ("capability",),
        scope=roles.RUN,
        reads=False,
        changes_others=True,
        output=run_results.RUN_SCHEMA,
    ),
)
