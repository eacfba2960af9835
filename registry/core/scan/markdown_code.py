"""The code in Markdown: fenced blocks with their language, and commands in inline code, without quoted warnings."""

import re
from dataclasses import dataclass, field

from registry.core.scan.quoting import Context
from registry.core.scan.shell_programs import DOWNLOADERS, LANGUAGES, SHELLS, base
from registry.lib.patterns import lazy

_FENCE = lazy(r" {0,12}(?:>\s?)?(`{3,}|~{3,})[ \t]*\{?\.?([\w+#-]{0,20})")
_INLINE = lazy(r"(?<!`)(`{1,2})([^`\n]{3,600})\1(?!`)")
_SHELL = frozenset(
    {"sh", "bash", "zsh", "shell", "console", "shell-session", "shellsession", "terminal", "fish", "ksh"}
)
_PYTHON = frozenset({"python", "py", "python3", "py3", "ipython", "pycon"})
_OTHER = frozenset({
    "js", "javascript", "ts", "typescript", "mjs", "jsx", "tsx", "node", "ruby", "rb", "perl", "php", "lua",
    "powershell", "ps1", "pwsh", "ps", "go", "java", "rust", "csharp", "applescript", "bat", "cmd", "batch", "groovy",
    "kotlin", "swift", "c",
})  # fmt: skip
_ENDINGS = {
    "javascript": "js", "typescript": "ts", "node": "js", "powershell": "ps1", "pwsh": "ps1", "ps": "ps1", "ruby": "rb",
    "perl": "pl", "csharp": "cs", "kotlin": "kt", "rust": "rs",
}  # fmt: skip
_DATA = frozenset({"json", "jsonc", "json5", "yaml", "yml", "toml", "ini"})
_PROMPT = lazy(r"^\s*(?:\$|%|❯|\(\w{1,20}\)\s\$|PS>|>>>|\.\.\.)\s")
_BARE = lazy(
    r"(?:^|[\s:]|(?<![<$])\()((?:sudo[ \t]+)?(?:/(?:usr/)?bin/)?(?:curl|wget|iwr|irm|iex|base64|eval|bash|zsh|sh"
    r"|source|openssl|echo|printf|crontab|nc|ncat|powershell|pwsh|python3?|node|perl|ruby|php|claude|codex|xxd|tar"
    r"|chmod|scp|nslookup|dig|cat|socat|mkfifo|git clone|npx|tee|launchctl)[ \t]+[-$<\"'(`./~\w@{].*)$"
)
_SHELL_SIGN = lazy(r"[|<>;&]|\$\(|`|https?://|\s--?\w|\s(?:~|\.{0,2})/\w|\(\(?\w")
_RUNS_OUTPUT = lazy(r"\b(?:eval|sh -c|bash -c)\s*$")
# A sentence that lists what to search for on a computer.
_SEARCHES = lazy(
    r"\s{0,3}(?:[-*]\s+)?(?:(?:Look|Watch|Hunt|Grep) (?:out )?for\b|Indicators?\b|Signs? of\b|Red flags?\b)"
)
_DESCRIPTION = lazy(r"^description:\s*(.{1,1500})$", re.MULTILINE)
_CALL = lazy(r"\b(?:exec|eval|compile|Function|pickle\.loads?|__import__|getattr)\s?\(")
_COMMANDS = SHELLS | LANGUAGES | DOWNLOADERS | {
    "sudo", "eval", "source", "chmod", "crontab", "echo", "cat", "tar", "git", "npm", "pip", "nc", "ncat", "socat",
    "scp", "rsync", "base64", "openssl", "claude", "codex", "gemini", "nslookup", "dig", "launchctl", "systemctl",
    "cp", "mv", "tee", "printf", "env", "printenv", "export", "mkfifo", "security", "gh", "aws", "unzip", "cd",
    "mkdir", "exec", "nohup",
}  # fmt: skip


@dataclass(slots=True)
class Block:
    """A piece of code in Markdown. `language` is sh, python, script, make, data or text."""

    language: str
    line: int
    lines: list[str] = field(default_factory=list)
    inline: bool = False
    label: str = ""  # the ending of a file in this language

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


@dataclass(slots=True)
class Page:
    blocks: list[Block]
    plain: str  # the text with every line that quotes a warning left blank; line numbers are kept


def read(text: str) -> Page:
    """Return the code blocks, and the text without warnings."""
    description = _DESCRIPTION.search(text[:5_000])
    context, blocks, kept = Context(description[1] if description else ""), list[Block](), list[str]()
    fence, block = "", Block("text", 0)
    for number, line in enumerate(text.split("\n"), 1):
        mark = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2]:
                fence = ""
                context.close_fence()
                blocks.append(_typed(block))
                kept.append(line)
                continue
            warned = context.code(line)
            block.lines.append("" if warned else _PROMPT.sub("", line))
            kept.append("" if warned else line)
        elif mark:
            fence = mark[1]
            context.open_fence()
            block = Block(mark[2].lower(), number + 1)
            kept.append(line)
        else:
            below, warns = context.prose(line)
            kept.append("" if below else line)
            if not (below or warns or _SEARCHES.match(line)):
                _add_inline(blocks, line, number)
                _add_indented(blocks, line, number)
    if fence:
        blocks.append(_typed(block))
    return Page(blocks, "\n".join(kept))


def _add_indented(blocks: list[Block], line: str, number: int) -> None:
    """Add a line of indented code to the block that it continues, or start one with a command."""
    if not line.startswith(("    ", "\t")):
        return
    last = blocks[-1] if blocks else None
    word = line.split(None, 1)[0] if line.strip() else ""
    if last and last.language == "sh" and last.inline and last.line + len(last.lines) == number + 1:
        last.inline = False  # the command of this very line
    elif last and last.language == "sh" and not last.inline and last.line + len(last.lines) == number:
        last.lines.append(line.strip())
    elif base(word) in _COMMANDS:
        blocks.append(Block("sh", number, [line.strip()]))


def _add_inline(blocks: list[Block], line: str, number: int) -> None:
    """Add the commands in inline code or in the sentence itself. A command may continue in the next line."""
    last = blocks[-1] if blocks else None
    if last and last.inline and last.lines[-1].endswith(("\\", "|")) and last.line + len(last.lines) == number:
        last.lines.append(line)
        return
    spans = list(_INLINE.finditer(line)) if "`" in line else []
    if spans:
        spans = [match for match in spans if not _RUNS_OUTPUT.search(line, max(0, match.start() - 20), match.start())]
    for match in spans:
        words = match[2].split(None, 1)
        if len(words) > 1 and (base(words[0]) in _COMMANDS or words[0].startswith(("./", "/", "~/", "$"))):
            blocks.append(Block("sh", number, [_PROMPT.sub("", match[2].replace("\\|", "|"))], inline=True))
        elif _CALL.match(match[2]):
            blocks.append(Block("python", number, [match[2]], inline=True))
    if not spans or all(len(match[2]) <= 8 for match in spans):
        bare = _BARE.search(line) if " " in line or "\t" in line else None
        if bare and _SHELL_SIGN.search(bare[1]):
            blocks.append(Block("sh", number, [bare[1].rstrip()], inline=True))
        elif call := _CALL.search(line) if "(" in line else None:
            blocks.append(Block("python", number, [line[call.start() :]], inline=True))


def _typed(block: Block) -> Block:
    name = block.language
    block.label = _ENDINGS.get(name, name)
    if name in _SHELL:
        block.language = "sh"
    elif name in _PYTHON:
        block.language = "python"
    elif name in _OTHER:
        block.language = "script"
    elif name in _DATA:
        block.language = "data"
    elif name in ("make", "makefile", "just"):
        block.language = "make"
    else:
        block.language = _guess(block) if not name or name in ("text", "txt", "plaintext") else "text"
    return block


def _guess(block: Block) -> str:
    """Return the language of a block without a label."""
    first = [line.split(None, 1)[0] for line in block.lines if line.strip() and not line.lstrip().startswith("#")]
    if any(re.match(r"\s*(?:import \w|from \w+ import |def \w+\(|print\()", line) for line in block.lines):
        return "python"
    return "sh" if any(base(word) in _COMMANDS for word in first) else "text"
