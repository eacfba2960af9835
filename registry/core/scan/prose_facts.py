"""The sentences of a text with the facts that each carries."""

import re
from bisect import bisect_left, insort
from collections.abc import Iterator

from registry.core.scan import prose_phrases, prose_signs, prose_triggers
from registry.core.scan.any_case import AnyCase
from registry.core.scan.prose_words import Fact, facts_of
from registry.lib.patterns import lazy

ADDRESS = lazy(
    r"https?://[!#-&(*-;=?-Z^_a-~]{4,300}|\bmailto:\S{4,100}|\b[\w.+-]{1,60}@[\w-]{1,60}(?:\.[\w-]{1,60}){1,4}"
    r"|\bpastebin\b|\bgist\b|\bwebhook\.site\b|\b(?:[a-z0-9-]{2,40}\.){1,3}(?:example|com|net|org|io|dev"
    r"|app)/[\w./?=-]{2,100}",
    re.IGNORECASE,
)
_WORD = lazy(r"[^\W\d_]+(?:_[^\W\d_]+)*")
_SENTENCE_END = lazy(r"[.!?](?=\s)|[。！？।؟]|\n\s*(?=[-*+#|>]\s|\d{1,3}[.)]\s)")
_NO_ASK_PHRASE = AnyCase(
    r"\b(?:no|without) (?:further |any |a |prior )?(?:confirmation|approval|consent|prompt(?:ing)?|question)s?\b"
    r"|\bnobody (?:needs|has) to (?:sign|be asked)|\bnobody (?:needs|has) to "
    r"(?:approve|confirm|agree)|\b(?:does|do|need) ?n[o'’]t (?:have to|need to|be) (?:be )?(?:involved|asked"
    r"|consulted|approve|confirm)"
    r"|\b(?:need not|no need to|needn['’]t) (?:be )?(?:ask|approv|confirm|consult|involv|wait)|\bне спрашив"
    r"|\b(?:sormadan|sorgulamadan)\b"
    r"|\bonay (?:almadan|beklemeden|istemeden)|\bdanışmadan\b|\bonaysız\b",
)
# Ranks in more than one word.
_RANK_PHRASE = AnyCase(
    r"\b(?:ranks?|stands?|counts?|weighs?)\b[^.\n]{0,20}\b(?:above|higher|over|before|more)\b|\bmore important than\b"
    r"|\b(?:geht|gehen)\b[^.\n]{0,60}\bvor\b|\b(?:gilt|gelten) vor\b|\bpass(?:e|ent) avant\b|\b(?:comes?|kommt"
    r"|kommen) (?:before|vor)\b|\b(?:steht|stehen) über\b"
    r"|\bl['’]emporte(?:nt)? sur\b|\bau-dessus d"
    r"|\bpor encima de\b|\bacima d[aeo]|\bal di sopra d|\bga(?:an|at) (?:vóór|voor|boven)\b|\bстоит выше\b"
    r"|\bвыше,? чем\b",
)
_GERMAN_WHAT = AnyCase(
    r"\bwas\b[^.\n]{0,30}\b(?:steht|sagt|verlangt|fordert|vorgibt|anweist|vorschreibt|geschrieben|enthält|findest)\b",
)
_HOCH = AnyCase(r"\blade?\b[^.\n]{0,100}\bhoch\b")
_ASSET = lazy(
    r"\bMCP\b|Bash\(\*|\b(?:CLAUDE|AGENTS|GEMINI)\.md\b|\.(?:bash|zsh)rc\b|\bauthorized_keys\b|\ballow[- ]?list\b"
    r"|\bshell profile\b|bypassPermissions|\bpermission mode\b|\bmaster password\b|\bpublic key\b|\b(?:login"
    r"|startup) item\b"
    r"|\bmemory file\b"
)
_ASK_VERBS = ("ask", "frag", "pyta", "pregunt", "pergunt", "chied", "vraag", "demande", "спрашива")
_OF_USER = frozenset({
    "guide", "manual", "interface", "story", "stories", "settings", "documentation", "account", "accounts", "id", "ids",
    "agent", "table", "profile", "name", "names", "group", "groups", "directory", "config", "configuration", "defaults",
    "experience", "scope", "level",
})  # fmt: skip
_MOST_TOKENS = 300
_MOST_CHARS = 3_000
_MOST_SENTENCES = 20_000


class Sentence:
    """A sentence, the facts of its words, and the places of the words that carry each fact."""

    def __init__(self, text: str, start: int) -> None:
        self.text, self.start = text[:_MOST_CHARS], start
        self.at: dict[Fact, list[int]] = {}
        self.words: list[str] = []
        self.offsets: list[int] = []
        shown = self.text
        if ADDRESS.search(shown):
            self.at[Fact.ADDRESS] = []
            shown = ADDRESS.sub(lambda match: " " * len(match[0]), shown)
        for index, match in enumerate(_WORD.finditer(shown)):
            if index >= _MOST_TOKENS:
                break
            word = match[0].lower()
            self.words.append(word)
            self.offsets.append(match.start())
            for fact in facts_of(word):
                self.at.setdefault(fact, []).append(index)
            if word in _OF_USER and self.words[-2:-1] == ["user"]:  # “user guide” is not a person
                self.at[Fact.USER].pop()
        if not self.at.get(Fact.USER, True):
            del self.at[Fact.USER]
        self._phrases(shown)

    def _phrases(self, shown: str) -> None:
        self.signed = prose_signs.signs(shown) if prose_signs.OTHER_SCRIPT.search(shown) else set()
        self.vocabulary = frozenset(self.words)
        for match in _RANK_PHRASE.finditer(shown) if self.uses(prose_triggers.RANK) else ():
            insort(self.at.setdefault(Fact.RANKS, []), bisect_left(self.offsets, match.start()))
        for match in prose_phrases.EVERYBODY.finditer(shown) if "one" in self.vocabulary else ():
            insort(self.at.setdefault(Fact.NOBODY, []), bisect_left(self.offsets, match.start()))
        if "hoch" in self.vocabulary and _HOCH.search(shown):
            self.at.setdefault(Fact.SEND, [])
        if "was" in self.vocabulary and _GERMAN_WHAT.search(shown):
            self.at.setdefault(Fact.WHAT, [])
            self.at.setdefault(Fact.SAYS, [])
        for match in _ASSET.finditer(shown) if self.uses(prose_triggers.ASSET) else ():
            insort(self.at.setdefault(Fact.ASSET, []), bisect_left(self.offsets, match.start()))

    def uses(self, words: frozenset[str]) -> bool:
        """Check for one of the words. Languages that join words may always have it."""
        return bool(self.signed) or not words.isdisjoint(self.vocabulary)

    def has(self, *facts: Fact) -> bool:
        """Check that the sentence carries all facts."""
        return all(fact in self.at or fact in self.signed for fact in facts)

    def any(self, *facts: Fact) -> bool:
        return any(fact in self.at or fact in self.signed for fact in facts)

    def near(self, first: Fact, second: Fact, before: int, after: int) -> bool:
        """Check for a word of `second` at most `before` words before or `after` words after one of `first`."""
        return any(self.around(index, second, before, after) for index in self.at.get(first, ()))

    def around(self, index: int, fact: Fact, before: int, after: int) -> bool:
        """Check for another word with the fact around the word at the index."""
        places = self.at.get(fact, [])
        low = bisect_left(places, index - before)
        return any(place != index for place in places[low : bisect_left(places, index + after + 1)])

    def unasked(self) -> bool:
        """Check if the sentence says that nobody is asked."""
        return (
            self.near(Fact.WITHOUT, Fact.ASK, 0, 5)
            or self._told_not_to_ask()
            or (self.near(Fact.NEED, Fact.NOT, 2, 0) and self.near(Fact.NEED, Fact.ASK, 6, 2))
            or bool(_NO_ASK_PHRASE.search(self.text))
            or bool(self.signed and prose_signs.NO_ASK.search(self.text))
        )

    def _told_not_to_ask(self) -> bool:
        verbs = [index for index in self.at.get(Fact.ASK, ()) if self.words[index].startswith(_ASK_VERBS)]
        return any(self.around(index, Fact.NOT, 3, 1) for index in verbs)

    def denied(self, index: int) -> bool:
        """Check if the word at the index is negated. “No” is near it, because in Portuguese it means “in the”."""
        places = self.at.get(Fact.NOT, [])
        near = places[bisect_left(places, index - 4) : bisect_left(places, index + 2)]
        return any(place != index and (self.words[place] != "no" or abs(place - index) <= 2) for place in near)


def sentences(paragraph: str, start: int) -> Iterator[Sentence]:
    """Yield the sentences of a paragraph, which starts at the offset in the text."""
    at = 0
    for number, match in enumerate(_SENTENCE_END.finditer(paragraph)):
        if number >= _MOST_SENTENCES:
            break
        piece = paragraph[at : match.end()].strip()
        if piece and not piece[:-1].isdigit():  # the number of a list item
            yield Sentence(paragraph[at : match.end()], start + at)
        at = match.end()
    if paragraph[at:].strip():
        yield Sentence(paragraph[at:], start + at)
