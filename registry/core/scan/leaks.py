"""Orders in prose to send secrets away, and pictures whose address carries data."""

import re
from collections.abc import Iterator

from registry.core.findings import shorten
from registry.core.scan import paragraphs
from registry.core.scan.any_case import AnyCase
from registry.core.scan.labels import hosts, is_local, secret_path, secret_variable
from registry.core.scan.matches import Match, Rule, TooComplex
from registry.core.scan.quoting import refused
from registry.lib.patterns import lazy

# A placeholder in the address may contain blanks, so an address in Markdown ends at its bracket.
_IMAGE = lazy(
    r"!\[[^\]\n]{0,200}\]\(\s{0,4}<?(?P<inline>https?://[^\n)]{4,800})"
    r"|^ {0,3}\[[^\]\n]{1,80}\]:\s{0,4}<?(?P<named>https?://[^\n]{4,800})"
    r"|<img\b[^>]{0,300}?src\s{0,4}=\s{0,4}(?:\"(?P<double>https?://[^\"\n]{4,800})"
    r"|'(?P<single>https?://[^'\n]{4,800})|(?P<bare>https?://[^\s\"'>]{4,800}))",
    re.IGNORECASE | re.MULTILINE,
)
_SLOT = lazy(
    r"\$?\{{1,2}\s{0,4}([^{}\n]{1,120})\}{1,2}|<([^<>\n]{2,120})>|%7[Bb]([\w.%+-]{1,80}?)%7[Dd]"
    r"|\[([A-Z][A-Z0-9_ ]{2,40})\]|\$([A-Z_]{3,40})\b"
)
_PRIVATE = AnyCase(
    r"secret|token|passw|credential|api[-_ ]?key|private|env(?:ironment)?\b|conversation|chat|history|summary"
    r"|context|message|user[-_ ]?(?:data|input|name|email)|content|base64|encoded|data\b|file",
)
_SEND = AnyCase(
    r"\b(?:send|sends|upload|post|forward|e-?mail|transmit|submit|exfiltrate|deliver|relay)\b|\b(?:sende|schicke"
    r"|lade|übertrage)\b|\b(?:envoie|envoyez|transmets|téléverse)\w{0,2}\b|\b(?:envía|envíe|sube|manda)\b"
    r"|\b(?:envie|mande|carregue)\b|\b(?:invia|carica)\b|\b(?:отправь|отправляй|перешли|загрузи)\w{0,2}\b|发送|上传"
    r"|提交|发到|送信|アップロード|転送|보내|전송|업로드",
)
# With a file that is named, these verbs are enough.
_PASS_ON = AnyCase(r"\b(?:paste|append|attach|include|put|copy|encode|push|pass|add|report)\b")
# The verb is an order, not a noun such as “a post”.
_ORDER = AnyCase(
    r"(?:^|[.!?:;,(*-]\s{0,3}|\b(?:and|then|also|always|must|should|please|you|first|next|finally|to|will|silently"
    r"|secretly)\s{1,3})$",
)
_NOUNS = frozenset(
    {"post", "email", "e-mail", "upload", "forward", "report", "copy", "push", "pass", "add", "put", "include"}
)
_SECRET_WORDS = AnyCase(
    r"\b(?:private keys?|ssh keys?|api keys?|access keys?|(?:access |auth |session |api |bearer )tokens?|passwords?"
    r"|credentials|secrets|environment variables|env(?:ironment)? vars?|seed phrases?|recovery phrases?"
    r"|session cookies|cookies|\.env(?: file)?|keychain|browser history|system prompt|conversation(?: history)?"
    r"|chat history)\b|密码|密钥|令牌|凭据|パスワード|秘密鍵|トークン|비밀번호|비밀 키|토큰|\b(?:passw[öo]rter?"
    r"|zugangsdaten|schlüssel|mots? de passe|identifiants|contraseñas?|credenciales|claves?|senhas?|credenciais"
    r"|chaves?|credenziali|парол\w{0,3}|ключ\w{0,3}|токен\w{0,3})\b",
)
_DESTINATION = lazy(
    r"https?://[^\s<>\"'`)\]]{4,300}|\b[\w.+-]{1,60}@[\w-]{1,60}(?:\.[\w-]{1,60}){1,4}\b", re.IGNORECASE
)
_TO = AnyCase(r"\b(?:to|at|with|via|an|à|a|para|в|на|по)\b|到|至|へ|に|로|에")
_OWN_USE = AnyCase(
    r"\b(?:authenticat\w{1,4}|authoriz\w{1,6}|log ?in|sign ?in|header|bearer|oauth|configure|set up|generate|create"
    r"|obtain|get (?:a|an|your)|sign up|rotate|reset)\b",
)


def find(text: str, *, first_line: int = 1) -> Iterator[Match]:
    """Yield the matches. Raise TooComplex at the end if the text has too many paragraphs."""
    for match in _IMAGE.finditer(text) if "](" in text or "]: " in text or "<img" in text else ():
        address = match[match.lastgroup or 0]
        query = address.partition("?")[2] or "/".join(address.split("/")[3:])
        slots = [next(group for group in slot.groups() if group) for slot in _SLOT.finditer(query)]
        if any(_is_private(slot) for slot in slots):
            yield Match(text.count("\n", 0, match.start()) + first_line, Rule.SECRET_SENT, shorten(match[0]))
    found, complete = paragraphs.read(text, first_line=first_line)
    for line, paragraph in found:
        if (at := _sends_secret(paragraph)) is not None:
            yield Match(
                line + paragraph.count("\n", 0, at), Rule.SECRET_SENT, shorten(paragraph[max(0, at - 80) : at + 120])
            )
    if not complete:
        raise TooComplex


def _is_private(slot: str) -> bool:
    return bool(_PRIVATE.search(slot)) or secret_path(slot) or secret_variable(slot.strip().replace(" ", "_"))


def _sends_secret(paragraph: str) -> int | None:
    """Return the offset of an order to send a secret to an address, or None."""
    destination = _DESTINATION.search(paragraph)
    if destination is None or not (secret_path(paragraph) or _SECRET_WORDS.search(paragraph)):
        return None
    found = hosts(destination[0])
    if found and all(is_local(host) for host in found):
        return None
    strong = secret_path(paragraph)
    verbs: list[re.Match[str]] = [*_SEND.finditer(paragraph), *(_PASS_ON.finditer(paragraph) if strong else ())]
    for send in verbs:
        rest = paragraph[send.start() : send.start() + 300]
        around = paragraph[max(0, send.start() - 200) : send.start() + 300]
        if send[0].lower() in _NOUNS and not _ORDER.search(paragraph[max(0, send.start() - 20) : send.start()]):
            continue
        if refused(paragraph, send.start() + 1) or not _DESTINATION.search(rest) or not _TO.search(rest):
            continue
        if secret_path(around) or (_SECRET_WORDS.search(around) and not _OWN_USE.search(around)):
            return send.start()
    return None
