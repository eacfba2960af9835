"""Settings from the environment: an invalid value stops the start with a message, and secrets stay private."""

import os
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from skillsite import env

pytestmark = pytest.mark.processes


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("THING", "THING_FILE"):
        monkeypatch.delenv(name, raising=False)


def test_whitespace_around_a_value_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THING", "  value \n")
    assert env.text("THING", "other") == "value"


def test_a_variable_can_be_read_from_a_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "thing").write_text("from a file\n")
    monkeypatch.setenv("THING_FILE", str(tmp_path / "thing"))
    assert env.text("THING", "other") == "from a file"


def test_a_variable_and_its_file_cannot_both_be_set(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("THING", "")
    monkeypatch.setenv("THING_FILE", str(tmp_path / "thing"))
    with pytest.raises(ImproperlyConfigured, match="THING and THING_FILE are both set"):
        env.text("THING")


@pytest.mark.parametrize("content", [None, b"\xff\xfe"])
def test_an_unreadable_file_is_refused_with_its_path(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / "thing").write_bytes(content)
    monkeypatch.setenv("THING_FILE", str(tmp_path / "thing"))
    with pytest.raises(ImproperlyConfigured, match=r"Cannot read .*thing, the value of THING_FILE"):
        env.text("THING")


@pytest.mark.parametrize("value", ["1", "true", "Yes", "ON"])
def test_a_boolean_accepts_several_words_for_yes(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("THING", value)
    assert env.boolean("THING", False) is True


@pytest.mark.parametrize("value", ["0", "false", "No", "OFF"])
def test_a_boolean_accepts_several_words_for_no(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("THING", value)
    assert env.boolean("THING", True) is False


@pytest.mark.parametrize("value", ["2", "maybe", "tru", "-1", "None"])
def test_another_word_for_a_boolean_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("THING", value)
    with pytest.raises(ImproperlyConfigured, match=r"must be 1 or 0\."):
        env.boolean("THING", False)


@pytest.mark.parametrize("value", ["", "  "])
def test_an_empty_variable_means_the_default(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("THING", value)
    assert (env.boolean("THING", True), env.integer("THING", 7), env.items("THING", "a,b")) == (True, 7, [])


@pytest.mark.parametrize("value", ["ten", "1.5", "1e3", "0x10", "1,000", "--1"])
def test_a_value_that_is_not_a_whole_number_is_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("THING", value)
    with pytest.raises(ImproperlyConfigured, match="must be a whole number"):
        env.integer("THING", 7)


@pytest.mark.parametrize(("value", "least"), [("-1", 0), ("0", 1), ("9", 10)])
def test_a_number_below_the_minimum_is_refused(monkeypatch: pytest.MonkeyPatch, value: str, least: int) -> None:
    monkeypatch.setenv("THING", value)
    with pytest.raises(ImproperlyConfigured, match=f"must be {least} or more"):
        env.integer("THING", 50, least=least)


def test_empty_items_of_a_list_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("THING", " a ,, b,")
    assert env.items("THING") == ["a", "b"]


def test_a_private_directory_gets_mode_0700(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    for name in ("open", "deep/new"):
        monkeypatch.setenv("THING", str(tmp_path / name))
        assert stat.S_IMODE(env.private_directory("THING", tmp_path).stat().st_mode) == 0o700


def test_a_private_directory_that_is_a_file_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("THING", str(tmp_path / "file"))
    with pytest.raises(ImproperlyConfigured, match="Cannot use"):
        env.private_directory("THING", tmp_path)


def test_a_secret_is_created_once_and_only_this_user_can_read_it(tmp_path: Path) -> None:
    first = env.kept_secret(tmp_path / "secret_key")
    assert env.kept_secret(tmp_path / "secret_key") == first
    assert len(first) > 50
    assert stat.S_IMODE((tmp_path / "secret_key").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["secret_key"]


def test_a_private_file_and_the_files_that_sqlite_adds_get_mode_0600(tmp_path: Path) -> None:
    file = tmp_path / "open.sqlite3"
    file.touch(mode=0o644)
    for path in (file, tmp_path / "new.sqlite3"):
        with closing(sqlite3.connect(env.private_file(path))) as database:
            database.executescript("PRAGMA journal_mode=WAL; CREATE TABLE IF NOT EXISTS one (id)")
            modes = {one.name: stat.S_IMODE(one.stat().st_mode) for one in tmp_path.glob(f"{path.name}*")}
            assert modes == dict.fromkeys((path.name, f"{path.name}-wal", f"{path.name}-shm"), 0o600)
            assert env.private_file(path).stat().st_size > 0


def test_a_private_file_that_is_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ImproperlyConfigured, match="Cannot use"):
        env.private_file(tmp_path)


# -- All settings, loaded in a new process ----------------------------------------------------------------


def start(tmp_path: Path, code: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    """Load the settings in a new process, with only these variables."""
    environment = {name: os.environ[name] for name in ("PATH", "LANG", "LC_ALL") if name in os.environ}
    environment.update(SKILLSITE_DATA=str(tmp_path / "data"), **variables)
    return subprocess.run(
        [sys.executable, "-c", f"from skillsite import settings as s; {code}"],
        cwd=settings.BASE_DIR,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def test_the_settings_load_with_nothing_set(tmp_path: Path) -> None:
    done = start(tmp_path, "print(s.ALLOWED_HOSTS, s.DEBUG, s.SKILLS_RELOAD_SECONDS, s.RATE_LIMIT_READ)")
    assert done.stdout == "['localhost', '127.0.0.1', '[::1]'] False 5 6000\n", done.stderr


def test_the_secret_key_is_created_once_and_used_by_every_command(tmp_path: Path) -> None:
    first, second = (start(tmp_path, "print(s.SECRET_KEY)").stdout for _ in range(2))
    assert first == second
    assert len(first) > 50
    key = tmp_path / "data" / "secret_key"
    assert key.read_text() == first.strip()
    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    assert stat.S_IMODE(key.parent.stat().st_mode) == 0o700


def test_an_existing_database_file_gets_mode_0600_and_a_missing_one_is_not_created(tmp_path: Path) -> None:
    database = tmp_path / "data" / "skillsite.sqlite3"
    assert start(tmp_path).returncode == 0
    assert not database.exists()
    database.touch(mode=0o644)
    assert start(tmp_path).returncode == 0
    assert stat.S_IMODE(database.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"DATABASE_URL": "postgresql://x@y/z"}, "SECRET_KEY is not set"),
        ({"SECRET_KEY": "a", "SECRET_KEY_FILE": "b"}, "SECRET_KEY and SECRET_KEY_FILE are both set"),
        ({"DATABASE_URL": "nonsense://x", "SECRET_KEY": "x"}, "DATABASE_URL is not valid"),
        ({"PORT": "eighty"}, "PORT is 'eighty'"),
        ({"PORT": "0"}, "PORT is 0. It must be 1 or more"),
        ({"PORT": "70000"}, "PORT is 70000. It must be 65535 or less"),
        ({"LOG_LEVEL": "loud"}, "LOG_LEVEL is 'LOUD'. It must be one of DEBUG, INFO"),
        ({"DATABASE_URL": "mysql://x@y/z", "SECRET_KEY": "x"}, "DATABASE_URL is not the URL of a PostgreSQL database"),
        ({"DEBUG": "perhaps"}, "DEBUG is 'perhaps'"),
        ({"LIMIT_FILES": "0"}, "LIMIT_FILES is 0"),
        ({"RATE_LIMIT_READ": "-1"}, "RATE_LIMIT_READ is -1"),
        ({"WORKFLOW_SECRETS": "A-B"}, "WORKFLOW_SECRETS lists 'A-B'"),
        ({"WORKFLOW_SECRETS": "TOKEN,SECRET_KEY"}, "SECRET_KEY, which is a secret of the site"),
    ],
)
def test_an_invalid_setting_stops_the_start(tmp_path: Path, variables: dict[str, str], message: str) -> None:
    done = start(tmp_path, **variables)
    assert done.returncode != 0
    assert message in done.stderr


def test_capabilities_can_only_use_the_listed_variables(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text("from a file\n")
    listed = {"WORKFLOW_SECRETS": "A_TOKEN, B_TOKEN,GONE", "A_TOKEN": "a", "B_TOKEN_FILE": str(file), "OTHER": "x"}
    done = start(tmp_path, "print(s.WORKFLOW_SECRETS)", **listed)
    assert done.stdout == "{'A_TOKEN': 'a', 'B_TOKEN': 'from a file', 'GONE': ''}\n", done.stderr


def test_another_sqlite_file_gets_the_same_options(tmp_path: Path) -> None:
    code = "print(s.DATABASES['default']['NAME'], s.DATABASES['default']['OPTIONS']['transaction_mode'])"
    done = start(tmp_path, code, DATABASE_URL="sqlite:////srv/other.sqlite3", SECRET_KEY="x")
    assert done.stdout == "/srv/other.sqlite3 IMMEDIATE\n", done.stderr


def test_several_skills_directories_are_separated_like_a_search_path(tmp_path: Path) -> None:
    done = start(tmp_path, "print(*s.AGENT_SKILLS_DIRS)", AGENT_SKILLS_DIRS=f"one{os.pathsep}two{os.pathsep}")
    assert done.stdout == "one two\n", done.stderr


def test_cookies_are_secure_on_an_https_site(tmp_path: Path) -> None:
    done = start(tmp_path, "print(s.SESSION_COOKIE_SECURE)", PUBLIC_URL="https://skills.example.org")
    assert done.stdout == "True\n", done.stderr


_NAMES = "print(s.SESSION_COOKIE_NAME, s.CSRF_COOKIE_NAME, s.SESSION_COOKIE_SECURE, s.SECURE_HSTS_SECONDS)"


@pytest.mark.parametrize(
    ("variables", "expected"),
    [
        ({"PUBLIC_URL": "https://skills.example"}, "__Host-sessionid __Host-csrftoken True 31536000"),
        ({"PUBLIC_URL": "https://skills.example", "HSTS_SECONDS": "0"}, "__Host-sessionid __Host-csrftoken True 0"),
        ({}, "sessionid csrftoken False 0"),
    ],
)
def test_https_is_strict_by_default(tmp_path: Path, variables: dict[str, str], expected: str) -> None:
    assert start(tmp_path, _NAMES, **variables).stdout.strip() == expected
