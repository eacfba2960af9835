"""Settings and manifests: package hooks, permissions of agents, tasks of editors, units of services."""

import json
import re
from collections.abc import Callable, Iterator, Mapping

from registry.core.errors import SkillsiteError
from registry.core.format import strict_yaml
from registry.core.scan.matches import Match, Rule, TooComplex
from registry.core.scan.persistence import is_suspicious

_MOST_CHARS = 200_000
_MOST_VALUES = 20_000
_MOST_CELLS = 500
_HOOKS = frozenset(
    {"preinstall", "install", "postinstall", "prepare", "prepublish", "preprepare", "postprepare", "prepack"}
)
_COMMAND_KEYS = frozenset(
    {"run", "command", "script", "entry", "exec", "shell", "cmd", "before_script", "postcreatecommand", "onload"}
)
_ANY_TOOL = re.compile(
    r"\*|(?:Bash|Shell|shell|run_shell_command|execute|Terminal)\(\s*(?:\*|:\*|\*\*|\*:\*)\s*\)|mcp__\*|WebFetch\(\*\)"
)
_ANY_HEADER_TOOL = re.compile(
    r"(?:^|[\s,\"'\[])(?:\*(?=$|[\s,\"'\]])|(?:Bash|Shell|run_shell_command)\(\s*(?:\*|:\*|\*\*|\*:\*|\*\s\*"
    r"|sudo:?\*|sudo \*|(?:ba|z)?sh:\*|eval:\*)\s*\)|mcp__\*)"
)
_NODE_FILE = re.compile(r"\bnode\s+(?:\./)?([\w./-]{1,120})")
_RISKY_CODE = re.compile(r"child_process|https?\.(?:get|request)|\bfetch\(|\beval\(|process\.env\b(?!\.\w)|\bnet\.")
_UNIT_RUN = re.compile(r"^\s*(?:ExecStart(?:Pre|Post)?|Exec)\s*=\s*(.{1,500})$", re.MULTILINE)

Nested = Callable[[str, str, int], Iterator[Match]]


def allowed_tools(value: str) -> str:
    """Return the entry of `allowed-tools` that allows every command, or an empty string."""
    match = _ANY_HEADER_TOOL.search(value)
    return match[0].strip(" ,\"'[") if match else ""


def find_json(text: str, name: str, files: Mapping[str, str]) -> Iterator[Match]:
    """Yield the matches in a JSON file. Raise TooComplex if it cannot be parsed within the bounds."""
    if len(text) > _MOST_CHARS:
        raise TooComplex
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise TooComplex from error
    except ValueError:
        return
    for path, leaf in _leaves(value):
        yield from (Match(_line(text, leaf), rule, detail) for rule, detail in _json_rules(path, leaf, name, files))


def _json_rules(path: tuple[str, ...], leaf: object, name: str, files: Mapping[str, str]) -> Iterator[tuple[Rule, str]]:
    key = path[-1] if path else ""
    text = leaf if isinstance(leaf, str) else ""
    if name.endswith("package.json") and len(path) == 2 and path[0] == "scripts" and key in _HOOKS:
        runs = _NODE_FILE.search(text)
        script = next((files[each] for each in files if runs and each.endswith(runs[1])), "")
        if is_suspicious(text) or re.search(r"\bnode\s+-e|\bpython\d?\s", text) or _RISKY_CODE.search(script):
            yield Rule.PERSISTS, f"{key}: {text}"
    if text == "bypassPermissions" or (key in ("approval_policy", "approvalPolicy") and text == "never"):
        yield Rule.PERMISSIONS, f"{key}: {text}"
    if text in ("danger-full-access",) or (
        key in ("enableAllProjectMcpServers", "chat.tools.autoApprove", "chat.tools.global.autoApprove")
        and leaf is True
    ):
        yield Rule.PERMISSIONS, f"{key}: {text or 'true'}"
    if any(
        part in ("allow", "allowedTools", "autoApprove", "alwaysAllow", "allowed_tools") for part in path[-2:]
    ) and _ANY_TOOL.fullmatch(text):
        yield Rule.PERMISSIONS, text
    if key == "runOn" and text == "folderOpen":
        yield Rule.PERSISTS, "runOn: folderOpen"
    if "hooks" in path and key == "command" and is_suspicious(text):
        yield Rule.PERSISTS, text
    if "mcpServers" in path[:-1] and (
        (key == "url" and not re.search(r"localhost|127\.0\.0\.1", text)) or (key == "command" and is_suspicious(text))
    ):
        yield Rule.PERMISSIONS, f"MCP server {text}"


def _leaves(value: object) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield each value that is neither a list nor a map, with the keys to it. Uses its own stack."""
    stack: list[tuple[tuple[str, ...], object]] = [((), value)]
    count = 0
    while stack:
        path, each = stack.pop()
        count += 1
        if count > _MOST_VALUES:
            raise TooComplex
        if isinstance(each, Mapping):
            stack.extend(((*path[-8:], str(key)), inner) for key, inner in each.items())
        elif isinstance(each, list | tuple):
            stack.extend((path, inner) for inner in each)
        else:
            yield path, each


def _line(text: str, leaf: object) -> int:
    at = text.find(json.dumps(leaf, ensure_ascii=False)) if isinstance(leaf, str) else -1
    return text.count("\n", 0, at) + 1 if at >= 0 else 1


def find_yaml(text: str, nested: Nested) -> Iterator[Match]:
    """Yield the matches of the commands in a YAML file, such as the steps of a workflow."""
    if len(text) > _MOST_CHARS:
        raise TooComplex
    try:
        loaded = strict_yaml.load(text, file="")
    except SkillsiteError:
        return
    for path, leaf in _leaves(loaded.value):
        if isinstance(leaf, str) and path and path[-1].lower() in _COMMAND_KEYS:
            first = next((line.strip() for line in leaf.split("\n") if line.strip()), "")
            at = text.find(first) if first else -1
            yield from nested("sh", leaf, text.count("\n", 0, at) + 1 if at >= 0 else 1)
        if leaf in ("bypassPermissions", "danger-full-access"):
            yield Match(_line(text, leaf), Rule.PERMISSIONS, str(leaf))


def find_unit(text: str) -> Iterator[Match]:
    """Yield the commands of a unit of systemd or a desktop entry that look harmful."""
    for match in _UNIT_RUN.finditer(text):
        if is_suspicious(match[1]):
            yield Match(text.count("\n", 0, match.start()) + 1, Rule.PERSISTS, match[0].strip()[:160])


def notebook(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield the kind, source and line of each cell of a Jupyter notebook.

    Raise TooComplex if it cannot be parsed within the bounds, or has more cells than are read.
    """
    if len(text) > _MOST_CHARS:
        raise TooComplex
    try:
        value = json.loads(text)
    except RecursionError as error:
        raise TooComplex from error
    except ValueError:
        return
    cells = value.get("cells", []) if isinstance(value, dict) else []
    for cell in cells[:_MOST_CELLS] if isinstance(cells, list) else []:
        source = cell.get("source", "") if isinstance(cell, dict) else ""
        code = "".join(str(line) for line in source) if isinstance(source, list) else str(source)
        first = code.split("\n", 1)[0][:80]
        yield str(cell.get("cell_type", "")) if isinstance(cell, dict) else "", code, _line_of(text, first)
    if len(cells) > _MOST_CELLS:
        raise TooComplex


def _line_of(text: str, first: str) -> int:
    at = text.find(json.dumps(first)[1:-1]) if first else -1
    return text.count("\n", 0, at) + 1 if at >= 0 else 1
