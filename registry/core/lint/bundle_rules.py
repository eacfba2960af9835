"""Lint rules about the instructions and files of a skill: size, links, hidden characters, requirements."""

import posixpath
import re
from collections.abc import Callable, Iterator

from registry.core.bundle import SKILL_MD, normalise
from registry.core.catalog import token_estimate
from registry.core.findings import Finding, Severity, limit_per_rule, shorten
from registry.core.limits import MIB
from registry.core.lint import links
from registry.core.lint.context import LintContext, unread
from registry.core.text.nearest import nearest_of

# Files for people or other tools. The text need not mention them.
_NOT_FOR_AGENTS = re.compile(
    r"(^|/)(LICEN[CS]E|NOTICE|README|CHANGELOG|AUTHORS|requirements)[^/]*$|(^|/)__init__\.py$|(^|/)\.[^/]+$"
    r"|^workflow\.ya?ml$|^evals/|^tests?/|^agents/openai\.yaml$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[\w./-]+")
_MACHINE_PATH = re.compile(r"(?<![\w/.:])(?:/(?:home|Users)/[\w.-]+/|[A-Za-z]:\\Users\\[\w.-]+\\|/root/|/mnt/[a-z]/)")
_MOST_POINTERS = 20_000  # that are looked up in one skill
_LISTED_POINTERS = 100  # findings of each rule; a text may have hundreds of thousands


def body_empty(context: LintContext) -> Iterator[Finding]:
    if not context.skill.instructions:
        yield Finding(
            "body-empty",
            Severity.WARNING,
            SKILL_MD,
            context.skill.document.body_line,
            "The skill has no instructions. An agent that loads it learns nothing.",
            "Write below the header what the agent should do, step by step.",
        )


def body_tokens(context: LintContext) -> Iterator[Finding]:
    count, limits = token_estimate.estimate(context.skill.instructions), context.limits
    message = (
        f"The instructions are about {count:,} tokens long. Agents read all of them each time they load the skill."
    )
    fix = "Move details that are only sometimes needed to files in `references/`, and say when to read them."
    line = context.skill.document.body_line
    if count > limits.loud_tokens:
        yield Finding(
            "tokens-loud",
            Severity.WARNING,
            SKILL_MD,
            line,
            f"{message} Keep them under {limits.soft_tokens:,}. Over {limits.loud_tokens:,}, agents lose track.",
            fix,
        )
    elif count > limits.soft_tokens:
        advice = f"{message} Keep them under {limits.soft_tokens:,}."
        yield Finding("tokens-soft", Severity.WARNING, SKILL_MD, line, advice, fix)


def bundle_size(context: LintContext) -> Iterator[Finding]:
    files, size, limits = len(context.bundle), context.bundle.size, context.limits
    fix = "Remove files that agents do not need."
    if files > limits.mcp_files or size > limits.mcp_bytes:
        yield Finding(
            "bundle-mcp",
            Severity.WARNING,
            SKILL_MD,
            None,
            f"The skill has {files:,} files and {size:,} bytes. Agents that connect over MCP do not "
            f"get skills with more than {limits.mcp_files:,} files or {limits.mcp_bytes // MIB} MiB.",
            fix,
        )
    elif files > limits.warn_files or size > limits.warn_bytes:
        yield Finding(
            "bundle-large",
            Severity.WARNING,
            SKILL_MD,
            None,
            f"The skill has {files:,} files and {size:,} bytes. Some agents reject skills with more "
            f"than {limits.warn_files} files or {limits.warn_bytes // MIB} MiB.",
            fix,
        )


def files_unread(context: LintContext) -> Iterator[Finding]:
    skipped = unread(context.bundle, context.texts)
    if skipped:
        also = f" and {len(skipped) - 1:,} more files" if len(skipped) > 1 else ""
        yield Finding(
            "text-unread",
            Severity.HINT,
            skipped[0],
            None,
            f"{shorten(skipped[0])}{also} could not be checked for hidden content. The text is too long or not UTF-8.",
            "Save text files as UTF-8 and keep them short, or read them yourself.",
        )


def pointers(context: LintContext) -> Iterator[Finding]:
    """Find links and paths to missing files, or to files outside the bundle."""
    return limit_per_rule(_broken_pointers(context), _LISTED_POINTERS)


def _broken_pointers(context: LintContext) -> Iterator[Finding]:
    directories = {parent for path in context.bundle for parent in _parents(path)}
    same_name = {posixpath.basename(path): path for path in reversed(list(context.bundle))}
    nearest = nearest_of(list(context.bundle)[:500])
    for number, (file, pointer) in enumerate(_all_pointers(context)):
        if number == _MOST_POINTERS:
            yield _partly_checked(file, f"{_MOST_POINTERS:,} links and paths", "links")
            return
        if links.is_remote(pointer.target):
            continue
        path = links.resolve(pointer.target, file=file if pointer.linked else SKILL_MD)
        if path is None:
            yield Finding(
                "link-outside",
                Severity.WARNING,
                file,
                pointer.line,
                f"The link “{shorten(pointer.target)}” points outside the skill. Agents cannot open it.",
                "Add the file to the skill and link to it there.",
            )
        elif path not in context.bundle and path not in directories and not _from_root(pointer, context):
            near = same_name.get(posixpath.basename(path)) or nearest(path)
            yield Finding(
                "file-missing",
                Severity.WARNING,
                file,
                pointer.line,
                f"The skill has no file {shorten(path)}.",
                f"Add the file, or change the text to {near}." if near else "Add the file, or remove it from the text.",
            )


def _partly_checked(file: str, amount: str, what: str) -> Finding:
    message = f"The skill has more than {amount}. The rest was not checked."
    return Finding("text-unread", Severity.WARNING, file, None, message, f"Remove {what}, or check the text yourself.")


def _all_pointers(context: LintContext) -> Iterator[tuple[str, links.Pointer]]:
    document = context.skill.document
    for pointer in links.pointers(document.body, first_line=document.body_line):
        yield SKILL_MD, pointer
    for path, text in context.texts.items():
        if path != SKILL_MD and path.lower().endswith(".md"):
            yield from ((path, pointer) for pointer in links.pointers(text))


def _from_root(pointer: links.Pointer, context: LintContext) -> bool:
    """Accept links that are relative to the root of the skill, because agents resolve paths from there."""
    path = links.resolve(pointer.target, file=SKILL_MD)
    return path == "." or path in context.bundle


def _parents(path: str) -> Iterator[str]:
    while path := posixpath.dirname(path):
        yield path
    yield "."


def files_unreferenced(context: LintContext) -> Iterator[Finding]:
    words = {path: set(_WORD.findall(text)) for path, text in context.texts.items()}
    mentions = _count_files(words)
    for path in context.bundle:
        if path == SKILL_MD or _NOT_FOR_AGENTS.search(path):
            continue
        own = words.get(path, set())
        names = _spellings(path)
        if not any(mentions.get(name, 0) > (name in own) for name in names):
            yield Finding(
                "file-unreferenced",
                Severity.HINT,
                path,
                None,
                f"The skill never mentions {shorten(path)}, so agents will not read it.",
                "Say in SKILL.md when to read it, or remove the file.",
            )


def _spellings(path: str) -> tuple[str, ...]:
    """Return the words that count as a mention: path, file name, module, parent folders, each also with a full stop."""
    name = posixpath.basename(path)
    folders = [f"{parent}/" for parent in _parents(path) if parent != "."]
    plain = [path, f"./{path}", name, name.partition(".")[0], *folders]
    return tuple(plain + [f"{each}." for each in plain])


def _count_files(words: dict[str, set[str]]) -> dict[str, int]:
    """Count the files that contain each word."""
    counts: dict[str, int] = {}
    for words_of_file in words.values():
        for word in words_of_file:
            counts[word] = counts.get(word, 0) + 1
    return counts


def requires(context: LintContext) -> Iterator[Finding]:
    key = "requires" if "requires" in context.skill.document.fields else "metadata.requires"
    own = normalise(context.skill.name)
    nearest = nearest_of(context.known_names or ())
    for name in context.skill.requires:
        if name == own:
            yield context.header_finding(
                "requires-self",
                Severity.WARNING,
                key,
                "The skill requires itself.",
                f"Remove {name} from `requires`.",
            )
        elif context.known_names is not None and name not in context.known_names:
            near = nearest(name)
            yield context.header_finding(
                "requires-unknown",
                Severity.WARNING,
                key,
                f"The skill requires “{shorten(name)}”, which is not in this project.",
                f"Change it to {near}, or remove it." if near else "Add that skill to the project, or remove it here.",
            )


def machine_paths(context: LintContext) -> Iterator[Finding]:
    for path, text in context.texts.items():
        if match := _MACHINE_PATH.search(text):
            yield Finding(
                "machine-path",
                Severity.HINT,
                path,
                text.count("\n", 0, match.start()) + 1,
                f"“{match[0]}” is a folder on one person’s computer.",
                "Use a path inside the skill or an environment variable.",
            )


RULES = {
    "body-empty": "The skill has instructions.",
    "tokens-soft": "Instructions stay under 5,000 tokens.",
    "tokens-loud": "Instructions stay under 8,000 tokens.",
    "bundle-large": "A skill has at most 20 files and 1 MiB, because some agents reject larger ones.",
    "bundle-mcp": "A skill has at most 512 files and 16 MiB, because larger ones are not served over MCP.",
    "text-unread": "Every text file is UTF-8 and short enough to be checked.",
    "file-missing": "Every file that the text mentions exists.",
    "link-outside": "No link points outside the skill.",
    "file-unreferenced": "Every file is mentioned somewhere.",
    "requires-self": "A skill does not require itself.",
    "requires-unknown": "Required skills exist.",
    "machine-path": "The text has no paths on one person’s computer.",
}

CHECKS: tuple[Callable[[LintContext], Iterator[Finding]], ...] = (
    body_empty, body_tokens, bundle_size, files_unread, pointers, files_unreferenced, requires,
    machine_paths,
)  # fmt: skip
