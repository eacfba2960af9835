"""Data flow through Python code: names keep the labels of what they were assigned, and sinks are checked for them.

The order of statements and the branches taken are not considered, so a name has all labels that it ever gets.
"""

import ast
import re
import warnings
from collections.abc import Collection

from registry.core.scan import python_calls
from registry.core.scan.labels import (
    NONE,
    RUNNABLE,
    Label,
    Labels,
    download_label,
    leaves,
)  # fmt: skip
from registry.core.scan.matches import Match, Rule, TooComplex
from registry.core.scan.persistence import unit_name, writes
from registry.core.scan.python_names import CALLS, DANGEROUS
from registry.core.scan.python_values import Nested, Values

MOST_CHARS = 150_000
_MOST_BRACKETS = 60  # open at once; deeper nesting exhausts the stack of the parser
_MOST_NODES = 60_000
_PASSES = 3
_PROCESSES = ("system", "popen", "exec", "Popen", "run", "call", "check_output")
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


class _Code(Values):
    def run(self) -> None:
        for node in self.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                self.functions[node.name] = node
        for number in range(_PASSES):
            self.final = number == _PASSES - 1
            for node in self.nodes:
                self.statement(node)
        self.remote_shell()

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
            if set(labels) & set(RUNNABLE):
                self.report(Rule.REMOTE_SHELL if Label.SOCKET in labels else Rule.UNREAD, node)
            if name in python_calls.SHELL_RUNS:
                self.shell(node)
        self.check_send(node, name, labels)
        self.check_names(node, name)
        self.check_load(node, name, labels)
        self.check_write(node, name)

    def pass_on(self, node: ast.Call, name: str, labels: Labels) -> None:
        """Carry labels into objects, files and parameters."""
        if isinstance(node.func, ast.Attribute) and labels and name.split(".")[0] not in self.names.modules:
            self.add(self.key(node.func.value), labels)
            if node.func.attr in ("write", "write_bytes", "write_text", "writelines"):
                self.bind_path(node.func.value, labels)
        if name.endswith("urlretrieve") and len(node.args) > 1:
            self.bind_path(node.args[1], frozenset({download_label(self.text_of(node))}))
        if name in python_calls.SERVERS and node.args:
            handler = self.functions.get(self.names.dotted(node.args[0]))
            self.add(handler.args.args[0].arg if handler and handler.args.args else "", frozenset({Label.SOCKET}))
        function = self.functions.get(name)
        if function is not None:
            for parameter, value in zip(function.args.args, node.args, strict=False):
                self.add(parameter.arg, self.of(value))
            for keyword in node.keywords:
                self.add(keyword.arg or "", self.of(keyword.value))

    def check_send(self, node: ast.Call, name: str, labels: Labels) -> None:
        method = isinstance(node.func, ast.Attribute) and node.func.attr in python_calls.SEND_METHODS
        if python_calls.SENDS.search(name) or method:
            own = self.of(node.func.value) if isinstance(node.func, ast.Attribute) else NONE
            if leaves(labels | (own & {Label.SECRET}), self.text_of(node)) and self.is_network(name):
                self.report(Rule.SECRET_SENT, node)

    def is_network(self, name: str) -> bool:
        return bool(python_calls.NETWORK & self.names.modules) or name.startswith("urllib")

    def check_names(self, node: ast.Call, name: str) -> None:
        imports = name in ("__import__", "importlib.import_module", "builtins.__import__")
        if imports and node.args and self.names.is_built(node.args[0]):
            self.report(Rule.NAMES, node)
        if name == "getattr" and len(node.args) >= 2:
            owner, attribute = self.names.dotted(node.args[0]), node.args[1]
            text = self.names.fold(attribute)
            if owner in ("builtins", "__builtins__", "__builtin__"):
                if not isinstance(attribute, ast.Constant) or text in ("exec", "eval", "compile", "__import__"):
                    self.report(Rule.NAMES, node)
                return
            built = self.names.is_built(attribute) and (text is None or text in DANGEROUS)
            if built or (owner in ("os", "subprocess") and text in _PROCESSES):
                self.report(Rule.NAMES, node)

    def built_subscript(self, node: ast.Subscript) -> None:
        owner = (
            ast.unparse(node.value)[:200]
            if isinstance(node.value, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
            else ""
        )
        if self.names.is_built(node.slice) and self.names.fold(node.slice) in CALLS:
            self.report(Rule.NAMES, node)
        if not re.search(r"__builtins__|globals\(\)|locals\(\)|vars\(|__dict__|sys\.modules", owner):
            return
        text = self.names.fold(node.slice)
        if self.names.is_built(node.slice) or (
            text in ("exec", "eval", "__import__", "compile") and "builtins" in owner
        ):
            self.report(Rule.NAMES, node)

    def check_load(self, node: ast.Call, name: str, labels: Labels) -> None:
        if name in ("yaml.load", "yaml.load_all", "yaml.full_load_all"):
            loader = [*(k.value for k in node.keywords if k.arg == "Loader"), *node.args[1:2]]
            if not loader or not python_calls.SAFE_LOADERS.search(self.names.dotted(loader[0])):
                self.report(Rule.DESERIALISES, node)
        elif python_calls.LOADS.search(name):
            outside = set(labels) & set(RUNNABLE) or "http" in self.text_of(node)
            data_only = re.match(r"(?:shelve|pandas|joblib|torch)\.", name)
            if outside or (not data_only and not (self.dumps and not name.startswith("marshal"))):
                self.report(Rule.DESERIALISES, node)

    def check_write(self, node: ast.Call, name: str) -> None:
        target: ast.AST | None = None
        if (
            name in ("open", "io.open")
            and len(node.args) > 1
            and re.match(r"[wax]", self.names.fold(node.args[1]) or "")
        ):
            target = node.args[0]
        elif isinstance(node.func, ast.Attribute) and node.func.attr in (
            "write_text",
            "write_bytes",
            "open",
            "symlink_to",
        ):
            mode = self.names.fold(node.args[0]) if node.args and node.func.attr == "open" else "w"
            target = node.func.value if re.match(r"[wax]", mode or "r") else None
        elif name in (
            "shutil.copy",
            "shutil.copy2",
            "shutil.copyfile",
            "shutil.move",
            "os.symlink",
            "os.rename",
            "os.replace",
        ):
            target = node.args[1] if len(node.args) > 1 else None
        if target is None:
            return
        for text in self.paths_of(target):
            payload = (
                self.names.fold(node.args[0]) if node.args and name.endswith("write_text") else self.longest
            )  # probably what it writes
            if found := writes(text, payload):
                self.report(found[0], node)
            elif self.enables and unit_name(text):
                self.report(Rule.PERSISTS, node)

    def install_hook(self, node: ast.ClassDef) -> None:
        if not any(python_calls.INSTALL_BASES.search(self.names.dotted(each)) for each in node.bases):
            return
        if not self.names.modules & {"setuptools", "distutils"}:
            return
        for each in ast.walk(node):
            if isinstance(each, ast.Call):
                name = self.names.dotted(each.func)
                if name in python_calls.RUNS or python_calls.DOWNLOADS.search(name) or python_calls.SENDS.search(name):
                    self.report(Rule.PERSISTS, each)

    def remote_shell(self) -> None:
        """Report a socket whose descriptor replaces those of a shell."""
        if "socket" not in self.names.modules:
            return
        for node in self.nodes:
            if isinstance(node, ast.Call):
                name = self.names.dotted(node.func)
                descriptors = name == "os.dup2" or (name in python_calls.SHELL_RUNS and "fileno" in ast.dump(node))
                if descriptors or (name == "pty.spawn" and "connect" in "".join(self.lines)):
                    self.report(Rule.REMOTE_SHELL, node)
