"""Names and constant texts in Python code: imports, dotted names, and texts that are put together from pieces."""

import ast
import base64
import binascii
import codecs
from collections.abc import Callable

_MOST_CHARS = 20_000
_MOST_CALLS = 200  # of functions of the module whose result is folded
_DEPTH = 25
CALLS = frozenset({"exec", "eval", "compile", "__import__", "system", "popen", "Popen", "check_output", "execve"})
ALIASED = frozenset({"exec", "eval", "compile", "__import__", "getattr", "globals", "vars"})
DANGEROUS = frozenset({
    "exec", "eval", "compile", "__import__", "system", "popen", "execv", "execve", "spawn", "os", "subprocess",
    "builtins", "socket", "pty", "ctypes", "marshal", "pickle", "Popen", "call", "run", "check_output", "urlopen",
    "import_module", "open", "getattr", "shutil", "requests", "urllib", "base64",
})  # fmt: skip
_DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "base64.b64decode": base64.b64decode, "base64.b32decode": base64.b32decode,
    "binascii.unhexlify": binascii.unhexlify, "base64.urlsafe_b64decode": base64.urlsafe_b64decode,
}  # fmt: skip


class Names:
    """The imports of a module, and the constant texts of its variables."""

    def __init__(self, tree: ast.Module) -> None:
        self.aliases: dict[str, str] = {}
        self.texts: dict[str, str] = {}
        self.lists: dict[str, list[ast.expr]] = {}
        self.built: set[str] = set()  # variables with a text that is put together from pieces
        self.returns: dict[str, tuple[list[str], ast.expr]] = {}  # parameters and result of short functions
        self._calls = 0
        nodes = list(ast.walk(tree))
        self._imports(nodes)
        for node in nodes:
            if isinstance(node, ast.FunctionDef) and (result := _result(node)) is not None:
                self.returns[node.name] = ([each.arg for each in node.args.args], result)
        for node in nodes:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                self._assigned(node.targets[0].id, node.value)
            elif isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
                self._alias(node.optional_vars.id, node.context_expr)

    def _assigned(self, name: str, value: ast.expr) -> None:
        wraps = isinstance(value, ast.Call) and value.args and self.dotted(value.func) in ("bytes", "bytearray", "list")
        table = value.args[0] if wraps and isinstance(value, ast.Call) else value
        if isinstance(table, ast.List | ast.Tuple):
            self.lists.setdefault(name, table.elts[:500])
        text = self.fold(value)
        if text is not None:
            self.texts.setdefault(name, text)
            if self.is_built(value):
                self.built.add(name)
        self._alias(name, value)

    def _alias(self, name: str, value: ast.expr) -> None:
        """Follow another name for a function or a module, such as `run = exec` or `m = __import__("os")`."""
        if isinstance(value, ast.Await):
            value = value.value
        full = self.dotted(value) if isinstance(value, ast.Name | ast.Attribute | ast.Call) else ""
        root = full.split(".")[0]
        if full in ALIASED or (root != name and root in self._modules and not isinstance(value, ast.Name)):
            self.aliases.setdefault(name, full)

    def _imports(self, nodes: list[ast.AST]) -> None:
        for node in nodes:
            if isinstance(node, ast.Import):
                for each in node.names:
                    self.aliases[each.asname or each.name.split(".")[0]] = (
                        each.name if each.asname else each.name.split(".")[0]
                    )
            elif isinstance(node, ast.ImportFrom) and node.module:
                for each in node.names:
                    self.aliases[each.asname or each.name] = f"{node.module}.{each.name}"
        self.imported = frozenset(self.aliases)
        self.modules = frozenset(name.split(".")[0] for name in self.aliases.values())
        self._modules = self.modules | {"importlib", "os", "builtins"}

    def dotted(self, node: ast.expr, depth: int = 0) -> str:
        """Return the full name of a function or module, such as `urllib.request.urlopen`, or an empty string."""
        if depth > _DEPTH:
            return ""
        if isinstance(node, ast.Name):
            return self.aliases.get(node.id, node.id)
        if isinstance(node, ast.Attribute):
            inner = self.dotted(node.value, depth + 1)
            return f"{inner}.{node.attr}" if inner else f"?.{node.attr}"
        if isinstance(node, ast.Call):
            called = self.dotted(node.func, depth + 1)
            if called in ("__import__", "importlib.import_module") and node.args:
                return self.fold(node.args[0]) or ""
            if called == "getattr" and len(node.args) >= 2 and (attribute := self.fold(node.args[1])):
                return f"{self.dotted(node.args[0], depth + 1)}.{attribute}"
            if called.rsplit(".", 1)[-1][:1].isupper() and called.split(".")[0] in self._modules:
                return called  # an object of this class
        return ""

    def fold(self, node: ast.expr | None, depth: int = 0) -> str | None:
        """Return the text of an expression of constants, such as `"ex" + "ec"` or `chr(111) + chr(115)`, or None."""
        if depth > _DEPTH or node is None:
            return None
        if isinstance(node, ast.Constant):
            value = node.value
            if isinstance(value, bytes):
                return value.decode("latin-1")[:_MOST_CHARS]
            return value[:_MOST_CHARS] if isinstance(value, str) else None
        if isinstance(node, ast.Name):
            return self.texts.get(node.id)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            left, right = self.fold(node.left, depth + 1), self.fold(node.right, depth + 1)
            return None if left is None or right is None else (left + right)[:_MOST_CHARS]
        if isinstance(node, ast.JoinedStr):
            return self._joined(node, depth)
        if isinstance(node, ast.Subscript):
            return self._sliced(node, depth)
        return self._call(node, depth) if isinstance(node, ast.Call) else None

    def _joined(self, node: ast.JoinedStr, depth: int) -> str | None:
        parts = [self.fold(v.value if isinstance(v, ast.FormattedValue) else v, depth + 1) for v in node.values]
        return None if None in parts else "".join(part for part in parts if part)

    def _sliced(self, node: ast.Subscript, depth: int) -> str | None:
        part = node.slice
        if isinstance(part, ast.Constant) and isinstance(part.value, int):
            elements = self._elements(node.value)
            inside = elements is not None and part.value < len(elements)
            return self.fold(elements[part.value], depth + 1) if elements and inside else None
        inner = self.fold(node.value, depth + 1)
        reverses = isinstance(part, ast.Slice) and isinstance(part.step, ast.UnaryOp) and part.lower is None
        return inner[::-1] if inner is not None and reverses else None

    def _elements(self, node: ast.expr) -> list[ast.expr] | None:
        """Return the elements of a list, of a variable that contains one, or of a slice with constant bounds."""
        if isinstance(node, ast.List | ast.Tuple):
            return node.elts[:500]
        if isinstance(node, ast.Name):
            return self.lists.get(node.id)
        if not (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)):
            return None
        elements = self.lists.get(node.value.id) if isinstance(node.value, ast.Name) else None
        try:
            bounds = [
                None if each is None else int(ast.literal_eval(each))
                for each in (node.slice.lower, node.slice.upper, node.slice.step)
            ]
            return None if elements is None else elements[slice(*bounds)]
        except (ValueError, TypeError):  # a bound that is not constant, or a step of zero
            return None

    def _call(self, node: ast.Call, depth: int) -> str | None:
        name = self.dotted(node.func)
        first = node.args[0] if node.args else None
        if name in self.returns:
            return self._returned(name, node.args, depth)
        if name == "chr" and isinstance(first, ast.Constant) and isinstance(first.value, int):
            return chr(first.value) if 0 <= first.value < 0x110000 else None
        if isinstance(node.func, ast.Attribute):
            receiver = self.fold(node.func.value, depth + 1)
            attribute = node.func.attr
            if attribute == "join" and receiver is not None and first is not None:
                return self._join(receiver, first, depth)
            if attribute in ("decode", "encode", "strip", "lower", "upper") and receiver is not None:
                return receiver
            if attribute == "replace" and receiver is not None and len(node.args) == 2:
                old, new = (self.fold(each, depth + 1) for each in node.args)
                return None if old is None or new is None else receiver.replace(old, new)[:_MOST_CHARS]
        return self._decoded(name, self.fold(first, depth + 1))

    def _join(self, receiver: str, given: ast.expr, depth: int) -> str | None:
        """Fold `"".join(…)` of a list, of `reversed` text, or of `map(chr, …)`."""
        if (elements := self._elements(given)) is not None:
            parts = [self.fold(each, depth + 1) for each in elements]
            return None if None in parts else receiver.join(part for part in parts if part is not None)
        codes: ast.expr | None = None
        if isinstance(given, ast.Call) and given.args:
            name = self.dotted(given.func)
            if name == "reversed" and (text := self.fold(given.args[0], depth + 1)) is not None:
                return receiver.join(reversed(text))
            codes = given.args[1] if name == "map" and len(given.args) == 2 else None
        elif isinstance(given, ast.GeneratorExp | ast.ListComp) and "chr" in ast.dump(given.elt):
            codes = given.generators[0].iter
        table = self._elements(codes) if codes is not None else None
        if table is not None and isinstance(codes, ast.Name | ast.List | ast.Tuple):
            numbers = [each.value for each in table if isinstance(each, ast.Constant)]
            return receiver.join(chr(each) for each in numbers if isinstance(each, int) and 0 <= each < 0x110000)
        return None

    def _returned(self, name: str, given: list[ast.expr], depth: int) -> str | None:
        """Fold the result of a short function of the module with its arguments."""
        self._calls += 1
        if self._calls > _MOST_CALLS:
            return None
        parameters, result = self.returns[name]
        texts, lists = dict(self.texts), dict(self.lists)
        for parameter, value in zip(parameters, given, strict=False):
            text, elements = self.fold(value, depth + 1), self._elements(value)
            if text is not None:
                self.texts[parameter] = text
            if elements is not None:
                self.lists[parameter] = elements
        folded = self.fold(result, depth + 1)
        self.texts, self.lists = texts, lists
        return folded

    def _decoded(self, name: str, text: str | None) -> str | None:
        if text is None:
            return None
        try:
            if name in _DECODERS:
                return _DECODERS[name](text.encode("latin-1"))[:_MOST_CHARS].decode("utf-8", "replace")
            if name == "bytes.fromhex":
                return bytes.fromhex(text).decode("utf-8", "replace")
            if name == "codecs.decode":
                return codecs.decode(text, "rot13")
        except (ValueError, UnicodeError):
            return None
        return text if name in ("str", "bytes", "bytearray", "reversed") else None

    def is_built(self, node: ast.expr) -> bool:
        """Check if a text is put together from pieces although it could be written out."""
        if isinstance(node, ast.Constant):
            return False
        if isinstance(node, ast.Name):
            return node.id in self.built
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):  # an entry of a table
            return self.fold(node) in DANGEROUS
        return self.fold(node) is not None or any(
            isinstance(each, ast.Call)
            and self.dotted(each.func) in ("chr", "reversed", "bytes.fromhex", "codecs.decode", *_DECODERS)
            for each in ast.walk(node)
        )


def _result(node: ast.FunctionDef) -> ast.expr | None:
    """Return the result of a function that has few other statements."""
    last = node.body[-1]
    return last.value if isinstance(last, ast.Return) and len(node.body) <= 3 else None
