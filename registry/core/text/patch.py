"""Unified patches: writing them, and applying them only if every hunk fits unambiguously."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from registry.core.errors import InvalidInput
from registry.core.text.patience_diff import Change, Effort, match, split_lines

_HEAD = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_NO_LINE_END = "\\"
_CONTEXT_LINES, _MAX_LINES = 3, 20  # of the current text in a message
_MAX_OCCURRENCES = 20  # more frequent lines do not help to locate a hunk
_MAX_STEPS = 2_000_000  # lines compared to locate the moved hunks of a patch


@dataclass(frozen=True, slots=True)
class Hunk:
    number: int
    head: str
    line: int  # expected position, 0-based
    before: tuple[str, ...]
    after: tuple[str, ...]


def unified(before: str, after: str, path: str, context: int = 3) -> str:
    """Return a unified diff, or "" if the texts are equal."""
    old, new = split_lines(before), split_lines(after)
    return write(old, new, list(match(old, new).changes(len(old), len(new))), path, context)


def write(old: Sequence[str], new: Sequence[str], changes: Sequence[Change], path: str, context: int = 3) -> str:
    """Return the unified diff of two texts that are already compared."""
    hunks = [_write_hunk(group, old, new) for group in _grouped(changes, context)]
    return f"--- a/{path}\n+++ b/{path}\n{''.join(hunks)}" if hunks else ""


def _grouped(changes: Sequence[Change], context: int) -> Iterator[list[Change]]:
    """Yield groups of nearby changes, each with its context lines."""
    group: list[Change] = []
    for place, change in enumerate(changes):
        i, i_end, j, j_end, same = change
        if not same:
            group.append(change)
            continue
        last = place == len(changes) - 1
        if group and (last or i_end - i > 2 * context):
            size = min(context, i_end - i)
            yield [*group, Change(i, i + size, j, j + size, same=True)]
            group = []
        if not last:
            size = i_end - i if group else min(context, i_end - i)
            group.append(Change(i_end - size, i_end, j_end - size, j_end, same=True))
    if any(not change.same for change in group):
        yield group


def _write_hunk(group: Sequence[Change], old: Sequence[str], new: Sequence[str]) -> str:
    first, last = group[0], group[-1]
    head = f"@@ -{_span(first.before, last.before_end)} +{_span(first.after, last.after_end)} @@\n"
    lines: list[str] = []
    for change in group:
        if change.same:
            lines += [_marked(" ", line) for line in old[change.before : change.before_end]]
        else:
            lines += [_marked("-", line) for line in old[change.before : change.before_end]]
            lines += [_marked("+", line) for line in new[change.after : change.after_end]]
    return head + "".join(lines)


def _span(start: int, end: int) -> str:
    return f"{start + 1},{end - start}" if end > start else f"{start},0"


def _marked(mark: str, line: str) -> str:
    return f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"


def apply_patch(text: str, patch: str) -> str:
    """Return the text with the patch applied.

    A hunk whose lines have moved is applied at their new position if that is unambiguous. Raise InvalidInput, which
    names the hunk and shows the current text, if a hunk does not fit.
    """
    lines, result, at = split_lines(text), list[str](), 0
    known: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        known.setdefault(line, []).append(number)
    effort = Effort(_MAX_STEPS)
    for hunk in parse(patch):
        place = _place(hunk, lines, known, at, effort)
        result += lines[at:place]
        result += hunk.after
        at = place + len(hunk.before)
    return "".join(result + lines[at:])


def parse(patch: str) -> tuple[Hunk, ...]:
    """Return the hunks of a patch to one file."""
    lines, hunks, at = split_lines(patch), list[Hunk](), 0
    while at < len(lines):
        head = _HEAD.match(lines[at])
        if head is None:
            _check_outside(lines[at], at, bool(hunks))
            at += 1
            continue
        end = _end_of_hunk(lines, at + 1, int(head[2] or 1), int(head[4] or 1))
        hunks.append(_parse_hunk(len(hunks) + 1, head, lines[at + 1 : end]))
        at = end
    if patch.strip() and not hunks:
        raise InvalidInput("The patch has no hunk. A hunk starts with a line such as `@@ -1,3 +1,4 @@`.")
    return tuple(hunks)


def _check_outside(line: str, at: int, after_a_hunk: bool) -> None:
    if line.startswith("@@"):
        raise InvalidInput(
            f"Line {at + 1} of the patch, `{line.strip()[:80]}`, does not name its lines. "
            "Write it as `@@ -1,3 +1,4 @@`.", line=at + 1)  # fmt: skip
    if after_a_hunk and line.startswith(("--- ", "diff ")):
        raise InvalidInput(
            f"Line {at + 1} of the patch starts a second file. Send one patch for each file.", line=at + 1
        )


def _end_of_hunk(lines: Sequence[str], start: int, old: int, new: int) -> int:
    """Return the end of a hunk. Use the marks of its lines if its line counts are wrong: people and agents miscount."""
    at = start
    while at < len(lines) and (old > 0 or new > 0) and lines[at][0] in " +-\n\\":
        mark = lines[at][0]
        old -= mark in " -\n"
        new -= mark in " +\n"
        at += 1
    if old == new == 0:
        return at + 1 if at < len(lines) and lines[at].startswith(_NO_LINE_END) else at
    at = start
    while at < len(lines) and lines[at][0] in " +-\n\\" and not lines[at].startswith(("--- ", "diff ")):
        at += 1
    while at > start and lines[at - 1] == "\n":
        at -= 1
    return at


def _parse_hunk(number: int, head: re.Match[str], body: Sequence[str]) -> Hunk:
    before: list[str] = []
    after: list[str] = []
    last: tuple[list[str], ...] = ()
    for line in body:
        if line.startswith(_NO_LINE_END):
            for side in last:
                side[-1] = side[-1].removesuffix("\n")
            continue
        last = {"-": (before,), "+": (after,)}.get(line[0], (before, after))
        # A patch may lack its own last line ending. Only the mark says that a line of the text has none.
        content = line[1:].removesuffix("\n") + "\n"
        for side in last:
            side.append(content)
    start = int(head[1])
    return Hunk(number, head[0], start - 1 if before else start, tuple(before), tuple(after))


def _place(hunk: Hunk, lines: Sequence[str], known: Mapping[str, Sequence[int]], at: int, effort: Effort) -> int:
    """Return the position of the hunk: its own line, or the only other place with the same lines."""
    size = len(hunk.before)
    if at <= hunk.line <= len(lines) and tuple(lines[hunk.line : hunk.line + size]) == hunk.before:
        return hunk.line
    places = list(_places(hunk, lines, known, at, effort)) if hunk.before else []
    if len(places) == 1:
        return places[0]
    reason = f"its lines appear in {len(places)} places" if places else "the lines that it changes do not exist"
    nearest = hunk.line if places else _closest_line(hunk, known)
    raise InvalidInput(
        f"Hunk {hunk.number} ({hunk.head}) does not fit: {reason}. "
        f"The text around line {nearest + 1} is now:\n{_around(lines, nearest, len(hunk.before))}",
        hunk=hunk.number, line=nearest + 1,
    )  # fmt: skip


def _places(
    hunk: Hunk, lines: Sequence[str], known: Mapping[str, Sequence[int]], at: int, effort: Effort
) -> Iterator[int]:
    """Yield the positions from `at` on that have the lines of the hunk. Search for its rarest line."""
    offset = min(range(len(hunk.before)), key=lambda offset: len(known.get(hunk.before[offset], ())))
    found = known.get(hunk.before[offset], ())
    for number in range(bisect_left(found, at + offset), len(found)):
        start = found[number] - offset
        same = _same_lines(hunk.before, lines, start)
        if not effort.spend(same + 1):
            raise InvalidInput(
                f"Hunk {hunk.number} ({hunk.head}) does not fit at its line, and its lines repeat too often to search "
                f"for them: more than {_MAX_STEPS:,} comparisons are needed. Correct the line number of the hunk, or "
                "send the whole file.", hunk=hunk.number, line=hunk.line + 1,
            )  # fmt: skip
        if same == len(hunk.before):
            yield start


def _same_lines(wanted: Sequence[str], lines: Sequence[str], start: int) -> int:
    """Return how many of the wanted lines follow each other from `start` on."""
    same, most = 0, min(len(wanted), len(lines) - start)
    while same < most and wanted[same] == lines[start + same]:
        same += 1
    return same


def _closest_line(hunk: Hunk, known: Mapping[str, Sequence[int]]) -> int:
    """Return the position that matches most lines of the hunk, because line numbers in a head are often wrong."""
    starts: dict[int, int] = {}
    for offset, line in enumerate(hunk.before):
        places = known.get(line, ())
        if line.strip() and len(places) <= _MAX_OCCURRENCES:
            for place in places:
                starts[place - offset] = starts.get(place - offset, 0) + 1
    if not starts:
        return hunk.line
    return max(0, max(starts, key=lambda start: (starts[start], -abs(start - hunk.line))))


def _around(lines: Sequence[str], line: int, size: int) -> str:
    """Return the lines of the text at the hunk, with line numbers and some context."""
    low = max(0, min(line, len(lines)) - _CONTEXT_LINES)
    excerpt = lines[low : line + min(max(size, 1), _MAX_LINES) + _CONTEXT_LINES]
    if not excerpt:
        return "(the text is empty)"
    return "\n".join(f"{number:>5}  {text.rstrip()[:200]}" for number, text in enumerate(excerpt, low + 1))
