"""The security scan of a skill: a fast part for requests, and a deep part that the worker runs.

Both use the same rules. The deep part reads larger files and decodes what is encoded.
"""

from collections.abc import Collection, Iterator, Mapping

from registry.core.bundle import SKILL_MD, Bundle, normalise
from registry.core.errors import SkillsiteError
from registry.core.findings import Category, Finding, Severity, errors, in_reading_order, limit_per_rule
from registry.core.format import skill_md
from registry.core.format.skill_md import SkillMd
from registry.core.limits import DEFAULT, MIB, Limits
from registry.core.scan import config_files, hidden_text, names, payloads, rules
from registry.core.scan.files import Result, distinct, scan_file
from registry.core.scan.matches import Match, Rule
from registry.core.scan.report import ScanReport, ScanStatus

_FAST_CHARS = 100_000  # of all files, in a request
_SECONDS_PER_CHAR = 14e-6  # for hostile text
_READ_BYTES = 4 * MIB  # of all files, in the deep part
_LISTED = 20  # findings of each rule
_PROSE = (".md", ".markdown")


def scan(bundle: Bundle, *, known_names: Collection[str] = (), limits: Limits = DEFAULT) -> ScanReport:
    """Return the security findings of a skill. `known_names` are other skills that its name may imitate."""
    texts, unread = _texts(bundle)
    try:
        skill: SkillMd | None = skill_md.read(bundle[SKILL_MD], fallback_name="skill", limits=limits)
    except SkillsiteError:
        skill = None
    found = list(header(skill, known_names)) if skill else []
    partial = set(unread)
    for path, text in texts.items():
        fast, complete = in_file(path, text, texts)
        found += fast
        for line, decoded in payloads.find(text):
            result = scan_file(decoded.name, decoded.text, texts)
            found += rules.findings(
                path, (Match(line, each.rule, each.detail) for each in result.matches), decoded=True
            )
        if not complete:
            partial.add(path)
    found += hidden_text.hidden_characters(texts)
    ordered = in_reading_order(limit_per_rule(dict.fromkeys(found), _LISTED))
    if partial:
        return ScanReport(ScanStatus.PARTIAL, ordered, unread=tuple(sorted(partial)))
    return ScanReport(ScanStatus.FINDINGS if ordered else ScanStatus.NONE, ordered)


def _texts(bundle: Bundle) -> tuple[dict[str, str], list[str]]:
    """Return the text files, and the paths of files that may contain text but were not read."""
    texts: dict[str, str] = {}
    unread = []
    budget = _READ_BYTES
    for path, content in sorted(bundle.items(), key=lambda item: item[0] != SKILL_MD):
        if b"\0" in content[:8_192]:
            continue
        budget -= len(content)
        try:
            if budget < 0:
                raise ValueError
            texts[path] = content.decode()
        except ValueError:
            unread.append(path)
    return texts, unread


def fast(texts: Mapping[str, str], skill: SkillMd, known_names: Collection[str] | None) -> Iterator[Finding]:
    """Yield the findings that lint reports. The caller chose the texts within the budget of a request."""
    found = list(header(skill, known_names or ()))
    budget = _FAST_CHARS
    late = []
    for path, text in texts.items():
        budget -= len(text)
        if budget >= 0:
            found += in_file(path, text, texts)[0]
        else:
            late.append(path)
            found += rules.findings(path, distinct(hidden_text.issued_credentials(text)))
    yield from limit_per_rule(found, _LISTED)
    yield from hidden_text.hidden_characters(texts)
    if late:
        message = f"{len(late):,} files are too long to be checked for harmful content before they are saved."
        fix = "Wait for the scan in the background before you use the skill."
        yield Finding("text-unscanned", Severity.HINT, late[0], None, message, fix, Category.SECURITY)


def refusals(texts: Mapping[str, str]) -> Iterator[Finding]:
    """Yield the errors among the findings of `fast`. The checks that find no errors do not run."""
    for path, text in _first(texts):
        yield from errors(rules.findings(path, distinct(_safely(path, text, texts).matches)))


def refusal_seconds(texts: Mapping[str, str]) -> float:
    """Return the CPU time that `refusals` needs at most."""
    return sum(len(text) for _, text in _first(texts)) * _SECONDS_PER_CHAR


def _first(texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the files that `fast` reads in full."""
    budget = _FAST_CHARS
    for path, text in texts.items():
        budget -= len(text)
        if budget >= 0:
            yield path, text


def header(skill: SkillMd, known_names: Collection[str]) -> Iterator[Finding]:
    """Yield the findings about the name and the allowed tools."""
    lines = skill.document.lines
    name = normalise(skill.name)
    matches = [Match(lines.get("name", 1), Rule.TYPO, other) for other in names.imitated(name, known_names)]
    if tool := config_files.allowed_tools(_tools(skill)):
        matches.append(Match(lines.get("allowed-tools", 1), Rule.PERMISSIONS, f"allowed-tools: {tool}"))
    return rules.findings(SKILL_MD, matches)


def _tools(skill: SkillMd) -> str:
    value = skill.document.fields.get("allowed-tools")
    return " ".join(str(each) for each in value) if isinstance(value, tuple) else skill.allowed_tools


def in_file(path: str, text: str, texts: Mapping[str, str]) -> tuple[list[Finding], bool]:
    """Return the findings of one file, and whether all of its syntax was analysed."""
    result = _safely(path, text, texts)
    if path.lower().endswith(_PROSE):
        result.take(hidden_text.opaque(text))
    result.take(hidden_text.issued_credentials(text))
    return list(rules.findings(path, distinct(result.matches))), not result.partial


def _safely(path: str, text: str, texts: Mapping[str, str]) -> Result:
    """Scan one file. Code that exhausts the stack or the memory of a parser is reported as partly read."""
    try:
        return scan_file(path, text, texts)
    except (RecursionError, MemoryError):
        result = Result()
        result.partial = True
        return result
