"""Writes registry/core/routing/background_words.py: how common the words of general technical English are.

    python -m bench.background_words

It counts documents that are installed on a Debian machine with the tools for tests: man pages, Markdown and
reStructuredText files of packages, and the descriptions of operations in botocore. Only counts go into the project. The
share of a stem is the mean over the three kinds of documents, so that no kind prevails.
"""

import gzip
import json
import random
import re
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

from registry.core.routing.words import terms

STEMS = 4_200
DOCUMENTS = 12_000  # of one kind
CHARS = 8_000  # of one document: about a skill
LEVELS = 28  # of shares in the table; a share is rounded to a power of 0.8
TARGET = Path(__file__).parent.parent / "registry/core/routing/background_words.py"
HEADER = '''"""Stems of general English by the share of documents that contain them.

Written by `bench/background_words.py`, which says from what they were counted. A line with the number n has stems whose
share is about 0.8 to the power of n.
"""

LINES = """
'''
FOOTER = '\n"""\n'
# Names of the makers of the documents, and words of their form.
LEFT_OUT = frozenset(terms("amazon aws gcloud google flag wide debian gnu perl api_name boto"))
_ROFF = re.compile(r"^['.].*$|\\(?:f.|\(..|\*.|[-&|^])|\\\"[^\n]*", re.MULTILINE)
_TAG = re.compile(r"<[^>]+>|```.*?```|https?://\S+", re.DOTALL)
_PLAIN = re.compile(r"[a-z]{2,18}")


def main() -> None:
    kinds = {"man": man_pages(), "text": texts(), "operations": operations()}
    total: Counter[str] = Counter()
    for kind, documents in kinds.items():
        counts: Counter[str] = Counter()
        number = 0
        for document in islice(documents, DOCUMENTS):
            counts.update({stem for stem in terms(document[:CHARS]) if _PLAIN.fullmatch(stem)} - LEFT_OUT)
            number += 1
        print(kind, number, "documents", file=sys.stderr)
        for stem, count in counts.items():
            total[stem] += count / number / len(kinds)  # type: ignore[assignment]
    TARGET.write_text(module(dict(total.most_common(STEMS))))


def man_pages() -> Iterator[str]:
    found = (path for path in Path("/usr/share/man").glob("man[1578]/*.gz") if not path.name.startswith("gcloud"))
    for path in shuffled(found):
        yield _ROFF.sub(" ", gzip.decompress(path.read_bytes()).decode("utf-8", "replace"))


def texts() -> Iterator[str]:
    roots = [Path(sys.prefix), Path("/usr/lib"), Path("/usr/share/doc"), Path(sys.base_prefix)]
    found = {path for root in roots for kind in ("md", "rst") for path in root.rglob(f"*.{kind}")}
    found |= {path for root in roots for path in root.rglob("*.dist-info/METADATA")}
    for path in shuffled({path for path in found if path.is_file()}):
        text = path.read_text(errors="replace")
        if path.name != "SKILL.md" and len(text) > 300:
            yield _TAG.sub(" ", text)


def operations() -> Iterator[str]:
    data = next(Path(sys.prefix).glob("lib/*/site-packages/botocore/data"))
    found: list[str] = []
    for path in sorted(data.glob("*/*/service-2.json*")):
        read = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        service = json.loads(read)
        found.append(service.get("documentation", ""))
        found += [operation.get("documentation", "") for operation in service["operations"].values()]
    found = [_TAG.sub(" ", text) for text in found if len(text) > 200]
    random.Random(1).shuffle(found)
    yield from found


def shuffled(paths: Iterator[Path] | set[Path]) -> list[Path]:
    ordered = sorted(paths)
    random.Random(1).shuffle(ordered)
    return ordered


def module(shares: dict[str, float]) -> str:
    levels: dict[int, list[str]] = {}
    for stem, share in shares.items():
        level = 0
        while level < LEVELS - 1 and share < 0.8 ** (level + 1):
            level += 1
        levels.setdefault(level, []).append(stem)
    lines: list[str] = []
    for level, stems in sorted(levels.items()):
        line = str(level)
        for stem in sorted(stems):
            if len(line) + len(stem) > 118:
                lines.append(line)
                line = str(level)
            line += f" {stem}"
        lines.append(line)
    return HEADER + "\n".join(lines) + FOOTER


if __name__ == "__main__":
    main()
