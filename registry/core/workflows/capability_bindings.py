"""The `binding` of a capability file: its kind, and the keys of that kind."""

from collections.abc import Callable, Iterator, Mapping

from registry.core.findings import Severity
from registry.core.format.yaml_errors import clip
from registry.core.scan import credentials
from registry.core.text.nearest import nearest_of
from registry.core.workflows import binding_templates as templates
from registry.core.workflows import steps
from registry.core.workflows.builtins.catalogue import BUILTINS, HUMAN
from registry.core.workflows.capability import BINDINGS, BUILTIN, HTTP, LLM, MCP, SKILL, Capability
from registry.core.workflows.problems import Problems
from registry.core.workflows.sections import Bounds, Section, as_text, shown
from registry.core.workflows.values import INTEGER, NUMBER, Fields, Json

BINDING, SECRET, REFERENCE = "capability-binding", "capability-secret", "capability-reference"
MAX_TOKENS, TEMPERATURE = Bounds(1, 32_768, integer=True), Bounds(0, 2)
NAME_CHARS, URL_CHARS, PROMPT_CHARS = 200, 4_000, 60_000

_TEXTS = ("function", "name", "url", "method", "tool", "command", "prompt", "system", "model", "idempotency_header")
_MAPS_OF_TEXTS = ("headers", "env", "outputs")

Path = tuple[str | int, ...]
Binding = Mapping[str, Json]


def read(root: Section) -> Binding | None:
    """Read the binding. None if the file has none."""
    section = root.section("binding")
    if section is None:
        return None
    kind = section.choice("kind", BINDINGS, "")
    if section.get("kind") in (None, ""):
        section.missing("kind", f"Add `kind:` with one of {', '.join(BINDINGS)}.")
    if not kind:
        return None
    _READERS[kind](section)
    section.unknown_keys()
    written = {key: _as_written(section, key, value) for key, value in section.value.items() if value is not None}
    return {**written, "kind": kind}


def _as_written(section: Section, key: str, value: Json) -> Json:
    """Return a value in the form that the call expects: names and addresses are texts, also without quotes."""
    if key in _TEXTS:
        return as_text(section.problems, (*section.path, key), value)
    if key in _MAPS_OF_TEXTS and isinstance(value, dict):
        return {name: as_text(section.problems, (*section.path, key, name), item) for name, item in value.items()}
    if key == "args" and isinstance(value, list):
        return [as_text(section.problems, (*section.path, key, at), item) for at, item in enumerate(value)]
    return value


def _builtin(section: Section) -> None:
    function = section.text("function", most=NAME_CHARS)
    if not function:
        section.missing("function", "Add `function:` with the id of a built-in capability, such as `text.template`.")
    elif function in HUMAN or function not in BUILTINS:
        near = nearest_of(sorted(BUILTINS.keys() - HUMAN), cutoff=0.5)(function)
        fix = f"Did you mean `{near}`?" if near and function not in HUMAN else "Use the id of a built-in capability."
        message = "asks a person, so a step has to use it directly." if function in HUMAN else "is not built in."
        section.problem(BINDING, "function", f"is {shown(function)}, which {message}", fix)


def _skill(section: Section) -> None:
    if not section.text("name", most=NAME_CHARS):
        section.missing("name", "Add `name:` with the name of a skill that has a workflow.")


def _http(section: Section) -> None:
    _url(section)
    method = section.text("method", most=NAME_CHARS)
    if method and method.upper() not in templates.METHODS:
        section.refuse("method", method, f"one of {', '.join(templates.METHODS)}")
    section.section("query")
    _headers(section)
    section.get("body")
    header = section.text("idempotency_header", most=NAME_CHARS)
    if header and not templates.is_header_name(header):
        section.refuse("idempotency_header", header, "the name of a header, such as Idempotency-Key")
    _common(section)
    _refuse_secrets(section, ("url", "query", "body"), "headers")


def _mcp(section: Section) -> None:
    if not section.text("tool", most=NAME_CHARS):
        section.missing("tool", "Add `tool:` with the name of a tool of the server.")
    command, url = section.get("command"), section.get("url")
    if (command is None) == (url is None):
        message = "has both `command` and `url`." if command is not None else "has neither `command` nor `url`."
        fix = "Write `url:` for a server over HTTP, or `command:` for one that the worker starts."
        section.problems.add(BINDING, section.path, f"The binding {message}", fix)
    if command is not None:
        section.text("command", most=NAME_CHARS)
        section.texts("args", "a list of texts")
        _environment(section)
        _refuse_secrets(section, ("args",), "env")
    if url is not None:
        _url(section)
        _headers(section)
    if section.get("arguments") not in (None, templates.WHOLE_INPUT):
        section.section("arguments")
    _common(section)
    _refuse_secrets(section, ("arguments",), "headers and env")


def _llm(section: Section) -> None:
    for key in ("prompt", "system"):
        section.text(key, most=PROMPT_CHARS)
    if section.get("prompt") in (None, ""):
        section.missing("prompt", "Add `prompt:` with a text such as `Summarise this: {{text}}`.")
    section.text("model", most=NAME_CHARS)
    section.flag("json")
    section.integer("max_tokens", MAX_TOKENS, 0)
    section.number("temperature", TEMPERATURE, 0)
    _outputs(section)


_READERS: Mapping[str, Callable[[Section], None]] = {
    BUILTIN: _builtin, HTTP: _http, MCP: _mcp, LLM: _llm, SKILL: _skill,
}  # fmt: skip


def _common(section: Section) -> None:
    _outputs(section)
    section.number("timeout_seconds", steps.TIMEOUT_SECONDS, 0)


def _outputs(section: Section) -> None:
    """Check the map from outputs to paths in the answer."""
    mapped = section.section("outputs")
    for name in mapped.value if mapped else ():
        if mapped and not mapped.text(name, most=NAME_CHARS) and mapped.value[name] in (None, ""):
            mapped.refuse(name, "", "a path in the answer, such as `data.id`")


def _url(section: Section) -> None:
    url = section.text("url", most=URL_CHARS)
    if section.get("url") in (None, ""):
        section.missing("url", "Add `url:` with an address such as `https://api.example.org/entries/{id}`.")
    elif url and not templates.authority(url):
        fix = "Start it with https:// and a host without a user name. Fields such as {id} may only follow the host."
        section.problem(BINDING, "url", f"is {shown(url)}, which is not an address.", fix)
    elif "{" in (rest := templates.URL_FIELD.sub("", url)) or "}" in rest:
        section.problem(BINDING, "url", "has a brace without its other half.", "Close each `{` with `}`.")


def _headers(section: Section) -> None:
    headers = section.section("headers")
    for name in headers.value if headers else ():
        if headers and not templates.is_header_name(name):
            message = "is not the name of a header that a binding may set."
            headers.problem(BINDING, name, message, "Use letters, digits and `-`.")
        elif headers:
            _filled(headers, name)


def _environment(section: Section) -> None:
    variables = section.section("env")
    for name in variables.value if variables else ():
        if variables and not templates.VARIABLE.fullmatch(name):
            variables.problem(BINDING, name, "is not the name of a variable.", "Use letters, digits and `_`.")
        elif variables:
            _filled(variables, name)


def _filled(section: Section, key: str) -> None:
    """Check a text that must not be left out."""
    if not section.text(key) and section.value[key] is None:
        section.refuse(key, "", "a text")


def _refuse_secrets(section: Section, keys: tuple[str, ...], allowed: str) -> None:
    for key in keys:
        if any(templates.SECRET.search(text) for _, text in texts(section.value.get(key))):
            message = "contains a secret, which would end up in logs and in the records of other servers."
            section.problem(SECRET, key, message, f"Secrets may only be in {allowed}.")


def texts(value: Json, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Yield all texts in a template with their paths."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from texts(item, (*path, key))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from texts(item, (*path, at))


def secrets(binding: Binding) -> Iterator[tuple[Path, str]]:
    """Yield the names of the secrets of a binding, with their places in the file."""
    for path, text in texts(dict(binding), ("binding",)):
        for match in templates.SECRET.finditer(text):
            yield path, match[1]


def credentials_in(binding: Binding) -> Iterator[tuple[Path, str]]:
    """Yield the kinds of the credentials that a binding contains themselves, with their places in the file."""
    for path, text in texts(dict(binding), ("binding",)):
        for found in credentials.find(text):
            yield path, found.what


def target(binding: Binding, model: str) -> str:
    """Return what a call reaches, for people. Empty for what runs in the worker itself."""
    match binding["kind"]:
        case "http":
            return templates.authority(str(binding.get("url", "")))
        case "mcp":
            server = binding.get("command") or templates.authority(str(binding.get("url", "")))
            return f"the tool {binding.get('tool', '')} of {server}"
        case "llm":
            return f"the model {binding.get('model') or model or 'of the site'}"
        case "skill":
            return f"skill {binding.get('name', '')}"
    return ""


def check_references(capability: Capability, problems: Problems) -> None:
    """Report references of the binding to inputs that the capability does not have."""
    nearest = nearest_of(sorted(capability.inputs), cutoff=0.5)
    reported: set[tuple[Path, str]] = set()
    for path, name in _references(capability.binding):
        field = name.split(".", 1)[0]
        if field in capability.inputs or (path, field) in reported:
            continue
        reported.add((path, field))
        near = nearest(field)
        fix = f"Did you mean `{near}`?" if near else f"Add `{clip(field)}:` to `inputs`."
        problems.add(REFERENCE, path, f"The binding reads the input `{clip(field)}`, which does not exist.", fix)
    if capability.kind == BUILTIN:
        _check_function(capability, problems)


def _references(binding: Binding) -> Iterator[tuple[Path, str]]:
    """Yield the inputs that the templates of a binding read."""
    for key in ("query", "headers", "body", "arguments"):
        for path, text in texts(binding.get(key), ("binding", key)):
            if text.startswith(templates.INPUT_PREFIX):
                yield path, text.removeprefix(templates.INPUT_PREFIX)
    url = str(binding.get("url", "")).partition("#")[0]
    yield from ((("binding", "url"), match[1]) for match in templates.URL_FIELD.finditer(url))
    if binding["kind"] == LLM:
        for key in ("prompt", "system"):
            found = templates.PROMPT_FIELD.finditer(str(binding.get(key) or ""))
            yield from ((("binding", key), match[1]) for match in found)


def _check_function(capability: Capability, problems: Problems) -> None:
    """Compare the inputs of a capability with those of the function that it calls."""
    builtin = BUILTINS.get(str(capability.binding.get("function", "")))
    if builtin is None:
        return
    function: Fields = builtin.capability.inputs
    for name, field in function.items():
        own = capability.inputs.get(name)
        if own is None and field.required and not field.has_default:
            message = f"`{builtin.capability.id}` needs the input `{name}`, which this capability does not have."
            problems.add(BINDING, ("inputs",), message, f"Add `{name}:` to `inputs`.")
        elif (
            own is not None
            and field.type
            and own.type != field.type
            and {own.type, field.type} != {"integer", "number"}
        ):
            message = f"`{name}` is of the type {own.type}, but `{builtin.capability.id}` needs the type {field.type}."
            problems.add(BINDING, ("inputs", name), message, f"Write `type: {field.type}`.")
    for name in capability.inputs:
        if name not in function:
            message = f"`{name}` is not an input of `{builtin.capability.id}`, so its value is not used."
            problems.add(BINDING, ("inputs", name), message, "Remove it, or rename it.", Severity.HINT)


def _alike(one: str, other: str) -> bool:
    return one == other or {one, other} == {INTEGER, NUMBER}
