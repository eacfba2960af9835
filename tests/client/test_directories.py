"""Where the cache is when nobody says."""

from pathlib import Path

import pytest

from registry.client import directories, errors, files


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("PERSISTENT_VOLUME_STORAGE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(directories, "_SHARED", tmp_path / "no-data")


def test_the_argument_comes_first_then_the_volume_then_data_then_the_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert directories.cache_root(None) == tmp_path / ".cache/skillsite"
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert directories.cache_root(None) == tmp_path / "xdg/skillsite"
    (tmp_path / "no-data").mkdir()
    assert directories.cache_root("") == tmp_path / "no-data"
    monkeypatch.setenv("PERSISTENT_VOLUME_STORAGE", str(tmp_path / "volume"))
    assert directories.cache_root(None) == tmp_path / "volume"
    assert directories.cache_root(tmp_path / "given") == tmp_path / "given"


def test_a_relative_cache_home_is_not_obeyed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert directories.cache_root(None) == tmp_path / ".cache/skillsite"


def test_no_home_at_all_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(errors.Misconfigured, match="home"):
        directories.cache_root(None)


def test_a_private_directory_is_private_all_the_way(tmp_path: Path) -> None:
    made = files.private_directory(tmp_path / "a/b/c")
    assert {path.stat().st_mode & 0o777 for path in (made, made.parent, made.parent.parent)} == {0o700}


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "file"
    target.write_text("old")

    def fail(self: Path, other: Path) -> Path:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="Input/output"):
        files.write(target, b"new")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize("path", ["../out", "/etc/x", "a/../../b", "con", "a\\b"])
def test_a_tree_is_never_written_outside_its_directory(tmp_path: Path, path: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    with pytest.raises(Exception, match="cannot be used"):
        files.write_tree(root, {path: b"x"}, sync=False)
    assert [found.name for found in tmp_path.rglob("*")] == ["root"]
