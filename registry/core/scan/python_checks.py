"""Checks of Python code at the places where labelled values are used: names, files, data and processes."""

import ast
import re

from registry.core.scan import python_calls
from registry.core.scan.labels import RUNNABLE, Label, Labels
from registry.core.scan.matches import Rule
from registry.core.scan.persistence import changes_agents, unit_name, writes
from registry.core.scan.python_names import CALLS, DANGEROUS
from registry.core.scan.python_values import Values
from registry.core.scan.shell_programs import LANGUAGES, SHELLS, base

_PROCESSES = ("system", "popen", "exec", "Popen", "run", "call", "check_output")
_RUNS_CODE = frozenset({"exec", "eval", "compile", "__import__", "open", "breakpoint", "getattr"})
_BUILTINS = ("builtins", "__builtins__", "__builtin__")
_LOOKUPS = frozenset({"operator.attrgetter", "operator.methodcaller", "attrgetter", "methodcaller"})
_TABLES = re.compile(r"__builtins__|globals\(\)|locals\(\)|vars\(|__dict__|sys\.modules")
_RUN_KEY = re.compile(r"\\CurrentVersion\\Run", re.IGNORECASE)
_COPIES = frozenset({
    "shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.move", "os.symlink", "os.rename", "os.replace", "os.link",
})  # fmt: skip
_WRITE_METHODS = frozenset({"write_text", "write_bytes", "open", "symlink_to", "hardlink_to"})


class Checks(Values):
    def check_names(self, node: ast.Call, name: str) -> None:
        imports = name in ("__import__", "importlib.import_module", "builtins.__import__")
        if (imports or name in _LOOKUPS) and node.args and self.is_hidden(node.args[0]):
            self.report(Rule.NAMES, node)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "__subclasses__":
            owner = ast.dump(node.func.value)
            if "__base" in owner or "__mro__" in owner or "'object'" in owner:
                self.report(Rule.NAMES, node)
        if name == "getattr" and len(node.args) >= 2:
            owner, attribute = self.names.dotted(node.args[0]), node.args[1]
            text = self.names.fold(attribute)
            if owner in _BUILTINS:
                harmless = isinstance(attribute, ast.Constant) or self.is_harmless_table(attribute)
                if not harmless or text in _RUNS_CODE:
                    self.report(Rule.NAMES, node)
                return
            built = self.is_hidden(attribute) and (text is None or text in DANGEROUS)
            if built or (owner in ("os", "subprocess") and text in _PROCESSES):
                self.report(Rule.NAMES, node)

    def is_harmless_table(self, node: ast.expr) -> bool:
        """Check for `TABLE[key]`, where the table is written in the file and names no function that runs code."""
        owner = self.key(node.value) if isinstance(node, ast.Subscript) else ""
        tables = self.assigned.get(owner, []) if owner else []
        values = [value for table in tables if isinstance(table, ast.Dict) for value in table.values]
        texts = [value.value for value in values if isinstance(value, ast.Constant)]
        one = len(tables) == 1 and bool(values) and len(texts) == len(values)
        return one and not _RUNS_CODE.intersection(map(str, texts))

    def is_hidden(self, node: ast.expr) -> bool:
        """Check if a name is built from pieces, decoded or downloaded."""
        hides = {Label.BUILT, *RUNNABLE}
        return self.names.is_built(node) or bool(hides & self.of(node))

    def built_subscript(self, node: ast.Subscript) -> None:
        owner = (
            ast.unparse(node.value)[:200]
            if isinstance(node.value, ast.Name | ast.Attribute | ast.Call | ast.Subscript)
            else ""
        )
        if self.names.is_built(node.slice) and self.names.fold(node.slice) in CALLS:
            self.report(Rule.NAMES, node)
        if not _TABLES.search(owner):
            return
        text = self.names.fold(node.slice)
        if self.is_hidden(node.slice) or (text in _RUNS_CODE and "builtins" in owner):
            self.report(Rule.NAMES, node)

    def is_safe_loader(self, name: str) -> bool:
        """Check for a safe loader of YAML, or a class of the file that extends one."""
        bases = [
            self.names.dotted(base)
            for node in self.nodes
            if isinstance(node, ast.ClassDef) and node.name == name
            for base in node.bases
        ]
        return any(python_calls.SAFE_LOADERS.search(each) for each in (name, *bases))

    def check_load(self, node: ast.Call, name: str, labels: Labels) -> None:
        if name in ("yaml.load", "yaml.load_all", "yaml.full_load_all"):
            loader = [*(k.value for k in node.keywords if k.arg == "Loader"), *node.args[1:2]]
            if not loader or not self.is_safe_loader(self.names.dotted(loader[0])):
                self.report(Rule.DESERIALISES, node)
        elif name == "numpy.load" and any(each.arg == "allow_pickle" for each in node.keywords):
            if set(labels) & set(RUNNABLE) or self.is_bundled(node):
                self.report(Rule.DESERIALISES, node)
        elif python_calls.LOADS.search(name):
            outside = set(labels) & set(RUNNABLE) or "http" in self.text_of(node)
            if python_calls.OWN_DATA.match(name):
                plain = any(each.arg == "weights_only" for each in node.keywords)
                harmful = bool(outside) or (self.is_bundled(node) and not self.dumps and not plain)
            else:
                harmful = bool(outside) or not self.dumps or name.startswith("marshal")
            if harmful:
                self.report(Rule.DESERIALISES, node)

    def is_bundled(self, node: ast.Call) -> bool:
        """Check if a call reads a file of the skill."""
        paths = [ast.dump(each) for each in node.args[:1]]
        names = [each.id for argument in node.args[:1] for each in ast.walk(argument) if isinstance(each, ast.Name)]
        paths += [ast.dump(value) for name in names for value in self.assigned.get(name, [])[:5]]
        texts = [text for argument in node.args[:1] for text in self.paths_of(argument)]
        return any("'__file__'" in path for path in paths) or any(python_calls.BUNDLED.search(text) for text in texts)

    def check_write(self, node: ast.Call, name: str) -> None:
        if name.startswith("winreg.SetValue") and any(_RUN_KEY.search(line) for line in self.lines):
            self.report(Rule.PERSISTS, node)
        target = self.written(node, name)
        if target is None:
            return
        payload = self.names.fold(node.args[0]) if node.args and name.endswith("write_text") else self.longest
        for text in self.paths_of(target):
            if found := writes(text, payload):
                self.report(found[0], node)
            elif changes_agents(text, self.source):
                self.report(Rule.PERMISSIONS, node)
            elif self.enables and unit_name(text):
                self.report(Rule.PERSISTS, node)

    def written(self, node: ast.Call, name: str) -> ast.expr | None:
        """Return the path that a call writes to, or None."""
        if name in ("open", "io.open") and len(node.args) > 1:
            return node.args[0] if re.match(r"[wax]|r\+", self.names.fold(node.args[1]) or "") else None
        if (
            isinstance(node.func, ast.Attribute)
            and node.func.attr in _WRITE_METHODS
            and name not in ("io.open", "os.open")
        ):
            mode = self.names.fold(node.args[0]) if node.args and node.func.attr == "open" else "w"
            return node.func.value if re.match(r"[wax]|r\+", mode or "r") else None
        if name in _COPIES:
            return node.args[1] if len(node.args) > 1 else None
        return None

    def check_input(self, node: ast.Call, labels: Labels) -> None:
        """Report text that is written to the input of a shell that the program started."""
        if not isinstance(node.func, ast.Attribute) or node.func.attr not in ("communicate", "write"):
            return
        if set(labels) & set(RUNNABLE):
            owners = [node.func.value, *self.assigned.get(self.root(node.func), [])[:5]]
            calls = [each for owner in owners for each in ast.walk(owner) if isinstance(each, ast.Call)]
            if any(
                self.names.dotted(each.func) in python_calls.SHELL_RUNS
                and each.args
                and self.is_interpreter(each.args[0])
                for each in calls
            ):
                self.report(Rule.UNREAD, node)

    def is_interpreter(self, node: ast.expr | None) -> bool:
        """Check if a command starts a shell or an interpreter."""
        first = node.elts[0] if isinstance(node, ast.List | ast.Tuple) and node.elts else node
        if first is not None and self.names.dotted(first) == "sys.executable":
            return True
        words = (self.names.fold(first) or "").split()
        return bool(words) and base(words[0]) in SHELLS | LANGUAGES

    def downloaded_modules(self) -> None:
        """Report imports of a module that the program downloaded or decoded into a file."""
        written = {
            key.removeprefix("file:").rsplit("/", 1)[-1] for key, labels in self.labels.items()
            if key.startswith("file:") and key.endswith(".py") and set(labels) & set(RUNNABLE)
        }  # fmt: skip
        for node in self.nodes if written else ():
            names = [each.name for each in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(f"{name}.py" in written for name in names):
                self.report(Rule.UNREAD, node)

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
                stdin = [each.value for each in node.keywords if each.arg == "stdin"]
                wired = any(self.is_socket(each) for each in stdin)
                if descriptors or wired or (name == "pty.spawn" and "connect" in "".join(self.lines)):
                    self.report(Rule.REMOTE_SHELL, node)

    def is_socket(self, node: ast.expr) -> bool:
        return any(
            isinstance(each, ast.Call) and self.names.dotted(each.func) in ("socket.socket", "socket.create_connection")
            for each in self.assigned.get(self.key(node), [])[:5]
        )
