"""Values in shell scripts: the labels of variables, files and folders."""

import re
from collections.abc import Callable, Collection, Iterator
from itertools import accumulate, pairwise

from registry.core.scan import shell_programs
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
from registry.core.scan.matches import Match, TooComplex
from registry.core.scan.shell_lexer import Command, Word
from registry.core.scan.shell_programs import DOWNLOADERS, PREFIXES, base

_VARIABLE = re.compile(r"\$\{?!?([A-Za-z_]\w{0,63})")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w{0,63})\+?=")
_REFERENCE = re.compile(r"\$\{?([A-Za-z_]\w{0,63})\}?")
_MOST_EXPANDED = 2_000
_MOST_PARENTS = 16
_MOST_EXPORTS = 16  # in one command
_MOST_OPTIONS = 50  # of a program such as sudo

Nested = Callable[[str, str, int], Iterator[Match]]  # language, code, line


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
        self.texts: dict[str, str] = {}
        self.units: set[str] = set()  # names of services that were put into their folder
        self.here: Labels = NONE  # of files that were extracted or cloned into the folder
        self.matches: list[Match] = []
        self.incomplete = False  # code inside a command was too complex to be scanned
        self.start: Command | None = None  # the first command of the pipeline
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
        return words[at:]

    def assign(self, name: str, word: Word, value: str) -> None:
        self.variables[name] = self.word(Word(value, word.quoted, 1, word.inner))
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
        if shell_programs.secret_output(name, texts):
            return labels | {Label.SECRET}
        if name in (
            "test",
            "[",
            "[[",
            "ls",
            "chmod",
            "chown",
            "mkdir",
            "rm",
            "stat",
            "ssh-keygen",
            "ssh-add",
            "wc",
            "touch",
            "jq",
        ):
            return NONE
        return labels

    def move_files(self, name: str, texts: list[str], per_word: list[Labels]) -> None:
        """Carry labels to copies, extracted files, archives and clones."""
        plain = [each for each in texts if not each.startswith("-")]
        moved = frozenset().union(*per_word) if per_word else NONE
        if name in shell_programs.COPIES and len(plain) > 1 and moved:
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
        elif name == "git" and plain[:1] == ["checkout"]:
            self.folders.clear()

    def forget_downloads(self) -> None:
        """Trust what was downloaded, because its checksum or signature is verified."""
        self.here = NONE
        self.files.trust()

    def run(self, found: list[Command], stdin: Labels = NONE) -> Labels:
        raise NotImplementedError
