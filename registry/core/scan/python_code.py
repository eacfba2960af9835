"""Data flow through Python code: names keep the labels of what they were assigned, and sinks are checked for them.

The order of statements and the branches taken are not considered, so a name has all labels that it ever gets.
"""

import ast
import re
import warnings
from collections.abc import Collection

from registry.core.scan import python_calls
from registry.core.scan.labels import (
    AS_CODE,
    AS_COMMAND,
    NONE,
    RUNNABLE,
    Label,
    Labels,
    download_label,
    leaves,
)  # fmt: skip
from registry.core.scan.matches import Match, Rule, TooComplex
from registry.core.scan.python_checks import Checks
from registry.core.scan.python_values import Nested

MOST_CHARS = 150_000
_MOST_BRACKETS = 60  # open at once; deeper nesting exhausts the stack of the parser
_MOST_NODES = 60_000
_PASSES = 3
_BRACKETS = re.compile(r"[\[({]|[\])}]|(?m:^[ \t]{400})|(?:[-+~!]|not |lambda:|await ){60}|\\\n")


def parse(text: str) -> ast.Module:
    """Return the tree. Raise TooComplex for code that is too large or nested too deep, SyntaxError for other text."""
    if len(text) > MOST_CHARS:
        raise TooComplex
    depth = 0
    for match in _BRACKETS.finditer(text):
        depth += 1 if match[0] in "[({" else -1 if match[0] in "])}" and depth else 0
        if depth > _MOST_BRACKETS or len(match[0]) > 2:
            raise TooComplex
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (RecursionError, MemoryError, ValueError) as error:
        if isinstance(error, SyntaxError):
            raise
        raise TooComplex from error


def find(text: str, *, first_line: int = 1, files: Collection[str] = (), nested: Nested | None = None) -> list[Match]:
    """Return the matches of Python code. Raise SyntaxError or TooComplex if it cannot be parsed."""
    tree = parse(text)
    if sum(1 for _ in ast.walk(tree)) > _MOST_NODES:
        raise TooComplex
    code = _Code(tree, text, first_line, files, nested)
    try:
        code.run()
    except RecursionError as error:
        raise TooComplex from error
    return code.matches


class _Code(Checks):
    def run(self) -> None:
        for node in self.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self.functions[node.name] = node
        for number in range(_PASSES):
            self.final = number == _PASSES - 1
            for node in self.nodes:
                self.statement(node)
        self.remote_shell()
        self.downloaded_modules()

    def report(self, rule: Rule, node: ast.AST) -> None:
        line = getattr(node, "lineno", 1)
        if self.final and (line, rule) not in self.reported:
            self.reported.add((line, rule))
            self.matches.append(Match(line + self.first - 1, rule, self.lines[line - 1].strip()[:160]))

    def statement(self, node: ast.AST) -> None:
        if isinstance(node, ast.Assign):
            self.bind(node.targets, self.of(node.value))
        elif isinstance(node, ast.AnnAssign | ast.AugAssign | ast.NamedExpr):
            self.bind([node.target], self.of(node.value))
        elif isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            self.bind([node.target], self.of(node.iter))
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            self.bind([node.optional_vars], self.of(node.context_expr))
        elif isinstance(node, ast.Call):
            self.call(node)
        elif isinstance(node, ast.ClassDef) and self.final:
            self.install_hook(node)
        elif isinstance(node, ast.Subscript) and self.final:
            self.built_subscript(node)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = (ast.Return, ast.Yield, ast.YieldFrom)
            returned = [each.value for each in ast.walk(node) if isinstance(each, given) and each.value]
            for value in returned[:50]:
                self.add(f"{node.name}()", self.of(value))

    def call(self, node: ast.Call) -> None:
        name = self.names.dotted(node.func)
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        labels: Labels = frozenset().union(*(self.of(each) for each in given)) if given else NONE
        self.pass_on(node, name, labels)
        if name in python_calls.RUNS or (isinstance(node.func, ast.Call) and self.of(node.func)):
            self.check_run(node, name, labels)
        self.check_input(node, labels)
        self.check_send(node, name, labels)
        self.check_names(node, name)
        self.check_load(node, name, labels)
        self.check_write(node, name)

    def check_run(self, node: ast.Call, name: str, labels: Labels) -> None:
        first = node.args[0] if node.args else None
        harmful: tuple[str, ...] = RUNNABLE
        if name in python_calls.CODE_RUNS:
            harmful, labels = AS_CODE, self.of(first)
            if first is not None and self.names.is_built(first):
                self.report(Rule.UNREAD, node)
        elif name in python_calls.TEXT_RUNS or any(each.arg == "shell" for each in node.keywords):
            harmful = AS_COMMAND
        elif any(each.arg == "input" for each in node.keywords) and not self.is_interpreter(first):
            labels = frozenset().union(*(self.of(each) for each in node.args))
        if set(labels) & set(harmful):
            self.report(Rule.REMOTE_SHELL if Label.SOCKET in labels else Rule.UNREAD, node)
        if name in python_calls.SHELL_RUNS:
            self.shell(node)

    def pass_on(self, node: ast.Call, name: str, labels: Labels) -> None:
        """Carry labels into objects, files and parameters."""
        if isinstance(node.func, ast.Attribute) and labels and self.root(node.func) not in self.names.imported:
            self.add(self.key(node.func.value), labels)
            if node.func.attr in ("write", "write_bytes", "write_text", "writelines"):
                self.bind_path(node.func.value, labels)
        if name.endswith("urlretrieve") and len(node.args) > 1:
            self.bind_path(node.args[1], frozenset({download_label(self.text_of(node))}))
        if name in python_calls.SERVERS and node.args:
            handler = self.functions.get(self.names.dotted(node.args[0]))
            self.add(handler.args.args[0].arg if handler and handler.args.args else "", frozenset({Label.SOCKET}))
        method = isinstance(node.func, ast.Attribute) and self.root(node.func) not in self.names.imported
        function = self.functions.get(node.func.attr if method and isinstance(node.func, ast.Attribute) else name)
        if function is not None:
            self.pass_arguments(node, function.args)

    def pass_arguments(self, node: ast.Call, taken: ast.arguments) -> None:
        named = taken.args[1:] if taken.args and taken.args[0].arg in ("self", "cls") else taken.args
        for parameter, value in zip(named, node.args, strict=False):
            self.add(parameter.arg, self.of(value))
        rest = taken.vararg.arg if taken.vararg else ""
        for value in node.args[len(named) :]:
            self.add(rest, self.of(value))
        known = {each.arg for each in (*taken.args, *taken.kwonlyargs)}
        others = taken.kwarg.arg if taken.kwarg else ""
        for keyword in node.keywords:
            self.add((keyword.arg if keyword.arg in known else others) or "", self.of(keyword.value))

    def check_send(self, node: ast.Call, name: str, labels: Labels) -> None:
        method = isinstance(node.func, ast.Attribute) and node.func.attr in python_calls.SEND_METHODS
        if python_calls.SENDS.search(name) or method:
            own = self.of(node.func.value) if isinstance(node.func, ast.Attribute) else NONE
            if leaves(labels | (own & {Label.SECRET}), self.text_of(node)) and self.is_network(name):
                self.report(Rule.SECRET_SENT, node)

    def is_network(self, name: str) -> bool:
        return bool(python_calls.NETWORK & self.names.modules) or name.startswith("urllib")
