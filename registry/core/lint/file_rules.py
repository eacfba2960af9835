"""Lint rules about single files: files that tools run by themselves, and scripts that cannot be checked."""

import re
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath

from registry.core.bundle import SKILL_MD
from registry.core.findings import Finding, Severity, limit_per_rule, shorten
from registry.core.lint.context import LintContext

_LISTED = 20  # findings of each rule

# Programs, and the files from which they run commands when somebody opens, enters or installs the directory.
_AUTORUN = {
    "Agents start servers or run hooks": (
        r"\.mcp\.json", r"\.claude/settings[^/]*\.json", r"\.claude/(hooks|plugins)/.+", r"\.claude-plugin/.+",
        r"hooks/hooks\.json", r"\.(cursor|gemini|codex|windsurf|kiro|roo|continue|opencode|amp|qwen)/.+",
        r"opencode\.jsonc?", r"\.aider\.conf\.yml", r"gemini-extension\.json",
    ),
    "Editors run tasks": (
        r"\.vscode/.+", r"\.idea/.+", r"\.zed/.+", r"\.fleet/.+", r"\.vs/.+", r"[^/]*\.code-workspace",
        r"[^/]*\.sublime-project", r"\.dir-locals(-2)?\.el", r"\.(n?vimrc|exrc|nvim\.lua|lvimrc)",
        r"\.devcontainer/.+", r"\.devcontainer\.json",
    ),
    "Shells run commands": (
        r"\.envrc", r"\.autoenv(\.zsh)?", r"\.(bash|zsh|ksh|csh|tcsh)(rc|_profile|_login|_logout|env)",
        r"\.(profile|zprofile|zlogin|zlogout|zshenv|bash_aliases|inputrc)", r"\.?mise(\.[^/]+)?\.toml",
        r"\.config/mise/.+", r"autorun\.inf",
    ),
    "Git runs hooks": (
        r"\.husky/.+", r"\.githooks/.+", r"\.pre-commit-(config|hooks)\.ya?ml", r"\.gitmodules", r"\.gitconfig",
        r"\.?lefthook(-local)?\.(ya?ml|toml|json)", r"\.lintstagedrc[^/]*", r"\.?overcommit\.yml",
    ),
    "Python, Node or a debugger runs code": (
        r"(site|user)customize\.py", r"\.pnpmfile\.c?js", r"\.yarnrc(\.yml)?", r"\.yarn/(plugins|releases)/.+",
        r"\.npmrc", r"\.pythonrc(\.py)?", r"\.pdbrc", r"\.gdbinit", r"\.lldbinit", r"\.irbrc",
        r"\.cargo/config(\.toml)?",
    ),
}  # fmt: skip
_AUTORUN_PATHS = {who: re.compile(rf"(?:.*/)?(?:{'|'.join(paths)})") for who, paths in _AUTORUN.items()}
# A skill may bring such a file as a template, which only takes effect after it was copied.
_TEMPLATE = re.compile(r"(^|/)(assets|templates?|examples?|references|fixtures|tests?)/", re.IGNORECASE)
_SCRIPT = re.compile(
    r"\.(py|pyw|sh|bash|zsh|fish|ksh|js|mjs|cjs|jsx|ts|mts|cts|tsx|rb|pl|pm|php|lua|tcl|r|jl|groovy|awk|ps1|psm1|psd1"
    r"|bat|cmd|vbs|vbe|jse|wsf|hta|applescript|scpt|command|ipynb|sql|makefile|mk)$|(^|/)(makefile|dockerfile|justfile)$",
    re.IGNORECASE,
)
_PROGRAM_DIRECTORY = re.compile(r"(^|/)(scripts|bin|hooks)/", re.IGNORECASE)


def files_autorun(context: LintContext) -> Iterator[Finding]:
    """Find files that a tool acts on although no agent was told to use them."""
    return limit_per_rule(_autorun(context), _LISTED)


def _autorun(context: LintContext) -> Iterator[Finding]:
    for path in context.bundle:
        who = next((who for who, pattern in _AUTORUN_PATHS.items() if pattern.fullmatch(path.casefold())), None)
        if who is not None:
            yield Finding(
                "file-autorun",
                Severity.HINT if _TEMPLATE.search(path) else Severity.WARNING,
                path,
                None,
                f"{who} from {shorten(path)} when somebody opens the folder, without asking.",
                "Remove the file. Describe in SKILL.md what to set up, so that a person decides.",
            )


def scripts_unread(context: LintContext) -> Iterator[Finding]:
    """Find scripts that no other rule has read, which would otherwise look harmless."""
    return limit_per_rule(_unread_scripts(context), _LISTED)


def _unread_scripts(context: LintContext) -> Iterator[Finding]:
    for path, content in context.bundle.items():
        if path not in context.texts and path != SKILL_MD and _is_script(path, content):
            yield Finding(
                "script-unread",
                Severity.WARNING,
                path,
                None,
                f"{shorten(path)} is a script that could not be checked. {_reason(content, context)}",
                "Save the script as UTF-8 text, and split it if it is long. Read it yourself before you trust it.",
            )


def _is_script(path: str, content: bytes) -> bool:
    if content.startswith(b"#!") or _SCRIPT.search(path):
        return True
    return bool(_PROGRAM_DIRECTORY.search(path)) and not PurePosixPath(path).suffix


def _reason(content: bytes, context: LintContext) -> str:
    limit = context.limits.text_read_bytes
    if b"\0" in content:
        return "It contains a NUL byte, which text never has."
    if len(content) > limit:
        return f"It has {len(content):,} bytes, and only {limit:,} are checked."
    try:
        content.decode()
    except UnicodeDecodeError:
        return "It is not UTF-8 text."
    return "The other files of the skill are too long together."


RULES = {
    "file-autorun": "No file is run by a shell, an editor or an agent without being asked.",
    "script-unread": "Every script is UTF-8 text and short enough to be checked.",
}

CHECKS: tuple[Callable[[LintContext], Iterator[Finding]], ...] = (files_autorun, scripts_unread)
