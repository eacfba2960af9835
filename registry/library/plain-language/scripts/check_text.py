"""Point at long sentences, signs of passive voice and heavy words in a text. Findings are places to look at, not errors."""

import argparse
import re
import sys
from pathlib import Path

WORDS = Path(__file__).resolve().parent.parent / "references" / "words.md"
SENTENCE = re.compile(r"[^.!?:]+(?:[.!?:](?!\s|$)[^.!?:]*)*[.!?:]?")
PASSIVE = re.compile(r"\b(?:is|are|was|were|be|been|being)\s+(?:\w+ly\s+)?\w+(?:ed|own|iven|aken|itten|ade|ent)\b", re.I)


def heavy_words(text):
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", text, re.M)
    return {heavy: plain for heavy, plain in rows if heavy not in ("heavy", "---")}


def paragraphs(text):
    """Yield the first line number and the lines of each paragraph, without code blocks, headings and tables."""
    block, start, fenced = [], 0, False
    for number, line in enumerate([*text.splitlines(), ""], start=1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        prose = not fenced and not line.lstrip().startswith(("```", "#", "|"))
        bullet = re.match(r"\s*(?:[-*+>]|\d+\.)\s+", line)
        if block and (not prose or not line.strip() or bullet):
            yield start, block
            block = []
        if prose and line.strip():
            start = start if block else number
            block.append(line[bullet.end():] if bullet else line)
    if block:
        yield start, block


def line_of(start, block, offset):
    return start + "\n".join(block)[:offset].count("\n")


def findings(text, heavy, max_words):
    for start, block in paragraphs(text):
        whole = "\n".join(block)
        for sentence in SENTENCE.finditer(whole):
            words = re.findall(r"\w[\w'’-]*", sentence[0])
            if len(words) > max_words:
                lead = len(sentence[0]) - len(sentence[0].lstrip())
                where = line_of(start, block, sentence.start() + lead)
                yield where, f"{len(words)} words in one sentence: {' '.join(words[:6])} …"
        for match in PASSIVE.finditer(whole):
            yield line_of(start, block, match.start()), f'perhaps passive: "{" ".join(match[0].split())}"'
        for word, plain in heavy.items():
            pattern = r"\b" + r"\s+".join(map(re.escape, word.split())) + r"\b"
            for match in re.finditer(pattern, whole, re.I):
                yield line_of(start, block, match.start()), f'"{word}": {plain}'


def main():
    parser = argparse.ArgumentParser(description="Find long sentences, passive voice and heavy words.")
    parser.add_argument("text", type=Path, help="a text or Markdown file in UTF-8")
    parser.add_argument("--max-words", type=int, default=30, help="longest sentence that is not listed (30)")
    options = parser.parse_args()
    try:
        text = options.text.read_text(encoding="utf-8-sig")
        heavy = heavy_words(WORDS.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        print(f"Cannot read: {error}", file=sys.stderr)
        return 2
    found = sorted(findings(text, heavy, options.max_words))
    for line, message in found:
        print(f"{options.text.name}:{line}: {message}")
    print(f"{len(found)} places to look at")
    return 0


if __name__ == "__main__":
    sys.exit(main())
