"""One file of a skill, scanned by its syntax. Prose, code blocks and scripts each have their rules."""

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice

from registry.core.bundle import SKILL_MD
from registry.core.scan import (
    config_files,
    confusables,
    hidden_orders,
    leaks,
    makefiles,
    markdown_code,
    orders,
    placeholders,
    prose_orders,
    python_code,
    remote_shell,
    script_flow,
    script_lines,
    settings_orders,
    shell_lexer,
)  # fmt: skip
from registry.core.scan.labels import NONE
from registry.core.scan.matches import Match, Rule, TooComplex
from registry.core.scan.shell_flow import Flow
from registry.core.scan.shell_values import Nested

_PYTHON = (".py", ".pyw", ".pyi")
_SHELL = (".sh", ".bash", ".zsh", ".ksh", ".command", ".fish", ".envrc", ".bashrc", ".zshrc", ".profile")
_SCRIPT = (
    ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".rb", ".pl", ".pm", ".php", ".lua", ".ps1", ".psm1", ".bat", ".cmd",
    ".vbs", ".go", ".rs", ".java", ".cs", ".scpt", ".applescript", ".swift", ".kt", ".groovy",
)  # fmt: skip
_PROSE = (".md", ".markdown", ".mdx", ".txt", ".rst", ".html", ".htm", ".adoc", ".text", ".prompt", ".xml", ".svg")
_SHEBANG = re.compile(
    r"#!.{0,80}?\b(?:(?P<sh>(?:ba|z|da|k|fi)?sh)|(?P<py>python[\d.]*)|(?P<other>node|perl|ruby|php|lua|deno|bun"
    r"|osascript))\b"
)
_MAKE = re.compile(r"(?:^|/)(?:(?:GNU)?Makefile|justfile|Procfile)[\w.]{0,20}$|\.mk$|\.just$", re.IGNORECASE)
_DOCKER = re.compile(r"(?:^|/)(?:Dockerfile|Containerfile)[\w.-]{0,20}$|\.dockerfile$", re.IGNORECASE)
_POWERSHELL = re.compile(r"(?i:\biex\b)|Invoke-|New-Object|\$env:|Start-Process")
_DESCRIPTION = re.compile(r"^description:\s*(.{1,1500})$", re.MULTILINE)
_ABOUT_SERVICES = re.compile(
    r"\b(?:systemd|systemctl|launchd|launchctl|cron|crontab|cron jobs?|daemons?|launch agents?|task scheduler"
    r"|scheduled (?:jobs?|tasks?)|login items?)\b",
    re.IGNORECASE,
)
_REMOVAL = re.compile(
    r"^#{1,6}\s.{0,60}\b(?:remov\w{1,3}|uninstall\w{0,3}|rollback|roll back|undo\w{0,3}|clean ?up|disabl\w{1,3})\b"
    r"|systemctl (?:--user )?disable|launchctl (?:bootout|unload)|crontab -r|Unregister-ScheduledTask",
    re.IGNORECASE | re.MULTILINE,
)
_HEADER_CHARS, _PAGE_CHARS = 5_000, 50_000
_COMMENT = re.compile(
    r"(?:^|\s)(?:#|//|--|;)\s?(.*)|/\*(.*)|\"\"\"(.*)|'''(.*)|^\s*\*\s(.*)|(?:print|echo|puts|console\.log|printf"
    r"|Write-Host|write)\b(.*)"
)


_MOST_MATCHES = 5_000


class Result:
    """The matches of one file. `partial` is set if its syntax could not be analysed."""

    def __init__(self) -> None:
        self.matches: list[Match] = []
        self.partial = False

    def take(self, found: Iterable[Match]) -> None:
        try:
            self.matches.extend(islice(found, _MOST_MATCHES))
        except (TooComplex, SyntaxError, RecursionError, MemoryError) as error:
            self.partial = self.partial or not isinstance(error, SyntaxError)


def scan_file(path: str, text: str, texts: Mapping[str, str]) -> Result:
    """Return the matches of a text file. `texts` are all text files of the skill."""
    result = Result()
    name = path.lower()
    shebang = _SHEBANG.match(text)
    if name.endswith(_PYTHON) or (shebang and shebang["py"]):
        _python(result, text, 1, texts)
        result.take(_comments(text))
    elif name.endswith(_SHELL) or (shebang and shebang["sh"]):
        _shell(result, text, 1, _flow(texts))
        result.take(_comments(text))
    elif name.endswith(_SCRIPT) or (shebang and shebang["other"]):
        _script(result, text, name, 1)
        for line, command in script_lines.commands(text):
            _shell(result, command, line, _flow(texts))
        result.take(_comments(text))
    elif name.endswith((".json", ".jsonc", ".ipynb", ".code-workspace")):
        _json(result, path, text, texts)
    elif name.endswith((".yml", ".yaml")):
        result.take(config_files.find_yaml(text, _nested(texts)))
        result.take(orders.find(text))
    elif name.endswith((".service", ".timer", ".desktop", ".socket")):
        result.take(config_files.find_unit(text))
    elif _DOCKER.search(path):
        _shell(result, makefiles.dockerfile(text), 1, _flow(texts))
    elif _MAKE.search(path):
        _make(result, text, 1, _flow(texts))
    elif name.endswith(_PROSE) or "." not in name.rsplit("/", 1)[-1]:
        _markdown(result, text, texts)
    else:
        result.take(orders.find(text))
    result.take(confusables.find(text, markup=name.endswith(_PROSE)))
    return result


def _markdown(result: Result, text: str, texts: Mapping[str, str]) -> None:
    page = markdown_code.read(text)
    flow = _flow(texts)
    for block in page.blocks:
        if block.language == "sh":
            _shell(result, block.text, block.line, flow)
        elif block.language == "python":
            _python(result, block.text, block.line, texts)
            if block.inline:
                result.take(script_lines.find(block.text, first_line=block.line))
        elif block.language == "script":
            result.take(script_flow.find(block.text, f"block.{block.label}", first_line=block.line))
            result.take(script_lines.find(block.text, first_line=block.line))
            result.take(remote_shell.find(block.text, first_line=block.line))
        elif block.language == "text":
            result.take(script_lines.find(block.text, first_line=block.line))
            result.take(remote_shell.find(block.text, first_line=block.line))
        elif block.language == "make":
            _make(result, block.text, block.line, flow)
        elif block.language == "data":
            result.take(_settings(block, texts))
    result.take(orders.find(page.plain))
    result.take(prose_orders.find(page.plain))
    result.take(hidden_orders.find(page.plain))
    result.take(leaks.find(page.plain))
    result.take(placeholders.find(page.plain))
    result.take(settings_orders.find(page.plain))


def _flow(texts: Mapping[str, str]) -> Flow:
    flow = Flow(texts, _nested(texts))
    page = texts.get(SKILL_MD, "")
    description = _DESCRIPTION.search(page[:_HEADER_CHARS])
    flow.services = bool(description and _ABOUT_SERVICES.search(description[1]) and _REMOVAL.search(page[:_PAGE_CHARS]))
    return flow


def _settings(block: markdown_code.Block, texts: Mapping[str, str]) -> Iterator[Match]:
    """Yield wide permissions in an example of settings. An MCP server is an ordinary example."""
    for match in config_files.find_json(block.text, "settings.json", texts):
        if match.rule is Rule.PERMISSIONS and not match.detail.startswith("MCP server"):
            yield Match(match.line + block.line - 1, match.rule, match.detail)


def _shell(result: Result, text: str, line: int, flow: Flow) -> None:
    flow.matches = []
    try:
        flow.run(shell_lexer.commands(text, line=line), NONE)
    except (TooComplex, RecursionError):
        result.partial = True
    result.partial = result.partial or flow.incomplete
    result.take(flow.matches)
    result.take(remote_shell.find(text, first_line=line))
    if _POWERSHELL.search(text):
        result.take(script_lines.find(text, first_line=line))


def _make(result: Result, text: str, line: int, flow: Flow) -> None:
    """Scan a makefile. A target may use what a later one makes, so the recipes are taken twice."""
    script = makefiles.makefile(text)
    _shell(result, script, line, flow)
    if flow.files:
        _shell(result, script, line, flow)


def _script(result: Result, text: str, name: str, line: int) -> None:
    """Scan a script of another language. Its lines are read one by one if its syntax is too complex."""
    before = result.partial
    result.partial = False
    result.take(script_flow.find(text, name, first_line=line))
    result.take(script_lines.find(text, first_line=line, runs=result.partial))
    result.partial = result.partial or before


def _python(result: Result, text: str, line: int, texts: Mapping[str, str]) -> None:
    try:
        result.take(python_code.find(text, first_line=line, files=texts, nested=_nested(texts)))
    except SyntaxError:  # Python 2, a template or an excerpt
        result.take(script_lines.find(text, first_line=line))
    except TooComplex:
        result.partial = True
        result.take(script_lines.find(text, first_line=line))


def _nested(texts: Mapping[str, str], depth: int = 0) -> Nested:
    """Return a function that scans code of another language inside a command.

    It raises TooComplex after the matches if the code was not scanned completely.
    """

    def find(language: str, code: str, line: int) -> Iterator[Match]:
        result = Result()
        if depth > 2 or len(code) > shell_lexer.MOST_CHARS:
            raise TooComplex
        if language == "sh":
            _shell(result, code, line, Flow(texts, _nested(texts, depth + 1)))
        elif language == "python":
            _python(result, code, line, texts)
        else:
            result.take(script_lines.find(code, first_line=line))
        # the lines of a here-document are known, those inside a quoted word are not
        yield from (Match(line, each.rule, each.detail) for each in result.matches)
        if result.partial:
            raise TooComplex

    return find


def _json(result: Result, path: str, text: str, texts: Mapping[str, str]) -> None:
    if path.lower().endswith(".ipynb"):
        _notebook(result, text, texts)
        return
    result.take(config_files.find_json(text, path, texts))
    result.take(orders.find(text))


def _notebook(result: Result, text: str, texts: Mapping[str, str]) -> None:
    try:
        for kind, source, line in config_files.notebook(text):
            if kind == "code":
                _python(result, source, line, texts)
            else:
                result.take(orders.find(source, first_line=line))
    except TooComplex:
        result.partial = True


def _comments(text: str) -> Iterator[Match]:
    """Yield orders in comments, docstrings and printed text. Other texts of a program are data."""
    kept = []
    inside = ""
    for line in text.split("\n"):
        for quote in ('"""', "'''"):
            if line.count(quote) % 2:
                inside = "" if inside == quote else inside or quote
        match = _COMMENT.search(line)
        kept.append(line if inside else " ".join(group for group in match.groups() if group) if match else "")
    yield from orders.find("\n".join(kept))


def distinct(matches: Iterable[Match]) -> list[Match]:
    """Return the matches in order, one for each line and rule."""
    chosen: dict[tuple[int, Rule], Match] = {}
    for match in sorted(matches):
        chosen.setdefault((match.line, match.rule), match)
    return list(chosen.values())
