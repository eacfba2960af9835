"""The rules of the security scan: severity, message and fix of each."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from registry.core.findings import Category, Finding, Severity, shorten
from registry.core.scan.invisible import Kind
from registry.core.scan.matches import Match, Rule


@dataclass(frozen=True, slots=True)
class RuleText:
    """`checks` says what a skill without the finding does. `message` quotes the place and says what it could do."""

    severity: Severity
    checks: str
    message: str
    fix: str


_TEXTS = {
    Rule.UNREAD: RuleText(
        Severity.WARNING,
        "The skill runs no code that nobody can review.",
        "“{}” runs code that it downloads or decodes. Nobody can review that code.",
        "Add the script to the skill, where it is reviewed, or install a package with a fixed version.",
    ),
    Rule.INSTALLER: RuleText(
        Severity.HINT,
        "Tools are installed in a fixed version.",
        "“{}” runs the installer of a known tool. It can change at any time.",
        "Install the tool with a package manager and a fixed version.",
    ),
    Rule.NAMES: RuleText(
        Severity.WARNING,
        "Code names the functions that it calls.",
        "“{}” puts the name of a function or program together at run time. A reviewer cannot see what it calls.",
        "Write the name in full.",
    ),
    Rule.REMOTE_SHELL: RuleText(
        Severity.ERROR,
        "No other computer gets a shell.",
        "“{}” gives another computer control over this one.",
        "Remove it. Use SSH with accounts that people know about.",
    ),
    Rule.PERSISTS: RuleText(
        Severity.WARNING,
        "Nothing runs again after the skill was used.",
        "“{}” makes code run later without being asked: at sign-in, on a schedule, or with another tool.",
        "Remove it, or let a person set it up and say how to undo it.",
    ),
    Rule.DESERIALISES: RuleText(
        Severity.WARNING,
        "Data is read in formats that cannot contain code.",
        "“{}” can run code that is hidden in the data.",
        "Use JSON, `yaml.safe_load`, or another format without objects.",
    ),
    Rule.SECRET_SENT: RuleText(
        Severity.ERROR,
        "Keys, passwords and tokens stay on the computer.",
        "“{}” can send keys, passwords or other private data to another computer.",
        "Remove it. Send only the data that the task needs, and use a token only with the service that issued it.",
    ),
    Rule.PERMISSIONS: RuleText(
        Severity.WARNING,
        "The skill leaves permissions as they are.",
        "“{}” lets an agent act without asking, or gives it tools that nobody approved.",
        "Name the few commands that the skill needs, and let people add servers and permissions themselves.",
    ),
    Rule.OVERRIDE: RuleText(
        Severity.WARNING,
        "The text does not tell agents to ignore people or other instructions.",
        "“{}” tells agents to ignore their other instructions or the people they work for.",
        "Describe only the task of this skill.",
    ),
    Rule.CONCEAL: RuleText(
        Severity.WARNING,
        "The text does not tell agents to hide anything from people.",
        "“{}” tells agents to hide something from people.",
        "Remove it, or write what people should be told and when.",
    ),
    Rule.REMOTE_ORDERS: RuleText(
        Severity.WARNING,
        "Instructions are in the skill, not at an address.",
        "“{}” tells agents to obey text from another computer. It can change after the review.",
        "Write the instructions in the skill. Read pages only as data.",
    ),
    Rule.DATA_SENT: RuleText(
        Severity.WARNING,
        "The text does not tell agents to send away what people work on.",
        "“{}” tells agents to send the data of people to another computer.",
        "Remove it, or let the person decide each time what is sent.",
    ),
    Rule.ACCESS: RuleText(
        Severity.WARNING,
        "The text does not tell agents to open access to anything, or to collect passwords.",
        "“{}” tells agents to give access that nobody approved, or to collect passwords.",
        "Remove it, or let a person do it.",
    ),
    Rule.OPAQUE: RuleText(
        Severity.WARNING,
        "Instructions are written in words, not encoded.",
        "This is {} characters of encoded text. People cannot read it, but an agent may decode and follow it.",
        "Write it in words, or add the decoded file to `assets/`.",
    ),
    Rule.CREDENTIAL: RuleText(
        Severity.WARNING,
        "No file contains a credential.",
        "{} Everyone who can load this skill can use it.",
        "Remove it, revoke it, and use an environment variable instead.",
    ),
    Rule.STYLE: RuleText(
        Severity.WARNING,
        "No text is hidden from people.",
        "People do not see this text, but agents read it: “{}”.",
        "Remove it, or show it.",
    ),
    Rule.CONFUSABLE: RuleText(
        Severity.WARNING,
        "Words use the letters of one alphabet.",
        "“{}” contains letters of another alphabet that look like a–z. It is not what it seems to be.",
        "Type it again with the letters a–z.",
    ),
    Rule.TYPO: RuleText(
        Severity.WARNING,
        "The name is not one typing mistake away from another skill.",
        "The name differs from “{}” by one typing mistake. People and agents may take one for the other.",
        "Choose a name that differs by a whole word.",
    ),
}  # fmt: skip
_IN_PAYLOAD = "In encoded text that was decoded: {}"

# Rule ids and what each rule checks.
RULES: Mapping[str, str] = MappingProxyType(
    {
        **{str(rule): text.checks for rule, text in _TEXTS.items()},
        "text-unscanned": "All text is short enough to be checked before it is saved.",
        **{f"hidden-{kind}": "The text has no content that people cannot see." for kind in Kind},
    }
)


def findings(path: str, matches: Iterable[Match], *, decoded: bool = False) -> Iterator[Finding]:
    """Yield a finding for each match. `decoded` says that the matches are in text that the scan decoded."""
    for match in matches:
        text = _TEXTS[match.rule]
        message = text.message.format(shorten(match.detail))
        yield Finding(
            str(match.rule),
            text.severity,
            path,
            match.line,
            _IN_PAYLOAD.format(message) if decoded else message,
            text.fix,
            Category.SECURITY,
        )
