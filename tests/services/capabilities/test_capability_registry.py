"""The registry of capabilities: files of operators, their changes, and the files that are broken."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from registry.core.findings import errors
from registry.core.limits import DEFAULT
from registry.core.workflows.capability import Capability
from registry.core.workflows.capability_scope import Site
from registry.core.workflows.failures import StepFailed
from registry.services.capabilities import capability_files, capability_registry
from registry.services.capabilities.capability_files import MOST_FILES, CapabilityIndex, Snapshot
from tests.core.workflows.definitions import text

PROJECT = 1


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def look(tmp_path: Path, clock: Clock) -> Callable[[], Snapshot]:
    """Return a function that looks at the directory again."""
    index = CapabilityIndex((tmp_path,), reload_seconds=5, limits=DEFAULT, site=Site(), clock=clock)

    def after_a_while() -> Snapshot:
        clock.now += 10
        return index.snapshot()

    return after_a_while


def found(snapshot: Snapshot, id_: str) -> Capability:
    return snapshot.capabilities.get(id_)


def test_built_in_capabilities_are_always_registered(db: None, settings: Any) -> None:
    settings.CAPABILITIES_DIRS = []
    assert capability_registry.of(PROJECT).get("data.echo").kind == "builtin"


def test_files_of_operators_are_registered(db: None, tmp_path: Path, settings: Any) -> None:
    settings.CAPABILITIES_DIRS, settings.SKILLS_RELOAD_SECONDS = [tmp_path], 1e-9
    with pytest.raises(StepFailed):
        capability_registry.of(PROJECT).get("test.echo")
    (tmp_path / "echo.yaml").write_text(text())
    (tmp_path / "other.yml").write_text(text("test.other", aliases="[test.alias]"))
    for ignored in (".hidden.yaml", "notes.txt", "x.yaml~"):
        (tmp_path / ignored).write_text("no: capability")
    capabilities = capability_registry.of(PROJECT)
    assert capabilities.get("test.echo").description == "For tests."
    assert capabilities.get("test.alias").id == "test.other"
    (tmp_path / "echo.yaml").unlink()
    with pytest.raises(StepFailed):
        capability_registry.of(PROJECT).get("test.echo")


def test_files_are_only_read_if_their_stat_changes(tmp_path: Path, look: Callable[[], Snapshot]) -> None:
    file = tmp_path / "echo.yaml"
    file.write_text(text())
    first = look()
    assert look() is first
    file.write_text(text(description="Changed."))
    assert look() is not first
    assert found(look(), "test.echo").description == "Changed."


def test_the_directories_are_not_looked_at_between_checks(tmp_path: Path, clock: Clock) -> None:
    index = CapabilityIndex((tmp_path,), reload_seconds=5, limits=DEFAULT, site=Site(), clock=clock)
    first = index.snapshot()
    (tmp_path / "echo.yaml").write_text(text())
    clock.now += 4.9
    assert index.snapshot() is first
    clock.now += 0.1
    assert found(index.snapshot(), "test.echo")


def test_a_broken_file_keeps_its_last_good_definition(tmp_path: Path, look: Callable[[], Snapshot]) -> None:
    file = tmp_path / "echo.yaml"
    file.write_text(text(safety="{requires_confirmation: true}"))
    good = found(look(), "test.echo")
    for broken in (
        "",
        "id: [",
        text(safety="{requires_confirmed: true}"),
        text(safety="{mandatory_pre_gates: [no.no]}"),
    ):
        file.write_text(broken)
        state = look()
        assert found(state, "test.echo") == good
        (reported,) = state.broken
        assert (reported.label, reported.id, reported.is_stale) == (f"{tmp_path.name}/echo.yaml", "test.echo", True)
        assert errors(reported.findings)[0].file == reported.label
    file.write_text(text())
    state = look()
    assert state.broken == ()
    assert not found(state, "test.echo").safety.requires_confirmation


def test_a_file_that_is_broken_from_the_start_registers_nothing(tmp_path: Path, look: Callable[[], Snapshot]) -> None:
    (tmp_path / "a.yaml").write_text(text("test.good"))
    (tmp_path / "b.yaml").write_text("id: test.bad\nversion: 1\n")
    state = look()
    assert found(state, "test.good")
    with pytest.raises(StepFailed):
        found(state, "test.bad")
    (reported,) = state.broken
    assert (reported.id, reported.is_stale, errors(reported.findings)[0].line) == ("", False, 1)


def test_a_capability_whose_gate_is_removed_stays_and_is_reported(tmp_path: Path, look: Callable[[], Snapshot]) -> None:
    """Its calls fail closed, because the gate gives no verdict."""
    gate = text("test.gate", properties="{side_effects: false}", outputs="{allowed: {type: boolean}}")
    (tmp_path / "gate.yaml").write_text(gate)
    (tmp_path / "write.yaml").write_text(text("test.write", safety="{mandatory_pre_gates: [test.gate]}"))
    assert look().broken == ()
    (tmp_path / "gate.yaml").unlink()
    state = look()
    assert found(state, "test.write").safety.pre_gates
    assert [each.id for each in state.broken] == ["test.write"]


def test_the_first_directory_wins_an_id(tmp_path: Path) -> None:
    roots = (tmp_path / "a" / "caps", tmp_path / "b" / "caps")
    for number, root in enumerate(roots):
        root.mkdir(parents=True)
        (root / "echo.yaml").write_text(text(description=f"Number {number}."))
    state = CapabilityIndex(roots, reload_seconds=5, limits=DEFAULT, site=Site()).snapshot()
    assert found(state, "test.echo").description == "Number 0."
    assert [each.label for each in state.broken] == ["caps (2)/echo.yaml"]


def test_nothing_replaces_a_built_in_capability(tmp_path: Path, look: Callable[[], Snapshot]) -> None:
    (tmp_path / "echo.yaml").write_text(text("security.secrets.detect"))
    state = look()
    assert found(state, "security.secrets.detect").kind == "builtin"
    assert found(state, "security.secrets.detect").binding["function"] == "security.secrets.detect"
    assert len(state.broken) == 1


def test_a_directory_that_cannot_be_read_is_reported(tmp_path: Path) -> None:
    state = CapabilityIndex((tmp_path / "none",), reload_seconds=5, limits=DEFAULT, site=Site()).snapshot()
    (reported,) = state.broken
    assert (reported.label, reported.findings[0].fix) == ("none", "Check CAPABILITIES_DIRS.")
    assert str(tmp_path) not in repr(reported)


def test_entries_that_are_no_files_are_reported_and_do_not_hang(tmp_path: Path, look: Callable[[], Snapshot]) -> None:
    (tmp_path / "directory.yaml").mkdir()
    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "gone.yaml").symlink_to(tmp_path / "nowhere")
    assert len(look().broken) == 3


def test_links_to_files_are_followed(tmp_path: Path, look: Callable[[], Snapshot]) -> None:
    """Kubernetes mounts configuration as links."""
    real = tmp_path / "..data"
    real.mkdir()
    (real / "echo.yaml").write_text(text())
    (tmp_path / "echo.yaml").symlink_to(real / "echo.yaml")
    assert found(look(), "test.echo")


def test_too_many_files_are_reported(tmp_path: Path, look: Callable[[], Snapshot]) -> None:
    for number in range(MOST_FILES + 1):
        (tmp_path / f"{number:04}.yaml").write_text(text(f"test.c{number}"))
    state = look()
    assert len(state.capabilities.by_id) == len(capability_files.BUILT_IN) + MOST_FILES
    (reported,) = state.broken
    assert f"more than {MOST_FILES:,}" in reported.findings[0].message


def test_settings_reach_the_checks(tmp_path: Path, settings: Any) -> None:
    settings.CAPABILITIES_DIRS, settings.WORKFLOW_SECRETS = [tmp_path], {"LEDGER_TOKEN": "x" * 10}
    settings.SKILLS_FETCH_ALLOW_HOSTS, settings.WORKFLOW_LLM_MODEL = ["Ledger.internal"], "small"
    settings.WORKFLOW_LLM_URL = "https://llm.example.com/v1/chat/completions"
    site = capability_files.site()
    assert site == Site(frozenset({"LEDGER_TOKEN"}), frozenset({"ledger.internal"}), "small", "llm.example.com")


def test_the_fingerprint_depends_on_content_alone(tmp_path: Path, look: Callable[[], Snapshot]) -> None:
    file = tmp_path / "echo.yaml"
    file.write_text(text())
    first = look().capabilities.fingerprint
    file.write_text(text() + "# A comment.\n")
    assert look().capabilities.fingerprint == first
    file.write_text(text(version="2"))
    assert look().capabilities.fingerprint != first
