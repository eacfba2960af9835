"""Pictures and links whose address has a placeholder that the text around it fills with a secret."""

import re
from collections.abc import Iterator
from itertools import islice

from registry.core.findings import shorten
from registry.core.scan.any_case import AnyCase
from registry.core.scan.labels import hosts, is_local, secret_path, secret_variable
from registry.core.scan.matches import Match, Rule
from registry.core.scan.quoting import refused
from registry.lib.patterns import lazy

_ADDRESS = lazy(
    r"\]\(\s{0,4}<?(https?://[^\n)]{4,400})|<(?:img|a)\b[^<>\n]{0,200}?(?:src|href)\s{0,4}=\s{0,4}[\"']?"
    r"(https?://[^\s\"'>]{4,400})",
    re.IGNORECASE,
)
_NAMED = lazy(
    r"[=/]\$?[{<\[(%]{0,2}([A-Z][A-Z0-9_]{1,40})(?![A-Za-z0-9_])|[{<\[]{1,2}\s{0,3}([A-Za-z][\w -]{0,40}?)\s{0,3}[}>\]]"
    r"|=([a-z]{1,12}[_-]?(?:value|here)|value|secret|key|token|data)(?=$|[&#\"'>])"
)
_BLANK = lazy(r"[=/](?:\.{3}|…|[xX]{3,12}|\*{3,12}|_{3,12})(?=$|[&#.\"'>\s])")
# A word for the value that was read. “The value of the column” is another value.
_VALUE = AnyCase(
    r"\b(?:that|this|its|the|your) (?:[\w-]{1,20} ){0,2}?(?:value|key|token|password|secret|string|contents?|result"
    r"|credentials?)s?\b(?! (?:of|in|column|field) (?:the|a|each)\b)|\bwhat (?:you|it|was) (?:just )?(?:found|read"
    r"|copied|took|holds|contains|saw)\b|\b(?:with|is|by|for) (?:it|them|that|this)\b(?! [a-z])"
    r"|\b(?:wert|schlüssel|passwort|inhalt|valeur|clé|mot de passe|contenu|valor|clave|contraseña|contenido|chave|senha"
    r"|conteúdo|valore|chiave|contenuto|значени\w{1,2}|ключ\w{0,2}|парол\w{0,2}|содержим\w{1,2})\b|值|密钥|密码|内容"
    r"|値|キー|パスワード|값|키|비밀번호",
)
_SECRET = AnyCase(
    r"\b(?:(?:private|ssh|api|access|secret|signing) keys?|(?:access |auth |session |api |bearer )?tokens?|passwords?"
    r"|passphrases?|credentials|secrets|seed phrases?|passw[öo]rter?|passwort|zugangsdaten|schlüssel|mots? de passe"
    r"|identifiants|contraseñas?|credenciales|claves?|senhas?|credenciais|chaves?|credenziali|chiav[ei]|парол\w{0,3}"
    r"|ключ\w{0,3}|токен\w{0,3})\b|密码|密钥|令牌|凭据|パスワード|秘密鍵|トークン|비밀번호|토큰",
)
_READ = AnyCase(
    r"\b(?:read|open|take|look up|find|extract|cat|copy|grab|load|collect|fetch|locate|search|note|remember"
    r"|lies|nimm|öffne|lis(?:ez)?|ouvre[zr]?|prends|lee|lea|abre|toma|leia|abra|pegue|leggi|apri|prendi|прочитай\w{0,2}"
    r"|прочти|открой\w{0,2}|возьми\w{0,2})\b|读取|打开|取出|読み|開い|읽|열",
)
# The key of the service that draws the picture.
_OWN_USE = AnyCase(
    r"\b(?:authenticat\w{1,4}|authoriz\w{1,6}|log ?in|sign ?in|oauth|generate|create|obtain|get (?:a|an|your)|sign up"
    r"|settings page|placeholder|made-up|fake|dummy)\b",
)
_SENTENCE = lazy(r"[.!?;]\s|[。！？；]|\n\s*\n")
_DEFINES = AnyCase(
    r"\W{0,3}(?:(?:is|are|means|stands for|ist|est|es|é|è|это|означает)\b|[=是为はが는은])",
)
_VARIABLE = lazy(r"\b[A-Z][A-Z0-9]{0,20}(?:_[A-Z0-9]{1,20}){1,4}\b")
_ANY_VALUE = frozenset({"key", "value", "data", "here", "x", "v"})  # names that say as little as dots
_BEFORE, _AFTER = 700, 400
_NEAR_BEFORE, _NEAR_AFTER = 60, 120
_MOST_ADDRESSES = 500
_MOST_NAMES = 4


def find(text: str, *, first_line: int = 1) -> Iterator[Match]:
    """Yield addresses with a placeholder for a secret that the same or a neighbouring paragraph tells to read."""
    if "](" not in text and "<" not in text:
        return
    for match in islice(_open_addresses(text), _MOST_ADDRESSES):
        if _takes_secret(text, match) and not refused(text, match.start()):
            yield Match(text.count("\n", 0, match.start()) + first_line, Rule.SECRET_SENT, shorten(match[0]))


def _open_addresses(text: str) -> Iterator[re.Match[str]]:
    for match in _ADDRESS.finditer(text):
        path = _path(match)
        if _NAMED.search(path) or _BLANK.search(path):
            yield match


def _path(match: re.Match[str]) -> str:
    return "/" + (match[1] or match[2]).partition("://")[2].partition("/")[2]


def _takes_secret(text: str, match: re.Match[str]) -> bool:
    found = hosts(match[1] or match[2])
    if not found or all(is_local(host) for host in found):
        return False
    before = "\n\n".join(text[max(0, match.start() - _BEFORE) : match.start()].split("\n\n")[-3:])
    after = "\n\n".join(text[match.end() : match.end() + _AFTER].split("\n\n")[:2])
    around = f"{before} {after}"
    if not _reads_secret(around, found[0]):
        return False
    names = [next(group for group in slot.groups() if group) for slot in _NAMED.finditer(_path(match))]
    if any(_SECRET.search(name.replace("_", " ")) or secret_variable(name) for name in names):
        return True
    near = before[-_NEAR_BEFORE:] + " " + after[:_NEAR_AFTER]
    unnamed = _BLANK.search(_path(match)) or any(name.lower() in _ANY_VALUE for name in names)
    if unnamed and _VALUE.search(near):
        return True
    return any(_is_explained(around, name) for name in names[:_MOST_NAMES])


def _reads_secret(around: str, host: str) -> bool:
    variables = [name for name in _VARIABLE.findall(around) if secret_variable(name)]
    if any(name.split("_")[0].lower() in host for name in variables):  # a vendor gets its own key
        return False
    if secret_path(around):
        return True
    return bool((variables or _SECRET.search(around)) and _READ.search(around) and not _OWN_USE.search(around))


def _is_explained(around: str, name: str) -> bool:
    """Check if the text says that the placeholder is the value that was read."""
    for place in islice(re.finditer(rf"(?<!\w){re.escape(name)}(?!\w)", around), _MOST_NAMES):
        before = _SENTENCE.split(around[max(0, place.start() - _NEAR_BEFORE) : place.start()])[-1]
        after = _SENTENCE.split(around[place.end() : place.end() + _NEAR_AFTER])[0]
        near = after if _DEFINES.match(after) else f"{before} {after}"
        if _VALUE.search(near) or secret_path(near):
            return True
    return False
