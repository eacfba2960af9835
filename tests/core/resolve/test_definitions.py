"""Definitions of skills in a request: each entry is usable, inactive or malformed, independently of the others."""

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from registry.core import paths
from registry.core.errors import InvalidRequest
from registry.core.resolve import definitions
from registry.core.resolve.definitions import Definition, Malformed, origin, parse, redacted
from tests import effort

TEXT = "---\nname: k8s-debug\ndescription: d\n---\n\n# Do it"
SIGNED = "https://s3.amazonaws.com/b/hello.zip?X-Amz-Signature=secret&X-Amz-Expires=60"
ZIP = "https://skills.example.com/a/1.0.0/skill.zip"


def one(**entry: Any) -> Any:
    (found,) = parse([entry])
    return found


def platform(form: str, **more: Any) -> Any:
    return one(**{"Format": form, "Name": "a", "Version": "1", **more})


def reason(entry: Any) -> str:
    assert isinstance(entry, Malformed)
    return entry.reason


# -- The value ---------------------------------------------------------------------------------------------


def test_a_definition_is_a_value_with_nothing_but_a_name_a_version_and_an_address() -> None:
    made = Definition("a", "1", ZIP)
    assert (made.content, made.s3_path) == (None, None)
    assert Definition("a", "1", "", content=TEXT).content == TEXT
    assert Definition("a", "1", "", s3_path="s3://b/a").s3_path == "s3://b/a"
    with pytest.raises(dataclasses.FrozenInstanceError):
        made.name = "b"  # type: ignore[misc]


# -- Our own format ----------------------------------------------------------------------------------------


def test_our_own_format_is_taken_as_it_is() -> None:
    assert one(name="a", version="1.0.0", url=ZIP) == Definition("a", "1.0.0", ZIP)


def test_content_of_our_own_format_is_kept() -> None:
    assert one(name="a", version="1", url="", content=TEXT) == Definition("a", "1", "", TEXT)


def test_an_s3_path_of_our_own_format_is_kept_and_is_none_by_default() -> None:
    assert one(name="a", version="0", url="", s3_path="s3://b-1/skills/a/").s3_path == "s3://b-1/skills/a"
    assert one(name="a", version="0", url=ZIP).s3_path is None


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"name": "a"}, "location is missing"),
        ({"name": "a", "version": "1", "url": "", "content": " \n"}, "location is missing"),
        ({"version": "1", "url": ZIP}, "name is missing"),
        ({"name": "a", "url": 7}, "url is not a string"),
        ({"name": "a", "content": ["x"]}, "content is not a string"),
        ({"name": "a", "content": "half \ud83d"}, "not valid Unicode"),
        ({"name": "a", "url": "skill.zip"}, "Enter the whole address"),
        ({"name": "a", "url": "ftp://example.org/a.zip"}, "Enter the whole address"),
        ({"name": "a", "url": "file:///etc/passwd"}, "Enter the whole address"),
        ({"name": "a", "url": "https://me:pw@example.org/a.zip"}, "username or password"),
        ({"name": "a", "url": "https://example.org\\@169.254.169.254/"}, "username or password"),
        ({"name": "a", "url": "https://example.org/a\n.zip"}, "Enter the whole address"),
        ({"name": "a", "url": "https://[::1/"}, "Enter the whole address"),
        ({"name": "a", "url": "https://example.org:x/"}, "Enter the whole address"),
        ({"name": "a", "url": f"https://example.org/{'x' * 9_000}"}, "8,192 are allowed"),
        ({"name": "a", "s3_path": "https://b/a"}, "s3://bucket/folder"),
        ({"name": "a", "s3_path": "s3://"}, "s3://bucket/folder"),
        ({"name": "a", "s3_path": "s3:///a"}, "s3://bucket/folder"),
        ({"name": "a", "s3_path": "s3://arn:aws:s3:eu-west-1:1:accesspoint/x"}, "s3://bucket/folder"),
        ({"name": "a", "s3_path": "s3://blobs-abc-s3alias/x"}, "s3://bucket/folder"),
        ({"name": "a", "s3_path": "s3://bucket/\x1b[2J"}, "invisible characters"),
    ],
)
def test_an_entry_that_cannot_be_used_says_why(entry: dict[str, Any], said: str) -> None:
    assert said in reason(one(**entry))


# -- The platform's format ---------------------------------------------------------------------------------


def test_a_text_of_the_platform() -> None:
    assert platform("SkillMd", SkillMd=TEXT) == Definition("a", "1", "", TEXT)


def test_a_package_behind_a_signed_address() -> None:
    assert platform("Package", FileStoreSignedUrl=SIGNED) == Definition("a", "1", SIGNED)


def test_a_package_in_a_bucket() -> None:
    found = platform(
        "Package", PackagePath="s3", StorageBucketName="userdata-123", SkillFolder="/skills/a/",
        FileStoreSignedUrl="<redacted>", Id="6997", Type="Custom", Description="Magic",
    )  # fmt: skip
    assert found == Definition("a", "1", "", None, "s3://userdata-123/skills/a")


def test_an_s3_path_of_the_platform() -> None:
    assert platform("S3", S3Path="s3://b-1/skills/a").s3_path == "s3://b-1/skills/a"
    assert platform("S3", S3Path="s3://b-1").s3_path == "s3://b-1/"


@pytest.mark.parametrize(
    ("form", "more", "said"),
    [
        ("SkillMd", {"SkillMd": ""}, "SkillMd is missing or empty"),
        ("SkillMd", {"SkillMd": "  \n"}, "SkillMd is missing or empty"),
        ("SkillMd", {}, "SkillMd is missing or empty"),
        ("Package", {}, "FileStoreSignedUrl is missing"),
        ("Package", {"FileStoreSignedUrl": None}, "FileStoreSignedUrl is missing"),
        ("Package", {"PackagePath": "s3", "SkillFolder": "a"}, "StorageBucketName is missing"),
        ("Package", {"PackagePath": "s3", "StorageBucketName": "b-1"}, "SkillFolder is missing"),
        ("Package", {"PackagePath": "s3", "StorageBucketName": "b-1", "SkillFolder": "/"}, "a folder in it"),
        ("Package", {"PackagePath": "s3", "StorageBucketName": "b-1/x", "SkillFolder": "a"}, "name of a bucket"),
        ("S3", {}, "S3Path is missing"),
        ("S3", {"S3Path": "b/skills"}, "s3://bucket/folder"),
        ("Git", {}, "Unknown format 'Git'. Use one of: SkillMd, Package, S3."),
        ("skillmd", {"SkillMd": TEXT}, "Unknown format 'skillmd'"),
        ("SkillMd", {"SkillMd": TEXT, "Name": ""}, "Name is missing or empty"),
        ("SkillMd", {"SkillMd": TEXT, "Name": "  "}, "Name is missing or empty"),
        ("SkillMd", {"SkillMd": TEXT, "Name": None}, "Name is missing or empty"),
        ("SkillMd", {"SkillMd": TEXT, "Name": 7}, "Name is missing or empty"),
    ],
)
def test_an_entry_of_the_platform_that_cannot_be_used_says_why(form: str, more: dict[str, Any], said: str) -> None:
    assert said in reason(platform(form, **more))


@pytest.mark.parametrize("off", [False, 0, "false", "False", "FALSE", " false ", "0", "no", "off"])
def test_an_inactive_entry_is_left_out_whatever_else_is_wrong_with_it(off: Any) -> None:
    assert parse([{"Format": "SkillMd", "Name": "a", "IsActive": off, "SkillMd": TEXT}]) == ()
    assert parse([{"Format": "Nothing", "IsActive": off}]) == ()


@pytest.mark.parametrize("on", [True, 1, "true", "True", "1", "yes", None])
def test_an_entry_is_active_by_default(on: Any) -> None:
    assert isinstance(platform("SkillMd", SkillMd=TEXT, IsActive=on), Definition)
    assert isinstance(platform("SkillMd", SkillMd=TEXT), Definition)


@pytest.mark.parametrize("odd", ["maybe", "", [], {}, 1.5, 2])
def test_an_entry_that_is_neither_active_nor_inactive_is_explained(odd: Any) -> None:
    assert "IsActive must be true or false" in reason(platform("SkillMd", SkillMd=TEXT, IsActive=odd))


# -- Names and versions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(("written", "kept"), [(5, "5"), (0, "0"), (-1, "-1"), ("3", "3"), ("1.0.0-b", "1.0.0-b")])
def test_a_version_is_an_exact_text(written: Any, kept: str) -> None:
    assert platform("SkillMd", SkillMd=TEXT, Version=written).version == kept
    assert one(name="a", version=written, content=TEXT).version == kept


def test_a_missing_or_null_version_is_zero() -> None:
    assert one(Format="SkillMd", Name="a", SkillMd=TEXT).version == "0"
    assert one(Format="SkillMd", Name="a", SkillMd=TEXT, Version=None).version == "0"
    assert one(name="a", content=TEXT, version=None).version == "0"


@pytest.mark.parametrize("odd", [True, 1.10, [], {}, "", "..", "1/2", "a\\b", ".hidden", "x" * 129, "1 ", 10**400])
def test_a_version_that_is_no_directory_is_explained(odd: Any) -> None:
    assert reason(platform("SkillMd", SkillMd=TEXT, Version=odd))


UNSAFE = [
    "../../x", "..", "/etc", "a/b", "a\\b", "C:x", "a\0b", ".records", "~root", "con", "a\u202eb", "x" * 200, "\ud800",
]  # fmt: skip


@pytest.mark.parametrize("name", UNSAFE)
def test_a_name_that_would_leave_its_directory_is_explained_and_returned_as_given(name: str) -> None:
    for found in (platform("SkillMd", SkillMd=TEXT, Name=name), one(name=name, version="1", content=TEXT)):
        assert "cannot be used as a directory name" in reason(found)
        assert (found.name, found.version) == (name, "1")


def test_a_malformed_entry_keeps_its_name_and_version_as_text() -> None:
    assert (platform("X", Name=7, Version=[1]).name, platform("X", Version=[1]).version) == ("7", "a list")
    assert one(Format="X") == Malformed("", "0", "Name is missing or empty.")


# -- Lists and chat requests -------------------------------------------------------------------------------


def test_formats_may_be_mixed_and_the_order_is_kept() -> None:
    mixed = [
        {"name": "first", "version": "1.0.0", "url": ZIP},
        {"Format": "SkillMd", "Name": "second", "Version": 3, "SkillMd": TEXT},
        {"Format": "Package", "Name": "off", "IsActive": False},
        {"Format": "S3", "Name": "third", "S3Path": "s3://bucket/x"},
        {"name": "fourth", "version": "2", "url": ZIP},
    ]
    assert [(entry.name, entry.version) for entry in parse(mixed)] == [
        ("first", "1.0.0"), ("second", "3"), ("third", "0"), ("fourth", "2"),
    ]  # fmt: skip


@pytest.mark.parametrize("broken", [{"name": "a"}, {}, None, 5, "text", [], {"Format": None}, {"Format": []}])
def test_one_malformed_entry_costs_no_other(broken: Any) -> None:
    good = {"name": "good", "version": "1", "url": ZIP}
    before, bad, after = parse([good, broken, good])
    assert before == after == Definition("good", "1", ZIP)
    assert reason(bad)


def test_the_same_name_twice_is_two_entries() -> None:
    assert len(parse([{"name": "a", "content": TEXT}, {"name": "a", "content": TEXT}])) == 2


def test_entries_that_are_read_already_stay_as_they_are() -> None:
    made = parse([{"name": "a", "content": TEXT}, {"name": ""}])
    assert parse(made) == made


def message(role: str, *names: str, **context: Any) -> dict[str, Any]:
    skills = [{"name": name, "content": TEXT} for name in names]
    return {"role": role, "content": "hi", "platform_context": {"skills": skills, **context} if skills else context}


def names(given: Any) -> list[str]:
    return [entry.name for entry in parse(given)]


def test_a_chat_request_is_read_from_the_last_user_message_with_a_context() -> None:
    first, answer, last = message("user", "old"), message("assistant", "never"), message("user", "new", "newer")
    assert names({"messages": [first, answer, last]}) == ["new", "newer"]
    assert names({"messages": [first, last, answer]}) == ["new", "newer"]
    assert names({"messages": [first, {"role": "user", "content": "no context"}, message("user")]}) == ["old"]


def test_a_context_without_skills_has_none() -> None:
    assert names({"messages": [message("user", tenant_id="t")]}) == []
    assert names({"messages": [message("user", "old"), message("user", tenant_id="t")]}) == []
    assert names({"messages": [{"role": "user", "content": "x"}, "odd", None]}) == []
    assert names({"messages": []}) == names({"skills": []}) == names([]) == names({"skills": None}) == []


def test_skills_beside_the_messages_are_used_only_without_skills_in_the_context() -> None:
    beside = {"skills": [{"name": "beside", "content": TEXT}]}
    assert names({"messages": [message("user", tenant_id="t")], **beside}) == ["beside"]
    assert names({"messages": [message("user", "inside")], **beside}) == ["inside"]


@pytest.mark.parametrize(
    "odd",
    [
        None, 5, "skills", {}, {"skills": 5}, {"skills": "a"}, {"skills": {}}, {"messages": {}}, {"messages": "x"},
        {"messages": [message("user", skills=7)]},
    ],
)  # fmt: skip
def test_a_request_that_holds_no_list_is_refused(odd: Any) -> None:
    with pytest.raises(InvalidRequest):
        parse(odd)


# -- Where it comes from, without its secrets --------------------------------------------------------------


def test_an_origin_is_scheme_host_and_path() -> None:
    assert origin(Definition("a", "1", SIGNED)) == "https://s3.amazonaws.com/b/hello.zip"
    assert origin(Definition("a", "1", "HTTPS://Example.ORG:443/A.zip#x")) == "https://example.org/A.zip"
    assert origin(Definition("a", "1", "http://example.org:8080")) == "http://example.org:8080/"
    assert origin(Definition("a", "1", ZIP, s3_path="s3://b/x/")) == "s3://b/x"
    assert origin(Definition("a", "1", ZIP, content=TEXT)) == "inline"


ZIP_ID = "https://skills.example.com/download"


@pytest.mark.parametrize(
    "parameters", ["id=EVIL", "id=GOOD&id=EVIL", "ID=GOOD", "id=GOOD&token=x;id=EVIL", "id=GOOD&sv=EVIL", ""]
)
def test_a_query_that_may_select_another_content_is_another_origin(parameters: str) -> None:
    good = origin(Definition("a", "1", f"{ZIP_ID}?id=GOOD"))
    assert origin(Definition("a", "1", f"{ZIP_ID}?{parameters}")) != good
    assert origin(Definition("a", "1", f"{ZIP_ID}?id=GOOD#part")) == good
    assert "GOOD" not in good


@pytest.mark.parametrize(
    "parameters",
    [
        "X-Amz-Algorithm=AWS4-HMAC-SHA256&X-Amz-Credential={0}&X-Amz-Date={0}&X-Amz-Expires=60&X-Amz-Signature={0}",
        "x-amz-signature={0}&X-AMZ-Security-Token={0}", "AWSAccessKeyId={0}&Expires={0}&Signature={0}",
        "Expires={0}&Signature={0}&Key-Pair-Id={0}", "Policy={0}&Signature={0}&Key-Pair-Id={0}",
        "X-Goog-Algorithm={0}&X-Goog-Signature={0}", "GoogleAccessId={0}&Expires={0}&Signature={0}",
        "sp=r&st={0}&se={0}&spr=https&sv=2022-11-02&sr=b&sig={0}", "token={0}", "%74oken={0}", "private_token={0}",
    ],
)  # fmt: skip
def test_a_new_signature_is_the_same_origin(parameters: str) -> None:
    """A platform signs the address of a package anew with each request."""
    first, second = (origin(Definition("a", "1", f"{ZIP}?{parameters.format(key)}")) for key in ("one", "two"))
    assert first == second == ZIP
    with_id = origin(Definition("a", "1", f"{ZIP}?versionId=3&{parameters.format('one')}"))
    assert with_id == origin(Definition("a", "1", f"{ZIP}?versionId=3&{parameters.format('two')}")) != first


def test_parts_of_a_signature_count_as_content_without_a_signature() -> None:
    origins = {origin(Definition("a", "1", f"{ZIP}?{name}=1")) for name in ("se", "expires", "policy", "sv")}
    assert len(origins) == 4
    assert ZIP not in origins


def test_definitions_are_counted_while_they_are_parsed() -> None:
    good, off = {"name": "good", "version": "1", "url": ZIP}, {"Format": "S3", "IsActive": False}
    assert len(parse([off, good, off, good], most=2)) == 2
    parsed: list[object] = []

    class Counted(list[Any]):
        def __iter__(self) -> Any:
            for one in super().__iter__():
                parsed.append(one)
                yield one

    with pytest.raises(InvalidRequest, match="more than 2 active definitions"):
        parse(Counted([good] * 1_000), most=2)
    assert len(parsed) == 3


def test_two_addresses_that_differ_late_are_two_origins() -> None:
    long = f"https://example.org/{'x' * 4_000}"
    assert origin(Definition("a", "1", f"{long}a")) != origin(Definition("a", "1", f"{long}b"))


@pytest.mark.parametrize(
    "url",
    [
        SIGNED, "https://user:secret@example.org/a.zip", "https://example.org/a#secret", "https://x:secret\\@h/",
        "https://example.org/?secret\n", "https://[::1?secret", "secret", "https://example.org:secret/", "\0secret",
    ],
)  # fmt: skip
def test_credentials_in_an_address_are_redacted(url: str) -> None:
    assert "secret" not in redacted(url)
    assert redacted(url).isprintable()


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "version", "url", "content", "s3_path", "Format", "Name", "Version", "IsActive"])
            | st.text(max_size=6),
            inner | st.sampled_from(["SkillMd", "Package", "S3", "s3", ZIP, "s3://b-1/x"]),
            max_size=6,
        )
    ),
    max_leaves=12,
)


@pytest.mark.slow
@settings(max_examples=effort.examples(100))
@given(st.lists(JSON, max_size=4))
def test_any_list_is_parsed_into_safe_definitions_and_malformed_entries(entries: list[Any]) -> None:
    found = parse(entries)
    assert len(found) <= len(entries)
    for entry in found:
        if isinstance(entry, Malformed):
            assert entry.reason
        else:
            assert paths.check_component(entry.name, what="name") == entry.name
            assert paths.check_component(entry.version, what="version") == entry.version
            assert entry.content or entry.s3_path or entry.url
    assert json.dumps([dataclasses.asdict(entry) for entry in found])
    assert definitions.parse(found) == found
