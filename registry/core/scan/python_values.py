"""Values in Python code: the labels of names, files and expressions."""

import ast
import re
from collections.abc import Callable, Collection, Iterator
from itertools import islice

from registry.core.scan import python_calls, shell_lexer
from registry.core.scan.labels import (
    NONE,
    RUNNABLE,
    Label,
    Labels,
    download_label,
    secret_path,
    secret_variable,
    variable_label,
)  # fmt: skip
from registry.core.scan.matches import Match, Rule, TooComplex
from registry.core.scan.persistence import enables_services
from registry.core.scan.python_names import Names
from registry.core.scan.shell_flow import Flow

_DEPTH = 60
_LATEST = 20  # files that one command writes
_MOST_NODES = 400  # of the expression of a path
_MOST_PATHS = 20  # that one expression may name
_DATA_FILE = re.compile(
    r"[\w./@ -]{0,120}\.(?:txt|dat|data|bin|json|jsonl|md|csv|tsv|log|cfg|ini|ya?ml|toml|xml|svg|png|jpe?g|gif|ico"
    r"|woff2?|lock|cache|db|tmpl|html|css|po|mo|b64|hex|gz)"
)

Nested = Callable[[str, str, int], Iterator[Match]]


class Values:
    """The labels of a module. A name has all labels that it ever gets, whatever the order of the statements."""

    def __init__(
        self, tree: ast.Module, text: str, first_line: int, files: Collection[str], nested: Nested | None
    ) -> None:
        self.tree, self.lines, self.first = tree, text.split("\n"), first_line
        self.files, self.nested = files, nested
        self.source = text
        self.enables = enables_services(text)  # the program enables or starts a service
        self.names = Names(tree)
        self.labels: dict[str, Labels] = {}
        self.functions: dict[str, ast.FunctionDef | ast.AsyncFunctionDef] = {}
        self.matches: list[Match] = []
        self.final = False
        self.reported: set[tuple[int, Rule]] = set()
        self.nodes = list(ast.walk(tree))
        self.dumps = any(isinstance(n, ast.Attribute) and n.attr in ("dump", "dumps") for n in self.nodes)
        self.opened: dict[str, list[ast.expr]] = {}  # by the name that `with` gives it
        self.assigned: dict[str, list[ast.expr]] = {}
        self.longest = ""
        self.flow = Flow(files, nested)  # one for all commands, because a file of one may be run by another
        self.placeholders: dict[str, str] = {}
        self.parts: dict[str, ast.expr] = {}  # by their placeholder
        self.path_texts: dict[ast.AST, str] = {}
        self.index()

    def index(self) -> None:
        for node in self.nodes:
            if isinstance(node, ast.withitem) and node.optional_vars is not None:
                self.opened.setdefault(self.key(node.optional_vars), []).append(node.context_expr)
            elif isinstance(node, ast.Assign):
                for target in node.targets:
                    self.assigned.setdefault(self.key(target), []).append(node.value)
            elif isinstance(node, ast.For | ast.comprehension):
                self.assigned.setdefault(self.key(node.target), []).append(node.iter)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) > len(self.longest):
                self.longest = node.value

    def bind(self, targets: list[ast.expr], labels: Labels) -> None:
        for target in targets:
            if isinstance(target, ast.Tuple | ast.List):
                self.bind(target.elts, labels)
            elif isinstance(target, ast.Starred | ast.Subscript):
                self.bind([target.value], labels)
            else:
                self.add(self.key(target), labels)

    def add(self, key: str, labels: Labels) -> None:
        if key and labels:
            self.labels[key] = self.labels.get(key, NONE) | labels

    def key(self, node: ast.expr) -> str:
        if isinstance(node, ast.Name):
            return node.id
        if isinstance(node, ast.Attribute):
            return f"{self.key(node.value)}.{node.attr}"
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            return f"file:{node.value}"
        return ""

    def of(self, node: ast.AST | None, depth: int = 0) -> Labels:
        """Return the labels of an expression."""
        if node is None or depth > _DEPTH:
            return NONE
        if isinstance(node, ast.Constant):
            text = node.value if isinstance(node.value, str) else ""
            found = self.labels.get(f"file:{text}", NONE)
            if text and len(text) < 500 and _is_path(text):
                found |= {Label.SECRET} if secret_path(text) else NONE
                found |= {Label.DATA} if _DATA_FILE.fullmatch(text) else NONE
            return found
        if isinstance(node, ast.Name):
            return self.labels.get(node.id, NONE)
        if isinstance(node, ast.Attribute):
            if self.names.dotted(node) in python_calls.ALL_VARIABLES:
                return frozenset({Label.SECRET})
            return self.labels.get(self.key(node), NONE) | self.of(node.value, depth + 1)
        if isinstance(node, ast.Subscript) and self.names.dotted(node.value) == "os.environ":
            return self.variable(node.slice)
        if isinstance(node, ast.Compare | ast.Lambda):
            return self.of(node.body, depth + 1) if isinstance(node, ast.Lambda) else NONE
        if isinstance(node, ast.Call):
            return self.result(node, depth)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and secret_path(self.path_text(node)):
            return frozenset({Label.SECRET})
        if (isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitXor)) or _is_reversed(node):
            inner = (self.of(child, depth + 1) for child in ast.iter_child_nodes(node))
            return frozenset({Label.BUILT}).union(*inner)
        return frozenset().union(*(self.of(child, depth + 1) for child in ast.iter_child_nodes(node)))

    def variable(self, node: ast.expr) -> Labels:
        name = self.names.fold(node) or ""
        return frozenset({variable_label(name)}) if secret_variable(name) else NONE

    def result(self, node: ast.Call, depth: int) -> Labels:
        name = self.names.dotted(node.func)
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        if name in ("os.environ.get", "os.getenv", "os.environ.pop", "os.environ.setdefault") and node.args:
            return self.variable(node.args[0])
        if name in python_calls.PLAIN:
            return NONE
        if name in ("compile", "builtins.compile") and node.args:
            return self.of(node.args[0], depth + 1)
        labels = set().union(*(self.of(each, depth + 1) for each in given)) if given else set()
        if isinstance(node.func, ast.Attribute):
            if node.func.attr in python_calls.PLAIN_METHODS:
                return NONE
            labels |= self.of(node.func.value, depth + 1)
            if node.func.attr == "json":
                return _structured(labels)
            if node.func.attr in self.functions and self.root(node.func) not in self.names.imported:
                labels |= self.labels.get(f"{node.func.attr}()", NONE)
            if node.func.attr in ("recv", "recvfrom") and "socket" in self.names.modules:
                labels.add(Label.SOCKET)
        if python_calls.DOWNLOADS.search(name):
            labels = {download_label(self.text_of(node))}
        elif python_calls.CONNECTIONS.search(name):
            labels = {Label.SOCKET}
        elif python_calls.DECODES.search(name):
            labels.add(Label.DECODED)
        elif python_calls.SECRET_STORES.search(name):
            labels.add(Label.SECRET)
        elif name == "json.loads" or name == "json.load":
            return _structured(labels)
        elif python_calls.BUILDS.search(name) and (_builds(node, name) or self.is_table(node)):
            labels.add(Label.BUILT)
        elif name in ("os.path.expanduser", "os.path.join", "pathlib.Path", "Path", "open", "io.open"):
            labels |= {Label.SECRET} if secret_path(self.path_text(node)) else set()
        elif name in python_calls.SHELL_RUNS:
            return self.shell(node)
        if isinstance(node.func, ast.Name):
            labels |= self.labels.get(f"{node.func.id}()", NONE)
        return frozenset(labels)

    def is_table(self, node: ast.Call) -> bool:
        """Check if the only argument is a list of numbers."""
        given = node.args[0] if len(node.args) == 1 else None
        values = self.names.lists.get(given.id, []) if isinstance(given, ast.Name) else []
        return bool(values) and all(isinstance(each, ast.Constant) and isinstance(each.value, int) for each in values)

    def path_text(self, node: ast.AST) -> str:
        """Return the constant parts of a path, joined as a path below the home folder if it uses one."""
        if node not in self.path_texts:
            self.path_texts[node] = self._path_text(node)
        return self.path_texts[node]

    def _path_text(self, node: ast.AST) -> str:
        nodes = list(islice(ast.walk(node), _MOST_NODES))
        places = [each for each in nodes if isinstance(each, ast.Constant | ast.Name)]
        places.sort(key=lambda each: (each.lineno, each.col_offset))
        values = [self.names.texts.get(each.id, "") if isinstance(each, ast.Name) else each.value for each in places]
        parts = [value for value in values if isinstance(value, str)]
        home = any(isinstance(each, ast.Attribute) and each.attr in ("home", "expanduser") for each in nodes)
        joined = "/".join(part.strip("/") if index else part for index, part in enumerate(parts) if part)[:1_000]
        return f"~/{joined.lstrip('/')}" if home and not joined.startswith(("~", "/")) else joined

    def text_of(self, node: ast.AST) -> str:
        """Return all texts of a call, with constants in place of their names."""
        texts = []
        for each in ast.walk(node):
            if isinstance(each, ast.Constant) and isinstance(each.value, str):
                texts.append(each.value)
            elif isinstance(each, ast.Name) and each.id in self.names.texts:
                texts.append(self.names.texts[each.id])
        return " ".join(texts)[:20_000]

    def bind_path(self, node: ast.expr, labels: Labels) -> None:
        for each in ast.walk(node):
            if isinstance(each, ast.Name | ast.Constant):
                self.add(self.key(each), labels)
        if isinstance(node, ast.Name):  # the file object of `with open(path) as file`
            for opened in self.opened.get(node.id, ())[:20]:
                for each in ast.walk(opened):
                    if isinstance(each, ast.Name | ast.Constant):
                        self.add(self.key(each), labels)

    def paths_of(self, node: ast.AST) -> Iterator[str]:
        """Yield the path of an expression, and those that its names were assigned, also in a loop."""
        found, seen = [node], set[str]()
        for each in found:
            yield self.path_text(each)
            if isinstance(each, ast.List | ast.Tuple | ast.Set):
                yield from (self.path_text(element) for element in each.elts[:_MOST_PATHS])
            if len(found) >= _MOST_PATHS:
                continue
            used = {name.id for name in islice(ast.walk(each), _MOST_NODES) if isinstance(name, ast.Name)} - seen
            seen |= used
            for name in sorted(used):
                found += self.assigned.get(name, [])[: max(0, _MOST_PATHS - len(found))]

    def root(self, node: ast.expr) -> str:
        """Return the first name of `a.b().c`."""
        for _ in range(_DEPTH):
            if isinstance(node, ast.Attribute | ast.Subscript):
                node = node.value
            elif isinstance(node, ast.Call):
                node = node.func
        return node.id if isinstance(node, ast.Name) else ""

    def shell(self, node: ast.Call) -> Labels:
        """Scan the command of a call as shell, with the labels of its values."""
        flow = self.flow
        flow.matches = []
        given = node.args[0] if node.args else next((each.value for each in node.keywords if each.arg == "args"), None)
        if given is None:
            return NONE
        line = node.lineno + self.first - 1
        try:
            output = flow.run(self.command(given, flow, line))
        except TooComplex:
            return NONE
        for match in flow.matches:
            self.report(match.rule, node)
        for path in list(islice(reversed(flow.files), _LATEST)):
            if path in self.parts:
                self.bind_path(self.parts[path], flow.files[path])
            else:
                self.add(f"file:{path}", flow.files[path])
        return output

    def command(self, node: ast.expr, flow: Flow, line: int) -> list[shell_lexer.Command]:
        if isinstance(node, ast.List | ast.Tuple):
            words = [shell_lexer.Word(self.placeholder(each, flow), quoted=True) for each in node.elts[:200]]
            source = self.lines[line - self.first].strip() if 0 <= line - self.first < len(self.lines) else ""
            return [shell_lexer.Command(line, words, source=source)]
        return shell_lexer.commands(self.placeholder(node, flow), line=line)

    def placeholder(self, node: ast.expr, flow: Flow) -> str:
        """Return the text of an expression, with a variable in place of each part that is not constant."""
        text = self.names.fold(node)
        if text is not None:
            if labels := self.labels.get(f"file:{text}"):
                flow.files[text] = labels
            return text
        if isinstance(node, ast.JoinedStr):
            return "".join(
                self.placeholder(v.value if isinstance(v, ast.FormattedValue) else v, flow) for v in node.values
            )
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self.placeholder(node.left, flow) + self.placeholder(node.right, flow)
        if self.names.dotted(node) == "sys.executable":
            return "python"
        inner = (
            node.args[0] if isinstance(node, ast.Call) and node.args and self.names.dotted(node.func) == "str" else node
        )
        name = self.placeholders.setdefault(ast.dump(inner), f"part{len(self.placeholders)}")
        flow.variables[name] = self.of(inner)
        self.parts[f"${{{name}}}"] = inner
        return f"${{{name}}}"

    def report(self, rule: Rule, node: ast.AST) -> None:
        raise NotImplementedError


def _is_path(text: str) -> bool:
    return "/" in text or "\\" in text or text.startswith(".") or "_" in text or "." in text


def _is_reversed(node: ast.AST) -> bool:
    """Check for `text[::-1]`."""
    part = node.slice if isinstance(node, ast.Subscript) else None
    return isinstance(part, ast.Slice) and part.lower is None and isinstance(part.step, ast.UnaryOp)


def _structured(labels: Collection[str]) -> Labels:
    """Return the labels of a value in a JSON document with these labels."""
    outside = {Label.ANSWER} if set(labels) & set(RUNNABLE) else set()
    return frozenset(labels) - set(RUNNABLE) | outside


def _builds(node: ast.Call, name: str) -> bool:
    """Check if a call turns numbers into text, or letters into other ones."""
    first = node.args[0] if node.args else None
    if name in ("bytes", "bytearray"):
        return len(node.args) == 1 and isinstance(first, ast.List | ast.Tuple | ast.GeneratorExp | ast.ListComp)
    if name == "map":
        return isinstance(first, ast.Name) and first.id == "chr"
    return name != "chr" or not isinstance(first, ast.Constant)
