"""Checks of shell commands: secrets that leave, code that starts again later, and the permissions of agents."""

import re
from collections.abc import Sequence

from registry.core.scan import persistence, shell_programs
from registry.core.scan.labels import NONE, Label, Labels, leaves, variables
from registry.core.scan.matches import Rule
from registry.core.scan.shell_lexer import Command, Word
from registry.core.scan.shell_values import Values

_BYPASS = re.compile(
    r"--dangerously-skip-permissions|--dangerously-bypass-approvals-and-sandbox"
    r"|--allow-dangerously-skip-permissions|--permission-mode[= ]bypassPermissions|--allow-all-tools|--yolo\b"
    r"|sandbox_mode=.?danger-full-access|--full-access|--sandbox[= ]danger-full-access|approval_policy=.?never"
    r"|--trust-all-tools|--approval-mode[= ]yolo|--force-yes-all"
)
_SET_UP = re.compile(r"^[\w./-]{1,60}\s(?:[\w-]{1,30}\s){0,3}(?:completions?|init|hook|shellenv|activate)\b")
_PLACEHOLDER = re.compile(r"<[A-Za-z][\w -]{0,30}>")
_AGENTS = frozenset({"claude", "codex", "gemini", "copilot", "cursor-agent", "opencode", "qwen", "droid", "q", "amp"})


class Checks(Values):
    def report(self, rule: Rule, command: Command) -> None:
        raise NotImplementedError

    def check_send(self, command: Command, name: str, texts: list[str], labels: Labels, stdin: Labels) -> None:
        device = any("/dev/tcp/" in each.target.text or "/dev/udp/" in each.target.text for each in command.redirects)
        if device and Label.SECRET in labels:
            self.report(Rule.SECRET_SENT, command)
        if name == "git":
            self.check_git(command, texts, labels)
        if not shell_programs.sends(name, texts) or (
            name in ("ssh", "gh", "az", "gcloud") and Label.SECRET not in labels
        ):
            return
        if name in ("ssh", "scp", "rsync", "sftp"):  # a key that signs in is not sent
            used = zip(texts, ["", *texts], shell_programs.excluded(texts), strict=False)
            sent = [
                each
                for each, before, left_out in used
                if before not in ("-i", "-F", "-o", "-e") and not each.startswith("-") and not left_out
            ]
            labels = frozenset().union(*(self.word(Word(each)) for each in sent)) | (labels - {Label.SECRET}) | stdin
        raw = name in shell_programs.RAW_SENDERS and variables(labels)
        if raw or leaves(labels, self.expand(" ".join(texts))):
            self.report(Rule.SECRET_SENT, command)

    def check_git(self, command: Command, texts: list[str], labels: Labels) -> None:
        """Report a push of key files to a repository that the script itself names."""
        plain = [each for each in texts if not each.startswith("-")]
        forced = any(each in ("-f", "--force", "-Af", "-fA") for each in texts)
        if plain[:1] == ["add"]:
            everything = forced and any(each in (".", "-A", "--all", "*", "-Af", "-fA") for each in texts)
            self.staged |= frozenset({Label.SECRET}) if everything else labels & {Label.SECRET}
        elif plain[:2] in (["remote", "add"], ["remote", "set-url"]) and len(plain) > 2:
            self.remotes.add(plain[2])
        named = any(each in self.remotes or "://" in each or "@" in each for each in plain[1:2])
        if plain[:1] == ["push"] and named and Label.SECRET in self.staged:
            self.report(Rule.SECRET_SENT, command)

    def check_lasting(self, command: Command, name: str, texts: list[str], text: str) -> None:
        if persistence.installs(name, texts) or self.units & persistence.enabled(name, texts):
            self.report(Rule.PERSISTS, command)
        joined = " ".join(texts)
        if _BYPASS.search(joined) and (name in _AGENTS or "dangerously" in joined or "bypass" in joined):
            self.report(Rule.PERMISSIONS, command)
        if (
            name in _AGENTS
            and texts[:1] == ["mcp"]
            and texts[1:2]
            and texts[1] in ("add", "add-json", "add-from-claude-desktop")
            and not _PLACEHOLDER.search(command.source)
        ):
            self.report(Rule.PERMISSIONS, command)
        if name in ("tee", "sed", "install", "cp", "mv", "ln", "rsync", "dd") and texts:
            self.check_target(command, name, texts, text)

    def check_target(self, command: Command, name: str, texts: list[str], text: str) -> None:
        plain = [each for each in texts if not each.startswith("-")]
        payload: str | None = text if name == "tee" else None
        if name == "sed":
            if not any(each.startswith(("-i", "--in-place")) for each in texts):
                return
            payload = " ".join(plain[:-1])
        elif name != "tee" and plain and (plain[0].removeprefix("./") in self.own or plain[0] in self.texts):
            payload = self.texts.get(plain[0].removeprefix("./"), "true")
        for target in plain if name == "tee" else plain[-1:]:
            if name != "sed":
                self.place(target, [] if name == "tee" else plain[:-1])
            if found := persistence.writes(self.expand(target), payload):
                self.report(found[0], command)

    def place(self, target: str, sources: Sequence[str] = ()) -> None:
        """Remember the services that are put into their folder."""
        names = {persistence.unit_name(self.expand(target), self.expand(each)) for each in sources or [""]}
        self.units |= names - {""}

    def write(self, command: Command, labels: Labels, text: str) -> None:
        for redirect in command.redirects:
            if redirect.operator in (">", ">>", "&>", ">|", "&>>"):
                target = redirect.target.text
                if target.startswith("/dev/"):
                    continue
                self.files[target] = labels | (self.files.get(target, NONE) if redirect.operator == ">>" else NONE)
                self.texts[target] = text
                self.place(target)
                known = text or (None if command.words and not _SET_UP.search(command.source) else "")
                if found := persistence.writes(self.expand(target), known):
                    self.report(found[0], command)
