"""Lint rules about the instructions and the files of a skill: size, links, hidden characters, requirements."""

import difflib
import posixpath
import re
from collections.abc import Callable, Collection, Iterator

from registry.core.bundle import SKILL_MD, normalise
from registry.core.catalog import token_estimate
from registry.core.findings import SHOWN_CHARS, Finding, Severity, cut, listed
from registry.core.limits import MIB
from registry.core.lint import invisible, links
from registry.core.lint.context import Subject, unread
from registry.core.lint.invisible import Hidden, Kind

# Files that have a reader of their own, and so need not be mentioned in the text.
_READ_BY_OTHERS = re.compile(
    r"(^|/)(LICEN[CS]E|NOTICE|README|CHANGELOG|AUTHORS|requirements)[^/]*$|(^|/)__init__\.py$|(^|/)\.[^/]+$"
    r"|^workflow\.ya?ml$|^evals/|^tests?/|^agents/openai\.yaml$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w./-]+")
_MACHINE_PATH = re.compile(r"(?<![\w/.:])(?:/(?:home|Users)/[\w.-]+/|[A-Za-z]:\\Users\\[\w.-]+\\|/root/|/mnt/[a-z]/)")
_ONLY_HINTS = (Kind.SPACE, Kind.SOFT_HYPHEN, Kind.COMMENT)
_LISTED_POINTERS = 100  # of each rule; a text may hold hundreds of thousands
_COMPARISONS = 20_000  # of names that may be meant; with so much to mend, no guess is worth the time it takes


def body_empty(subject: Subject) -> Iterator[Finding]:
    if not subject.skill.instructions:
        yield Finding(
            "body-empty",
            Severity.WARNING,
            SKILL_MD,
            subject.skill.document.body_line,
            "There are no instructions below the header; an agent that loads the skill learns nothing.",
            "Write what to do, step by step.",
        )


def body_tokens(subject: Subject) -> Iterator[Finding]:
    count, limits = token_estimate.estimate(subject.skill.instructions), subject.limits
    said = f"The instructions are about {count:,} tokens, and every load costs them all."
    fix = "Move what is only sometimes needed to `references/`, and say when to read it."
    line = subject.skill.document.body_line
    if count > limits.loud_tokens:
        yield Finding(
            "tokens-loud",
            Severity.WARNING,
            SKILL_MD,
            line,
            f"{said} {limits.soft_tokens:,} are advised, and at {limits.loud_tokens:,} agents lose track.",
            fix,
        )
    elif count > limits.soft_tokens:
        yield Finding(
            "tokens-soft", Severity.WARNING, SKILL_MD, line, f"{said} {limits.soft_tokens:,} are advised.", fix
        )


def bundle_size(subject: Subject) -> Iterator[Finding]:
    files, size, limits = len(subject.bundle), subject.bundle.size, subject.limits
    fix = "Leave out what no agent reads."
    if files > limits.mcp_files or size > limits.mcp_bytes:
        yield Finding(
            "bundle-mcp",
            Severity.WARNING,
            SKILL_MD,
            None,
            f"The skill has {files:,} files and {size:,} bytes. Over MCP, {limits.mcp_files:,} files "
            f"and {limits.mcp_bytes // MIB} MiB are allowed; it is not served there.",
            fix,
        )
    elif files > limits.warn_files or size > limits.warn_bytes:
        yield Finding(
            "bundle-large",
            Severity.WARNING,
            SKILL_MD,
            None,
            f"The skill has {files:,} files and {size:,} bytes. Some clients refuse more than "
            f"{limits.warn_files} files or {limits.warn_bytes // MIB} MiB.",
            fix,
        )


def files_unread(subject: Subject) -> Iterator[Finding]:
    left = unread(subject.bundle, subject.texts)
    if left:
        also = f" nor are {len(left) - 1:,} more files" if len(left) > 1 else ""
        yield Finding(
            "text-unread",
            Severity.HINT,
            left[0],
            None,
            f"{cut(left[0])} is not searched for anything hidden{also}: there is too much text, or it is not UTF-8.",
            "Save texts as UTF-8 and keep them short, or read them yourself.",
        )


def pointers(subject: Subject) -> Iterator[Finding]:
    """Links and named paths that lead nowhere, or out of the bundle."""
    return listed(_lost_pointers(subject), _LISTED_POINTERS)


def _lost_pointers(subject: Subject) -> Iterator[Finding]:
    directories = {parent for path in subject.bundle for parent in _parents(path)}
    same_name = {posixpath.basename(path): path for path in reversed(list(subject.bundle))}
    nearest = _nearest_of(list(subject.bundle)[:500])
    for file, pointer in _all_pointers(subject):
        if links.is_remote(pointer.target):
            continue
        path = links.resolve(pointer.target, file=file if pointer.linked else SKILL_MD)
        if path is None:
            yield Finding(
                "link-outside",
                Severity.WARNING,
                file,
                pointer.line,
                f"The link “{cut(pointer.target)}” leads out of the skill, where agents have no file.",
                "Put the file into the skill and link to it there.",
            )
        elif path not in subject.bundle and path not in directories and not _from_root(pointer, subject):
            near = same_name.get(posixpath.basename(path)) or nearest(path)
            yield Finding(
                "file-missing",
                Severity.WARNING,
                file,
                pointer.line,
                f"There is no file {cut(path)} in the skill.",
                f"Add it, or write {near}." if near else "Add it, or take the mention out.",
            )


def _all_pointers(subject: Subject) -> Iterator[tuple[str, links.Pointer]]:
    document = subject.skill.document
    for pointer in links.pointers(document.body, first_line=document.body_line):
        yield SKILL_MD, pointer
    for path, text in subject.texts.items():
        if path != SKILL_MD and path.lower().endswith(".md"):
            yield from ((path, pointer) for pointer in links.pointers(text))


def _from_root(pointer: links.Pointer, subject: Subject) -> bool:
    """Agents read paths from the top of the skill, so a link in a reference may be written that way."""
    path = links.resolve(pointer.target, file=SKILL_MD)
    return path == "." or path in subject.bundle


def _parents(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path):
        yield path
    yield "."


def _nearest_of(known: Collection[str]) -> Callable[[str], str]:
    """Finds the name that somebody may have meant, or "", as long as there are not too many to compare."""
    left = _COMPARISONS

    def nearest(name: str) -> str:
        nonlocal left
        near = difflib.get_close_matches(name[:SHOWN_CHARS], known, n=1, cutoff=0.75) if left > 0 else []
        left -= len(known)
        return near[0] if near else ""

    return nearest


def files_unreferenced(subject: Subject) -> Iterator[Finding]:
    mentioned = {path: set(_WORD.findall(text)) for path, text in subject.texts.items()}
    mentions = _counted(mentioned)
    for path in subject.bundle:
        if path == SKILL_MD or _READ_BY_OTHERS.search(path):
            continue
        own = mentioned.get(path, set())
        names = _ways_to_say(path)
        if not any(mentions.get(name, 0) > (name in own) for name in names):
            yield Finding(
                "file-unreferenced",
                Severity.HINT,
                path,
                None,
                f"No text of the skill mentions {cut(path)}, so no agent will read it.",
                "Say in SKILL.md when to read it, or remove it.",
            )


def _ways_to_say(path: str) -> tuple[str, ...]:
    """The path, its name, its module, and any directory it lies in, with and without what text puts around it."""
    name = posixpath.basename(path)
    folders = [f"{parent}/" for parent in _parents(path) if parent != "."]
    plain = [path, f"./{path}", name, name.partition(".")[0], *folders]
    return tuple(plain + [f"{each}." for each in plain])


def _counted(mentioned: dict[str, set[str]]) -> dict[str, int]:
    """In how many files each word stands."""
    counts: dict[str, int] = {}
    for words in mentioned.values():
        for word in words:
            counts[word] = counts.get(word, 0) + 1
    return counts


def requires(subject: Subject) -> Iterator[Finding]:
    key = "requires" if "requires" in subject.skill.document.fields else "metadata.requires"
    own = normalise(subject.skill.name)
    nearest = _nearest_of(subject.known_names or ())
    for name in subject.skill.requires:
        if name == own:
            yield subject.about(
                "requires-self", Severity.WARNING, key, "The skill requires itself.", f"Remove {name} from `requires`."
            )
        elif subject.known_names is not None and name not in subject.known_names:
            near = nearest(name)
            yield subject.about(
                "requires-unknown",
                Severity.WARNING,
                key,
                f"The required skill “{cut(name)}” does not exist in this project.",
                f"Write {near}, or remove it." if near else "Add that skill, or remove it.",
            )


def hidden_characters(subject: Subject) -> Iterator[Finding]:
    """One finding for each kind in each file, at the first place."""
    for path, text in subject.texts.items():
        found = invisible.scan(text, comments=path.lower().endswith(".md"))
        by_kind: dict[Kind, list[Hidden]] = {}
        for each in found:
            if not (each.offset == 0 and each.code == "U+FEFF"):  # a byte order mark, which has a rule of its own
                by_kind.setdefault(each.kind, []).append(each)
        for kind, places in by_kind.items():
            yield _hidden(path, kind, places)


def _hidden(path: str, kind: Kind, places: list[Hidden]) -> Finding:
    first = places[0]
    carried = next((each.decoded for each in places if each.decoded), "")
    if kind == Kind.COMMENT:
        said = "The text holds a comment" if len(places) == 1 else f"The text holds {len(places):,} comments"
        said += f", which agents read: “{cut(carried)}”" if carried else ", which agents read."
    else:
        said = f"The text holds {first.code} {first.name} ({kind})"
        said += f", {len(places):,} times" if len(places) > 1 else ""
        said += f". It carries: “{cut(carried)}”." if carried else "."
    severity = Severity.HINT if kind in _ONLY_HINTS else Severity.WARNING
    fix = "Remove it, or say it where people see it." if carried else "Remove it; a plain space or nothing does."
    return Finding(f"hidden-{kind}", severity, path, first.line, said, fix)


def machine_paths(subject: Subject) -> Iterator[Finding]:
    for path, text in subject.texts.items():
        if match := _MACHINE_PATH.search(text):
            yield Finding(
                "machine-path",
                Severity.HINT,
                path,
                text.count("\n", 0, match.start()) + 1,
                f"“{match[0]}” is a place on somebody's own machine.",
                "Write the path relative to the skill, or name a variable.",
            )


RULES = {
    "body-empty": "There are instructions below the header.",
    "tokens-soft": "Instructions stay under 5,000 tokens.",
    "tokens-loud": "Instructions stay far from 8,000 tokens.",
    "bundle-large": "A skill has at most 20 files and 1 MiB, or some clients refuse it.",
    "bundle-mcp": "A skill has at most 512 files and 16 MiB, or it is not served over MCP.",
    "text-unread": "Every text is UTF-8 and short enough to be searched.",
    "file-missing": "Every file that the text points at is there.",
    "link-outside": "No link leads out of the skill.",
    "file-unreferenced": "Every file is mentioned somewhere.",
    "requires-self": "A skill does not require itself.",
    "requires-unknown": "Required skills exist.",
    **{f"hidden-{kind}": "The text holds nothing that people do not see." for kind in Kind},
    "machine-path": "The text names no place on one person's machine.",
}

CHECKS: tuple[Callable[[Subject], Iterator[Finding]], ...] = (
    body_empty, body_tokens, bundle_size, files_unread, pointers, files_unreferenced, requires, hidden_characters,
    machine_paths,
)  # fmt: skip
