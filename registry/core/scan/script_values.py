"""Values in scripts: the labels, texts and paths of names and files."""

import re
from collections.abc import Iterator

from registry.core.scan import script_facts
from registry.core.scan.labels import (
    NONE,
    Label,
    Labels,
    download_label,
    secret_path,
    secret_variable,
    variable_label,
)  # fmt: skip
from registry.core.scan.matches import TooComplex
from registry.core.scan.script_fold import Folded, fold
from registry.core.scan.script_tokens import (
    BRACKETS,
    NAME,
    NUMBER,
    SIGN,
    STRING,
    Statement,
    Token,
    closing,
    is_powershell,
)

_ASSIGNS = frozenset({"=", "+=", ".=", ":=", "-=", "?="})
_KEYWORDS = frozenset({
    "const", "let", "var", "my", "our", "local", "export", "async", "await", "static", "public", "private", "final",
    "return", "new", "of", "in", "for", "if", "default", "type", "string", "function",
})  # fmt: skip
_FILLED = re.compile(r"\$\{?\(?([A-Za-z_]\w{0,60})")
_SHORT = re.compile(r"[\w.:-]{1,16}|https?:.{0,40}", re.DOTALL)
_MOST_PATHS = 20
_COST = 60  # of looking for sources in an expression, in tokens
# Owners of functions. A method of another object may keep its arguments.
_SHARED = frozenset({
    "console", "process", "fs", "path", "os", "Math", "JSON", "axios", "http", "https", "Object", "Promise", "app",
    "fsp", "child_process", "cp", "module", "window", "document", "dns", "zlib", "crypto", "Buffer", "this", "vm",
    "exec", "io",
})  # fmt: skip
_SAVED = frozenset({"-outfile", "-destination", "-o", "--output"})
_BINDS = _SAVED | {"=>", "function", "of", "in"}


class ScriptValues:
    """The labels of a script. A name has all labels that it ever gets."""

    def __init__(self, pattern: re.Pattern[str]) -> None:
        self.pattern = pattern
        self.powershell = is_powershell(pattern)
        self.spent, self.most = 0, 0
        self.sources = True  # the statement may contain a source
        self.names: dict[str, Labels] = {}
        self.files: dict[str, Labels] = {}
        self.texts: dict[str, str] = {}
        self.built: dict[str, Folded] = {}
        self.where: dict[str, list[str]] = {}  # the paths that a name may have
        self.functions: dict[str, list[str]] = {}
        self.loaded: set[str] = set()  # names for the module that starts processes
        self.loaders: set[str] = set()  # other names for `require`
        self.network: set[str] = set()  # names for connections and requests

    def count(self) -> int:
        """Return a number that grows with each new label."""
        return sum(len(labels) for labels in self.names.values()) + len(self.files)

    def add(self, name: str, labels: Labels) -> None:
        key = name.lstrip("$@%").lower()
        if key and labels:
            self.names[key] = self.names.get(key, NONE) | labels

    def bind(self, statement: Statement) -> None:
        """Carry labels to the names that a statement assigns, returns or passes to a callback."""
        tokens = statement.tokens
        if statement.sources is None:
            self.sources = True
            self.prepare(statement)
            statement.sources = bool(self.own_labels(tokens, statement.code))
        self.sources = statement.sources
        at = _assignment(tokens)
        if at:
            self.assign(tokens[:at], tokens[at + 1 :])
        if tokens[0].text in ("return", "yield") and statement.function:
            self.add(statement.function, self.labels(tokens[1:]))
        elif len(tokens) > 4 and tokens[1].text in (".", "->") and tokens[0].text not in _SHARED:
            self.add(tokens[0].text, self.labels(tokens[2:]))
        for index in statement.marks:
            token = tokens[index]
            text = token.text.lower()
            if text == "=>":
                self.callback(tokens, index, _parameters(tokens, index))
            elif text == "function" and token.text == "function":
                self.define(tokens, index)
            elif text in ("of", "in") and index > 1 and any(each.text.startswith("for") for each in tokens[:2]):
                self.loop(tokens, index)
            elif text in _SAVED and index + 1 < len(tokens) and script_facts.FETCHES.search(statement.code):
                self.save(tokens[index + 1 : index + 2], self.labels(tokens[:index]) | {self.download(tokens)})
            elif text.startswith("downloadfile") and index + 1 < len(tokens):
                given = tokens[index + 2 : closing(tokens, index + 1)]
                comma = next((each for each, part in enumerate(given) if part.text == ","), len(given))
                self.save(given[comma + 1 :], frozenset({self.download(tokens)}))

    def prepare(self, statement: Statement) -> None:
        """Find the tokens of a statement that matter, and its code."""
        statement.code = self.code(statement.tokens)
        statement.sends = script_facts.SENDS.search(statement.code) is not None
        before = "|"
        for index, token in enumerate(statement.tokens):
            text = token.text.lower()
            if text in _BINDS or text.startswith("downloadfile"):
                statement.marks.append(index)
            if token.kind is NAME or text == "[" or (text in ("&", ".") and before in ("|", "=", "(")):
                statement.calls.append((index, text))
            before = token.text

    def download(self, tokens: list[Token]) -> str:
        words = [token.text for token in tokens if token.kind is not SIGN]
        return download_label(" ".join([*words, *self.paths(tokens)]))

    def assign(self, left: list[Token], right: list[Token]) -> None:
        names = [token.text for token in left if token.kind is NAME and token.text.lower() not in _KEYWORDS]
        if not names or not right:
            return
        several = any(token.text in ("{", "[", ",") for token in left[:3])
        labels, code = self.labels(right), self.code(right)
        for name in names if several else names[:1]:
            self.add(name, labels)
        key = names[0].lstrip("$@%").lower()
        strings = [token.text for token in right if token.kind is STRING]
        if any(text.endswith("child_process") for text in strings):
            self.loaded |= {name.lower() for name in names}
        if "createRequire(" in code:
            self.loaders.add(key)
        if script_facts.FETCHES.search(code) or script_facts.SOCKETS.search(code):
            self.network.add(key)
        if len(names) == 1:
            if (text := fold(right, self.texts)) is not None:
                self.texts.setdefault(key, text.text)
                if text.built:
                    self.built.setdefault(key, text)
            if found := list(self.paths(right)):
                self.where.setdefault(key, found)
        if right[-1].text == "=>":
            self.functions.setdefault(key, _parameters(right, len(right) - 1))

    def callback(self, tokens: list[Token], index: int, parameters: list[str]) -> None:
        at = _assignment(tokens)
        start = index - 1 - (2 * len(parameters) if parameters else 1)
        labels = self.labels(tokens[at + 1 if at else 0 : max(0, start)])
        for name in parameters:
            self.add(name, labels)

    def define(self, tokens: list[Token], index: int) -> None:
        opens = next((at for at in range(index, len(tokens)) if tokens[at].text == "("), None)
        if opens is None:
            return
        names = [token.text for token in tokens[opens + 1 : closing(tokens, opens)] if token.kind is NAME]
        if opens > index + 1:
            self.functions.setdefault(tokens[index + 1].text.lower(), names)
        elif index:
            labels = self.labels(tokens[:index])
            for name in names:
                self.add(name, labels)

    def loop(self, tokens: list[Token], index: int) -> None:
        given = tokens[index + 1 :]
        names = [token.text for token in tokens[1:index] if token.kind is NAME and token.text not in _KEYWORDS]
        for name in names:
            self.add(name, self.labels(given))
            self.where.setdefault(name.lstrip("$@%").lower(), list(self.paths(given)))

    def save(self, target: list[Token], labels: Labels) -> None:
        """Give labels to a file, by its path and by the name that contains the path."""
        for token in target[:10]:
            if token.kind is STRING or (token.kind is NAME and "\\" in token.text):
                self.files[token.text] = labels
                self.files[re.split(r"[/\\]", token.text)[-1]] = labels
            elif token.kind is NAME and token.text[:1] != "-":
                self.add(token.text, labels)
                for path in self.where.get(token.text.lstrip("$@%").lower(), [])[:3]:
                    self.files[path] = labels

    def folded(self, tokens: list[Token]) -> Folded | None:
        """Return the constant text of an expression, and whether it is put together from pieces."""
        if len(tokens) == 1 and tokens[0].kind is NAME:
            key = tokens[0].text.lstrip("$@%").lower()
            if key in self.built:
                return self.built[key]
        return fold(tokens, self.texts)

    def code(self, tokens: list[Token]) -> str:
        """Return the text of tokens. Long strings are left out."""
        return render(tokens)

    def labels(self, tokens: list[Token], *, paths: bool = True) -> Labels:
        """Return the labels of an expression."""
        if not tokens:
            return NONE
        labels: set[str] = set()
        self.spend(len(tokens))
        if self.sources:
            labels |= self.own_labels(tokens)
        for token in tokens:
            if token.kind is NAME:
                labels |= self.names.get(token.text.lstrip("$@%").lower(), NONE)
            elif token.kind is STRING:
                if token.filled and "$" in token.text:
                    for name in _FILLED.findall(token.text):
                        labels |= self.names.get(name.lower(), NONE)
                if paths:
                    labels |= self.files.get(token.text, NONE)
        return frozenset(labels)

    def spend(self, units: int) -> None:
        self.spent += units
        if self.spent > self.most:
            raise TooComplex

    def own_labels(self, tokens: list[Token], code: str = "") -> set[str]:
        """Return the labels of what an expression itself downloads, decodes or reads."""
        self.spend(_COST)
        labels: set[str] = set()
        code = code or render(tokens)
        if script_facts.FETCHES.search(code):
            labels.add(self.download(tokens))
        if script_facts.SOCKETS.search(code):
            labels.add(Label.SOCKET)
        if script_facts.DECODES.search(code):
            labels.add(Label.DECODED)
        texts = [token.text for token in _strings(tokens)]
        texts += [self.path(tokens)] if texts else []
        if script_facts.ALL_VARIABLES.search(code) or any(secret_path(text) for text in texts if text):
            labels.add(Label.SECRET)
        for match in script_facts.ONE_VARIABLE.finditer(code):
            name = next(group for group in match.groups() if group)
            if secret_variable(name):
                labels.add(variable_label(name))
        return labels

    def is_sent(self, tokens: list[Token]) -> bool:
        """Check if a method of a connection or a request is called with something."""
        methods = ("write", "send", "end", "emit", "post", "put")
        return tokens[0].text.lstrip("$").lower() in self.network and any(each.text in methods for each in tokens[1:6])

    def path(self, tokens: list[Token]) -> str:
        """Return the strings of an expression as one path, below the home folder if it uses one."""
        parts = [token.text.strip("/") if index else token.text for index, token in enumerate(_strings(tokens))]
        joined = "/".join(part for part in parts if part)[:1_000]
        if not joined:
            return ""
        home = script_facts.HOME.search(render(tokens)) is not None and not joined.startswith(("~", "/"))
        return f"~/{joined}" if home else joined

    def paths(self, tokens: list[Token]) -> Iterator[str]:
        """Yield the paths that an expression may have."""
        own = self.path(tokens)
        if own:
            yield own
        count = 0
        for token in tokens[:60]:
            for path in self.where.get(token.text.lstrip("$@%").lower(), ()) if token.kind is NAME else ():
                count += 1
                if count > _MOST_PATHS:
                    return
                yield f"{path}/{own}" if own else path
        if self.powershell and any(token.text.upper() == "$PROFILE" for token in tokens):
            yield "$PROFILE"


def _strings(tokens: list[Token]) -> list[Token]:
    return [token for token in tokens if token.kind is STRING and len(token.text) < 300][:40]


def render(tokens: list[Token]) -> str:
    """Return tokens as code. Strings are cut out unless they are short."""
    parts: list[str] = []
    before = False
    for token in tokens:
        word = token.kind is NAME or token.kind is NUMBER
        if word and before:
            parts.append(" ")
        if token.kind is STRING:
            short = _SHORT.fullmatch(token.text)
            parts.append(f'"{token.text[:40]}"' if short else '"http"' if token.text.startswith("http") else '""')
        else:
            parts.append(token.text)
        before = word
    return "".join(parts)


def root(tokens: list[Token], index: int) -> str:
    """Return the first name of `a.b.c` that ends at the index."""
    while index > 1 and tokens[index - 1].text in (".", "?.", "::") and tokens[index - 2].kind is NAME:
        index -= 2
    return tokens[index].text


def _assignment(tokens: list[Token]) -> int:
    """Return the index of the assignment sign outside brackets, or 0."""
    depth = 0
    for at, token in enumerate(tokens[:60]):
        if token.kind is SIGN:
            depth += BRACKETS.get(token.text, 0)
            if token.text in _ASSIGNS and not depth:
                return at
    return 0


def _parameters(tokens: list[Token], index: int) -> list[str]:
    """Return the names before `=>`."""
    if index and tokens[index - 1].kind is NAME:
        return [tokens[index - 1].text]
    names: list[str] = []
    for at in range(index - 2, max(-1, index - 30), -1):
        if tokens[at].text == "(":
            break
        if tokens[at].kind is NAME:
            names.append(tokens[at].text)
    return names
