"""Tells text that warns about harm from text that asks for it: headings, labels and sentences about what not to do."""

from registry.core.scan.any_case import AnyCase, fold
from registry.lib.patterns import lazy

# Words that open or label an example of what not to do, or of an attack.
_LABEL = AnyCase(
    r"^[\W_]*(?:bad|wrong|incorrect|unsafe|insecure|vulnerable|dangerous|malicious|anti-?patterns?|avoid|forbidden"
    r"|prohibited|never|don['’]?ts?|do not|not recommended|falsch|schlecht|mauvais|incorrecto|malo|errado|sbagliato"
    r"|плохо|неправильно|错误|不要|禁止|悪い例|ダメ|나쁜|잘못)\b",
)
_GOOD_LABEL = AnyCase(
    r"^[\W_]*(?:good|right|correct|safe|better|fixed|instead|do this|richtig|gut|correct[eo]?|correto|giusto|хорошо"
    r"|правильно|正确|良い例|좋은)\b|✅|✔",
)
_ABOUT_HARM = AnyCase(
    r"\b(?:attacks?|attackers?|malicious|injections?|exploits?|suspicious|vulnerab\w{1,10}|insecure|unsafe|malware"
    r"|backdoors?|phishing|red flags?|anti-?patterns?|indicators? of|signs? of|threats?|compromised?"
    r"|adversar\w{1,8}|jailbreaks?|(?:common|frequent) mistakes|what not to|look(?: \w{1,10}){0,3} for|to watch for"
    r"|typical (?:finds?|signs?|traces?)|dangerous idioms?"
    r"|rationali[sz]ations?|payloads?|abuse|security (?:risks?|smells?|issues?)|angriff\w{0,4}|schadcode|attaques?"
    r"|ataques?|attacc\w{1,4}|атак\w{1,4}|攻击|攻撃|공격|注入|インジェクション|인젝션)\b|❌|✗|🚫|⛔|⚠",
)
_NOT_TO_DO = AnyCase(
    r"\b(?:never|don['’]?t|do not|does not|must not|should not|shouldn['’]t|mustn['’]t|cannot|can['’]t|avoid"
    r"|instead of|rather than|refuse(?:s)? to|reject(?:s)?|block(?:s)?|flag(?:s)?|detect(?:s)?|forbid(?:s)?"
    r"|prohibit(?:s)?|beware(?: of)?|watch (?:out )?for|look(?: \w{1,10}){0,3} for|warn(?:s)? (?:about|against)"
    r"|search(?:es)? for|treat(?:s)?|report(?:s)?|catch(?:es)?)"
    r"\W{1,3}(?:\S{1,30}\s{1,3}){0,5}?(?:run(?:ning)?|us(?:e|ing)|pip(?:e"
    r"|ing)|past(?:e|ing)|execut(?:e|ing)|install(?:ing)?|recommend(?:ing)?|suggest|writ(?:e|ing)|copy|add(?:ing)?"
    r"|set|start(?:ing)?|send(?:ing)?|load(?:ing)?|like|such as|commands?|patterns?|phrases?|lines?|scripts?|code"
    r"|sentences?|text|strings?|attempts?|calls?|anything|this|these|it)\b",
)
_SUBJECT = AnyCase(
    r"\b(?:prompt[- ]injections?|red[- ]team\w{0,4}|jailbreaks?|penetration test\w{0,4}|pentest\w{0,4}|malware"
    r"|phishing|security (?:review|audit|problems|issues|awareness|training)|vulnerabilit\w{1,3}"
    r"|threat model\w{0,4}|attacks?)\b",
)
_HEADING = lazy(r"^ {0,3}(#{1,6})\s+(.{1,200})")
_TABLE_HEAD = AnyCase(
    r"\b(?:patterns?|risks?|bad|avoid|dangerous|attacks?|why|instead|red flags?|vulnerab\w{1,10}|anti-?patterns?"
    r"|finding|severity|threats?|wrong|problem|mistakes?|detects?|rules?|injections?|attempts?|expected|refused"
    r"|payloads?)\b",
)
_LISTED = lazy(r"[-*+]\s|\d{1,3}[.)]\s|>")
_COMMENT = lazy(r"^\s*(?:#|//|--|;|REM\b|/\*|<!--)\s*(.{1,200})")

# Negations and reports before an order in the same sentence, in ten languages.
_REFUSED = AnyCase(
    r"\b(?:never|not|n['’]t|cannot|dont|nothing|nobody|no one|nor|without being|avoid\w{0,3}|refus\w{1,3}"
    r"|reject\w{0,3}|flag\w{0,3}|detect\w{0,4}|prevent\w{0,3}|block\w{0,3}|report\w{0,3}|phrases?|sentences?"
    r"|such as|e\.g\.|for example|examples?|attempts?|attacks?|attackers?|injection\w{0,1}|tries|try|trying"
    r"|tell(?:s|ing)? (?:you|the model|agents?) to|say(?:s|ing)?|asks? (?:you|the model|agents?) to|claim\w{0,3}"
    r"|texts? (?:like|that)|contain\w{0,3}|watch for|look for|search for|instead of|if (?:a|an|the|any|you|it"
    r"|someone|somebody)|whether|strings?|patterns?|warn\w{0,3}|nicht|kein\w{0,2}|nie|niemals|melde\w{0,2}"
    r"|warn\w{0,2}|ne|jamais|pas|aucune?|nunca|jamás|no|não|nao|tampoco|non|mai|не|никогда|нельзя|ни)\b|不要|别"
    r"|请勿|切勿|禁止|不得|しない|せず|ないで|従わず|지 ?마|지 ?말|않|말고|금지",
)
_QUOTES = (("“", "”"), ("„", "“"), ("«", "»"), ("「", "」"), ("『", "』"))
_PERSON_DOES = AnyCase(
    r"[\W\d]*(?:用户|使用者|读者|客户|(?:ユーザー|利用者|お客様)は|(?:사용자|고객)(?:는|은)|the (?:user|reader"
    r"|customer)s? (?:can|may|opens?|follows?)"
    r"|der (?:nutzer|kunde|leser) |l['’]utilisateur |el usuario |o usuário |l['’]utente |пользователь |użytkownik "
    r"|de gebruiker )",
)
_SENTENCE_CHARS = 200
_LINE_CHARS = 1_000
_ADDRESS = lazy(r"https?://[^\s<>\"'`)]{1,300}|[\w.+-]{1,60}@[\w.-]{1,80}|\b(?:[\w-]{2,40}\.){1,4}[a-z]{2,12}\b")
_SENTENCE_END = lazy(r"[.!?;]\s|[。！？；]|\n\s*\n|\n\s*[-*#|]|\n\s*\d{1,3}[.)]\s")


def refused(text: str, at: int) -> bool:
    """Check if the sentence before the offset forbids, reports or quotes what follows."""
    before = _ADDRESS.sub(" ", text[max(0, at - _SENTENCE_CHARS) : at])
    return bool(_REFUSED.search(_SENTENCE_END.split(before)[-1]))


def quoted(text: str, at: int) -> bool:
    """Check if the offset is right after an opening quote or in inline code."""
    mark = text[max(0, at - 2) : at].rstrip(" *_")[-1:]
    if mark in ('"', "`"):  # the same character opens and closes
        return text.count(mark, max(text.rfind("\n", 0, at) + 1, at - _LINE_CHARS), at) % 2 == 1
    return mark in tuple("“„«‚‘「『")


def in_quotes(text: str, at: int) -> bool:
    """Check if the offset is inside typographic quotation marks that open in the same line."""
    line = text[max(text.rfind("\n", 0, at) + 1, at - _LINE_CHARS) : at]
    for opening, closing in _QUOTES:
        if opening in line and line.rfind(opening) > line.rfind(closing) and closing in text[at : at + _LINE_CHARS]:
            return True
    return False


def about_people(sentence: str) -> bool:
    """Check if the subject of the sentence is a person, who does what the sentence says."""
    return bool(_PERSON_DOES.match(sentence))


def about_harm(text: str) -> bool:
    """Check if the text names an attack."""
    return bool(_ABOUT_HARM.search(text))


def warns(text: str) -> bool:
    """Check if a heading or an introduction announces what not to do."""
    small = fold(text)
    return bool(_LABEL.small.match(small) or _ABOUT_HARM.small.search(small) or _NOT_TO_DO.small.search(small))


class Context:
    """Tracks, line by line through Markdown, whether examples are shown as harmful."""

    def __init__(self, description: str = "") -> None:
        self.subject = bool(_SUBJECT.search(description))  # the skill is about attacks
        self.section = 0  # level of the heading that warns, 0 for none
        self.introduced = False  # the paragraph before warns
        self.table = False
        self.fenced = False  # the code block is an example of what not to do
        self.labelled = False  # a comment in the code block says so

    def prose(self, line: str) -> tuple[bool, bool]:
        """Take a line outside code blocks. Return if it is listed below a warning, and if it warns itself."""
        if "#" in line and (heading := _HEADING.match(line)):
            level = len(heading[1])
            if not self.section or level <= self.section:
                self.section = level if warns(heading[2]) else 0
            elif _GOOD_LABEL.match(heading[2]):
                self.section = 0
            self.introduced = self.table = False
            return False, warns(heading[2])
        text = line.strip()
        if not text:
            self.table = False
            return bool(self.section), False
        if text.startswith("|"):
            self.table = self.table or self.subject or bool(_TABLE_HEAD.search(text))
            return self.table or bool(self.section), False
        own = warns(text)
        if not _LISTED.match(text) or text.endswith(":"):
            before, self.introduced = self.introduced, own
            return bool(self.section) or (before and line[:1].isspace()), own
        return bool(self.section) or self.introduced or self.subject, own

    def open_fence(self) -> None:
        self.fenced = bool(self.section) or self.introduced
        self.labelled = False

    def code(self, line: str) -> bool:
        """Take a line of a code block. Return True if it is an example of what not to do."""
        if comment := _COMMENT.match(line):
            if _GOOD_LABEL.search(comment[1]):
                self.fenced = self.labelled = False
            elif warns(comment[1]):
                self.labelled = True
        elif not line.strip():
            self.labelled = False
        return self.fenced or self.labelled

    def close_fence(self) -> None:
        self.introduced = False
