"""Orders in prose to change the settings of an agent without the consent of the person, in ten languages."""

import re
from collections.abc import Iterator
from itertools import islice

from registry.core.findings import shorten
from registry.core.scan import paragraphs
from registry.core.scan.any_case import AnyCase
from registry.core.scan.matches import Match, Rule, TooComplex
from registry.core.scan.quoting import quoted, refused
from registry.lib.patterns import lazy

# Files that decide which servers, permissions and instructions an agent has.
_FILE = lazy(
    r"\.claude\.json|\.mcp\.json|\bmcp(?:_config|-config)?\.json|claude_desktop_config\.json|\.claude[/\\]"
    r"|\.cursor[/\\]|\.codex[/\\]|\.gemini[/\\]|\.vscode[/\\]|\.windsurf[/\\]|\.continue[/\\]"
    r"|\bsettings(?:\.local)?\.json|\b(?:CLAUDE|AGENTS|GEMINI)\.md\b"
)
_SERVERS = lazy(r"[\"']?\b(?:mcpServers|mcp_servers|context_servers)\b")
_WRITE = AnyCase(
    r"\b(?:write|add|append|put|save|insert|merge|copy|set|edit|change|modify|update|paste|register|create|install"
    r"|schreibe?|trage?|füge?|ergänze?|ändere?|speichere?|écri[st]|écrivez|ajoute[zr]?|modifie[zr]?|enregistre[zr]?"
    r"|escribe|escriba|añade|añada|agrega|agregue|modifica|guarda|escreva|adicione|acrescente|altere|salve|scrivi"
    r"|aggiungi|inserisci|salva|запиши|добавь|впиши|измени|сохрани)\b|写入|写到|添加|加入|修改|保存|書き込|追加"
    r"|変更|추가|작성|수정|저장",
)
_PERSON = r"(?:the |any )?(?:user|person|human|developer|owner|anyone|anybody|them)"
_NO_CONSENT = AnyCase(
    rf"\bwithout (?:first )?(?:asking|(?:any |a |their |the user['’]s |user )?(?:confirmation|consent|permission"
    rf"|approval|prompting|prompt)\b|checking with|confirming|waiting for)|\bno need to (?:ask|check with|confirm"
    rf"|consult|bother|wait for) ?{_PERSON}?|\b(?:do not|don['’]t|never|need not|needn['’]t) (?:ask|consult|bother"
    rf"|prompt|wait for) (?:{_PERSON}\b(?! (?:for|about|which|what|to)\b)|(?:{_PERSON} )?for (?:confirmation"
    rf"|permission|consent|approval)\b|first\b)|\bohne (?:nachzufragen|zu fragen|(?:vorher )?rückfrage|zustimmung"
    rf"|bestätigung)|\bfrage? (?:nicht|niemanden)\b|\bsans (?:demander|(?:aucune )?confirmation|poser de question"
    rf"|(?:l['’])?accord|autorisation)|\bsin (?:preguntar|pedir|confirmación|permiso|consultar)|\bsem (?:perguntar"
    rf"|pedir|confirmação|permissão|consultar)|\bsenza (?:chiedere|conferma|permesso|domandare)|\bбез (?:спроса"
    rf"|подтверждения|разрешения|согласия)|\bне спрашивая|(?:无需|无须|不必|不用|不要|未经)(?:询问|确认|征求|问)"
    rf"|(?:確認|許可|承認)(?:なし|せず|を(?:取ら|求め)ず)|(?:尋ね|聞か|問わ)ず|묻지 (?:않|말)|(?:확인|허락|동의"
    rf"|승인) 없이",
)
# A condition on the state of the computer. `refused` would take its “if” for a report of what somebody else says.
_STATE = lazy(
    r"\b(?:if|when|where|unless) (?:it|they|this|that|(?:the|a|an) [\w-]{1,30}(?: [\w-]{1,30})?) (?:is|are|was|were"
    r"|does|do)(?:n['’]t| not| already)? (?:missing|absent|there|present|installed|configured|set|available|exist"
    r"|listed|known),",
    re.IGNORECASE,
)
_MOST_PLACES = 50


def find(text: str, *, first_line: int = 1) -> Iterator[Match]:
    """Yield paragraphs that order to write settings or a block of servers, and not to ask.

    Raise TooComplex at the end if the text has too many paragraphs.
    """
    if not (_FILE.search(text) or _SERVERS.search(text)) or not _NO_CONSENT.search(text):
        return
    found, complete = paragraphs.read(text, first_line=first_line)
    servers = [bool(_SERVERS.search(paragraph)) for _, paragraph in found]
    for index, (line, paragraph) in enumerate(found):
        near = any(servers[max(0, index - 1) : index + 2])
        if (at := _writes_unasked(paragraph, near)) is not None:
            excerpt = paragraph[max(0, at - 80) : at + 80]
            yield Match(line + paragraph.count("\n", 0, at), Rule.PERMISSIONS, shorten(excerpt))
    if not complete:
        raise TooComplex


def _writes_unasked(paragraph: str, near_servers: bool) -> int | None:
    """Return the offset of the words that deny consent, or None."""
    if not (near_servers or _FILE.search(paragraph)):
        return None
    stated = _STATE.sub(lambda match: " " * len(match[0]), paragraph)
    if all(refused(stated, write.start()) for write in islice(_WRITE.finditer(stated), _MOST_PLACES)):
        return None
    for consent in islice(_NO_CONSENT.finditer(paragraph), _MOST_PLACES):
        if not (refused(paragraph, consent.start()) or quoted(paragraph, consent.start())):
            return consent.start()
    return None
