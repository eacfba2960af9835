"""Unified patches: written from two texts, and applied to a text only where they fit without a guess."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from registry.core.errors import InvalidInput
from registry.core.text.patience_diff import Change, match, split_lines

_HEAD = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_NO_LINE_END = "\\"
_SHOWN_LINES, _SHOWN_MOST = 3, 20
_TELLING = 20  # a line that stands in more places says nothing about where a hunk belongs


@dataclass(frozen=True, slots=True)
class Hunk:
    number: int
    head: str
    line: int  # where it expects to stand, counted from 0
    before: tuple[str, ...]
    after: tuple[str, ...]


def unified(before: str, after: str, path: str, context: int = 3) -> str:
    """A patch in the usual form; empty where nothing differs."""
    old, new = split_lines(before), split_lines(after)
    changes = list(match(old, new).changes(len(old), len(new)))
    hunks = [_hunk(group, old, new) for group in _grouped(changes, context)]
    return f"--- a/{path}\n+++ b/{path}\n{''.join(hunks)}" if hunks else ""


def _grouped(changes: Sequence[Change], context: int) -> Iterator[list[Change]]:
    """Changes that stand near one another, each with the lines around it."""
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


def _hunk(group: Sequence[Change], old: Sequence[str], new: Sequence[str]) -> str:
    first, last = group[0], group[-1]
    head = f"@@ -{_span(first.before, last.before_end)} +{_span(first.after, last.after_end)} @@\n"
    written: list[str] = []
    for change in group:
        if change.same:
            written += [_marked(" ", line) for line in old[change.before : change.before_end]]
        else:
            written += [_marked("-", line) for line in old[change.before : change.before_end]]
            written += [_marked("+", line) for line in new[change.after : change.after_end]]
    return head + "".join(written)


def _span(start: int, end: int) -> str:
    return f"{start + 1},{end - start}" if end > start else f"{start},0"


def _marked(mark: str, line: str) -> str:
    return f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"


def apply_patch(text: str, patch: str) -> str:
    """The text with the patch applied; InvalidInput names the hunk that does not fit and shows what is there now.

    A hunk whose lines have moved is applied where they are now, if that is one place only.
    """
    lines, result, at = split_lines(text), list[str](), 0
    known: dict[str, list[int]] = {}
    for number, line in enumerate(lines):
        known.setdefault(line, []).append(number)
    for hunk in parse(patch):
        place = _place(hunk, lines, known, at)
        result += lines[at:place]
        result += hunk.after
        at = place + len(hunk.before)
    return "".join(result + lines[at:])


def parse(patch: str) -> tuple[Hunk, ...]:
    """The hunks of a patch to one file."""
    lines, hunks, at = split_lines(patch), list[Hunk](), 0
    while at < len(lines):
        head = _HEAD.match(lines[at])
        if head is None:
            _check_outside(lines[at], at, bool(hunks))
            at += 1
            continue
        end = _end_of_hunk(lines, at + 1, int(head[2] or 1), int(head[4] or 1))
        hunks.append(_hunk_of(len(hunks) + 1, head, lines[at + 1 : end]))
        at = end
    if patch.strip() and not hunks:
        raise InvalidInput("The patch has no hunk. A hunk starts with a line such as `@@ -1,3 +1,4 @@`.")
    return tuple(hunks)


def _check_outside(line: str, at: int, after_a_hunk: bool) -> None:
    if line.startswith("@@"):
        raise InvalidInput(
            f"Line {at + 1} of the patch, `{line.strip()[:80]}`, does not say which lines it is about. "
            "Write it as `@@ -1,3 +1,4 @@`.", line=at + 1)  # fmt: skip
    if after_a_hunk and line.startswith(("--- ", "diff ")):
        raise InvalidInput(
            f"Line {at + 1} of the patch starts a second file. Send one patch for each file.", line=at + 1
        )


def _end_of_hunk(lines: Sequence[str], start: int, old: int, new: int) -> int:
    """By the numbers in its head where they hold; people and agents miscount, so else by the marks of its lines."""
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


def _hunk_of(number: int, head: re.Match[str], body: Sequence[str]) -> Hunk:
    before: list[str] = []
    after: list[str] = []
    last: tuple[list[str], ...] = ()
    for line in body:
        if line.startswith(_NO_LINE_END):
            for side in last:
                side[-1] = side[-1].removesuffix("\n")
            continue
        last = {"-": (before,), "+": (after,)}.get(line[0], (before, after))
        # The patch itself may lack its last line end; that a line of the text has none, only the mark says.
        content = line[1:].removesuffix("\n") + "\n"
        for side in last:
            side.append(content)
    start = int(head[1])
    return Hunk(number, head[0], start - 1 if before else start, tuple(before), tuple(after))


def _place(hunk: Hunk, lines: Sequence[str], known: Mapping[str, Sequence[int]], at: int) -> int:
    """Where the hunk fits: at its own line, or else at the one other place that has its lines."""
    size = len(hunk.before)
    if at <= hunk.line <= len(lines) and tuple(lines[hunk.line : hunk.line + size]) == hunk.before:
        return hunk.line
    places = [
        place for place in (known.get(hunk.before[0], ()) if hunk.before else ())
        if place >= at and tuple(lines[place : place + size]) == hunk.before
    ]  # fmt: skip
    if len(places) == 1:
        return places[0]
    reason = f"its lines stand in {len(places)} places" if places else "the lines it changes are not there"
    meant = hunk.line if places else _most_alike(hunk, known)
    raise InvalidInput(
        f"Hunk {hunk.number} ({hunk.head}) does not fit: {reason}. "
        f"The text around line {meant + 1} is now:\n{_around(lines, meant, len(hunk.before))}",
        hunk=hunk.number, line=meant + 1,
    )  # fmt: skip


def _most_alike(hunk: Hunk, known: Mapping[str, Sequence[int]]) -> int:
    """Where most of its lines stand, for whoever corrects it: a number in a head is often wrong. Else its own line."""
    starts: dict[int, int] = {}
    for offset, line in enumerate(hunk.before):
        found = known.get(line, ())
        if line.strip() and len(found) <= _TELLING:
            for place in found:
                starts[place - offset] = starts.get(place - offset, 0) + 1
    if not starts:
        return hunk.line
    return max(0, max(starts, key=lambda start: (starts[start], -abs(start - hunk.line))))


def _around(lines: Sequence[str], line: int, size: int) -> str:
    """As many lines as the hunk has, up to a point, and a few on either side."""
    low = max(0, min(line, len(lines)) - _SHOWN_LINES)
    shown = lines[low : line + min(max(size, 1), _SHOWN_MOST) + _SHOWN_LINES]
    if not shown:
        return "(nothing: the text is empty)"
    return "\n".join(f"{number:>5}  {text.rstrip()[:200]}" for number, text in enumerate(shown, low + 1))
