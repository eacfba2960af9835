"""The digest of a bundle equals that of standard tools, for any order of its files."""

import hashlib
import random
import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import assume, given, settings

from registry.core.archive import zip_bundle
from registry.core.bundle import SKILL_MD, Bundle, FileEntry, bundle_digest, content_digest, normalise
from registry.core.errors import InvalidSkill, UnsafePath
from tests import effort
from tests.core.strategies import bundles, law

COMMANDS = "LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum"


def digest_by_commands(bundle: Bundle, directory: Path) -> str:
    for path, content in bundle.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_bytes(content)
    names = sorted(bundle, key=lambda path: path[::-1])
    listing = b"".join(name.encode() + b"\0" for name in names)
    output = subprocess.check_output(["bash", "-c", COMMANDS], cwd=directory, input=listing)
    return f"sha256:{output.split()[0].decode()}"


@pytest.mark.processes
def test_the_digest_equals_the_output_of_sha256sum(tmp_path: Path) -> None:
    bundle = Bundle({
        "SKILL.md": b"# hi\n", "a/b.md": b"", "a-b.md": b"1", "a.md": b"2", "B": b"3",
        "b c/d'e.txt": b"\0\xff", "é.md": b"4", "z.md": b"5",
        "日本/x": b"6", "\U0001f600.md": b"7", "\uff21.md": b"8",
    })  # fmt: skip
    assert bundle.digest == digest_by_commands(bundle, tmp_path)


@pytest.mark.processes
@settings(law, max_examples=effort.examples(12))
@given(bundles())
def test_the_digest_of_any_bundle_equals_the_output_of_sha256sum(bundle: Bundle) -> None:
    # sha256sum takes a name that starts with a hyphen for an option, or for its input.
    assume(not any(path.startswith("-") for path in bundle))
    with tempfile.TemporaryDirectory() as directory:
        assert bundle.digest == digest_by_commands(bundle, Path(directory))


def test_the_digest_is_a_fixed_function_of_the_content() -> None:
    line = f"{hashlib.sha256(b'x').hexdigest()}  SKILL.md\n"
    assert Bundle({"SKILL.md": b"x"}).digest == f"sha256:{hashlib.sha256(line.encode()).hexdigest()}"


def test_paths_are_sorted_by_bytes() -> None:
    in_order = ["SKILL.md", "a-b", "a/b", "z", "é", "\uff21", "\U0001f600"]
    assert list(Bundle(dict.fromkeys(reversed(in_order), b""))) == in_order


@law
@given(bundles())
def test_the_digest_does_not_depend_on_the_order_of_the_files(bundle: Bundle) -> None:
    shuffled = random.Random(1).sample(list(bundle.items()), len(bundle))
    assert Bundle(dict(shuffled)).digest == bundle.digest
    assert bundle_digest(reversed(bundle.manifest)) == bundle.digest


@law
@given(bundles(), bundles())
def test_bundles_are_equal_exactly_if_their_digests_are(one: Bundle, other: Bundle) -> None:
    assert (one == other) == (one.digest == other.digest)


def test_moving_a_byte_from_one_file_to_the_next_changes_the_digest() -> None:
    one = Bundle({"SKILL.md": b"", "a": b"12", "b": b"3"})
    other = Bundle({"SKILL.md": b"", "a": b"1", "b": b"23"})
    assert one.digest != other.digest


def test_renaming_a_file_changes_the_digest() -> None:
    assert Bundle({"SKILL.md": b"", "a": b""}).digest != Bundle({"SKILL.md": b"", "b": b""}).digest


def test_the_manifest_names_path_size_and_digest_of_each_file() -> None:
    bundle = Bundle({"b": b"22", "SKILL.md": b"1"})
    assert bundle.manifest == (
        FileEntry("SKILL.md", 1, content_digest(b"1")), FileEntry("b", 2, content_digest(b"22")),
    )  # fmt: skip
    assert bundle.size == 3


@pytest.mark.parametrize("name", ["SKILL.md", "Skill.md"])
def test_a_bundle_needs_skill_md_at_its_root(name: str) -> None:
    with pytest.raises(InvalidSkill) as caught:
        Bundle({f"docs/{name}": b""})
    assert caught.value.findings[0].rule == "skill-md-missing"


@pytest.mark.parametrize("path", ["../a", "/a", "a\\b", "a/", "skill.md", "SKILL.md/a", "e\u0301"])
def test_a_bundle_refuses_unsafe_and_colliding_paths(path: str) -> None:
    with pytest.raises(UnsafePath):
        Bundle({"SKILL.md": b"", path: b""})


def test_a_bundle_is_independent_of_the_mapping_it_was_created_from() -> None:
    files = {"SKILL.md": b"1"}
    bundle = Bundle(files)
    files["a"] = b"2"
    assert dict(bundle) == {"SKILL.md": b"1"}


def test_with_changes_sets_and_removes_files_in_a_copy() -> None:
    bundle = Bundle({"SKILL.md": b"1", "a": b"2", "b": b"3"})
    changed = bundle.with_changes({"a": None, "b": b"4", "c": b"5", "missing": None})
    assert dict(changed) == {"SKILL.md": b"1", "b": b"4", "c": b"5"}
    assert dict(bundle) == {"SKILL.md": b"1", "a": b"2", "b": b"3"}


def test_with_changes_cannot_remove_skill_md_or_add_an_unsafe_path() -> None:
    bundle = Bundle({"SKILL.md": b"1"})
    with pytest.raises(InvalidSkill):
        bundle.with_changes({"SKILL.md": None})
    with pytest.raises(UnsafePath):
        bundle.with_changes({"../a": b""})


@law
@given(bundles())
def test_with_changes_without_a_change_keeps_the_digest(bundle: Bundle) -> None:
    assert bundle.with_changes(dict(bundle)).digest == bundle.digest


def test_a_name_is_normalised_by_trimming_and_lower_case() -> None:
    assert normalise("  My-Skill\n") == "my-skill"
    assert normalise(normalise(" A ")) == normalise(" A ")


def test_a_stored_skill_with_deep_paths_can_still_be_read_but_not_sent_again() -> None:
    deep = "d/" * 16 + "a"
    bundle = Bundle({SKILL_MD: b"", deep: b""})
    assert deep in bundle
    with pytest.raises(UnsafePath, match="17 parts between slashes, and 16 are allowed"):
        zip_bundle.read_zip(zip_bundle.write_zip(bundle))
