"""The lock of a directory: its contents, and locks that stop a pull."""

from pathlib import Path
from typing import Any

import pytest

from registry.client import SkillsiteClient, errors
from registry.client.lock import NAME as LOCK
from registry.client.pull import check, pull
from tests.client.conftest import Connect
from tests.client.pulls import Save, lock_of, names_in


def test_the_lock_is_sorted_and_free_of_secrets(client: SkillsiteClient, target: Path, save: Save, token: str) -> None:
    save("beta")
    save("alpha")
    pull(client, target)
    text = (target / LOCK).read_text()
    assert token not in text and text.index("alpha") < text.index("beta") and text.endswith("}\n")


def test_the_directory_of_another_project_is_not_changed(
    connect: Connect, target: Path, save: Save, live_server: Any
) -> None:
    save("own")
    pull(connect(), target)
    with pytest.raises(errors.LocalProblem, match="has the skills of"):
        pull(connect(url=live_server.url), target)
    with pytest.raises(errors.LocalProblem, match="has the skills of"):
        check(connect(url=live_server.url), target)
    assert pull(connect(url=live_server.url), target, force=True).complete
    assert lock_of(target)["source"].startswith(live_server.url)


_ENTRY = '{"lock": 1, "source": "x", "skills": {"own": {"version": %s, "digest": "%s", "source": "project"}}}'
_DIGEST = "sha256:" + "0" * 64


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "\xff",
        "[" * 100_000,
        '{"a":' * 100_000,
        "NaN",
        '{"lock": 1}',
        f'{{"lock": {"9" * 5_000}}}',
        '{"lock": 1, "source": "x", "skills": [1]}',
        '{"lock": 1, "source": "\\ud800", "skills": {}}',
        '{"lock": 1, "source": 5, "skills": {}}',
        _ENTRY % (1, _DIGEST),
        _ENTRY % ('"1"', "5"),
        _ENTRY % ('"1"', _DIGEST + "\\n"),
    ],
)
def test_a_damaged_lock_stops_the_pull(client: SkillsiteClient, target: Path, save: Save, text: str) -> None:
    save("own")
    target.mkdir()
    (target / LOCK).write_bytes(text.encode("latin-1"))
    with pytest.raises(errors.LocalProblem, match=r"skillsite\.lock is damaged\."):
        pull(client, target)
    assert names_in(target) == [LOCK]


def test_a_lock_of_a_later_version_stops_the_pull(client: SkillsiteClient, target: Path) -> None:
    target.mkdir()
    (target / LOCK).write_text('{"lock": 2}')
    with pytest.raises(errors.LocalProblem, match="another version of the client"):
        pull(client, target)
