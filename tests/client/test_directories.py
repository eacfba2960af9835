"""Directories of the cache and of skills."""

from pathlib import Path

import pytest

from registry.client import directories, errors, files


@pytest.fixture(autouse=True)
def nothing_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("PERSISTENT_VOLUME_STORAGE", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr(directories, "_SHARED", tmp_path / "no-data")


def test_the_cache_directory_is_argument_then_volume_then_data_then_home(
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


def test_a_relative_xdg_cache_home_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    assert directories.cache_root(None) == tmp_path / ".cache/skillsite"


def test_a_missing_home_directory_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    def homeless() -> Path:
        raise RuntimeError

    monkeypatch.setattr(Path, "home", homeless)
    with pytest.raises(errors.Misconfigured, match="home"):
        directories.cache_root(None)


@pytest.mark.parametrize("path", ["../out", "/etc/x", "a/../../b", "con", "a\\b"])
def test_a_tree_is_never_written_outside_its_directory(tmp_path: Path, path: str) -> None:
    with pytest.raises(Exception, match="cannot be used"):
        files.write_tree(tmp_path / "root", {"SKILL.md": b"", path: b"x"}, private=True, durable=False)
    assert list(tmp_path.rglob("*")) == []
