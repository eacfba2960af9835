"""Encoded payloads in a text: base64 and hex that decode to code or prose, also when compressed or encoded twice."""

import base64
import binascii
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

_BASE64 = re.compile(r"(?<![\w+/=-])[A-Za-z0-9+/_-]{24,}={0,2}")
_HEX = re.compile(r"(?<![\w])(?:[0-9a-fA-F]{2}){16,}(?!\w)|(?:\\x[0-9a-fA-F]{2}){8,}")
_CODE = re.compile(
    r"\b(?:import|exec|eval|curl|wget|require|subprocess|socket|bash|powershell|function|def|http|chmod|crontab"
    r"|Invoke|IEX)\b|#!/"
)
_LAYERS = 3
_MOST_PAYLOADS = 200
_MOST_BYTES = 200_000  # decoded, in one payload
_BUDGET = 2_000_000  # decoded, in one file


@dataclass(frozen=True, slots=True)
class Payload:
    """Decoded text, named after the language that it seems to be in."""

    name: str
    text: str


def find(text: str) -> Iterator[tuple[int, Payload]]:
    """Yield the line and the decoded text of each payload that reads like code or prose."""
    budget = _BUDGET
    count = 0
    for pattern in (_BASE64, _HEX):
        for match in pattern.finditer(text):
            count += 1
            budget -= len(match[0])
            if count > _MOST_PAYLOADS or budget < 0:
                return
            decoded = _decode(match[0], _LAYERS)
            if decoded is not None:
                yield text.count("\n", 0, match.start()) + 1, _typed(decoded)


def _typed(text: str) -> Payload:
    if re.search(r"^\s*(?:import \w|from \w+ import |def \w+\()|\b__import__\(", text, re.MULTILINE):
        return Payload("payload.py", text)
    if re.search(r"\brequire\(|\bfunction\b|=>|\b(?:const|let|var) \w", text):
        return Payload("payload.js", text)
    if re.search(r"New-Object|Invoke-|\bIEX\b|\$env:", text):
        return Payload("payload.ps1", text)
    return Payload("payload.sh" if _CODE.search(text) else "payload.md", text)


def _decode(run: str, layers: int) -> str | None:
    """Return the text behind up to three layers of encoding and compression, or None if there is none."""
    content = _bytes(run)
    if content is None:
        return None
    content = _expand(content)
    text = _text(content)
    if text is None:
        return None
    inner = _BASE64.fullmatch(text.strip()) or _HEX.fullmatch(text.strip())
    if inner and layers > 1:
        return _decode(text.strip(), layers - 1)
    return text if " " in text else None


def _bytes(run: str) -> bytes | None:
    try:
        if run.startswith("\\x"):
            return bytes.fromhex(run.replace("\\x", ""))
        if re.fullmatch(r"(?:[0-9a-fA-F]{2})+", run):
            return bytes.fromhex(run)
        padded = run.rstrip("=")
        return base64.b64decode(padded + "=" * (-len(padded) % 4), altchars=b"-_" if set(run) & set("-_") else None)
    except (ValueError, binascii.Error):
        return None


def _expand(content: bytes) -> bytes:
    try:
        if content[:2] == b"\x1f\x8b":
            return gzip.GzipFile(fileobj=io.BytesIO(content)).read(_MOST_BYTES)
        if content[:1] == b"x" and content[1:2] in b"\x01\x5e\x9c\xda":
            return zlib.decompressobj().decompress(content, _MOST_BYTES)
    except (OSError, EOFError, zlib.error):
        return content
    return content


def _text(content: bytes) -> str | None:
    """Return printable text, also in UTF-16, which PowerShell uses."""
    if len(content) > _MOST_BYTES or len(content) < 8:
        return None
    wide = content[1::2].count(0) > len(content) // 3
    try:
        text = content.decode("utf-16-le" if wide else "utf-8")
    except UnicodeDecodeError:
        return None
    printable = sum(character.isprintable() or character in "\n\t\r" for character in text)
    return text if printable >= len(text) * 0.97 else None
