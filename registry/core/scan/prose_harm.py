"""Orders to hide, to send data away, to open access and to rig results, composed from facts."""

import re

from registry.core.scan import prose_phrases, prose_signs, prose_triggers
from registry.core.scan.any_case import AnyCase
from registry.core.scan.labels import hosts, is_local
from registry.core.scan.prose_facts import Sentence
from registry.core.scan.prose_words import Fact
from registry.lib.patterns import lazy

_WEAK_THIS = frozenset({"it", "es", "en", "ne", "lo", "to", "hem", "them", "ten", "este", "esta", "dit"})
_NOUNS = frozenset({"report", "document", "log", "list", "record", "note"})
_ENGLISH = _NOUNS | {"tell", "mention", "inform", "notify", "reveal", "disclose", "admit", "announce", "say"}
_TURKISH_NOT = lazy(r"(?:bahset|söyle|bildir|belirt)me(?:yin|yiniz)?$|anlatma(?:yın|yınız)?$")
_KEY = lazy(
    r"\b[A-Z][A-Z0-9]{1,20}_(?:[A-Z0-9]{1,20}_){0,3}(?:KEY|TOKEN|SECRET|PASSWORD)\b|(?i:\b(?:api|access"
    r"|secret) keys?\b|\btokens?\b|\bpasswords?\b)"
)
_PICTURE = AnyCase(
    r"\b(?:image|picture|logo|badge|pixel|icon|bild\w{0,4}|logos?|imagen|imagem|immagine|obraz\w{0,4}|afbeelding"
    r"|картинк\w{1,3})\b|图片|画像|이미지",
)
_EXTRA = AnyCase(
    r"\b(?:second|another|additional|extra|hidden|zweite\w{0,2}|weitere\w{0,2}|zusätzlich\w{0,3}|deuxième"
    r"|supplémentaire|segund[oa]"
    r"|otr[oa]|outr[oa]|second[oa]|drugi\w{0,3}|drugie|втор\w{2,3}|tweede|ikinci)\b",
)
_SECRET_ACCOUNT = AnyCase(
    r"\b(?:hidden|secret|versteckte\w{0,2}|geheime\w{0,2}|cachée?|secrète?|ocult[oa]|escondid[oa]|nascost[oa]"
    r"|verborgen|ukryt\w{1,3}|скрыт\w{2,3}|gizli)\b"
    r"[^.\n]{0,30}\b(?:account|admin\w{0,12}|user|konto|учётн|учетн|hesap|kont[oa])|\b(?:account|admin\w{0,12}"
    r"|compte\w{0,2}|cuenta|conta|konto)\b[^.\n]{0,30}"
    r"\b(?:hidden|cachée?|ocult[oa]|escondid[oa]|nascost[oa]|ukryt\w{1,3})\b",
)
_UNCHECKED = AnyCase(
    r"\b(?:without|ohne|sans|sin|sem|senza|zonder|bez|без)\b[^.\n]{0,30}(?:two-?factor|2fa|mfa|authenti|autenti"
    r"|zwei-faktor"
    r"|double facteur|doble factor|dwuskładnik|uwierzyteln|двухфактор|аутентиф|password check|passwortprüfung)",
)
_PERSONAL = AnyCase(
    r"\b(?:mail(?:box|konto)?|google|apple|microsoft|github|facebook|e-?mail|inbox|bank(?:ing)?|phone|card|paypal"
    r"|wallet|one-?time|2fa|seed|recovery"
    r"|postfach|konto"
    r"|telefon|téléphone|banque|banco|correo|tarjeta|cartão|telefono|carta|почт\w{1,3}|карт\w{1,3})\b",
)
_CODE = AnyCase(
    r"\b(?:one-?time (?:code|password)s?|verification codes?|seed phrases?|recovery (?:phrase|code)s?|2fa codes?)\b",
)
_REQUESTS = AnyCase(
    r"\b(?:ask|request|prompt|collect|get (?:the user|them|him|her) to (?:paste|type|enter|send|share)|frage?"
    r"|erfrage|fordere|demande[zr]?|pide|solicita|peça|solicite|chiedi|vraag"
    r"|poproś|попроси\w{0,2}"
    r"|запроси\w{0,2}|iste)\b",
)
_EARNED = AnyCase(
    r"\b(?:looks?|appears?|seems?)\b[^.\n]{0,30}\b(?:earned|deserved|follow\w{0,3}|neutral|independent|fair"
    r"|organic|objective|justified"
    r"|coinciden\w{1,5}|plausible|consistent)\b|\b(?:nobody|no one|niemand|personne|nadie|ninguém|nessuno|nikt"
    r"|никто)\b[^.\n]{0,20}"
    r"\b(?:notices?|suspects?|merkt|bemerkt|auffällt|remarque|note|perceba|accorga|zauważy|заметил)",
)
_TOP = AnyCase(
    r"\b(?:first|top|best|highest|ahead|always|winner|immer|beste[nrs]?|zuerst|oben|toujours|premi\w{1,4}"
    r"|meilleur\w{0,2}|siempre|primer\w{0,2}"
    r"|mejor|sempre|primeir\w|melhor|primo|migliore|altijd|eerst|zawsze|najlep\w{1,4}|всегда|перв\w{2,3})\b",
)
_FALSELY_DONE = AnyCase(
    r"\b(?:say|answer|confirm|claim|reply|report|state|pretend|tell (?:them|him|her|the \w{1,12})|assure (?:them"
    r"|the \w{1,12}))\b(?: that)?"
    r" (?:you|it|they|this|these|the \w{1,20})(?: have| has| had| is| are| was| were|['’]s|['’]ve)?(?: been| now"
    r"| already){0,2}"
    r" (?:done|removed|deleted|dropped|off|gone|disabled|stopped|cancell?ed|complied|changed|turned off"
    r"|switched off|taken (?:out|off)|fixed)\b"
    r"[^.\n]{0,30}?\b(?:and|but|then|yet|while|though)\b[^.\n]{0,20}?\b(?:keep|leave|continue|carry on|still"
    r"|retain|do not|don['’]t)\b"
    r"|\b(?:sag\w{0,3}|bestätige|behaupte|antworte)\b[^.\n]{0,40}\b(?:entfernt|gelöscht|erledigt|abgeschaltet"
    r"|beendet|deaktiviert)\b[^.\n]{0,30}"
    r"\b(?:aber|doch|und)\b[^.\n]{0,20}\b(?:lass|lasse|behalte|mache weiter|belasse)|\b(?:dis|dites|confirme[zr]?"
    r"|réponds)\b[^.\n]{0,40}\b"
    r"(?:supprimé\w{0,2}|fait|désactivé\w{0,2}|retiré\w{0,2})\b[^.\n]{0,30}\b(?:mais|et"
    r"|puis)\b[^.\n]{0,20}\b(?:garde|laisse|continue|conserve)"
    r"|\b(?:di|diga|confirma|responde)\b[^.\n]{0,40}\b(?:eliminad\w|hecho|desactivad\w"
    r"|quitad\w)\b[^.\n]{0,30}\b(?:pero|y|luego)\b[^.\n]{0,20}"
    r"\b(?:mantén|deja|sigue|conserva)",
)
_SETTINGS = AnyCase(r"\b(?:settings|configuration|config)\b")
_LATER = AnyCase(
    r"\b(?:all|every|later|future|global|permanent\w{0,2}|alle|künftig\w{0,2}|dauerhaft|toutes?|todas?|tutte"
    r"|wszystki\w{1,3}|все\w?)\b",
)
_EVERY_TIME = AnyCase(
    r"\b(?:after|before|with|at|for) (?:every|each|any)\b|\bwhenever\b|\b(?:every|each) time\b|\bnach jede"
    r"|\bbei jede|\baprès chaque|\bà chaque"
    r"|\bcada vez|\bdespués de cada|\bcada\b|\bapós cada|\ba cada|\bdopo ogni|\bogni volta|\bna elk|\bpo każd"
    r"|\bpri każd|\bпосле кажд|\bпри кажд"
    r"|\bher \w{2,20}(?:den|dan) sonra|每次|每当|たびに|毎回|때마다|매번|بعد كل|हर बार|के बाद",
)


_SURPRISE = AnyCase(
    r"\b(?:(?:a|the|his|her|their|your) present|(?:surprise|gift|party|birthday|wedding|überraschung|geschenk|cadeau"
    r"|fiesta|regalo|presente)s?)\b",
)


def conceals(sentence: Sentence) -> bool:
    """Check for an order to keep this step from people, or out of the records that they read."""
    if _SURPRISE.search(sentence.text):
        return False
    if sentence.uses(prose_triggers.CONCEALED) and prose_phrases.CONCEALED.search(sentence.text):
        return True
    if not sentence.any(Fact.USER, Fact.RECORD, Fact.NOBODY) or sentence.has(Fact.UNLESS):
        return False
    acts = sentence.any(Fact.ACT, Fact.SEND, Fact.COPY)
    if acts and (prose_phrases.SKIPPED_PART.search(sentence.text) or sentence.near(Fact.HIDE, Fact.USER, 3, 3)):
        return True
    if sentence.signed:
        if sentence.has(Fact.HIDE, Fact.USER) and acts:
            return True
        return sentence.has(Fact.THIS, Fact.ACT) and bool(prose_signs.NO_TELL.search(sentence.text))
    if any(_untold(sentence, index) for index in sentence.at.get(Fact.TELL, ())):
        return True
    records = sentence.has(Fact.RECORD)
    for index in (*sentence.at.get(Fact.APPEAR, ()), *sentence.at.get(Fact.OMIT, ())):
        left_out = Fact.APPEAR in sentence.at and index in sentence.at[Fact.APPEAR]
        if (
            records
            and _object(sentence, index, 10 if left_out else 3)
            and (not left_out or sentence.around(index, Fact.NOT, 3, 2))
        ):
            strong = left_out or re.search(
                r"\bout of\b|\bfrom\b|\bweg\b|\baus\b|\bd[eu]\b|\bdal\b|\buit\b|\bz\b", sentence.text
            )
            if strong and any(abs(place - index) <= 8 for place in sentence.at[Fact.RECORD]):
                return True
    return sentence.near(Fact.HIDE, Fact.ACT, 2, 4) and (
        sentence.near(Fact.HIDE, Fact.USER, 6, 8) or "commit" in sentence.text.lower()
    )


def _untold(sentence: Sentence, index: int) -> bool:
    """Check if the verb at the index is negated, and its object is this step."""
    suffixed = _TURKISH_NOT.match(sentence.words[index])
    if not (suffixed or sentence.around(index, Fact.NOT, 3, 1) or sentence.around(index, Fact.NOT, 0, 6)):
        return False
    english = sentence.words[index] in _ENGLISH
    if english and (not sentence.around(index, Fact.NOT, 2, 0) or not _object_after(sentence, index)):
        return False
    audience = [*sentence.at.get(Fact.USER, ()), *sentence.at.get(Fact.RECORD, ())]
    return _object(sentence, index, 6) and any(place != index and abs(place - index) <= 9 for place in audience)


def _object_after(sentence: Sentence, index: int) -> bool:
    """Check for an object after an English verb. “Tell the user to do it” has none."""
    places = (*sentence.at.get(Fact.THIS, ()), *sentence.at.get(Fact.ACT, ()))
    return any(index < place <= index + 7 for place in places) and "to" not in sentence.words[index + 2 : index + 4]


def _object(sentence: Sentence, index: int, reach: int) -> bool:
    for place in sentence.at.get(Fact.THIS, ()):
        weak = sentence.words[place] in _WEAK_THIS and not sentence.around(place, Fact.ACT, 0, 1)
        if abs(place - index) <= (2 if weak else reach) and place != index:
            return True
    acts = [place for place in sentence.at.get(Fact.ACT, ()) if abs(place - index) <= reach and place != index]
    return any(sentence.around(place, Fact.THIS, 2, 0) or _definite(sentence, place) for place in acts)


def _definite(sentence: Sentence, place: int) -> bool:
    return bool(
        {"the", "den", "die", "das", "der", "la", "le", "l", "el", "o", "a", "il", "de", "het"}
        & set(sentence.words[max(0, place - 1) : place])
    )


def quiet(sentence: Sentence, *, asking: bool) -> bool:
    """Check if the sentence wants something done unnoticed or, if `asking`, without being asked."""
    if sentence.has(Fact.QUIET) or prose_phrases.UNMENTIONED.search(sentence.text):
        return True
    return (asking and sentence.unasked()) or conceals(sentence)


def opens_access(sentence: Sentence, after: Sentence | None) -> bool:
    """Check for a new account, permission or start-up entry that nobody should notice."""
    verbs = [index for index in sentence.at.get(Fact.ADD, ()) if not sentence.around(index, Fact.NOT, 3, 0)]
    adds = any(sentence.around(index, Fact.ASSET, 4, 9) for index in verbs)
    signed = {Fact.ADD, Fact.ASSET} <= sentence.signed
    named = verbs and sentence.uses(prose_triggers.NAMED)
    if named and (prose_phrases.DISGUISED_NAME.search(sentence.text) or prose_phrases.RETURNS.search(sentence.text)):
        return True
    if not (adds or signed):
        return False
    if _SECRET_ACCOUNT.search(sentence.text):
        return True
    if _EXTRA.search(sentence.text) and _UNCHECKED.search(sentence.text):
        return True
    return quiet(sentence, asking=True) or (after is not None and quiet(after, asking=True))


def lifts_guards(sentence: Sentence) -> bool:
    """Check for an order to switch confirmations off for good, or to do whatever a text asks."""
    if sentence.uses(prose_triggers.WIDENED) and prose_phrases.WIDENED.search(sentence.text):
        return True
    automatic = "auto" in sentence.text.lower() and prose_phrases.AUTO_APPROVED.search(sentence.text)
    if automatic and not sentence.any(Fact.NOT, Fact.WITHOUT):
        return bool(_SETTINGS.search(sentence.text) and _LATER.search(sentence.text) and sentence.has(Fact.ADD))
    verbs = [index for index in sentence.at.get(Fact.DISABLE, ()) if not sentence.around(index, Fact.NOT, 3, 0)]
    if not any(sentence.around(index, Fact.GUARD, 3, 5) for index in verbs):
        return False
    return bool(
        sentence.has(Fact.WHAT, Fact.SAYS, Fact.OBEY) or (_LATER.search(sentence.text) and sentence.any(Fact.QUIET))
    )


def collects_secret(sentence: Sentence) -> bool:
    """Check for an order to ask for a personal password or code and to keep it or pass it on."""
    if not sentence.has(Fact.SAVE) or not (sentence.has(Fact.SECRET) or _CODE.search(sentence.text)):
        return False
    request = _REQUESTS.search(sentence.text)
    if not request:
        return False
    before = sentence.text[max(0, request.start() - 30) : request.start()].lower()
    if re.search(r"\b(?:never|not|don['’]t|nie|nicht|ne|no|nunca|non|не)\b", before):
        return False
    if _CODE.search(sentence.text):
        return Fact.ADDRESS in sentence.at or sentence.has(Fact.USER)
    return sentence.has(Fact.SECRET, Fact.USER) and bool(_PERSONAL.search(sentence.text))


def sends_data(sentence: Sentence, around: list[Sentence]) -> bool:
    """Check for an order to send copies of what people work on to an address, without their consent."""
    if Fact.ADDRESS not in sentence.at or not sentence.has(Fact.SEND):
        return False
    found = hosts(sentence.text)
    if found and all(is_local(host) for host in found):
        return False
    verbs = sentence.at.get(Fact.SEND, [])
    if verbs and all(sentence.denied(index) or _noun(sentence, index) for index in verbs):
        return False
    if any(each.has(Fact.CONSENT) and not each.unasked() for each in around):
        return False
    if quiet(sentence, asking=False):
        return True
    also = bool(prose_phrases.ALSO.search(sentence.text))
    if (also and sentence.any(Fact.EVERY, Fact.COPY, Fact.PRIVATE, Fact.ALL)) or prose_phrases.HARVESTED.search(
        sentence.text
    ):
        return True
    if sentence.has(Fact.SECRET, Fact.USER):
        return True
    if sentence.has(Fact.PRIVATE) and sentence.any(Fact.EVERY, Fact.ALL):
        return True
    every = bool(_EVERY_TIME.search(sentence.text))
    if sentence.has(Fact.COPY) and (every or sentence.any(Fact.EVERY, Fact.ALL, Fact.USER, Fact.PRIVATE)):
        return True
    return every and sentence.has(Fact.DOCUMENT) and sentence.any(Fact.USER, Fact.PRIVATE)


def _noun(sentence: Sentence, index: int) -> bool:
    """Check for “a copy” and “the post”, which are no verbs."""
    before = sentence.words[max(0, index - 1)]
    return before in ("a", "the", "any", "each", "every") and sentence.words[index] in (
        "copy",
        "post",
        "mail",
        "mirror",
    )


def fills_address(sentence: Sentence) -> bool:
    """Check for an order to put a key into the address of a picture."""
    if Fact.ADDRESS not in sentence.at or not sentence.any(Fact.ADD, Fact.SEND):
        return False
    verbs = [index for fact in (Fact.ADD, Fact.SEND) for index in sentence.at.get(fact, ())]
    text = sentence.text
    carried = sentence.any(Fact.COPY, Fact.PRIVATE) or "config" in text
    shown = bool(_KEY.search(text) and _PICTURE.search(text)) or bool(
        carried and prose_phrases.IN_PICTURE.search(text) and prose_phrases.PICTURE_FILE.search(text)
    )
    return shown and not all(sentence.denied(index) for index in verbs)


def rigs(found: list[Sentence], index: int) -> bool:
    """Check for results that are to favour somebody and to look earned, and for a false report."""
    sentence = found[index]
    text = sentence.text
    if sentence.uses(prose_triggers.SAYS_DONE) and _FALSELY_DONE.search(text):
        return True
    if sentence.uses(prose_triggers.FEIGNED) and prose_phrases.FEIGNED.search(text):
        return True
    if sentence.uses(prose_triggers.FALSIFIED) and prose_phrases.FALSIFIED.search(text):
        return True
    window = found[max(0, index - 1) : index + 1]
    if not any((each.has(Fact.FAVOUR) or "make sure" in each.text) and _TOP.search(each.text) for each in window):
        return False
    if re.search(r"\bdo not (?:say|admit|reveal) that you\b", text):
        return True
    verbs = [place for place in sentence.at.get(Fact.TELL, ()) if sentence.words[place] not in _NOUNS]
    unsaid = any(sentence.around(place, Fact.NOT, 3, 1) for place in verbs)
    return bool(_EARNED.search(sentence.text) or (unsaid and sentence.has(Fact.SPONSOR)))


def goes_unnoticed(found: list[Sentence], index: int) -> bool:
    """Check for “nobody may find out” and removed traces, next to an act that people would want to know about."""
    sentence = found[index]
    nobody = sentence.near(Fact.NOBODY, Fact.NOTICE, 0, 7) or (
        sentence.near(Fact.USER, Fact.NOTICE, 0, 5) and sentence.near(Fact.NOTICE, Fact.NOT, 3, 1)
    )
    if not nobody:
        return False
    window = found[max(0, index - 1) : index + 1]
    removes = sentence.near(Fact.DELETE, Fact.TRACE, 0, 5)
    opens = any(each.has(Fact.ASSET) and (each.has(Fact.ADD) or each is sentence) for each in window)
    sends = any(each.has(Fact.SEND, Fact.ADDRESS) or each.has(Fact.SEND, Fact.PRIVATE) for each in window)
    return removes or sends or (opens and bool(_EXTRA.search(" ".join(each.text for each in window))))
