"""Values in shell scripts: the labels of variables, files and folders."""

import re
from collections.abc import Callable, Collection, Iterator
from itertools import accumulate, pairwise

from registry.core.scan import shell_programs
from registry.core.scan.labels import (
    CODE_HOSTS,
    NONE,
    RUNNABLE,
    Label,
    Labels,
    download_label,
    hosts,
    secret_path,
    secret_variable,
    variable_label,
)  # fmt: skip
from registry.core.scan.matches import Match, TooComplex
from registry.core.scan.shell_lexer import Command, Word
from registry.core.scan.shell_programs import DOWNLOADERS, PREFIXES, base

_VARIABLE = re.compile(r"\$\{?!?([A-Za-z_]\w{0,63}|[1-9@*])")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w{0,63})\+?=")
_REFERENCE = re.compile(r"\$\{?([A-Za-z_]\w{0,63}|[1-9])\}?")
_MOST_EXPANDED = 2_000
_MOST_PARENTS = 16
_MOST_EXPORTS = 16  # in one command
_MOST_OPTIONS = 50  # of a program such as sudo

Nested = Callable[[str, str, int], Iterator[Match]]  # language, code, line


_SILENT = frozenset({
    "test", "[", "[[", "ls", "chmod", "chown", "mkdir", "rm", "stat", "ssh-keygen", "ssh-add", "wc", "touch", "jq",
})  # fmt: skip
# Variables that name code which another program loads.
_LOADED = frozenset({
    "LD_PRELOAD", "DYLD_INSERT_LIBRARIES", "BASH_ENV", "ENV", "PYTHONSTARTUP", "NODE_OPTIONS", "GIT_SSH_COMMAND",
    "PROMPT_COMMAND", "PERL5OPT", "RUBYOPT", "EDITOR", "PAGER",
})  # fmt: skip
INTERPRETERS = shell_programs.SHELLS | shell_programs.LANGUAGES


class _Files(dict[str, Labels]):
    """Labels by path. Downloads are also kept apart, because each verified one would need a look at all files."""

    def __init__(self) -> None:
        super().__init__()
        self._downloads: set[str] = set()
        self.programs: dict[str, str] = {}  # paths by the names of files in folders of programs

    def __setitem__(self, path: str, labels: Labels) -> None:
        if not path:  # a redirection without a target
            return
        super().__setitem__(path, labels)
        if Label.REMOTE in labels:
            self._downloads.add(path)
        folder, _, name = path.rpartition("/")
        if folder.endswith("bin"):
            self.programs[name] = path

    def trust(self) -> None:
        """Remove the label of downloads from all files."""
        for path in self._downloads:
            super().__setitem__(path, self[path] - {Label.REMOTE})
        self._downloads.clear()


class Values:
    """The state of one document or script. `nested` scans code of another language inside a command."""

    def __init__(self, files: Collection[str] = (), nested: Nested | None = None) -> None:
        self.own = files
        self.nested = nested or (lambda language, code, line: iter(()))
        self.variables: dict[str, Labels] = {}
        self.values: dict[str, str] = {}
        self.files = _Files()
        self.folders: dict[str, Labels] = {}
        self.foreign: set[str] = set()  # folders of repositories that are on no well-known host
        self.texts: dict[str, str] = {}
        self.units: set[str] = set()  # names of services that were put into their folder
        self.here: Labels = NONE  # of files that were extracted or cloned into the folder
        self.matches: list[Match] = []
        self.incomplete = False  # code inside a command was too complex to be scanned
        self.start: Command | None = None  # the first command of the pipeline
        self.descriptors: dict[str, Labels] = {}  # of files and connections that `exec` opened
        self.functions: dict[str, list[Command]] = {}
        self.remotes: set[str] = set()  # of git, that the script adds
        self.staged: Labels = NONE  # of files that were added to git
        self.loads = False  # a command before loads code through a variable
        self.services = False  # the skill is about services, and says how to remove them
        self.repeated = 0  # commands that were taken again
        self._depth = 0

    def path(self, text: str) -> Labels:
        """Return the labels of a file by its path, its name, or the folder that it is in."""
        plain = text.lstrip("@").strip("\"'")
        if plain in self.files:
            return self.files[plain]
        name = plain.rsplit("/", 1)[-1]
        if plain.startswith("./") and name in self.files:
            return self.files[name]
        parents = accumulate(plain.split("/", _MOST_PARENTS)[:_MOST_PARENTS], "{}/{}".format) if self.folders else ()
        return next((self.folders[parent] for parent in parents if parent in self.folders), NONE)

    def word(self, word: Word) -> Labels:
        labels = set(self.path(word.text)) | set(self.path(self.expand(word.text)))
        for name in _VARIABLE.findall(word.text):
            labels |= self.variables.get(name, NONE)
            if name not in self.variables and secret_variable(name):
                labels.add(variable_label(name))
        if "=@" in word.text or "=<" in word.text:
            labels |= self.path(re.split(r"=[@<]", word.text, maxsplit=1)[1].split(";")[0])
        if word.text.startswith("--") and "=" in word.text:
            labels |= self.path(self.expand(word.text.split("=", 1)[1]))
        if secret_path(word.text) and not (word.inner and not secret_path(re.sub(r"\$\([^)]{0,500}\)", "", word.text))):
            labels.add(Label.SECRET)
        if word.inner:
            labels |= self.run(word.inner)
        return frozenset(labels)

    def expand(self, text: str) -> str:
        if "$" not in text or not self.values:
            return text
        return _REFERENCE.sub(lambda m: self.values.get(m[1], m[0]), text[:_MOST_EXPANDED])[:_MOST_EXPANDED]

    def strip(self, command: Command) -> list[Word]:
        """Return the words of the program itself, after assignments, keywords and programs such as sudo."""
        words, at, exports = list(command.words), 0, 0
        while at < len(words):
            text = words[at].text
            if match := _ASSIGNMENT.match(text):
                self.assign(match[1], words[at], text[match.end() :])
                at += 1
            elif text in ("export", "local", "readonly", "declare", "typeset") and len(words) > at + 1:
                exports += 1
                if exports > _MOST_EXPORTS:
                    raise TooComplex
                words, at = [word for word in words[at + 1 :] if not word.text.startswith("-")], 0
                if words and not _ASSIGNMENT.match(words[0].text):
                    return []
            elif base(text) in PREFIXES and len(words) > at + 1:
                options = [word.text for word in words[at : at + _MOST_OPTIONS]]
                at += shell_programs.skip_prefix(base(text), options)
            else:
                break
        if at < len(words) and words[at].text[:1] in ("$", "`"):
            full = shell_programs.named(words[at].text)
            full = self.expand(full) if base(self.expand(full)) in INTERPRETERS else full
            if full != words[at].text:
                words[at] = Word(full, words[at].quoted)
        return words[at:]

    def assign(self, name: str, word: Word, value: str) -> None:
        labels = self.word(Word(value, word.quoted, 1, word.inner))
        if word.text.startswith(f"{name}+="):
            labels |= self.variables.get(name, NONE)
        self.variables[name] = labels
        if name in _LOADED and set(labels) & set(RUNNABLE):
            self.loads = True
        if "$(" not in value and "`" not in value:
            self.values[name] = self.expand(value)

    def output(self, name: str, texts: list[str], labels: Labels) -> Labels:
        if name in DOWNLOADERS:
            address, targets, to_output = shell_programs.download_targets(name, texts)
            label = download_label(address or " ".join(texts))
            for target in targets:
                self.files[target] = frozenset({label})
            return frozenset({label}) if to_output else NONE
        if shell_programs.is_decoder(name, texts):
            for target in shell_programs.decoded_files(name, texts):
                self.files[target] = labels | {Label.DECODED}
            return labels | {Label.DECODED}
        if shell_programs.secret_output(name, texts) or shell_programs.finds_secrets(name, texts):
            return labels | {Label.SECRET}
        if shell_programs.expands(name, texts):
            return labels | {Label.BUILT}
        if shell_programs.reads_bundled(name, texts):
            return labels | {Label.DATA}
        if shell_programs.receives(name, texts):
            return labels | {Label.SOCKET}
        if shell_programs.asks(name, texts):
            return labels | {Label.REMOTE}
        decodes, fetches = shell_programs.inline_output(name, texts)
        if decodes or fetches:
            return labels | ({Label.DECODED} if decodes else set()) | ({Label.REMOTE} if fetches else set())
        return NONE if name in _SILENT else labels

    def move_files(self, name: str, texts: list[str], per_word: list[Labels], stdin: Labels) -> None:
        """Carry labels to copies, extracted files, archives and clones."""
        plain = [each for each in texts if not each.startswith("-")]
        moved = frozenset().union(*per_word) if per_word else NONE
        if name in ("tee", "dd", "sponge") and stdin:
            for each in plain:
                self.files[each.removeprefix("of=")] = stdin
        elif name == "cd" and plain and plain[0].rstrip("/") in self.folders:
            self.here = self.folders[plain[0].rstrip("/")] if plain[0].rstrip("/") in self.foreign else NONE
        elif name in shell_programs.COPIES and len(plain) > 1 and moved:
            target = plain[-1]
            self.files[target] = moved
            self.files[f"{target.rstrip('/')}/{plain[0].rsplit('/', 1)[-1]}"] = moved
        elif name in ("tar", "zip", "7z", "bsdtar", "gzip", "gpg", "openssl") and Label.SECRET in moved:
            for each in plain:
                self.files[each] = moved
        elif name in ("tar", "unzip", "7z", "bsdtar") and set(moved) & set(RUNNABLE):
            self.here = moved
            for option, folder in pairwise(texts):
                if option in ("-d", "-C", "--directory"):
                    self.folders[folder.rstrip("/")] = moved
        elif name in ("gunzip", "gzip", "xz", "unxz", "bunzip2") and plain and moved:
            self.files[re.sub(r"\.(?:gz|xz|bz2)$", "", plain[-1])] = moved
        elif name == "git" and plain[:1] == ["clone"] and len(plain) > 1 and "--branch" not in texts:
            address = plain[1]
            folder = plain[2] if len(plain) > 2 else re.sub(r"\.git$", "", address.rstrip("/").rsplit("/", 1)[-1])
            self.folders[folder] = frozenset({Label.REMOTE})
            if (found := hosts(address)) and not any(host in CODE_HOSTS for host in found):
                self.foreign.add(folder)
        elif name == "git" and plain[:1] == ["checkout"]:
            self.folders.clear()

    def forget_downloads(self) -> None:
        """Trust what was downloaded, because its checksum or signature is verified."""
        self.here = NONE
        self.files.trust()

    def run(self, found: list[Command], stdin: Labels = NONE) -> Labels:
        raise NotImplementedError
