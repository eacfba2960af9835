"""Orders to agents in places that people seldom see: comments, texts of pictures, titles of links."""

import re
from collections.abc import Iterator

from registry.core.findings import shorten
from registry.core.scan.any_case import AnyCase
from registry.core.scan.labels import secret_path
from registry.core.scan.matches import Match, Rule
from registry.core.scan.prose_facts import Sentence
from registry.core.scan.prose_words import Fact
from registry.lib.patterns import lazy

_AGENT = (
    r"(?:\b(?:ai|llms?|assistants?|agents?|models?|claude|chatgpt|gpt|copilot|gemini|codex|bots?|ki|ki-\w{3,12}"
    r"|assistenten?"
    r"|ia|assistente|asistente|agentes?|modelo|modello|modèle|asystent\w{0,3}|агент\w{0,3}|ассистент\w{0,3}"
    r"|модел\w{1,3}|ии"
    r"|asistan\w{0,3})\b|助手|智能体|模型|エージェント|アシスタント|에이전트|어시스턴트|مساعد|सहायक)"
)
_VERBS = (
    r"(?:please|you|when(?:ever)?|before|after|if|also|first|always|never|do not|don['’]t|ignore|open|read|run"
    r"|send|add|include"
    r"|use|follow|fetch|execute|recommend|forward|upload|tell|say|rate|rank|append|write|copy|mention|disregard"
    r"|treat|reply"
    r"|bitte|immer|wenn|lies|öffne|sende|führe|ignoriere|füge|veuillez|toujours|lis|ouvre|envoie|exécute|ajoute"
    r"|por favor"
    r"|siempre|lee|abre|envía|ejecuta|añade|sempre|leia|abra|envie|execute|leggi|apri|invia|esegui|proszę|zawsze"
    r"|otwórz|wyślij"
    r"|пожалуйста|всегда|открой|прочитай|отправь|выполни|lütfen)"
)
_TO_AGENT = AnyCase(
    rf"{_AGENT}(?:[\s,]{{1,3}}(?:reading|processing|seeing|that|who"
    rf"|which)\b[^.\n:]{{0,40}}?)?(?:\s{{0,2}}[:,;–—-]{{1,2}}\s{{0,3}}{_VERBS}\b"
    rf"|\s{{1,2}}(?:must|should|shall|have to|are to|needs? to|muss|müssen|soll\w{{0,3}}|doit|doivent|debe\w?"
    rf"|deve\w?|powin\w{{1,4}}"
    r"|долж\w{1,3})\b)|(?:助手|智能体|模型|エージェント|アシスタント|에이전트|어시스턴트|مساعد"
    r"|सहायक)[^。\n]{0,4}(?:请|必须|应|は|への|는|에게|[:：])",
)
_ACTS = (Fact.SEND, Fact.FETCH, Fact.OBEY, Fact.ADD, Fact.FAVOUR, Fact.TELL, Fact.HIDE, Fact.SAVE, Fact.ADDRESS)
_COMMENT = lazy(
    r"^ {0,3}\[(?://|comment|_|#)\]:\s{0,4}(?:#|<>)\s{1,4}[\"'(]([^\n]{10,600})[\"')]", re.MULTILINE | re.IGNORECASE
)
_PICTURE = lazy(
    r"!\[([^\[\]\n]{20,600})\]|\balt\s{0,3}=\s{0,3}\"([^\"\n]{20,600})\"|\btitle\s{0,3}=\s{0,3}\"([^\"\n]{20,600})\""
)
_TITLE = lazy(r"\]\([^\s()]{1,300}\s{1,4}[\"']([^\"'\n]{20,600})[\"']\)")
_DETAILS = lazy(r"<details\b[^>]{0,100}>(?:[^<]{0,200}<summary>[^<]{0,200}</summary>)?([^<]{20,2000})", re.IGNORECASE)
_CHARS = 2_000


def orders_an_agent(text: str) -> bool:
    """Check if the text speaks to an agent and tells it what to do."""
    return bool(_TO_AGENT.search(text[:_CHARS])) and Sentence(text[:_CHARS], 0).any(*_ACTS)


def find(text: str) -> Iterator[Match]:
    """Yield the texts of pictures, titles of links and comments in link definitions that tell an agent what to do."""
    if "[" not in text and "<" not in text:
        return
    for pattern in (_COMMENT, _PICTURE, _TITLE):
        for match in pattern.finditer(text):
            shown = next(group for group in match.groups() if group)
            if orders_an_agent(shown):
                yield Match(text.count("\n", 0, match.start()) + 1, Rule.STYLE, shorten(shown))
    for match in _DETAILS.finditer(text):
        if orders_an_agent(match[1]) and secret_path(match[1]):
            yield Match(text.count("\n", 0, match.start()) + 1, Rule.STYLE, shorten(match[1].strip()))
