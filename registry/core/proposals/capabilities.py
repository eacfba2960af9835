"""Capabilities of a skill: the scripts, commands, hosts, tools and environment variables that it makes an agent use.

They are found by patterns, which miss what is hidden on purpose. An empty result does not mean that a skill is safe.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import chain
from operator import itemgetter

from registry.core.bundle import SKILL_MD, Bundle, content_digest
from registry.core.errors import SkillsiteError
from registry.core.format import skill_md
from registry.core.limits import DEFAULT, Limits
from registry.core.lint.context import readable, unread
from registry.lib.patterns import lazy


class Kind(StrEnum):
    SCRIPT = "script"
    COMMAND = "command"
    HOST = "host"
    TOOL = "tool"
    VARIABLE = "variable"


@dataclass(frozen=True, slots=True)
class Capability:
    """One capability and the place where it is first named. `content` is the digest of a script."""

    kind: Kind
    name: str
    file: str
    line: int | None = None
    content: str = ""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """`partial` means that some text was too long to read, so that capabilities may be missing."""

    found: tuple[Capability, ...] = ()
    partial: bool = False

    def names(self, kind: Kind) -> tuple[str, ...]:
        return tuple(each.name for each in self.found if each.kind is kind)


@dataclass(frozen=True, slots=True)
class Difference:
    """`changed` are scripts with the same path and different content."""

    added: tuple[Capability, ...] = ()
    removed: tuple[Capability, ...] = ()
    changed: tuple[Capability, ...] = ()
    partial: bool = False


_SCRIPT = lazy(
    r"(^|/)(scripts|bin)/|\.(py|pyw|sh|bash|zsh|fish|js|mjs|cjs|ts|rb|pl|php|lua|ps1|psm1|bat|cmd|vbs|exe|dll|so|dylib"
    r"|jar|com|msi|scpt|applescript|command)$",
    re.IGNORECASE,
)
_SHELL_FILE = lazy(r"\.(sh|bash|zsh|fish|command)$", re.IGNORECASE)
_SHELL_LINE = lazy(r"#!.*\b(ba|z|da|k|fi)?sh\b")
_FENCE = lazy(r" {0,3}(`{3,}|~{3,})\s*([\w+-]*)")
_SHELL_FENCES = frozenset({"sh", "bash", "zsh", "shell", "console", "shell-session", "terminal", "fish"})
_INLINE = lazy(r"(?<!`)`([^`\n]{1,300})`(?!`)")

_HOST = lazy(
    r"\b(?:https?|wss?|ftps?|ssh|git|sftp)://(?:[^\s/@\"'`<>()]*@)?(\[[0-9a-f:.]{2,45}\]|[\w.-]{1,253})", re.IGNORECASE
)
_SSH_HOST = lazy(r"\b[\w.-]{1,64}@([\w-]{1,63}(?:\.[\w-]{1,63})+):[\w~/.]")
_MCP_TOOL = lazy(r"\bmcp__\w{1,100}")
_TOOL = lazy(r"[\w.:/-]+(?:\([^)]*\))?")

_VARIABLES = (
    lazy(r"\$\{?([A-Z][A-Z0-9_]{2,63})\b"),
    lazy(r"\benviron(?:\.get\(|\[)\s*[\"']([A-Za-z_]\w{0,63})"),
    lazy(r"\bgetenv\(\s*[\"']([A-Za-z_]\w{0,63})"),
    lazy(r"\bprocess\.env(?:\.|\[[\"'])([A-Za-z_]\w{0,63})"),
    lazy(r"\bENV(?:\.fetch\(|\[)[\"']([A-Za-z_]\w{0,63})"),
    lazy(r"\$env:([A-Za-z_]\w{0,63})"),
)
_SPAWNED = lazy(
    r"\b(?:subprocess\.\w+|os\.(?:system|popen|exec\w*|spawn\w*)|Popen|exec(?:Sync|File)?|spawn(?:Sync)?|system)"
    r"\(\s*\[?\s*f?[\"'`]([\w./-]{1,100})"
)

_SEPARATOR = lazy(r"\|\|?|&&?|;|\$\(|<\(|`|\bthen\b|\bdo\b|\belse\b|\bxargs(?:\s+-\S+)*\s")
_ASSIGNMENT = lazy(r"^(?:[A-Za-z_]\w*=\S*(?:\s+|$))+")
_FUNCTION = lazy(r"^[ \t]*(?:function[ \t]+)?([\w-]{1,100})[ \t]*\([ \t]*\)", re.MULTILINE)
_RUNS_ANOTHER = lazy(r"^(?:sudo|doas|env|exec|nohup|time|command|builtin|eval)(?:\s+-\S+)*\s+")
_PROGRAM = lazy(r"^(?:\./|/)?[A-Za-z][\w.+/-]{0,99}(?=\s|$)")
# A character after a backslash is taken first, so that an escaped quote does not start a string.
_QUOTED = lazy(r"(\\.)|\"(?:[^\"\\$`]|\\.)*+\"|'[^']*+'")
_MOST_WRAPPERS = 10  # commands such as sudo before the program
_MOST_OF_KIND = 1_000
_NOT_PROGRAMS = frozenset({
    "if", "then", "else", "elif", "fi", "for", "while", "until", "do", "done", "case", "esac", "in", "function",
    "return", "exit", "local", "export", "set", "unset", "shift", "true", "false", "test", "echo", "printf", "cd",
    "pwd", "read", "trap", "wait", "break", "continue", "declare", "readonly", "alias", "source",
})  # fmt: skip
# Known programs. Code that is not marked as shell is searched for these only.
_PROGRAMS = frozenset({
    "ansible", "apk", "apt", "apt-get", "aws", "az", "base64", "bash", "brew", "bun", "bunx", "bundle", "cargo",
    "chmod", "chown", "composer", "cp", "crontab", "curl", "dd", "deno", "dig", "dnf", "docker", "docker-compose",
    "ffmpeg", "find", "gcloud", "gem", "gh", "git", "glab", "go", "gpg", "helm", "htpasswd", "iptables", "java",
    "jq", "kill", "killall", "kubectl", "launchctl", "ln", "make", "mkfs", "mongosh", "mount", "mv", "mysql", "nc",
    "ncat", "netcat", "nmap", "node", "npm", "npx", "nslookup", "openssl", "osascript", "pandoc", "perl", "php",
    "pip", "pip3", "pipx", "pkill", "pnpm", "podman", "poetry", "powershell", "psql", "pwsh", "python", "python3",
    "redis-cli", "rm", "rsync", "ruby", "scp", "screen", "security", "sed", "sftp", "sh", "shred", "socat",
    "sqlite3", "ssh", "ssh-keygen", "sudo", "systemctl", "tar", "tcpdump", "tee", "telnet", "terraform", "tmux",
    "unzip", "useradd", "uv", "uvx", "wget", "whoami", "xattr", "yarn", "zip", "zsh",
})  # fmt: skip


def of(bundle: Bundle, *, limits: Limits = DEFAULT) -> Capabilities:
    """Return each capability once, at the first place where it is named."""
    read = readable(bundle, limits)
    found: dict[tuple[Kind, str], Capability] = {}
    counts = Counter[Kind]()
    for each in chain(_scripts(bundle), _declared_tools(bundle, limits), _in_texts(read.items())):
        key = each.kind, each.name
        if key not in found and counts[each.kind] < _MOST_OF_KIND:
            counts[each.kind] += 1
            found[key] = each
    order = list(Kind)
    ordered = sorted(found.values(), key=lambda each: (order.index(each.kind), each.name))
    partial = bool(unread(bundle, read)) or _MOST_OF_KIND in counts.values()
    return Capabilities(tuple(ordered), partial)


def difference(before: Capabilities, after: Capabilities) -> Difference:
    old = {(each.kind, each.name): each for each in before.found}
    new = {(each.kind, each.name): each for each in after.found}
    return Difference(
        added=tuple(each for key, each in new.items() if key not in old),
        removed=tuple(each for key, each in old.items() if key not in new),
        changed=tuple(each for key, each in new.items() if key in old and old[key].content != each.content),
        partial=before.partial or after.partial,
    )


def _scripts(bundle: Bundle) -> Iterator[Capability]:
    for path, content in bundle.items():
        if path != SKILL_MD and (_SCRIPT.search(path) or content.startswith(b"#!")):
            yield Capability(Kind.SCRIPT, path, path, None, content_digest(content))


def _declared_tools(bundle: Bundle, limits: Limits) -> Iterator[Capability]:
    try:
        parsed = skill_md.read(bundle[SKILL_MD], fallback_name="skill", limits=limits)
    except SkillsiteError:
        return
    line = parsed.document.lines.get("allowed-tools")
    for tool in _TOOL.findall(parsed.allowed_tools):
        yield Capability(Kind.TOOL, tool, SKILL_MD, line)


def _in_texts(files: Iterable[tuple[str, str]]) -> Iterator[Capability]:
    for path, text in files:
        yield from _in_text(path, text)
        for number, command in _commands(path, text):
            yield Capability(Kind.COMMAND, command, path, number)


def _in_text(path: str, text: str) -> Iterator[Capability]:
    """Yield each capability once. Each pattern reads the whole text, because a text can have a million lines."""
    first: dict[tuple[Kind, str], int] = {}
    for kind, name, offset in _mentions(text):
        first[kind, name] = min(offset, first.get((kind, name), offset))
    at, line = 0, 1
    for (kind, name), offset in sorted(first.items(), key=itemgetter(1)):
        line += text.count("\n", at, offset)
        at = offset
        yield Capability(kind, name, path, line)


def _mentions(text: str) -> Iterator[tuple[Kind, str, int]]:
    for pattern in (_HOST, _SSH_HOST):
        yield from ((Kind.HOST, match[1].lower().rstrip("."), match.start()) for match in pattern.finditer(text))
    yield from ((Kind.TOOL, match[0], match.start()) for match in _MCP_TOOL.finditer(text))
    for pattern in _VARIABLES:
        yield from ((Kind.VARIABLE, match[1], match.start()) for match in pattern.finditer(text))
    yield from ((Kind.COMMAND, match[1].rsplit("/", 1)[-1], match.start()) for match in _SPAWNED.finditer(text))


def _commands(path: str, text: str) -> Iterator[tuple[int, str]]:
    if _SHELL_FILE.search(path) or _SHELL_LINE.match(text):
        functions = set(_FUNCTION.findall(text))
        for number, line in _distinct_lines(text):
            yield from ((number, program) for program in _programs(line) if program not in functions)
    elif path.lower().endswith((".md", ".markdown", ".txt")):
        yield from _in_markdown(text)


def _distinct_lines(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line at its first place. A repeated line names no new program."""
    seen = {""}
    for number, line in enumerate(text.split("\n"), 1):
        if line not in seen:
            seen.add(line)
            yield number, line


def _in_markdown(text: str) -> Iterator[tuple[int, str]]:
    """Yield all programs in shell fences, and known programs in other fences and inline code."""
    fence, shell = "", False
    for number, line in enumerate(text.split("\n"), 1):
        if not line or not (fence or "`" in line or "~~~" in line):
            continue
        mark = _FENCE.match(line)
        if mark and not fence:
            fence, shell = mark[1], mark[2].lower() in _SHELL_FENCES
        elif mark and mark[1].startswith(fence) and not mark[2]:
            fence = ""
        else:
            pieces = [line] if fence else _INLINE.findall(line)
            known_only = not (fence and shell)
            for piece in pieces:
                programs = [program for program in _programs(piece) if not known_only or program in _PROGRAMS]
                yield from ((number, program) for program in programs)


def _programs(line: str) -> Iterator[str]:
    """Yield the programs that a line of shell starts."""
    line = line.strip().removeprefix("$ ")
    if line.startswith("#"):
        return
    for part in _SEPARATOR.split(_QUOTED.sub(_without_text, _FUNCTION.sub("", line))):
        part = _ASSIGNMENT.sub("", part.strip(" \t({!"))
        for _ in range(_MOST_WRAPPERS):
            opening = _RUNS_ANOTHER.match(part)
            if opening is None:
                break
            yield opening[0].split()[0]
            part = _ASSIGNMENT.sub("", part[opening.end() :])
        program = _PROGRAM.match(part)
        if program and (name := program[0].rsplit("/", 1)[-1]) not in _NOT_PROGRAMS:
            yield name


def _without_text(quoted: re.Match[str]) -> str:
    return quoted[1] or '""'
