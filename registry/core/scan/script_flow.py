"""Data flow through statements of scripts: names keep the labels of what they were assigned, and sinks are checked.

The order of statements is not considered, so a name has all labels that it ever gets, as in Python.
"""

import re
from collections.abc import Iterator
from itertools import pairwise

from registry.core.scan import persistence, script_facts, script_lines
from registry.core.scan.labels import AS_CODE, RUNNABLE, Label, Labels, leaves
from registry.core.scan.matches import Match, Rule
from registry.core.scan.script_fold import MOST_TOKENS, Folded
from registry.core.scan.script_tokens import (
    NAME,
    SIGN,
    STRING,
    Statement,
    Token,
    brackets,
    closing,
    dialect,
    is_javascript,
    split,
    statements,
)
from registry.core.scan.script_values import ScriptValues, render, root
from registry.core.scan.shell_programs import LANGUAGES, SHELLS, base

_PASSES = 3
_STATEMENT_COST = 15
# In tokens, most of which are read several times. Short scripts may cost more for each character.
_BASE_COST, _COST_PER_CHAR, _MORE_PER_CHAR, _MOST_MORE = 500, 3, 4, 8_000
_TARGET_OPTIONS = frozenset({"-outfile", "-destination", "-path", "-filepath", "-literalpath", "-o", "-output"})
_WRITERS = frozenset({
    "writefile", "writefilesync", "createwritestream", "writeallbytes", "writealltext", "file_put_contents",
    "outputfile",
    "set-content", "out-file", "binwrite", "add-content", "write", "appendfilesync",
})  # fmt: skip
_RUNS_FILE = re.compile(
    r"(?:(?:bash|sh|zsh|node|python3?|ruby|perl|source|\.|pwsh|powershell)\s+(?:-\w+\s+)?)?(\S{1,300})"
)
_BEFORE_COMMAND = frozenset({"|", "=", "(", "&", ";", "return", "await", "&&", ",", ">", "=>", "new", "!"})
_LOADERS = frozenset({"require", "import", "createrequire"})
_GETTERS = frozenset({"get", "send", "public_send", "get-command", "__send__"})
_CALLED = script_facts.CODE_RUNS | script_facts.COMMAND_RUNS | script_facts.WRITES | _LOADERS | _GETTERS


def find(text: str, name: str, *, first_line: int = 1) -> Iterator[Match]:
    """Yield the matches of a script, in the language that its file name says. Raise TooComplex over a bound."""
    flow = _Flow(text, name)
    found = statements(text, flow.pattern, first_line=first_line)
    for number in range(_PASSES):
        flow.final = number == _PASSES - 1
        before = flow.count()
        for statement in found:
            flow.take(statement)
        if not flow.final and flow.count() == before and number:
            flow.final = True
            for statement in found:
                flow.take(statement)
            break
    yield from flow.matches


class _Flow(ScriptValues):
    def __init__(self, text: str, name: str) -> None:
        super().__init__(dialect(name.lower()))
        self.source = text
        self.most = _BASE_COST + _COST_PER_CHAR * len(text) + min(_MORE_PER_CHAR * len(text), _MOST_MORE)
        self.final = False
        self.matches: list[Match] = []

    def report(self, rule: Rule, tokens: list[Token]) -> None:
        if self.final:
            self.matches.append(Match(tokens[0].line, rule, render(tokens)[:160]))

    def take(self, statement: Statement) -> None:
        tokens = statement.tokens
        self.spend(_STATEMENT_COST)
        self.bind(statement)
        ends = brackets(tokens) if self.final else {}
        for index, text in statement.calls:
            if tokens[index].kind is NAME:
                if text in _CALLED or text in self.loaders or text in self.functions or text.lstrip("$") in self.built:
                    self.call(tokens, index, text)
            elif text == "[":
                if index and self.final:
                    self.check_bracket(tokens, index, ends.get(index, len(tokens)))
            else:
                self.check_operator(tokens, index)
        if statement.sends or self.is_sent(tokens):
            words = " ".join(token.text for token in tokens if token.kind is not SIGN)
            if leaves(self.labels(tokens), f"{words} {self.path(tokens)}"):
                self.report(Rule.SECRET_SENT, tokens)
        if self.final and ".constructor.constructor" in statement.code:
            self.report(Rule.NAMES, tokens)
        if self.final and script_lines.DESERIALISES.search(statement.code):
            self.report(Rule.DESERIALISES, tokens)

    def call(self, tokens: list[Token], index: int, name: str) -> None:
        called = index + 1 < len(tokens) and tokens[index + 1].text == "("
        if name == "eval" and [token.text for token in tokens[index + 1 : index + 3]] == [")", "("]:
            index, called = index + 1, True  # (0, eval)(…)
        if name in script_facts.CODE_RUNS or name in script_facts.COMMAND_RUNS:
            if self.is_sink(tokens, index, name, called):
                self.check_run(tokens, index, name, called)
        elif name in _LOADERS or name in self.loaders:
            self.check_loader(tokens, index, name, called)
        elif name in _GETTERS and called:
            owner = tokens[index - 2].text if index > 1 else ""
            if name != "get" or owner == "Reflect":
                given = tokens[index + 2 : closing(tokens, index + 1)]
                parts = split(given)
                self.check_name(tokens, parts[1] if name == "get" and len(parts) > 1 else parts[0])
        elif called and name.lstrip("$") in self.built:
            self.check_built(tokens, self.built[name.lstrip("$")])
        if name in script_facts.WRITES:
            self.check_write(tokens, index, name, called)
        if called and (taken := self.functions.get(name)):
            labels = self.labels(tokens[index + 2 : closing(tokens, index + 1)])
            for parameter in taken:
                self.add(parameter, labels)

    def is_sink(self, tokens: list[Token], index: int, name: str, called: bool) -> bool:
        """Check if a name is a function that runs code, and not a method of something else."""
        before = tokens[index - 1].text if index else ""
        if before in (".", "::", "?."):
            owner = render(tokens[max(0, index - 8) : index - 1])
            pattern = script_facts.OWNERS.get(name)
            known = root(tokens, index).lower() in self.loaded
            return name in script_facts.RUN_METHODS or known or bool(pattern and pattern.search(owner[-40:]))
        if before in ("function", "def", "func", "static", "get", "sub"):
            return False
        if is_javascript(self.pattern) and name in script_facts.OTHERS_IN_JAVASCRIPT:
            return False
        if name in script_facts.BARE_WORDS:
            return self.powershell and (not index or before in ("|", "=", "(", "&")) and name in ("start",)
        if name == "function":
            return called and tokens[index].text == "Function"
        return called or not index or before in _BEFORE_COMMAND

    def argument(self, tokens: list[Token], index: int, called: bool) -> list[Token]:
        if called:
            return tokens[index + 2 : closing(tokens, index + 1)]
        end = next((at for at in range(index + 1, len(tokens)) if tokens[at].text in ("|", ")")), len(tokens))
        return tokens[index + 1 : end]

    def check_run(self, tokens: list[Token], index: int, name: str, called: bool) -> None:
        given = self.argument(tokens, index, called)
        harmful = set(AS_CODE) - {Label.DATA}
        if name in script_facts.COMMAND_RUNS:
            first = split(given)[0]
            words = first[0].text.split() if first and first[0].kind is STRING else []
            given = given if words and base(words[0]) in SHELLS | LANGUAGES else first
            labels = self.labels(given, paths=False) | self.run_file(given)
        else:
            labels = self.labels(given)
            if (text := self.folded(given)) and text.built and not self.powershell:
                labels |= {Label.BUILT}
        if not given and index and tokens[index - 1].text in ("|", "("):
            labels = self.labels(tokens[:index])
        if set(labels) & harmful:
            self.report(Rule.REMOTE_SHELL if Label.SOCKET in labels else Rule.UNREAD, tokens)

    def run_file(self, given: list[Token]) -> Labels:
        """Return the labels of a file that is run, alone or by an interpreter."""
        labels: Labels = frozenset()
        for token in given[:40]:
            if (match := _RUNS_FILE.match(token.text)) and token.kind is not SIGN:
                labels |= self.files.get(match[1], frozenset())
        return labels

    def check_loader(self, tokens: list[Token], index: int, name: str, called: bool) -> None:
        given = self.argument(tokens, index, True) if called else []
        if not given:
            return
        text = self.folded(given)
        if text is not None and text.built and re.fullmatch(r"[\w:@/-]{1,60}", text.text):
            self.report(Rule.NAMES, tokens)
            return
        remote = name == "import" and text is not None and text.text.startswith(("https://", "http://"))
        if remote or set(self.labels(given) | self.run_file(given)) & set(RUNNABLE):
            self.report(Rule.UNREAD, tokens)

    def check_bracket(self, tokens: list[Token], index: int, end: int) -> None:
        """Check `owner[name]` for a name that is built. The bracket is closed at `end`."""
        before = tokens[index - 1]
        if before.kind is NAME or before.text in (")", "]"):
            # a name of more tokens is not folded
            self.check_name(tokens, tokens[index + 1 : min(end, index + MOST_TOKENS + 2)])

    def check_name(self, tokens: list[Token], given: list[Token]) -> None:
        self.check_built(tokens, self.folded(given))

    def check_built(self, tokens: list[Token], text: Folded | None) -> None:
        if text is not None and text.built and text.text.lower() in script_facts.BUILT_NAMES:
            self.report(Rule.NAMES, tokens)

    def check_operator(self, tokens: list[Token], index: int) -> None:
        """Check the operators of PowerShell that run a command or a script: `& $name` and `. $file`."""
        if not self.powershell or index + 1 >= len(tokens):
            return
        end = closing(tokens, index + 1) if tokens[index + 1].text == "(" else index + 1
        given = tokens[index + 1 : end + 1]
        inner = given[1:-1] if given[0].text == "(" else given
        inner = inner[1:] if inner and inner[0].text.lower() in ("get-command", "gcm") else inner
        self.check_name(tokens, inner)
        if set(self.labels(given) | self.run_file(given)) & set(RUNNABLE):
            self.report(Rule.UNREAD, tokens)

    def check_write(self, tokens: list[Token], index: int, name: str, called: bool) -> None:
        given = self.argument(tokens, index, called)
        parts = split(given)
        target, rest = (parts[0], given[len(parts[0]) + 1 :]) if called else (given, given)
        if not called:
            named = [after for option, after in pairwise(given) if option.text.lower() in _TARGET_OPTIONS]
            target = named[:1] or target
        if name in _WRITERS and (labels := self.labels(rest if called else tokens[:index])):
            self.save(target, labels)
        if not self.final or (name == "write" and not called):
            return
        payload = "\n".join(token.text for token in rest if token.kind is STRING)
        payload = "\n".join([payload, *(self.texts.get(token.text.lower(), "") for token in rest)]).strip()
        for path in self.paths(target):
            if found := persistence.writes(path, payload or None):
                self.report(found[0], tokens)
            elif persistence.changes_agents(path, self.source):
                self.report(Rule.PERMISSIONS, tokens)
