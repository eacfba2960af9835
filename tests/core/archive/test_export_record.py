"""The record of an export, and zips with an export."""

import io
import json
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.core.archive import export_record, zip_bundle
from registry.core.archive.export_record import RECORD, Entry
from registry.core.bundle import Bundle
from registry.core.errors import InvalidArchive, SkillsiteError
from registry.core.limits import Limits
from tests.core.strategies import law, safe_paths

ENTRY = Entry("greeting", "3", "sha256:00", "project", True)


def packed(files: dict[str, bytes]) -> bytes:
    return b"".join(zip_bundle.write_zip_stream(files.items()))


def skills_in(data: bytes, **limits: int) -> dict[str, object]:
    return {one.name: one.result for one in export_record.read_zip(data, limits=Limits(**limits))}


def record(**changes: object) -> bytes:
    entry = {"name": "a", "version": "1", "digest": "sha256:0", "source": "project", "enabled": True}
    return json.dumps({"format": 1, "skills": [{**entry, **changes}]}).encode()


@law
@given(st.dictionaries(st.sampled_from(["a", "größe", "z-9"]), st.booleans()))
def test_a_record_is_parsed_back_to_the_same_entries(switches: dict[str, bool]) -> None:
    entries = [Entry(name, "1", f"sha256:{name}", "project", on) for name, on in switches.items()]
    assert list(export_record.read(export_record.write(entries)).values()) == sorted(
        entries, key=lambda entry: entry.name
    )


def test_a_record_has_one_line_per_skill_in_a_fixed_order() -> None:
    other = Entry("arrival", "1", "sha256:11", "bundled", True)
    said = export_record.write([ENTRY, other])
    assert said == export_record.write([other, ENTRY])
    assert [line for line in said.decode().splitlines() if "name" in line][1] == (
        '    {"name": "greeting", "version": "3", "digest": "sha256:00", "source": "project", "enabled": true}'
    )


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b"[]", "no list"),
        (b'{"format": 1}', "no list"),
        (b'{"format": 2, "skills": []}', "its format is '2', but this version reads format 1"),
        (b'{"skills": []}', "its format is 'None'"),
        (b'{"format": 1, "skills": [7]}', "an entry has no valid"),
        (record(enabled="yes"), "an entry has no valid"),
        (record(version=1), "an entry has no valid"),
        (record(name="../a"), "cannot be used as a directory name"),
        (record(name=".hidden"), "starts with a dot"),
        (record(version="a/b"), "cannot be used as a directory name"),
        (record(version="a\0b"), "invisible character"),
    ],
)
def test_an_invalid_record_is_refused(content: bytes, reason: str) -> None:
    with pytest.raises(SkillsiteError, match=reason):
        export_record.read(content)


def test_a_record_that_names_a_skill_twice_is_refused() -> None:
    twice = json.loads(record())
    twice["skills"] *= 2
    with pytest.raises(InvalidArchive, match="lists a skill twice"):
        export_record.read(json.dumps(twice).encode())


@law
@given(st.dictionaries(safe_paths, st.binary(max_size=50), max_size=4))
def test_the_length_of_a_zip_is_known_before_it_is_written(files: dict[str, bytes]) -> None:
    assert zip_bundle.zip_length((path, len(content)) for path, content in files.items()) == len(packed(files))


@pytest.mark.parametrize("sizes", [[("a", 2**32)], [(str(number), 0) for number in range(65_535)]])
def test_a_zip_that_would_be_too_large_is_refused_before_it_is_written(sizes: list[tuple[str, int]]) -> None:
    with pytest.raises(SkillsiteError, match="The zip would have"):
        zip_bundle.zip_length(sizes)


def test_each_directory_with_a_skill_md_is_a_skill() -> None:
    data = packed(
        {
            "README.md": b"x",
            ".git/SKILL.md": b"x",
            "docs/a.md": b"x",
            "one/SKILL.md": b"1",
            "one/deep/SKILL.md": b"2",
            "two/SKILL.md": b"3",
        }
    )
    assert skills_in(data) == {
        "one": Bundle({"SKILL.md": b"1", "deep/SKILL.md": b"2"}),
        "two": Bundle({"SKILL.md": b"3"}),
    }


@pytest.mark.parametrize("top", ["", "repository-main/"])
def test_a_single_directory_around_all_skills_is_allowed(top: str) -> None:
    whole = Bundle({"SKILL.md": b"1"})
    entry = Entry("one", "7", whole.digest, "project", True)
    files = {f"{top}{RECORD}": export_record.write([entry]), f"{top}one/SKILL.md": b"1"}
    assert list(export_record.read_zip(packed(files))) == [export_record.ExportedSkill("one", whole, entry)]


def test_an_entry_does_not_match_changed_files() -> None:
    entry = Entry("one", "7", "sha256:other", "project", False)
    (found,) = export_record.read_zip(packed({RECORD: export_record.write([entry]), "one/SKILL.md": b"1"}))
    assert (found.name, found.entry) == ("one", None)


def test_a_skill_in_the_record_but_not_in_the_zip_is_an_error() -> None:
    data = packed({RECORD: export_record.write([ENTRY]), "greeting/skill.md": b"1", "two/SKILL.md": b"1"})
    found = skills_in(data)
    assert list(found) == ["two", "greeting"]
    assert "lists greeting, but greeting/SKILL.md is missing" in str(found["greeting"])


def test_an_error_in_one_skill_does_not_affect_the_others() -> None:
    found = skills_in(
        packed(
            {
                "big/SKILL.md": b"1",
                "big/a.bin": bytes(200),
                "con/SKILL.md": b"1",
                "climbs/SKILL.md": b"1",
                "climbs/../../x": b"1",
                "good/SKILL.md": b"1",
                "meets/SKILL.md": b"1",
                "meets/a": b"1",
                "meets/A": b"2",
            }
        ),
        file_bytes=100,
    )
    assert {name for name, one in found.items() if isinstance(one, Bundle)} == {"good"}
    assert "200 bytes" in str(found["big"])
    assert "reserved name" in str(found["con"])
    assert "“..”" in str(found["climbs"])
    assert "ignore case" in str(found["meets"])


def test_a_skill_with_a_link_is_refused() -> None:
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w") as archive:
        archive.writestr("good/SKILL.md", b"1")
        archive.writestr("bad/SKILL.md", b"1")
        link = zipfile.ZipInfo("bad/passwd")
        link.external_attr = 0o120777 << 16
        archive.writestr(link, b"/etc/passwd")
    found = skills_in(written.getvalue())
    assert isinstance(found["good"], Bundle)
    assert "symbolic link" in str(found["bad"])


@pytest.mark.parametrize("spoil", [lambda data: data[:-5], lambda data: data + b"x", lambda data: b"no zip at all"])
def test_an_error_in_the_zip_itself_refuses_everything(spoil: object) -> None:
    with pytest.raises(InvalidArchive):
        skills_in(spoil(packed({"a/SKILL.md": b"1"})))  # type: ignore[operator]
