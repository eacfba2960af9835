"""The YAML header of SKILL.md: strict reading with caps, one tolerant second try, edits that lose nothing."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from registry.core.errors import InvalidSkill, TooLarge
from registry.core.findings import Finding, Severity
from registry.core.format import edit_lines, second_try, strict_yaml, yaml_errors
from registry.core.format.edit_lines import NESTED, Changes, Layout, Value
from registry.core.format.strict_yaml import Loaded
from registry.core.format.yaml_errors import refused
from registry.core.limits import DEFAULT, Limits

_BOM = "\ufeff"
_OPENING = re.compile(r"---[ \t]*(\r?\n)")
_CLOSING = re.compile(r"^---[ \t]*(?:\r?\n|\r?\Z)", re.MULTILINE)
_NEAR_FENCE = re.compile(r"^[ \t]*(?:-{2,}|[–—]+-*)[ \t]*\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Document:
    text: str  # exact, BOM and CRLF included
    fields: Mapping[str, object]  # None, bool, str, tuple or mapping; all immutable
    lines: Mapping[str, int]  # 1-based line of each key: `name`, `metadata.tags`
    read_as: Mapping[str, str]  # what other readers make of each value: str, int, float, bool, …
    body: str  # everything after the closing fence line, exactly
    body_line: int  # 1-based line where it starts
    warnings: tuple[Finding, ...]
    layout: Layout = field(repr=False)


def parse(content: bytes | str, *, limits: Limits = DEFAULT, file: str = "SKILL.md") -> Document:
    text = _decoded(content, limits, file)
    start = len(_BOM) if text.startswith(_BOM) else 0
    opening = _OPENING.match(text, start)
    if opening is None:
        raise _no_fence(text[start:], file)
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        raise _unclosed(text, opening.end(), file)
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


def edit(
    document: Document, changes: Mapping[str, object | None], *, body: str | None = None, limits: Limits = DEFAULT
) -> str:
    """The text with these keys set (None removes) and, if given, this body; every other line stays as it is.

    `metadata.x` is the key `x` inside `metadata`. The result is read back and compared before it is returned.
    """
    wanted = {name: _value(name, value) for name, value in changes.items() if not _already(document, name, value)}
    layout = document.layout
    header = edit_lines.rewrite(layout, document.fields, wanted) if wanted else layout.text
    rest = document.text[layout.end :]
    if body is not None and body != document.body:
        fence = rest[: len(rest) - len(document.body)]
        body = re.sub(r"\r\n?|\n", layout.newline, body)
        rest = (fence if fence.endswith("\n") or not body else fence + layout.newline) + body
    result = document.text[: layout.start] + header + rest
    if wanted or result != document.text:
        _check(document, wanted, result, limits)
    return result


def _decoded(content: bytes | str, limits: Limits, file: str) -> str:
    try:
        raw = content.encode() if isinstance(content, str) else content
    except UnicodeEncodeError as error:
        line = error.object.count("\n", 0, error.start) + 1
        raise refused(
            "skill-md-encoding", file, line, f"Character {error.start + 1:,} is half of a surrogate pair.", "Remove it."
        ) from None
    if len(raw) > limits.skill_md_bytes:
        raise _too_large(file, "skill-md-size", file, len(raw), limits.skill_md_bytes)
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise refused(
            "skill-md-encoding",
            file,
            line,
            f"Byte {error.start + 1:,} (0x{raw[error.start]:02x}) is not UTF-8.",
            "Save the file as UTF-8.",
        ) from None
    if "\0" in text:
        raise refused(
            "skill-md-nul",
            file,
            text.count("\n", 0, text.index("\0")) + 1,
            "The line holds a NUL character.",
            "Save the file as plain UTF-8 text.",
        )
    return text


def _no_fence(text: str, file: str) -> InvalidSkill:
    first = text.split("\n", 1)[0].rstrip()
    fence = "Make the first line exactly `---`."
    if first.startswith("---\r"):
        return refused(
            "frontmatter-fence",
            file,
            1,
            "The lines end with a carriage return alone.",
            "Save the file with LF or CRLF line ends.",
        )
    if first.strip() == "---":
        if first == "---":
            return _unclosed(text, len(text), file)
        return refused("frontmatter-indented", file, 1, "The first `---` is indented.", "Delete the spaces before it.")
    if first[:2] in ("--", "––", "——") or first[:1] == "—":
        return refused("frontmatter-fence", file, 1, f"The first line is `{first[:40]}`, not `---`.", fence)
    stripped = text.lstrip()
    if stripped.startswith("---") and not first.strip():
        line = text[: len(text) - len(stripped)].count("\n") + 1
        return refused(
            "frontmatter-missing",
            file,
            line,
            "The header starts below blank lines.",
            "Delete everything above the first `---`.",
        )
    return refused(
        "frontmatter-missing",
        file,
        1,
        "There is no header.",
        "Start the file with `---`, the lines `name:` and `description:`, and `---` again.",
    )


def _unclosed(text: str, start: int, file: str) -> InvalidSkill:
    near = _NEAR_FENCE.search(text, start)
    if near:
        return refused(
            "frontmatter-unclosed",
            file,
            text.count("\n", 0, near.start()) + 1,
            f"The header is never closed; this line is `{near[0].rstrip()[:40]}`, not `---`.",
            "Make it exactly `---`, without spaces before it.",
        )
    return refused(
        "frontmatter-unclosed",
        file,
        1,
        "The header opens with `---` and is never closed.",
        "Put a line `---` after the last key.",
    )


def _too_large(what: str, rule: str, file: str, size: int, allowed: int) -> TooLarge:
    message = f"{what} is {size:,} bytes. {allowed:,} are allowed."
    finding = Finding(rule, Severity.ERROR, file, None, message, "Move detail to `references/`.")
    return TooLarge(f"{message} Nothing was stored.", findings=[finding], hit=size, allowed=allowed)


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
                f"The value of `{key}` holds a colon and a space outside quotes. It was read as one text; "
                "most clients refuse the file.",
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
        "The file starts with a byte order mark, and many clients then find no header.",
        "Save it as UTF-8 without BOM.",
    )


def _root(loaded: Loaded, file: str) -> Mapping[str, object]:
    value = loaded.value
    if isinstance(value, Mapping) and value:
        return value
    if not value and not isinstance(value, bool):
        raise refused("frontmatter-empty", file, 2, "The header is empty.", "Add `name:` and `description:`.")
    what = "a list" if isinstance(value, tuple) else "a single value"
    raise refused("frontmatter-root", file, 2, f"The header is {what}.", "Write it as lines of `key: value`.")


def _value(name: str, value: object) -> Value | None:
    if isinstance(value, list | tuple):
        items = tuple(str(item) for item in value)
        return edit_lines.joined(items) if name.startswith(NESTED) else items
    if value is None or isinstance(value, str | bool):
        return value
    raise TypeError(f"{name}: a header holds text, bools and lists, not {type(value).__name__}")


def _already(document: Document, name: str, value: object) -> bool:
    place: object = document.fields
    key = name
    if name.startswith(NESTED):
        place, key = document.fields.get("metadata"), name.removeprefix(NESTED)
    if not isinstance(place, Mapping) or key not in place:
        return value is None
    if value is None:
        return False
    if isinstance(value, list | tuple):
        return place[key] in (tuple(value), _value(name, value))
    return bool(place[key] == value)


def _check(document: Document, wanted: Changes, result: str, limits: Limits) -> None:
    layout = document.layout
    try:
        fields = parse(result, limits=limits, file=layout.file).fields
    except InvalidSkill as error:
        reason = error.findings[0]
        raise refused(
            "frontmatter-edit",
            layout.file,
            reason.line,
            f"The change cannot be written: {reason.message}",
            "Change it in the exact text.",
        ) from None
    if dict(fields) != _expected(document.fields, wanted):
        raise refused(
            "frontmatter-edit", layout.file, 2, "The change would alter other keys too.", "Change it in the exact text."
        )


def _expected(fields: Mapping[str, object], wanted: Changes) -> dict[str, object]:
    top, nested = edit_lines.by_level(wanted)
    expected = _with(fields, top)
    if nested:
        inside = fields.get("metadata")
        metadata = _with(inside if isinstance(inside, Mapping) else {}, nested)
        expected = _with(expected, {"metadata": metadata or None})
    return expected


def _with(fields: Mapping[str, object], changes: Mapping[str, object]) -> dict[str, object]:
    removed = {name for name, value in changes.items() if value is None}
    return {name: value for name, value in {**fields, **changes}.items() if name not in removed}
