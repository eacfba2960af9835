"""Data flow through shell commands: what was downloaded, decoded or read from secrets, and where it goes.

Commands are taken in order and every branch counts. Files and variables keep their labels across the code blocks of one
document, so that a download in one step and its start in a later one are seen together.
"""

import re
from itertools import pairwise, takewhile

from registry.core.scan import shell_programs
from registry.core.scan.labels import (
    CODE_HOSTS,
    NONE,
    RUNNABLE,
    Label,
    Labels,
    download_label,
    hosts,
)  # fmt: skip
from registry.core.scan.matches import Match, Rule, TooComplex
from registry.core.scan.persistence import is_suspicious
from registry.core.scan.shell_checks import Checks
from registry.core.scan.shell_lexer import Command, Redirect, Word, commands
from registry.core.scan.shell_programs import CODE_OPTIONS, DOWNLOADERS, LANGUAGES, SHELLS, base

_VARIABLE = re.compile(r"\$\{?!?([A-Za-z_]\w{0,63})")
_ASSIGNMENT = re.compile(r"([A-Za-z_]\w{0,63})\+?=")
_EXCERPT = 160
_NESTED = 4
_MOST_REPEATED = 2_000  # commands of loops and functions that are taken again
_LONGEST_FUNCTION = 300
_MOST_PARAMETERS = 9
_SYSTEM = ("/usr/", "/bin/", "/sbin/", "/opt/homebrew/", "/etc/init.d/")
_SPLIT_NAME = re.compile(r"^(?:\$\{?\w{1,40}\}?){2,}$|^\$\{?\w{1,40}\}?[a-z]{1,8}$|^[a-z]{1,8}\$\{?\w{1,40}\}?$")
_ENCODED = re.compile(r"(?:^|\s)-e(?:nc|ncodedcommand)?\s+[A-Za-z0-9+/=]{40}", re.IGNORECASE)
_UNIT_PLACE = re.compile(r"(?:~|\$\{?HOME\}?|%h)?/\.config/systemd/[\w./@-]{1,120}|\$\(id -u\)")
_ARCHIVE = re.compile(r"\.(?:whl|tgz|tar\.gz|zip|gem)$")
_SUBCOMMANDS = (("deno", "run"), ("bun", "run"))
_SCRIPT = re.compile(r"\.(?:py|[cm]?[jt]s|sh|rb)$")
_INTERPRETERS = SHELLS | LANGUAGES
_PROGRAMS = _INTERPRETERS | DOWNLOADERS


class Flow(Checks):
    """Checks commands in order, and reports where labelled values are run, sent or kept."""

    def run(self, found: list[Command], stdin: Labels = NONE) -> Labels:
        """Take the commands in order and return the labels of the last one's output."""
        output, text, loop = stdin, "", stdin
        loops: list[int] = []
        for index, command in enumerate(found):
            if not command.piped:
                self.start = command
            first = command.words[0].text if command.words else ""
            if command.function:
                self.define(found, index)
            elif first in ("while", "until", "for"):
                loops.append(index)
                loop = output if command.piped else loop
            given = output if command.piped else loop if loops else stdin
            output, text = self.command(command, given, text if command.piped else "")
            if first == "done" and loops:
                self.repeat(found[loops.pop() : index], output)
                loop = loop if loops else stdin
        return output

    def repeat(self, body: list[Command], stdin: Labels) -> None:
        """Take the commands of a loop again if `done` redirects its input."""
        self.repeated += len(body)
        if stdin and self.repeated < _MOST_REPEATED:
            output = stdin
            for command in body:
                output, _ = self.command(command, output if command.piped else stdin, "")

    def define(self, found: list[Command], index: int) -> None:
        """Remember the commands of a function."""
        depth = 0
        for end in range(index + 1, min(len(found), index + _LONGEST_FUNCTION)):
            words = found[end].texts
            depth += words.count("{") - words.count("}")
            if depth <= 0 and found[index].texts:  # “()” may follow a word that is no name
                self.functions[found[index].texts[-1]] = found[index + 1 : end]
                return

    def call(self, name: str, arguments: list[Word]) -> None:
        """Take the commands of a function with its arguments."""
        body = self.functions[name]
        self.repeated += len(body)
        if self._depth >= _NESTED or self.repeated > _MOST_REPEATED:
            return
        labels = [self.word(each) for each in arguments[:_MOST_PARAMETERS]]
        for number, (word, each) in enumerate(zip(arguments, labels, strict=False), 1):
            self.variables[str(number)] = each
            self.values[str(number)] = self.expand(word.text)
        self.variables["@"] = self.variables["*"] = frozenset().union(*labels)
        self._depth += 1
        start = self.start
        self.run(body)
        self.start = start
        self._depth -= 1

    def report(self, rule: Rule, command: Command) -> None:
        if rule is Rule.PERSISTS and self.services and not _is_hidden(command):
            return
        start = self.start if command.piped and self.start else command
        source = f"{start.source} | {command.source}" if start is not command else command.source
        self.matches.append(Match(start.line, rule, source[:_EXCERPT]))

    def command(self, command: Command, stdin: Labels, piped: str) -> tuple[Labels, str]:
        """Return the labels and, where it is known, the text of the output."""
        words = self.strip(command)
        given = set(stdin)
        for redirect in command.redirects:
            if redirect.operator in ("<", "<<<", "<>"):
                given |= self.opened(redirect)
            elif redirect.operator == "<&":
                given |= self.descriptors.get(redirect.target.text, self.word(redirect.target))
            elif redirect.operator.startswith("<<") and _runs_input(words):
                self.code(words, redirect.body, redirect.line)
        text = _printed(words, command, piped)
        if self.loads:
            self.report(Rule.UNREAD, command)
            self.loads = False
        if not words:
            self.write(command, frozenset(given), text)
            return frozenset(given), text
        labels = self.program(command, words, frozenset(given), text)
        if command.words[0].text == "coproc":
            self.variables["COPROC"] = labels
        self.write(command, labels, text)
        return labels, text

    def opened(self, redirect: Redirect) -> Labels:
        """Return the labels of a file or connection that a redirection opens."""
        device = "/dev/tcp/" in redirect.target.text or "/dev/udp/" in redirect.target.text
        labels = frozenset({Label.SOCKET}) if device else self.word(redirect.target)
        if redirect.descriptor not in ("", "0"):
            self.descriptors[redirect.descriptor] = labels
            return NONE
        return labels

    def program(self, command: Command, words: list[Word], stdin: Labels, text: str) -> Labels:
        name = base(self.expand(words[0].text))
        arguments = words[1:]
        texts = [word.text for word in arguments]
        if name in self.functions and words[0].text == name:
            self.call(name, arguments)
        if name in ("find", "xargs", "parallel"):
            self.started_by(command, name, arguments, stdin)
        excluded = shell_programs.excluded(texts)
        per_word = [NONE if skip else self.word(word) for word, skip in zip(arguments, excluded, strict=True)]
        labels = frozenset().union(stdin, *per_word)
        self.check_names(command, words[0], name)
        self.check_run(command, words, name, per_word, stdin)
        self.check_send(command, name, texts, labels, stdin)
        self.check_lasting(command, name, texts, text)
        if name in ("for", "select") and texts[1:2] == ["in"]:
            self.variables[texts[0]] = labels
        elif name in ("read", "mapfile", "readarray"):
            source = next((after for each, after in pairwise(texts) if each == "-u"), "")
            for each in texts:
                self.variables[each] = stdin | self.descriptors.get(source, NONE)
        expanded = [self.expand(each) for each in texts]
        self.move_files(name, expanded, per_word, stdin)
        if shell_programs.VERIFIERS.search(command.source):
            self.forget_downloads()
        return self.output(name, expanded, labels)

    def started_by(self, command: Command, name: str, arguments: list[Word], stdin: Labels) -> None:
        """Check the command that `find -exec` or `xargs` starts for each file."""
        texts = [word.text for word in arguments]
        if name == "find":
            at = next((index + 1 for index, each in enumerate(texts) if each in ("-exec", "-execdir", "-ok")), 0)
            stdin = frozenset({Label.SECRET}) if shell_programs.finds_secrets(name, texts) else NONE
        else:
            at = next((index for index, each in enumerate(texts) if shell_programs.sends(base(each), [])), 0)
        inner = arguments[at:]
        if at and inner and shell_programs.sends(base(inner[0].text), texts[at + 1 :]):
            self.check_send(command, base(inner[0].text), texts[at + 1 :], stdin, stdin)

    def check_names(self, command: Command, first: Word, name: str) -> None:
        """Report names of programs that are put together from pieces."""
        risky = name in _PROGRAMS or name in ("eval", "nc", "base64", "source")
        split = first.pieces > 1 and not first.text.startswith(("$", "./", "/", "~", '"')) and "$" not in first.text
        if risky and (split or _SPLIT_NAME.match(first.text)):
            self.report(Rule.NAMES, command)

    def check_run(self, command: Command, words: list[Word], name: str, per_word: list[Labels], stdin: Labels) -> None:
        texts = [word.text for word in words[1:]]
        if name == "xargs" and texts:
            rest = next((index for index, each in enumerate(texts) if base(each) in _INTERPRETERS), None)
            if rest is not None and set(stdin) & set(RUNNABLE):
                self.report(Rule.UNREAD, command)
        if name == "eval" or name in ("source", "."):
            self.ran(command, frozenset().union(*per_word) - {Label.DATA}, piped=True)
            if name == "eval" and words[1:] and not words[1].inner:
                self.inner(" ".join(self.expand(each) for each in texts), command.line)
        elif name in _INTERPRETERS:
            self.interpreter(command, words, name, per_word, stdin)
        elif name in shell_programs.RUNNERS:
            self.ran(command, frozenset().union(*per_word))
        elif name in shell_programs.INSTALLERS:
            archives = [labels for each, labels in zip(texts, per_word, strict=True) if _ARCHIVE.search(each)]
            self.ran(command, frozenset().union(*archives))
            if any(_is_package(each) for each in takewhile(_is_no_script, _positional(texts))):
                self.report(Rule.UNREAD, command)
        elif "/" in words[0].text or self.installed(name) or words[0].text.startswith(("$", "&")):
            self.started(command, words[0])

    def installed(self, name: str) -> Labels:
        """Return the labels of a program that was put into a folder of programs."""
        path = self.files.programs.get(name)
        return self.files[path] if path else NONE

    def started(self, command: Command, word: Word) -> None:
        labels = self.word(word) if "/" in word.text or "$" in word.text else self.installed(word.text)
        text = self.expand(word.text)
        if not labels and self.here and text.startswith("./") and text.removeprefix("./") not in self.own:
            labels = self.here
        if not text.startswith(_SYSTEM):
            self.ran(command, labels)

    def interpreter(
        self, command: Command, words: list[Word], name: str, per_word: list[Labels], stdin: Labels
    ) -> None:
        texts = [word.text for word in words[1:]]
        if name in ("powershell", "pwsh") and _ENCODED.search(" ".join(texts)):
            self.report(Rule.UNREAD, command)
        option = "-c" if name in SHELLS else CODE_OPTIONS.get(name, "-c")
        for index, each in enumerate(texts):
            if re.match(rf"-[a-zA-Z]{{0,4}}{option[1]}$|--eval$|-Command$", each) and not each.startswith("--c"):
                code = texts[index + 1] if index + 1 < len(texts) else ""
                self.ran(command, per_word[index + 1] if index + 1 < len(texts) else NONE, piped=True)
                self.code(words, code, command.line)
                return
        plain = (index for index, each in enumerate(texts) if not each.startswith("-") or each == "-")
        at = next((index for index in plain if (name, texts[index]) not in _SUBCOMMANDS), None)
        if name == "java":
            at = next((index + 1 for index, each in enumerate(texts[:-1]) if each == "-jar"), None)
        if at is None or texts[at] == "-" or "-s" in texts[:at]:
            if "-m" not in texts:
                self.ran(command, stdin, piped=True)
            return
        script = texts[at]
        labels = per_word[at]
        if _is_package(script):
            self.report(Rule.UNREAD, command)
        if name in SHELLS and not re.search(r"[./$<]", script.rstrip(".")) and not words[1 + at].quoted:
            self.ran(command, stdin, piped=True)  # a sentence continues after the command
        if (
            not labels
            and self.here
            and "/" not in script.removeprefix("./")
            and script.removeprefix("./") not in self.own
        ):
            labels = self.here if re.search(r"\.(?:sh|py|js|rb|pl|ps1)$", script) else NONE
        self.ran(command, labels, piped=bool(words[1 + at].inner))

    def ran(self, command: Command, labels: Labels, *, piped: bool = False) -> None:
        if set(labels) & set(RUNNABLE) or (piped and labels & {Label.PINNED, Label.BUILT, Label.DATA}):
            self.report(Rule.REMOTE_SHELL if Label.SOCKET in labels else Rule.UNREAD, command)
        elif piped and Label.INSTALLER in labels:
            self.report(Rule.INSTALLER, command)

    def code(self, words: list[Word], code: str, line: int) -> None:
        name = base(words[0].text)
        if name in SHELLS:
            self.inner(code, line)
            return
        try:
            self.matches.extend(self.nested(name, code, line))
        except TooComplex:
            self.incomplete = True

    def inner(self, text: str, line: int) -> None:
        if self._depth == _NESTED:
            self.incomplete = True
            return
        self._depth += 1
        try:
            self.run(commands(text, line=line))
        except TooComplex:
            self.incomplete = True
        finally:
            self._depth -= 1


def _is_package(text: str) -> bool:
    """Check for an address of code that is not a fixed release on a well-known host."""
    return (
        text.startswith(("http://", "https://"))
        and download_label(text) == Label.REMOTE
        and not any(host in CODE_HOSTS for host in hosts(text))
    )


def _is_no_script(text: str) -> bool:
    """Check that an argument is not a local script. Addresses after a script are arguments of the script."""
    return text.startswith(("http://", "https://")) or not _SCRIPT.search(text)


def _positional(texts: list[str]) -> list[str]:
    """Return the arguments without options and their values, such as `--index-url ADDRESS`."""
    return [each for each, before in zip(texts, ["", *texts], strict=False) if not before.startswith("-")]


def _is_hidden(command: Command) -> bool:
    """Check if a command that sets up a service does more than that, such as running a download."""
    parts = [command.source, *(redirect.body for redirect in command.redirects)]
    return any(is_suspicious(_UNIT_PLACE.sub("", part)) for part in parts)


def _runs_input(words: list[Word]) -> bool:
    return bool(words) and base(words[0].text) in _INTERPRETERS


def _printed(words: list[Word], command: Command, piped: str) -> str:
    """Return the text that a command prints, as far as it is written in the script."""
    bodies = [redirect.body for redirect in command.redirects if redirect.body]
    if bodies:
        return "\n".join(bodies)
    if words and words[0].text == "printf" and len(words) > 2:
        return "\n".join(word.text for word in words[2:])
    if words and words[0].text in ("echo", "printf"):
        return " ".join(word.text for word in words[1:] if not re.match(r"-[neE]+$", word.text))
    herestring = [redirect.target.text for redirect in command.redirects if redirect.operator == "<<<"]
    return herestring[0] if herestring else piped if words and words[0].text in ("cat", "tee", "sort", "grep") else ""
