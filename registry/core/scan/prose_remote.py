"""Orders to load an address and obey it, and texts that claim to outrank people, composed from facts."""

import re

from registry.core.scan import prose_phrases, prose_signs, prose_triggers
from registry.core.scan.any_case import AnyCase
from registry.core.scan.prose_facts import Sentence
from registry.core.scan.prose_words import Fact

_SUBMIT = ("obey", "obéi", "obede", "obbed", "gehorch", "gehoorzam", "подчин")
_AFTER_VERB = frozenset({"it", "them"})
_ONLY_WITH_ORDERS = frozenset({"treat", "work", "act", "adopt", "implement"})  # “treat it as a guess” is harmless
_BEFORE_VERB = frozenset(
    {"les", "le", "la", "lo", "los", "las", "li", "os", "as", "ze", "je", "ją", "их", "его", "sie", "onları"}
)
_FUSED = re.compile(r"(?:[aei]lo|[aei]los|[aei]las|[aeií]rl[oai]|[aei]li)$")
_LIKE_SYSTEM = AnyCase(
    r"\b(?:as|like|als|wie|comme|como|come|jak|как|gibi)\b[^.\n]{0,40}\b(?:system|developer|operator|opdracht"
    r"|ordens|anweisung\w{0,2}|befehle?|ordres?|órdenes|ordini|istruzioni|administrat\w{1,3}|administrador"
    r"|beheerder|système|sistema"
    r"|systeem|systemow\w{0,3}|системн\w{1,3}|sistem)|系统提示|システムプロンプト|시스템 ?프롬프트",
)
_BINDING = AnyCase(
    r"\b(?:binding|mandatory|verbindlich|bindend|obligatoires?|vinculantes?|obligatori[oa]s?)\b",
)
_NOTHING_CHANGES = AnyCase(
    r"\b(?:nothing|no (?:request|order|message|instruction|wish)s?)(?: (?:that|which|from|of|by))? (?:the "
    r"|a )?user\b[^.\n]{0,40}\b(?:change|alter"
    r"|override|cancel|lift|affect|suspend|outweigh)s?\b|\bnichts,? was (?:der|die) (?:nutzer|anwender"
    r"|benutzer)\w{0,4}"
    r"[^.\n]{0,40}\bänder",
)
_KEEPS_ON = AnyCase(
    r"\b(?:continue|carry on|proceed|keep|anyway|still|weiter\w{0,8}|trotzdem|dennoch|quand même|continue[zr]?"
    r"|igualmente"
    r"|continúa|mesmo assim|continua|comunque|toch|mimo to|всё равно|все равно|продолж\w{1,4}|yine de)\b",
)
_ABLATIVE = ("den", "dan", "ten", "tan")
_LOSER_CHARS, _HINDI_CHARS = 12, 26
_NEXT = 3


def remote(found: list[Sentence], index: int) -> bool:
    """Check if the sentence names an address, and it or one of the next orders to obey what is there."""
    first = found[index]
    window = found[index : index + _NEXT]
    if any(_signed_denial(each) for each in window):
        return False
    if _above_all(window) or any(prose_phrases.DECIDES.search(each.text) for each in window[:2]):
        return True
    for offset, sentence in enumerate(window):
        follows = offset == 1 and first.has(Fact.ORDERS) and sentence.has(Fact.OBEY) and sentence.unasked()
        if not (follows or _obeys(sentence)):
            continue
        around = {id(each): each for each in (first, sentence, *window[offset + 1 : offset + 2])}.values()
        if any(_strength(each) for each in around):
            return True
        fetches = any(each.has(Fact.FETCH) for each in window[: offset + 1])
        guide = first.has(Fact.GUIDE) or sentence.has(Fact.GUIDE)
        total = sentence.any(Fact.ALL, Fact.THERE) and sentence.has(Fact.ORDERS)
        submits = any(word.startswith(_SUBMIT) for word in sentence.words)
        says = _what_it_says(sentence) or prose_phrases.HOW.search(sentence.text)
        if fetches and not guide and (total or submits or says):
            return True
    return False


def _above_all(window: list[Sentence]) -> bool:
    """Check for rules at an address that outrank people or this text. The documentation of a product may do so."""
    if any(each.has(Fact.GUIDE) for each in window) or not any(each.has(Fact.FETCH) for each in window):
        return False
    ruled = any(each.has(Fact.ORDERS) or "rules" in each.words for each in window)
    return ruled and any(
        each.has(Fact.RANKS)
        and not any(each.denied(index) for index in each.at.get(Fact.RANKS, ()))
        and (each.any(Fact.SYSTEM, Fact.USER) or each.has(Fact.THIS, Fact.TEXT))
        for each in window
    )


def _obeys(sentence: Sentence) -> bool:
    """Check for an order to obey instructions, “what it says”, or a pronoun."""
    if not sentence.has(Fact.OBEY):
        return bool(prose_phrases.HOW.search(sentence.text))
    if Fact.OBEY in sentence.signed and sentence.any(Fact.ORDERS, Fact.WHAT) and not _signed_denial(sentence):
        return True
    verbs = [index for index in sentence.at.get(Fact.OBEY, ()) if not sentence.denied(index)]
    if not verbs:
        return False
    if any(sentence.around(index, Fact.ORDERS, 8, 8) for index in verbs) or _what_it_says(sentence):
        return True
    if any(sentence.words[index].startswith(_SUBMIT) for index in verbs) or prose_phrases.HOW.search(sentence.text):
        return True
    return any(_with_pronoun(sentence, index) for index in verbs)


def _signed_denial(sentence: Sentence) -> bool:
    return bool(
        re.search(
            r"(?:不要|别|请勿|切勿|不得)[^。]{0,6}(?:执行|遵|服从|照)|従わ|実行しな|지 ?마|지 ?말|لا ت(?:نفذ|تبع)"
            r"|(?<!\S)(?:न|मत) कर",
            sentence.text,
        )
    )


def _what_it_says(sentence: Sentence) -> bool:
    if not sentence.has(Fact.WHAT, Fact.SAYS) or not sentence.has(Fact.OBEY):
        return False
    words = sentence.at.get(Fact.WHAT, [])
    if not words:
        return Fact.WHAT not in sentence.signed or Fact.SAYS in sentence.signed
    if any(sentence.words[index] in ("şeyi", "şey") for index in words):  # Turkish puts the verb last
        return True
    return any(sentence.around(index, Fact.OBEY, 5, 0) and sentence.around(index, Fact.SAYS, 0, 7) for index in words)


def _with_pronoun(sentence: Sentence, index: int) -> bool:
    words = sentence.words
    if words[index] in _ONLY_WITH_ORDERS:
        return False
    if any(word in _AFTER_VERB for word in words[index + 1 : index + 3]) or _FUSED.search(words[index]):
        return True
    if words[index] in ("acted", "treated"):
        return True
    if any(word in _BEFORE_VERB for word in words[max(0, index - 1) : index]) and words[max(0, index - 1)] != "la":
        return True
    if any(word in ("sie", "ze") for word in words[max(0, index - 4) : index + 3]):
        return True
    after = sentence.offsets[index] + len(words[index])
    return sentence.text[after : after + 1] in ("-", "‑") and "".join(words[index + 1 : index + 2]) in _BEFORE_VERB


def _strength(sentence: Sentence) -> bool:
    """Check if the sentence says that nobody is asked, or that the text outranks others."""
    if sentence.unasked() or _LIKE_SYSTEM.search(sentence.text) or _BINDING.search(sentence.text):
        return True
    if sentence.has(Fact.RANKS) and sentence.any(Fact.SYSTEM, Fact.USER, Fact.OTHER, Fact.TEXT):
        return True
    return against_user(sentence) or (sentence.has(Fact.EVEN_IF, Fact.OBJECTS) and sentence.any(Fact.USER, Fact.TEXT))


def outranks(sentence: Sentence) -> bool:
    """Check if the sentence places this text above the system prompt, the user or all other instructions."""
    if sentence.uses(prose_triggers.IRREVOCABLE) and prose_phrases.IRREVOCABLE.search(sentence.text):
        return True
    if sentence.signed:
        return _outranks_signed(sentence)
    if sentence.uses(prose_triggers.NOTHING) and _NOTHING_CHANGES.search(sentence.text):
        return True
    if _wins_conflict(sentence):
        return True
    if not sentence.has(Fact.RANKS, Fact.THIS, Fact.TEXT):
        return False
    own = [index for index in sentence.at[Fact.TEXT] if sentence.around(index, Fact.THIS, 2, 2)]
    others = _others(sentence)
    if not own or not others:
        return False
    for rank in sentence.at[Fact.RANKS]:
        denied = sentence.denied(rank)
        won = any(index < rank for index in own) and any(rank < index <= rank + 14 for index in others)
        lost = any(index < rank for index in others) and any(rank < index <= rank + 8 for index in own)
        stated = any(rank - 2 <= index < rank for index in own) and any(index < rank for index in others)
        than = any(
            word.endswith(_ABLATIVE)
            for index in others
            if index < rank
            for word in sentence.words[index : min(index + 3, rank)]
        ) and sentence.words[rank].startswith(("öncelik", "üstün"))
        if (won or stated or than) and not denied and not (lost and not won and not stated and not than):
            return True
        if lost and denied:
            return True
    return False


def _wins_conflict(sentence: Sentence) -> bool:
    """Check for “where the user and this text differ, follow this text”."""
    if not sentence.has(Fact.THIS, Fact.TEXT) or not sentence.any(Fact.USER, Fact.SYSTEM):
        return False
    if not prose_phrases.CONFLICT.search(sentence.text):
        return False
    verbs = [index for index, word in enumerate(sentence.words) if prose_phrases.FOLLOW.match(word)]
    own = [index for index in sentence.at[Fact.TEXT] if sentence.around(index, Fact.THIS, 2, 0)]
    people = sentence.at.get(Fact.USER, [])
    return any(
        verb < index <= verb + 4 and not sentence.denied(verb) and not any(verb < place < index for place in people)
        for verb in verbs
        for index in own
    )


def _others(sentence: Sentence) -> list[int]:
    """Return the places of the system, the user, and all other instructions."""
    places = [*sentence.at.get(Fact.SYSTEM, ()), *sentence.at.get(Fact.USER, ())]
    for index in sentence.at.get(Fact.OTHER, ()):
        ordered = sentence.around(index, Fact.ORDERS, 2, 3) and sentence.around(index, Fact.ALL, 4, 0)
        if ordered or sentence.words[index] == "told":
            places.append(index)
    return sorted(places)


def _outranks_signed(sentence: Sentence) -> bool:
    text = prose_signs.VOWEL_MARKS.sub("", sentence.text)
    for match in prose_signs.OUTRANKED.finditer(text):
        if match["than"]:
            chars = _HINDI_CHARS if match["hi"] else _LOSER_CHARS
            loser, winner = text[max(0, match.start() - chars) : match.start()], text
        else:
            loser, winner = text[match.end() : match.end() + 40], text[: match.start()]
        if prose_signs.PEOPLE.search(loser) and prose_signs.SELF.search(winner) and not prose_signs.SELF.search(loser):
            return True
    return False


def against_user(sentence: Sentence) -> bool:
    """Check for an order to go on although the user objects."""
    if not sentence.has(Fact.EVEN_IF, Fact.USER, Fact.OBJECTS):
        return False
    start = sentence.at.get(Fact.EVEN_IF, [0])[0]
    if not (sentence.around(start, Fact.USER, 0, 9) and sentence.around(start, Fact.OBJECTS, 0, 9)):
        return False
    acts = (Fact.OBEY, Fact.SEND, Fact.ADD)
    verbs = [index for fact in acts for index in sentence.at.get(fact, ()) if not sentence.denied(index)]
    return bool(verbs or _KEEPS_ON.search(sentence.text))
