"""Downloads of zips and texts: files they hold, and content that is refused."""

from pathlib import Path

import pytest

from registry.core.bundle import SKILL_MD
from registry.core.limits import Limits
from registry.remote.reach import Bounds
from tests.conftest import skill_bundle, skill_text
from tests.core import hostile
from tests.directories import read_files
from tests.remote.conftest import Resolve
from tests.remote.entries import RUN, TEXT, entry, inline, only, place, skip
from tests.remote.web import Web, zipped


def test_a_zip_is_opened(resolve: Resolve, web: Web, root: Path) -> None:
    found = only(resolve(entry(web.put("/skill.zip", zipped({SKILL_MD: TEXT, "scripts/run.sh": RUN})))))
    assert found.status == "loaded"
    assert found.directory == place(root)
    assert read_files(place(root)) == {SKILL_MD: TEXT.encode(), "scripts/run.sh": RUN}
    assert [(file.path, file.size) for file in found.files] == [
        (SKILL_MD, len(TEXT.encode())),
        ("scripts/run.sh", len(RUN)),
    ]


def test_a_text_is_kept_unchanged(resolve: Resolve, web: Web, root: Path) -> None:
    odd = TEXT.replace("\n", "\r\n") + "trailing  \r\n\r\n"
    assert only(resolve(entry(web.put("/a.md", odd)))).status == "loaded"
    assert read_files(place(root)) == {SKILL_MD: odd.encode()}


@pytest.mark.parametrize(
    "files",
    [
        {"wrapper/SKILL.md": TEXT, "wrapper/x.md": b"x"},
        {"w/SKILL.md": TEXT, "w/x.md": b"x", "__MACOSX/w/._SKILL.md": b"m", "w/.DS_Store": b"m"},
        {"SKILL.md": TEXT, "x.md": b"x", "__MACOSX/._SKILL.md": b"m", ".DS_Store": b"m", "._SKILL.md": b"m"},
    ],
)  # fmt: skip
def test_a_wrapping_folder_and_macos_metadata_are_removed(
    resolve: Resolve, web: Web, root: Path, files: dict[str, bytes | str]
) -> None:
    resolve(entry(web.put("/a.zip", zipped(files))))
    assert read_files(place(root)) == {SKILL_MD: TEXT.encode(), "x.md": b"x"}


def test_a_skill_below_a_skill_is_an_ordinary_file(resolve: Resolve, web: Web, root: Path) -> None:
    resolve(entry(web.put("/a.zip", zipped({SKILL_MD: TEXT, "examples/SKILL.md": b"inner"}))))
    assert set(read_files(place(root))) == {SKILL_MD, "examples/SKILL.md"}


BOMB = {SKILL_MD: TEXT, "zeros.bin": b"\0" * 2_000}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (zipped({"notes.md": b"x"}), "SKILL.md is missing"),
        (zipped({"a/b/SKILL.md": TEXT}), "more than one folder deep"),
        (zipped({"a/SKILL.md": TEXT, "b/SKILL.md": TEXT}), "several skills"),
        (zipped({}), "SKILL.md is missing"),
        (zipped({SKILL_MD: TEXT, "../../../etc/passwd": b"x"}), "cannot be used"),
        (zipped({SKILL_MD: TEXT, "/etc/passwd": b"x"}), "cannot be used"),
        (zipped({SKILL_MD: TEXT, "x.md": b"1", "X.md": b"2"}), "on systems that ignore case"),
        (zipped({SKILL_MD: "no header"}), "SKILL.md"),
        (zipped({SKILL_MD: TEXT})[:-30], "zip"),
        (b"PK\x05\x06 nonsense", "zip"),
        (b"", "zip"),
        (TEXT.encode(), "zip"),
    ],
)
def test_a_zip_that_holds_no_skill_leaves_nothing(
    resolve: Resolve, web: Web, root: Path, body: bytes, reason: str
) -> None:
    assert reason in skip(resolve(entry(web.put("/a.zip", body))), root)


@pytest.mark.parametrize(
    "limits", [Limits(expanded_bytes=1_000), Limits(files=1), Limits(file_bytes=1_000), Limits(skill_md_bytes=10)]
)
def test_a_zip_beyond_a_limit_leaves_nothing(resolve: Resolve, web: Web, root: Path, limits: Limits) -> None:
    assert "allowed" in skip(resolve(entry(web.put("/a.zip", zipped(BOMB))), limits=limits), root)


def test_no_hostile_zip_is_kept(resolve: Resolve, web: Web, root: Path) -> None:
    """One archive of each kind, each beside a good one."""
    for rule, data in hostile.ONE_OF_EACH.items():
        bad, good = resolve(entry(web.put(f"/{rule}.zip", data), name=rule), inline(), bounds=Bounds())
        assert (bad.status, good.status) == ("skipped", "loaded"), rule
    assert sorted(path.name for path in root.iterdir()) == ["digests"]


@pytest.mark.parametrize(
    ("path", "kind", "body"),
    [
        ("/SKILL.md", "application/octet-stream", TEXT.encode()),
        ("/SKILL.MD", "application/zip", TEXT.encode()),
        ("/a.txt", "application/zip", TEXT.encode()),
        ("/a.Markdown", "", TEXT.encode()),
        ("/A.ZIP", "text/plain", zipped({SKILL_MD: TEXT})),
        ("/a.zip", "text/html", zipped({SKILL_MD: TEXT})),
        ("/download", "application/zip", zipped({SKILL_MD: TEXT})),
        ("/download", "application/x-zip-compressed; x=y", zipped({SKILL_MD: TEXT})),
        ("/download", "application/octet-stream", TEXT.encode()),
        ("/download", "application/octet-stream", zipped({SKILL_MD: TEXT})),
        ("/download", "text/markdown; charset=utf-8", TEXT.encode()),
    ],
)
def test_the_format_is_known_by_extension_then_content_type_then_content(
    resolve: Resolve, web: Web, root: Path, path: str, kind: str, body: bytes
) -> None:
    url = web.put(path, body, **{"Content-Type": kind})
    assert only(resolve(entry(url + "?X-Amz-Signature=a.zip&b=.md"))).status == "loaded"
    assert read_files(place(root)) == {SKILL_MD: TEXT.encode()}


@pytest.mark.parametrize("path", ["/SKILL.md", "/a.zip", "/download"])
def test_a_web_page_is_not_a_skill(resolve: Resolve, web: Web, root: Path, path: str) -> None:
    page = "<!doctype html><title>Sign in</title>"
    assert "web page" in skip(resolve(entry(web.put(path, page, **{"Content-Type": "text/html"}))), root)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("# no header", "SKILL.md"),
        ("", "SKILL.md"),
        ("---\nname: a\n---\n", "description"),
        ("---\nname: a\ndescription: d\nname: b\n---\n", "name"),
        ("---\nname: a\n", "SKILL.md"),
    ],
)
def test_a_text_that_is_not_a_skill_leaves_nothing(
    resolve: Resolve, web: Web, root: Path, text: str, reason: str
) -> None:
    assert reason in skip(resolve(entry(web.put("/a.md", text))), root)
    assert reason in skip(resolve(inline(text or " x")), root)


def test_a_text_beyond_the_limit_leaves_nothing(resolve: Resolve, web: Web, root: Path) -> None:
    limits = Limits(skill_md_bytes=50)
    assert "50 are allowed" in skip(resolve(entry(web.put("/a.md", TEXT)), limits=limits), root)
    assert "50 are allowed" in skip(resolve(inline(), limits=limits), root)


def test_a_skill_gets_the_name_of_its_definition(resolve: Resolve, web: Web) -> None:
    nameless = web.put("/nameless.md", "---\ndescription: d\n---\n\nDo it.\n")
    assert only(resolve(entry(nameless))).name == "a"
    assert only(resolve(entry(web.put("/b.md", skill_text("b")), version="2"))).name == "a"


def test_skills_of_every_shape_are_the_same_bytes_on_disk(resolve: Resolve, web: Web, root: Path) -> None:
    bundle = skill_bundle("a", {"references/ä.md": "Grüße".encode(), "assets/logo.png": bytes(range(256)), "e": b""})
    found = only(resolve(entry(web.put("/a.zip", zipped(dict(bundle))))))
    assert read_files(place(root)) == dict(bundle)
    assert (found.digest, found.files) == (bundle.digest, bundle.manifest)
