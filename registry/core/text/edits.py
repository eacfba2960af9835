"""Proposed changes to a skill: parsing them from a request, and applying them to a bundle."""

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from registry.core import paths
from registry.core.bundle import SKILL_MD, Bundle
from registry.core.errors import InvalidInput, InvalidRequest, TooLarge
from registry.core.limits import DEFAULT, Limits
from registry.core.text.patch import apply_patch
from registry.core.text.patience_diff import split_lines

_NOWHERE = "/dev/null"
_NAMED_FILES = 20

Changes = Mapping[str, bytes | None]  # None removes the file


@dataclass(frozen=True, slots=True)
class Edit:
    """Either changed files or a diff to the current version."""

    files: Changes
    diff: str = ""


@dataclass(frozen=True, slots=True)
class _FilePatch:
    before: str
    after: str
    text: str


def parse(
    *, diff: object = None, skill_md: object = None, files: object = None, limits: Limits = DEFAULT
) -> Edit:  # fmt: skip
    """Return the edit of a request, which has to set exactly one of the first three arguments."""
    present = [name for name, value in (("diff", diff), ("skill_md", skill_md), ("files", files)) if value is not None]
    if len(present) != 1:
        raise InvalidRequest(
            f"Send one of diff, skill_md and files, not {' and '.join(present) or 'none of them'}. Nothing was saved."
        )
    if diff is not None:
        if not isinstance(diff, str) or not diff.strip():
            raise InvalidRequest("diff must be a unified diff with at least one hunk. Nothing was saved.")
        return Edit({}, diff)
    if skill_md is not None:
        return Edit({SKILL_MD: _content(SKILL_MD, skill_md)})
    if not isinstance(files, Mapping) or not files:
        raise InvalidRequest("files must map at least one path to its new text, or to null to remove the file.")
    _check_count(len(files), limits, "The request changes")
    return Edit({paths.check(str(path)): _content(str(path), value) for path, value in files.items()})


def _content(path: str, value: object) -> bytes | None:
    if value is None:
        return None
    if isinstance(value, str):
        try:
            return value.encode()
        except UnicodeEncodeError as error:
            line = value.count("\n", 0, error.start) + 1
            raise InvalidRequest(
                f"{path}, line {line}: the text contains an unpaired surrogate, which is not a valid character. "
                "Delete it. Nothing was saved."
            ) from None
    if isinstance(value, Mapping) and set(value) == {"base64"} and isinstance(value["base64"], str):
        try:
            return base64.b64decode(value["base64"], validate=True)
        except (binascii.Error, ValueError):
            raise InvalidRequest(f"{path}: the base64 text is invalid. Nothing was saved.") from None
    raise InvalidRequest(f'{path}: send its text, {{"base64": "…"}} for binary content, or null to remove it.')


def apply(edit: Edit, base: Bundle | None, *, name: str, limits: Limits = DEFAULT) -> Bundle:
    """Return the changed skill. `base` is its current version, None for a new skill."""
    files: dict[str, bytes] = dict(base) if base is not None else {}
    changes = dict(_apply_diff(edit.diff, files, name, limits)) if edit.diff else edit.files
    for path, content in changes.items():
        if content is not None:
            files[path] = content
        elif files.pop(path, None) is None:
            raise InvalidInput(
                f"{name} has no file {paths.display(path)}, so it cannot be removed. Nothing was saved.",
                files=sorted(files),
            )
    _check_size(files, limits)
    return Bundle(files)


def _apply_diff(
    diff: str, files: Mapping[str, bytes], name: str, limits: Limits
) -> Iterator[tuple[str, bytes | None]]:  # fmt: skip
    seen: set[str] = set()
    patches = list(_file_patches(diff))
    _check_count(len(patches), limits, "The diff changes")
    for patch in patches:
        path = _target(patch, files, name)
        if path in seen:
            raise InvalidInput(f"The diff changes {paths.display(path)} twice. Put its hunks into one part.", file=path)
        seen.add(path)
        yield path, _patch_one(path, patch, files, name)


def _patch_one(path: str, patch: _FilePatch, files: Mapping[str, bytes], name: str) -> bytes | None:
    try:
        text = files.get(path, b"").decode()
    except UnicodeDecodeError:
        raise InvalidInput(
            f"{path} is binary, so a diff cannot change it. Send it in `files` instead. Nothing was saved.", file=path
        ) from None
    try:
        result = apply_patch(text, patch.text)
    except InvalidInput as error:
        if "hunk" in error.data and path not in files:
            raise _missing_file(path, files, name) from None
        refusal = InvalidInput(f"The diff of {path} does not apply. {error.message}\nNothing was saved.")
        refusal.data.update(error.data, file=path)
        raise refusal from None
    if patch.after != _NOWHERE:
        return result.encode()
    if result:
        raise InvalidInput(f"The diff removes {path} but not all of its lines. Nothing was saved.", file=path)
    return None


def _missing_file(path: str, files: Mapping[str, bytes], name: str) -> InvalidInput:
    existing = ", ".join(sorted(files)[:_NAMED_FILES])
    why = (
        f"{name} has no such file. Its files are: {existing}" if files else f"there is no skill {name}. Send it in full"
    )
    message = f"The diff of {path} does not apply: {why}. Nothing was saved."
    return InvalidInput(message, file=path, files=sorted(files))


def _file_patches(diff: str) -> Iterator[_FilePatch]:
    """Split the diff by file. A diff without file headers applies to SKILL.md."""
    lines = split_lines(diff)
    starts = [at for at in range(len(lines)) if _starts_file(lines, at)]
    if sum(line.startswith("diff --git ") for line in lines) > len(starts):
        raise InvalidInput(
            "A part of the diff has no hunks: the file is renamed, binary or empty. Send such files in `files`. "
            "Nothing was saved."
        )
    if not starts:
        yield _FilePatch(SKILL_MD, SKILL_MD, diff)
        return
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        stop = next((at for at in range(start + 2, end) if lines[at].startswith("diff --git ")), end)
        yield _FilePatch(_header(lines[start]), _header(lines[start + 1]), "".join(lines[start:stop]))


def _starts_file(lines: list[str], at: int) -> bool:
    first, second, third = (*lines[at : at + 3], "", "")[:3]
    return first.startswith("--- ") and second.startswith("+++ ") and (not third or third.startswith("@@"))


def _header(line: str) -> str:
    return line[4:].split("\t")[0].strip().strip('"')


def _target(patch: _FilePatch, files: Mapping[str, bytes], name: str) -> str:
    """Return the path of the headers without the prefixes that diff tools add."""
    path = patch.before if patch.after == _NOWHERE else patch.after
    if path not in files and path.startswith(("a/", "b/")):
        path = path[2:]
    if path not in files and path.startswith(f"{name}/"):
        path = path.removeprefix(f"{name}/")
    return paths.check(path)


def _check_count(count: int, limits: Limits, subject: str) -> None:
    """Raise TooLarge before the paths are compared with each other."""
    if count > limits.files:
        raise TooLarge(
            f"{subject} {count:,} files. {limits.files:,} are allowed. Change fewer files. Nothing was saved."
        )


def _check_size(files: Mapping[str, bytes], limits: Limits) -> None:
    _check_count(len(files), limits, "The skill would have")
    total = sum(map(len, files.values()))
    largest, size = max(
        ((path, len(content)) for path, content in files.items()), key=lambda each: each[1], default=("", 0)
    )
    for message, actual, limit in (
        (f"{largest} would have {size:,} bytes.", size, limits.file_bytes),
        (f"The skill would have {total:,} bytes.", total, limits.expanded_bytes),
    ):  # fmt: skip
        if actual > limit:
            raise TooLarge(f"{message} {limit:,} are allowed. Nothing was saved.")
