"""Parses and edits the YAML header (frontmatter) of SKILL.md."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from registry.core.errors import InvalidSkill, TooLarge
from registry.core.findings import Finding, Severity
from registry.core.format import edit_lines, second_try, strict_yaml, yaml_errors
from registry.core.format.edit_lines import NESTED, Changes, Layout, Value
from registry.core.format.strict_yaml import Loaded
from registry.core.format.yaml_errors import invalid_skill
from registry.core.limits import DEFAULT, Limits

_BOM = "\ufeff"
_OPENING = re.compile(r"---[ \t]*(\r?\n)")
_CLOSING = re.compile(r"^---[ \t]*(?:\r?\n|\r?\Z)", re.MULTILINE)
_NEAR_FENCE = re.compile(r"^[ \t]*(?:-{2,}|[–—]+-*)[ \t]*\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed SKILL.md."""

    text: str  # exact, including BOM and CRLF
    fields: Mapping[str, object]  # None, bool, str, tuple or mapping; all immutable
    lines: Mapping[str, int]  # 1-based line of each key: `name`, `metadata.tags`
    read_as: Mapping[str, str]  # type of each value for other YAML parsers: str, int, float, bool, …
    body: str  # everything after the closing fence line, exactly
    body_line: int  # 1-based line where it starts
    warnings: tuple[Finding, ...]
    layout: Layout = field(repr=False)


def parse(content: bytes | str, *, limits: Limits = DEFAULT, file: str = "SKILL.md") -> Document:
    """Parse SKILL.md. Raise InvalidSkill or TooLarge.

    A header whose only error is a colon in a value without quotes is repaired, with a warning.
    """
    text = _decode(content, limits, file)
    start = len(_BOM) if text.startswith(_BOM) else 0
    opening, closing = _fences(text, start, file)
    header = text[opening.end() : closing.start()]
    size = len(header.encode())
    if size > limits.frontmatter_bytes:
        raise _too_large(f"The header of {file}", "frontmatter-size", file, size, limits.frontmatter_bytes)
    loaded, source, warnings = _load(header, limits, file)
    if start:
        warnings = (_bom(file), *warnings)
    keys = {".".join(path): key for path, key in sorted(loaded.keys.items(), key=lambda item: item[1])}
    return Document(
        text=text,
        fields=_root(loaded, file),
        lines=MappingProxyType({name: key.line + 2 for name, key in keys.items()}),
        read_as=MappingProxyType({name: key.read_as for name, key in keys.items()}),
        body=text[closing.end() :],
        body_line=text.count("\n", 0, closing.end()) + (1 if closing[0].endswith("\n") else 2),
        warnings=warnings,
        layout=Layout(file, header, opening.end(), closing.start(), opening[1], source, loaded),
    )


def split(content: bytes | str, *, limits: Limits = DEFAULT, file: str = "SKILL.md") -> tuple[str, str]:
    """Return the header and the body of SKILL.md without parsing the header, which is slow."""
    text = _decode(content, limits, file)
    opening, closing = _fences(text, len(_BOM) if text.startswith(_BOM) else 0, file)
    return text[opening.end() : closing.start()], text[closing.end() :]


def edit(
    document: Document, changes: Mapping[str, object | None], *, body: str | None = None, limits: Limits = DEFAULT
) -> str:
    """Return the text with these keys set, and with a new body if one is given. None removes a key.

    `metadata.x` is the key `x` inside `metadata`. All other lines stay unchanged. The result is parsed and compared
    before it is returned.
    """
    pending = {name: _value(name, value) for name, value in changes.items() if not _is_set(document, name, value)}
    layout = document.layout
    header = edit_lines.rewrite(layout, document.fields, pending) if pending else layout.text
    rest = document.text[layout.end :]
    if body is not None and body != document.body:
        fence = rest[: len(rest) - len(document.body)]
        body = re.sub(r"\r\n?|\n", layout.newline, body)
        rest = (fence if fence.endswith("\n") or not body else fence + layout.newline) + body
    result = document.text[: layout.start] + header + rest
    if pending or result != document.text:
        _check(document, pending, result, limits)
    return result


def _decode(content: bytes | str, limits: Limits, file: str) -> str:
    try:
        raw = content.encode() if isinstance(content, str) else content
    except UnicodeEncodeError as error:
        line = error.object.count("\n", 0, error.start) + 1
        raise invalid_skill(
            "skill-md-encoding", file, line, f"Character {error.start + 1:,} is not a valid character.", "Remove it."
        ) from None
    if len(raw) > limits.skill_md_bytes:
        raise _too_large(file, "skill-md-size", file, len(raw), limits.skill_md_bytes)
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise invalid_skill(
            "skill-md-encoding",
            file,
            line,
            f"The file is not UTF-8: byte {error.start + 1:,} is 0x{raw[error.start]:02x}.",
            "Save the file as UTF-8.",
        ) from None
    if "\0" in text:
        raise invalid_skill(
            "skill-md-nul",
            file,
            text.count("\n", 0, text.index("\0")) + 1,
            "This line contains a NUL character.",
            "Save the file as plain UTF-8 text.",
        )
    return text


def _fences(text: str, start: int, file: str) -> tuple[re.Match[str], re.Match[str]]:
    opening = _OPENING.match(text, start)
    if opening is None:
        raise _no_fence(text[start:], file)
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        raise _unclosed(text, opening.end(), file)
    return opening, closing


def _no_fence(text: str, file: str) -> InvalidSkill:
    first = text.split("\n", 1)[0].rstrip()
    fence = "Make the first line exactly `---`."
    if first.startswith("---\r"):
        return invalid_skill(
            "frontmatter-fence",
            file,
            1,
            "The file uses CR line endings.",
            "Save the file with LF or CRLF line endings.",
        )
    if first.strip() == "---":
        if first == "---":
            return _unclosed(text, len(text), file)
        return invalid_skill(
            "frontmatter-indented", file, 1, "There are spaces before the first `---`.", "Delete them."
        )
    if first[:2] in ("--", "––", "——") or first[:1] == "—":
        return invalid_skill("frontmatter-fence", file, 1, f"The first line is `{first[:40]}` instead of `---`.", fence)
    stripped = text.lstrip()
    if stripped.startswith("---") and not first.strip():
        line = text[: len(text) - len(stripped)].count("\n") + 1
        return invalid_skill(
            "frontmatter-missing",
            file,
            line,
            "There are blank lines before the header.",
            "Delete everything above the first `---`.",
        )
    return invalid_skill(
        "frontmatter-missing",
        file,
        1,
        "SKILL.md has no header.",
        "Start the file with a line `---`, the lines `name: …` and `description: …`, and another line `---`.",
    )


def _unclosed(text: str, start: int, file: str) -> InvalidSkill:
    near = _NEAR_FENCE.search(text, start)
    if near:
        return invalid_skill(
            "frontmatter-unclosed",
            file,
            text.count("\n", 0, near.start()) + 1,
            f"The header is not closed. This line is `{near[0].rstrip()[:40]}` instead of `---`.",
            "Make the line exactly `---`, without spaces before it.",
        )
    return invalid_skill(
        "frontmatter-unclosed",
        file,
        1,
        "The header starts with `---` but is not closed.",
        "Add a line `---` after the last key.",
    )


def _too_large(what: str, rule: str, file: str, size: int, allowed: int) -> TooLarge:
    message = f"{what} has {size:,} bytes. {allowed:,} are allowed."
    finding = Finding(rule, Severity.ERROR, file, None, message, "Move details to files in `references/`.")
    return TooLarge(f"{message} Nothing was saved.", findings=[finding], hit=size, allowed=allowed)


def _load(header: str, limits: Limits, file: str) -> tuple[Loaded, str, tuple[Finding, ...]]:
    try:
        return strict_yaml.load(header, file=file, first_line=2, limits=limits), header, ()
    except InvalidSkill as error:
        if error.findings[0].rule != yaml_errors.COLON:
            raise
        first = error
    second = second_try.quote(header)
    if not second.places:
        raise first
    try:
        loaded = strict_yaml.load(second.text, file=file, first_line=2, limits=limits)
    except InvalidSkill as error:
        unreadable = error.findings[0].rule in (yaml_errors.COLON, yaml_errors.SYNTAX)
        raise (first if unreadable else error) from None
    return (
        loaded,
        second.text,
        tuple(
            Finding(
                "frontmatter-tolerant",
                Severity.WARNING,
                file,
                line + 2,
                f"The value of `{key}` contains a colon and a space, but has no quotes. "
                "Most agents cannot read the skill.",
                "Put the value in double quotes.",
            )
            for line, key in second.places
        ),
    )


def _bom(file: str) -> Finding:
    return Finding(
        "frontmatter-bom",
        Severity.WARNING,
        file,
        1,
        "The file starts with an invisible byte order mark. Many agents do not find the header then.",
        "Save the file as UTF-8 without BOM.",
    )


def _root(loaded: Loaded, file: str) -> Mapping[str, object]:
    value = loaded.value
    if isinstance(value, Mapping) and value:
        return value
    if not value and not isinstance(value, bool):
        raise invalid_skill("frontmatter-empty", file, 2, "The header is empty.", "Add `name:` and `description:`.")
    what = "a list" if isinstance(value, tuple) else "a single value"
    raise invalid_skill(
        "frontmatter-root",
        file,
        2,
        f"The header is {what} instead of keys and values.",
        "Write one `key: value` per line.",
    )


def _value(name: str, value: object) -> Value | None:
    if isinstance(value, list | tuple):
        items = tuple(str(item) for item in value)
        return edit_lines.join_items(items) if name.startswith(NESTED) else items
    if value is None or isinstance(value, str | bool):
        return value
    raise TypeError(f"{name}: a header can contain text, bools and lists, not {type(value).__name__}")


def _is_set(document: Document, name: str, value: object) -> bool:
    parent: object = document.fields
    key = name
    if name.startswith(NESTED):
        parent, key = document.fields.get("metadata"), name.removeprefix(NESTED)
    if not isinstance(parent, Mapping) or key not in parent:
        return value is None
    if value is None:
        return False
    if isinstance(value, list | tuple):
        return parent[key] in (tuple(value), _value(name, value))
    return bool(parent[key] == value)


def _check(document: Document, changes: Changes, result: str, limits: Limits) -> None:
    layout = document.layout
    try:
        fields = parse(result, limits=limits, file=layout.file).fields
    except InvalidSkill as error:
        reason = error.findings[0]
        raise invalid_skill(
            "frontmatter-edit",
            layout.file,
            reason.line,
            f"The change cannot be made: {reason.message}",
            "Switch to Code and edit the text there.",
        ) from None
    if dict(fields) != _expected(document.fields, changes):
        raise invalid_skill(
            "frontmatter-edit",
            layout.file,
            2,
            "The change would affect other keys.",
            "Switch to Code and edit the text there.",
        )


def _expected(fields: Mapping[str, object], changes: Changes) -> dict[str, object]:
    top, nested = edit_lines.by_level(changes)
    expected = _merge(fields, top)
    if nested:
        current = fields.get("metadata")
        metadata = _merge(current if isinstance(current, Mapping) else {}, nested)
        expected = _merge(expected, {"metadata": metadata or None})
    return expected


def _merge(fields: Mapping[str, object], changes: Mapping[str, object]) -> dict[str, object]:
    removed = {name for name, value in changes.items() if value is None}
    return {name: value for name, value in {**fields, **changes}.items() if name not in removed}
