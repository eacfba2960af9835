"""Safe and unsafe paths, and the reasons in the errors."""

import ntpath
import posixpath
from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from registry.core import paths
from registry.core.errors import UnsafePath
from registry.core.limits import Limits
from tests.core.strategies import accepted, law, safe_paths

REFUSED = {
    "": "empty",
    ".": "no part of it",
    "..": "no part of it",
    "./a": "no part of it",
    "a/.": "no part of it",
    "a/./b": "no part of it",
    "../a": "no part of it",
    "a/../b": "no part of it",
    "a/../../b": "no part of it",
    "a/..": "no part of it",
    "a/": "a double slash or ends with a slash",
    "a//b": "a double slash or ends with a slash",
    "/": "starts with /",
    "/etc/passwd": "starts with /",
    "//server/share": "starts with /",
    "~": "starts with ~",
    "~/.ssh/id": "starts with ~",
    "~root/x": "starts with ~",
    "a\\b": "backslash",
    "..\\..\\a": "backslash",
    "\\\\server\\share": "backslash",
    "C:": "drive letter",
    "c:/windows": "drive letter",
    "C:relative": "drive letter",
    "a\0b": "U+0000",
    "a\nb": "U+000A",
    "a\r": "U+000D",
    "a\tb": "U+0009",
    "a\x1b[31m": "U+001B",
    "a\x7f": "U+007F",
    "a\x85b": "U+0085",
    "a\x9bb": "U+009B",
    "a\u2028b": "U+2028",
    "a\u2029b": "U+2029",
    "a\u202egpj.exe": "U+202E",
    "a\u2066b": "U+2066",
    "a\u200bb": "U+200B",
    "a\u200db": "U+200D",
    "a\u00adb": "U+00AD",
    "\ufeffSKILL.md": "U+FEFF",
    "a\U000e0041b": "U+E0041",
    "a\ufe0fb": "U+FE0F",
    "a\U000e0100": "U+E0100",
    "a\u3164b": "U+3164",
    "a\ud800b": "U+D800",
    "a\udc80": "U+DC80",
    "a.": "dot or a space",
    "a ": "dot or a space",
    "a./b": "dot or a space",
    "a /b": "dot or a space",
    "...": "dot or a space",
    "con": "CON",
    "docs/NUL": "NUL",
    "Aux.py": "AUX",
    "prn.tar.gz": "PRN",
    "COM1": "COM1",
    "com9.md/a": "COM9",
    "lpt³": "LPT³",
    "CON .txt": "CON",
    "conin$": "CONIN$",
    "CONOUT$.txt": "CONOUT$",
    "com¹.md": "COM¹",
    "ｎｕｌ": "reserved name",
    "LPT⁵": "reserved name",
    ".git": ".git",
    ".git/config": ".git",
    "a/.GIT/hooks/pre-commit": ".git",
    "a/.Git": ".git",
    ".ｇｉｔ/x": ".git",
    ".git ": "dot or a space",
    ".git./x": "dot or a space",
    ".git::$INDEX_ALLOCATION/x": "character :",
    ".g\u200cit/x": "U+200C",
    ".gi\u206ft/x": "U+206F",
    ".git\ufeff/x": "U+FEFF",
    "GIT~1/config": "short name",
    "git~2": "short name",
    "PROGRA~1": "short name",
    "docs/SKILL~1.MD": "short name",
    "a~123456": "short name",
    "a／b": "／",
    "..＼b": "＼",
    "..¥b": "¥",
    "a₩b": "₩",
    "a⁄b": "⁄",
    "a<b": "character <",
    "a>b": "character >",
    "ab:c": "character :",
    'a"b': 'character "',
    "a|b": "character |",
    "a?b": "character ?",
    "a*b": "character *",
    "e\u0301.md": "NFC",
    "\u212bngstrom": "NFC",
    "a" * 256: "256 characters, and 255 are allowed",
    "é" * 128: "256 bytes, and 255 are allowed",
    "d/" * 127 + "ab": "256 characters",
    "d/" * 16 + "a": "17 parts between slashes, and 16 are allowed",
}


@pytest.mark.parametrize(("path", "reason"), REFUSED.items(), ids=[ascii(p)[:40] for p in REFUSED])
def test_an_unsafe_path_is_refused_with_its_reason(path: str, reason: str) -> None:
    with pytest.raises(UnsafePath) as caught:
        paths.check(path)
    assert reason in caught.value.message
    assert caught.value.findings[0].rule == "path-unsafe"


@pytest.mark.parametrize("path", REFUSED, ids=[ascii(p)[:40] for p in REFUSED])
def test_the_error_for_an_unsafe_path_is_printable_and_short(path: str) -> None:
    with pytest.raises(UnsafePath) as caught:
        paths.check(path)
    for text in (caught.value.message, caught.value.findings[0].file):
        text.encode()
        assert text.isprintable()
        assert len(text) < 250


@pytest.mark.parametrize("path", [
    "SKILL.md", "references/a b.md", ".hidden", "a/.env.example", "..a", "a..b", "...a", "-rf", "a~", "b/~c",
    ".gitignore", ".github/workflows/a.yml", "a.git/x", "git", "gitattributes", "draft~final.md", "notes~1.html",
    "version~2026", "longer-name~1", "a~1.tar.gz", "2026：要件？.md",
    "#x", "console", "com10", "nul-values.md", "aux-files/a", "é/日本語.md", "a" * 255, "é" * 127,
    "d/" * 15 + "a", "{0.__class__}", "%2e%2e/x", "$(id)", "a;b", "Bild 9\u202f30.png",
])  # fmt: skip
def test_a_safe_path_is_returned_unchanged(path: str) -> None:
    assert paths.check(path) == path


def test_the_limits_set_the_maximum_length_of_a_path() -> None:
    assert paths.check("abc", limits=Limits(path_chars=3)) == "abc"
    with pytest.raises(UnsafePath, match="4 characters, and 3 are allowed"):
        paths.check("abcd", limits=Limits(path_chars=3))


@law
@given(st.one_of(st.text(max_size=12), st.text("./\\~:aC \0", max_size=8), safe_paths))
def test_no_accepted_path_leaves_its_root_on_any_system(path: str) -> None:
    if not accepted(path):
        return
    assert posixpath.normpath(posixpath.join("/root", path)) == f"/root/{path}"
    windows = PureWindowsPath("C:\\root") / path
    assert windows.parts == ("C:\\", "root", *path.split("/"))
    assert ntpath.normpath(str(windows)) == str(windows)


@law
@given(st.text(max_size=20))
def test_any_text_is_accepted_or_raises_unsafe_path(path: str) -> None:
    for call in (lambda: paths.check(path), lambda: paths.check_component(path, what="name")):
        try:
            assert call() == path
        except UnsafePath as refused:
            assert refused.message.isprintable()


@pytest.mark.parametrize("names", [
    ["a", "a"], ["a", "A"], ["docs/a", "docs/A"], ["STRASSE", "straße"], ["\u00e9", "e\u0301"],
    ["É", "e\u0301"], ["ſkill", "skill"], ["\u212a", "k"],
    ["a", "a/b"], ["a/b", "a"], ["A", "a/b/c"], ["a/b/c", "A/B"], ["x", "a/b", "a/b/c"],
    ["Docs/a", "docs/b"], ["a/B/c", "a/b/d"],
])  # fmt: skip
def test_paths_that_collide_on_some_system_are_refused(names: list[str]) -> None:
    with pytest.raises(UnsafePath) as caught:
        paths.check_collisions(names)
    assert caught.value.findings[0].rule == "path-collision"
    with pytest.raises(UnsafePath):
        paths.check_collisions(reversed(names))


@pytest.mark.parametrize(
    "names", [[], ["a"], ["a", "b"], ["a/b", "a/c"], ["a", "ab/c"], ["a/a", "b/a"], ["a-b", "a/b"]]
)
def test_paths_without_a_collision_are_accepted(names: list[str]) -> None:
    paths.check_collisions(names)


@pytest.mark.parametrize("value", [
    "", ".", "..", "a/b", "/a", "../a", "a\\b", "a\0", "~", "C:", ".tmp", "nul", "a.", "a ", "x" * 129,
    "a\u202eb",
])  # fmt: skip
def test_an_unsafe_component_is_refused(value: str) -> None:
    with pytest.raises(UnsafePath, match=r"The version .* cannot be used as a directory name"):
        paths.check_component(value, what="version")


@pytest.mark.parametrize("value", ["1", "1.0.0-rc.1+build", "sha-0123456789ab", "my skill", "x" * 128])
def test_a_safe_component_is_returned_unchanged(value: str) -> None:
    assert paths.check_component(value, what="version") == value


def test_a_path_inside_the_root_is_resolved(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("a")
    (tmp_path / "alias").symlink_to("docs")
    assert paths.resolve_inside(tmp_path, "alias/a.md") == (tmp_path / "docs" / "a.md").resolve()
    assert paths.resolve_inside(tmp_path, "missing.md") == tmp_path.resolve() / "missing.md"


def test_a_root_that_is_a_link_is_resolved_first(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "root").symlink_to("real")
    assert paths.resolve_inside(tmp_path / "root", "a") == (tmp_path / "real" / "a").resolve()


@pytest.mark.parametrize("target", ["/etc", "..", "../outside", ".", "inner/../../outside"])
def test_a_link_out_of_the_root_is_refused(tmp_path: Path, target: str) -> None:
    root = tmp_path / "root"
    (root / "inner").mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (root / "link").symlink_to(target)
    with pytest.raises(UnsafePath):
        paths.resolve_inside(root, "link")


@pytest.mark.parametrize("path", ["..", "../x", "a/../../x", "/etc/passwd", "~root/x", "..\\x", "\\x", "a\\..\\x"])
def test_a_path_that_leaves_its_folder_is_called_a_traversal(path: str) -> None:
    with pytest.raises(UnsafePath, match=r"^Path traversal detected\. The path "):
        paths.check(path)


@pytest.mark.parametrize("path", ["", "a//b", "con", "a..b\0", "..."])
def test_other_unsafe_paths_are_not_called_a_traversal(path: str) -> None:
    with pytest.raises(UnsafePath, match=r"^The path "):
        paths.check(path)


def test_a_file_below_a_link_out_of_the_root_is_refused(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "etc").symlink_to("/etc")
    with pytest.raises(UnsafePath, match=r"^Path traversal detected\. .* to a place outside its folder"):
        paths.resolve_inside(root, "etc/passwd")


def test_a_sibling_whose_name_starts_like_the_root_is_outside(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root-other").mkdir()
    (tmp_path / "root" / "link").symlink_to("../root-other")
    with pytest.raises(UnsafePath):
        paths.resolve_inside(tmp_path / "root", "link/a")


@pytest.mark.parametrize("relative", ["../a", "/etc/passwd", "a/../../b", "~", "", "a\0b", "a\\..\\b"])
def test_an_unsafe_path_is_refused_before_it_is_resolved(tmp_path: Path, relative: str) -> None:
    with pytest.raises(UnsafePath):
        paths.resolve_inside(tmp_path, relative)


def test_a_loop_of_links_never_leaves_the_root(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    try:
        found = paths.resolve_inside(tmp_path, "a")
    except UnsafePath:
        return
    assert found.parent == tmp_path.resolve()
