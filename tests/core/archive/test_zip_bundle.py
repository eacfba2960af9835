"""Reading bundles from zips and folders, and writing deterministic zips."""

import io
import json
import random
import stat
import zipfile
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.core.archive.zip_bundle import RATIO_FROM_BYTES, read_folder, read_zip, write_zip, write_zip_stream
from registry.core.bundle import Bundle, content_digest
from registry.core.errors import InvalidArchive, SkillsiteError, TooLarge, UnsafePath
from registry.core.limits import MIB, Limits
from tests.core import hostile
from tests.core.hostile import (
    CORPUS,
    DEFLATED,
    DESCRIPTOR,
    RULES,
    SKILL,
    UTF8,
    Entry,
    archive,
    skill_and,
    tree,
)
from tests.core.strategies import bundles, file_contents, law, safe_paths

HONEST = archive(
    Entry(b"demo/", mode=stat.S_IFDIR | 0o755),
    Entry(b"demo/SKILL.md", SKILL, DEFLATED),
    Entry(b"demo/docs/a.md", b"a" * 40, DEFLATED, DESCRIPTOR),
    Entry(b"demo/run.sh", b"#!/bin/sh\n", mode=stat.S_IFREG | 0o755),
    Entry(b"__MACOSX/demo/._run.sh", b"\0\5\x16\7"),
)
HONEST_FILES = {"SKILL.md": SKILL, "docs/a.md": b"a" * 40, "run.sh": b"#!/bin/sh\n"}


def refused(call: Callable[[], object]) -> SkillsiteError:
    with pytest.raises((InvalidArchive, TooLarge, UnsafePath)) as caught:
        call()
    return caught.value


@pytest.mark.parametrize("name", CORPUS)
def test_a_hostile_zip_is_refused_by_its_rule(name: str) -> None:
    error = refused(lambda: read_zip(CORPUS[name]))
    assert [finding.rule for finding in error.findings] == [RULES[name]]
    assert error.findings[0].fix
    assert error.message.isprintable()
    assert len(error.message) < 600
    json.dumps(error.findings[0].as_json()).encode()


def test_the_builder_of_the_corpus_writes_valid_zips() -> None:
    assert dict(read_zip(HONEST)) == HONEST_FILES
    assert dict(read_zip(skill_and(Entry(b"a", b"x")))) == {"SKILL.md": SKILL, "a": b"x"}


# Where the skill is.


@pytest.mark.parametrize("names", [
    ["SKILL.md"],
    ["demo/SKILL.md"],
    ["demo/", "demo/SKILL.md"],
    ["demo/SKILL.md", "__MACOSX/", "__MACOSX/demo/._SKILL.md"],
    ["SKILL.md", ".DS_Store", "._SKILL.md"],
    ["demo/SKILL.md", ".DS_Store", "demo/.DS_Store", "demo/._SKILL.md"],
    ["__MACOSX/SKILL.md", "demo/SKILL.md"],
])  # fmt: skip
def test_the_skill_is_found_at_the_root_or_in_a_wrapping_folder_and_junk_is_dropped(names: list[str]) -> None:
    assert dict(read_zip(tree(*names))) == {"SKILL.md": SKILL}


def test_a_skill_md_at_the_root_wins_and_others_are_ordinary_files() -> None:
    names = ["SKILL.md", "a/SKILL.md", "b/SKILL.md", "c/d/SKILL.md", "e/skill.md"]
    assert list(read_zip(tree(*names))) == sorted(names)


def test_a_skill_md_below_the_wrapper_is_an_ordinary_file() -> None:
    assert list(read_zip(tree("demo/SKILL.md", "demo/sub/SKILL.md"))) == ["SKILL.md", "sub/SKILL.md"]


@pytest.mark.parametrize(("names", "sentence"), [
    ([], "SKILL.md is missing"),
    (["README.md"], "SKILL.md is missing"),
    (["a/b/SKILL.md"], "'a/b/SKILL.md'"),
    (["one/SKILL.md", "two/SKILL.md"], "'one/', 'two/'"),
    (["demo/SKILL.md", "LICENSE", "other/a.md"], "'LICENSE', 'other/a.md'"),
    (["demo/SKILL.md", *(f"{n}.txt" for n in range(9))], "and 4 more"),
    (["skill.md"], "Rename it to SKILL.md"),
    (["demo/SKILL.MD"], "Rename it to SKILL.md"),
    (["Skill.md", "demo/SKILL.md"], "'Skill.md'"),
])  # fmt: skip
def test_the_error_says_where_skill_md_must_be(names: list[str], sentence: str) -> None:
    in_zip = refused(lambda: read_zip(tree(*names)))
    in_folder = refused(lambda: read_folder(dict.fromkeys(names, SKILL)))
    assert sentence in in_zip.message
    assert in_zip.message == in_folder.message


# Names.


def test_names_that_are_utf_8_without_the_flag_are_read_and_composed() -> None:
    decomposed = "e\u0301tude.md".encode()
    assert "étude.md" in read_zip(skill_and(Entry(decomposed)))
    assert "étude.md" in read_zip(skill_and(Entry(decomposed, flags=UTF8)))
    assert "étude.md" in read_folder({"SKILL.md": b"", "e\u0301tude.md": b""})


def test_a_name_with_braces_is_not_formatted() -> None:
    files = {"SKILL.md": b"", "{0.__class__}": b"12"}
    error = refused(lambda: read_folder(files, limits=Limits(file_bytes=1)))
    assert error.message == "'{0.__class__}' has 2 bytes. 1 are allowed. Nothing was saved."


# Forms of zip that honest tools write.

TIMES = hostile.extra_field(0x5455, bytes(5))
STREAMED = Entry(b"a", b"xy", DEFLATED, DESCRIPTOR)


@pytest.mark.parametrize("entry", [
    Entry(b"a", b"xy", flags=DESCRIPTOR),
    STREAMED,
    replace(STREAMED, descriptor=hostile.descriptor_of(STREAMED)[4:]),
    Entry(b"a", b"xy", DEFLATED, 0x0006),
    Entry(b"a", b"xy", mode=0),
    Entry(b"a", b"xy", comment=b"by hand"),
    Entry(b"a", b"xy", extra=TIMES, local_extra=TIMES + TIMES),
    Entry(b"a", b"xy", extra=hostile.extra_field(0x7075, b"\x01\x43\xbe\xb7\xe8" + b"a")),
])  # fmt: skip
def test_zips_of_common_tools_are_read(entry: Entry) -> None:
    assert read_zip(skill_and(entry))["a"] == b"xy"


def test_an_empty_file_is_read_with_any_compression() -> None:
    for entry in (Entry(b"a"), Entry(b"a", method=DEFLATED), Entry(b"a", method=DEFLATED, packed=b"")):
        assert read_zip(skill_and(entry))["a"] == b""


@pytest.mark.parametrize("comment", [b"0123abcd", b"c" * 0xFFFF])
def test_an_archive_comment_is_accepted(comment: bytes) -> None:
    assert dict(read_zip(skill_and(comment=comment))) == {"SKILL.md": SKILL}
    assert dict(read_zip(archive(Entry(b"SKILL.md", SKILL, comment=comment)))) == {"SKILL.md": SKILL}


def test_a_zip_inside_a_zip_is_an_ordinary_file() -> None:
    assert read_zip(skill_and(Entry(b"assets/inner.zip", HONEST)))["assets/inner.zip"] == HONEST


def test_members_may_be_in_another_order_than_in_the_central_directory() -> None:
    first, second = Entry(b"SKILL.md", SKILL), Entry(b"a", b"x")
    listed = archive(first, second)
    start = listed.index(b"PK\x01\x02")
    middle = listed.index(b"PK\x01\x02", start + 1)
    end = listed.index(b"PK\x05\x06")
    turned = listed[:start] + listed[middle:end] + listed[start:middle] + listed[end:]
    assert read_zip(turned) == read_zip(listed)


@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_zips_of_the_standard_library_are_read(method: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as target:
        for path, content in HONEST_FILES.items():
            target.writestr(path, content)
    assert dict(read_zip(buffer.getvalue())) == HONEST_FILES


# Limits: at the number it passes, one over it does not.


SMALL = skill_and(Entry(b"a", b"12345"), Entry(b"b", b"6"))


@pytest.mark.parametrize(("limit", "number", "rule"), [
    ("archive_bytes", len(SMALL), "zip-too-large"),
    ("expanded_bytes", len(SKILL) + 6, "expanded-too-large"),
    ("file_bytes", len(SKILL), "file-too-large"),
    ("files", 3, "too-many-files"),
    ("skill_md_bytes", len(SKILL), "skill-md-too-large"),
])  # fmt: skip
def test_a_limit_is_exact_and_its_error_names_both_numbers(limit: str, number: int, rule: str) -> None:
    assert len(read_zip(SMALL, limits=Limits(**{limit: number}))) == 3
    error = refused(lambda: read_zip(SMALL, limits=Limits(**{limit: number - 1})))
    assert isinstance(error, TooLarge)
    assert error.findings[0].rule == rule
    assert f"{number:,}" in error.message
    assert f"{number - 1:,} are allowed. Nothing was saved." in error.message
    assert error.data == {"actual": number, "allowed": number - 1}


@pytest.mark.parametrize(("limit", "number"), [
    ("expanded_bytes", len(SKILL) + 6), ("file_bytes", len(SKILL)), ("skill_md_bytes", len(SKILL)),
    ("files", 3),
])  # fmt: skip
def test_folders_have_the_same_limits_as_zips(limit: str, number: int) -> None:
    files = {"demo/SKILL.md": SKILL, "demo/a": b"12345", "demo/b": b"6"}
    assert len(read_folder(files, limits=Limits(**{limit: number}))) == 3
    assert isinstance(refused(lambda: read_folder(files, limits=Limits(**{limit: number - 1}))), TooLarge)


def test_a_single_large_binary_file_is_read() -> None:
    content = random.Random(7).randbytes(2 * MIB)
    assert read_zip(skill_and(Entry(b"assets/a.bin", content, DEFLATED)))["assets/a.bin"] == content


def test_a_small_file_may_have_any_ratio() -> None:
    assert len(read_zip(skill_and(Entry(b"a", bytes(RATIO_FROM_BYTES - MIB // 2), DEFLATED)))) == 2


def test_a_large_file_at_the_ratio_is_read_and_above_it_is_refused() -> None:
    entry = Entry(b"a", bytes(2 * MIB), DEFLATED)
    ratio = -(-2 * MIB // len(entry.packed_bytes()))
    data = skill_and(entry)
    assert len(read_zip(data, limits=Limits(ratio=ratio))) == 2
    assert refused(lambda: read_zip(data, limits=Limits(ratio=ratio - 1))).findings[0].rule == "zip-ratio"


def test_junk_counts_towards_the_limit_of_bytes_but_not_of_files() -> None:
    data = skill_and(Entry(b"._SKILL.md", b"123"), Entry(b".DS_Store", b"456"))
    assert list(read_zip(data, limits=Limits(files=1))) == ["SKILL.md"]
    assert isinstance(refused(lambda: read_zip(data, limits=Limits(expanded_bytes=len(SKILL) + 5))), TooLarge)


# Folders.


def test_a_folder_is_read_like_a_zip() -> None:
    files = {f"demo/{path}": content for path, content in HONEST_FILES.items()}
    assert read_folder(files | {"demo/.DS_Store": b"", "demo/docs/._a.md": b""}) == read_zip(HONEST)


@pytest.mark.parametrize("path", [
    "../a", "demo/../../a", "/a", "demo\\a", "demo/a\0", "demo/._a\n", "demo/A", "demo/b/",
])  # fmt: skip
def test_a_folder_with_an_unsafe_path_is_refused(path: str) -> None:
    files = {"demo/SKILL.md": SKILL, "demo/a": b"", path: b""}
    assert isinstance(refused(lambda: read_folder(files)), UnsafePath)


@pytest.mark.parametrize("pair", [("\u00e9", "e\u0301"), ("\u00e9/a", "e\u0301/b")])
def test_two_forms_of_one_name_in_a_folder_are_refused(pair: tuple[str, str]) -> None:
    error = refused(lambda: read_folder({"SKILL.md": b"", pair[0]: b"1", pair[1]: b"2"}))
    assert isinstance(error, UnsafePath)
    assert "look the same" in error.message


# Laws.


@law
@given(bundles())
def test_reading_what_was_written_gives_the_same_bundle(bundle: Bundle) -> None:
    assert read_zip(write_zip(bundle)) == bundle
    assert read_folder({f"folder/{path}": content for path, content in bundle.items()}) == bundle


@law
@given(bundles())
def test_the_standard_library_reads_and_would_write_the_same_bytes(bundle: Bundle) -> None:
    written = write_zip(bundle)
    with zipfile.ZipFile(io.BytesIO(written)) as source:
        assert {name: source.read(name) for name in source.namelist()} == dict(bundle)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as target:
        for path, content in bundle.items():
            info = zipfile.ZipInfo(path, (1980, 1, 1, 0, 0, 0))
            info.create_system, info.external_attr = 3, 0o100644 << 16
            target.writestr(info, content)
    assert buffer.getvalue() == written


@law
@given(bundles(), st.randoms(use_true_random=False))
def test_the_order_of_files_does_not_change_what_is_written(bundle: Bundle, chance: random.Random) -> None:
    shuffled = dict(chance.sample(list(bundle.items()), len(bundle)))
    assert write_zip(Bundle(shuffled)) == write_zip(bundle)


def test_a_written_zip_never_changes() -> None:
    written = write_zip(Bundle({"é.md": b"x", "SKILL.md": SKILL}))
    assert content_digest(written).startswith("a6d8f103a112a720")


def test_a_zip_is_streamed_piece_by_piece_in_the_order_given() -> None:
    entries = [("b/SKILL.md", b"1"), ("a/SKILL.md", b"2")]
    pieces = write_zip_stream(iter(entries))
    assert next(pieces).endswith(b"b/SKILL.md")
    assert next(pieces) == b"1"
    with zipfile.ZipFile(io.BytesIO(b"".join(write_zip_stream(entries)))) as source:
        assert [(name, source.read(name)) for name in source.namelist()] == entries


@law
@given(st.one_of(st.binary(max_size=300), st.binary(max_size=80).map(lambda tail: HONEST[:-22] + tail)))
def test_arbitrary_bytes_raise_only_expected_errors(data: bytes) -> None:
    refused(lambda: read_zip(data))


def read_or_none(data: bytes) -> dict[str, bytes] | None:
    try:
        return dict(read_zip(data))
    except (InvalidArchive, TooLarge, UnsafePath):
        return None


def test_a_changed_byte_never_changes_the_bundle() -> None:
    damaged = bytearray(HONEST)
    for position in range(len(HONEST)):
        for mask in (0x01, 0x08, 0x80, 0xFF):
            damaged[position] ^= mask
            assert read_or_none(bytes(damaged)) in (None, HONEST_FILES), (position, mask)
            damaged[position] ^= mask


def test_every_truncated_zip_is_refused() -> None:
    for length in range(len(HONEST)):
        assert read_or_none(HONEST[:length]) is None, length


def test_an_added_or_removed_byte_never_changes_the_bundle() -> None:
    for position in range(len(HONEST) + 1):
        assert read_or_none(HONEST[:position] + b"\0" + HONEST[position:]) is None, position
        assert read_or_none(HONEST[:position] + HONEST[position + 1 :]) in (None, HONEST_FILES), position


@law
@given(st.lists(st.tuples(st.integers(0, len(HONEST) - 1), st.integers(0, 255)), min_size=1, max_size=6))
def test_a_damaged_zip_that_is_accepted_is_read_like_by_other_tools(changes: list[tuple[int, int]]) -> None:
    damaged = bytearray(HONEST)
    for position, value in changes:
        damaged[position] = value
    found = read_or_none(bytes(damaged))
    if found is not None:
        with zipfile.ZipFile(io.BytesIO(damaged)) as source:
            contents = [source.read(info) for info in source.infolist()]
        assert all(content in contents for content in found.values())


some_names = safe_paths | st.sampled_from(
    ["SKILL.md", "demo/SKILL.md", "demo/a", "a/", "../a", "/a", ".DS_Store", "__MACOSX/a", "skill.md"]
)


@law
@given(st.dictionaries(some_names, st.tuples(file_contents, st.sampled_from([0, 8])), max_size=6))
def test_an_accepted_zip_is_read_like_by_the_standard_library(entries: dict[str, tuple[bytes, int]]) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as target:
        for name, (content, method) in ({"demo/SKILL.md": (SKILL, 8)} | entries).items():
            target.writestr(zipfile.ZipInfo(name), b"" if name.endswith("/") else content, method)
        expected = {name: target.read(name) for name in target.namelist()}
    found = read_or_none(buffer.getvalue())
    if found is not None:
        prefix = "" if "SKILL.md" in expected else "demo/"
        assert all(expected[prefix + path] == content for path, content in found.items())
        left_out = expected.keys() - {prefix + path for path in found}
        assert left_out <= {"a/", ".DS_Store", "__MACOSX/a"}
