"""Replay of the events about skills: the state of skills and versions that the events of a project explain."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from registry.models import Event, Skill, Version

_WITHDRAWALS = ("version.yanked", "version.quarantined", "version.released")


@dataclass(slots=True)
class _State:
    """One name. `current` is None if the last event records only the digest of the version that agents get.

    `ended` has one set of versions for each deletion of the skill, oldest first.
    """

    enabled: bool = True
    overrides: bool = False
    current: str | None = None
    current_digest: str = ""
    digests: dict[str, str] = field(default_factory=dict)
    live: set[str] = field(default_factory=set)
    ended: list[set[str]] = field(default_factory=list)
    yanked: set[str] = field(default_factory=set)
    held: set[str] = field(default_factory=set)

    def publish(self, version: str, digest: str, *, undelete: bool) -> None:
        if version in self.digests:
            ended = next((each for each in reversed(self.ended) if version in each), set())
            back = set(ended) if undelete else {version}
            ended -= back
            self.live |= back
        self.live.add(version)
        self.digests.setdefault(version, digest)
        self.overrides, self.current, self.current_digest = True, version, digest

    def delete(self) -> None:
        if self.live:
            self.ended.append(self.live)
        self.overrides, self.live = False, set()

    def withdraw(self, event: Event) -> None:
        version, digest = event.data["version"], event.data.get("digest", "")
        if event.verb == "version.yanked":
            self.yanked.add(version)
            moved = version == self.current
        elif event.verb == "version.quarantined":
            self.held.add(digest)
            moved = digest == self.current_digest
        else:
            self.held.discard(digest)
            moved = True
        if moved or event.after != self.current_digest:
            self.current, self.current_digest = None, event.after if self._can_be_current(event.after) else ""

    def _can_be_current(self, digest: str) -> bool:
        """Return whether a version with this digest was not deleted, or not before the last deletion.

        In old logs, a yank could make a deleted version current. The upgrade undid that.
        """
        versions = self.live if self.overrides or not self.ended else self.ended[-1]
        return any(self.digests[version] == digest for version in versions)


class SkillReplay:
    """Skills and versions as the events of one project left them."""

    def __init__(self) -> None:
        self._states: dict[str, _State] = {}

    def add(self, event: Event) -> None:
        if event.verb in ("skill.enabled", "skill.disabled"):
            self._state(event).enabled = event.verb == "skill.enabled"
        elif _is_deletion(event):
            self._state(event).delete()
        elif isinstance(event.data.get("version"), str):
            if event.verb in _WITHDRAWALS:
                self._state(event).withdraw(event)
            elif event.after:
                undelete = event.verb == "skill.undeleted"
                self._state(event).publish(event.data["version"], event.after, undelete=undelete)

    def _state(self, event: Event) -> _State:
        return self._states.setdefault(event.target, _State())

    def differences(self, project_id: int) -> Iterator[str]:
        """Yield a sentence for each skill and version that differs from its events."""
        yield from self._skills(project_id)
        yield from self._versions(project_id)

    def _skills(self, project_id: int) -> Iterator[str]:
        columns = ("name", "enabled", "overrides", "current__version", "current__digest")
        rows = Skill.objects.filter(project=project_id).values_list(*columns)
        found = set()
        for name, enabled, overrides, version, digest in rows.iterator(chunk_size=2_000):
            found.add(name)
            state = self._states.get(name, _State())
            if enabled != state.enabled:
                yield f"{name} is {_enabled(enabled)}, and its events say {_enabled(state.enabled)}"
            if overrides != state.overrides:
                yield f"{name} is {_deleted(not overrides)}, and its events say {_deleted(not state.overrides)}"
            if state.current is not None and version != state.current:
                yield f"the current version of {name} is {version}, and its events say {state.current}"
            elif state.current is None and (digest or "") != state.current_digest:
                says = state.current_digest or "that it has none"
                yield f"the current version of {name} is {version}, with the digest {digest}, and its events say {says}"
        for name in sorted(self._states.keys() - found):
            yield f"the skill {name} is missing, and no event says so"

    def _versions(self, project_id: int) -> Iterator[str]:
        columns = ("skill__name", "version", "digest", "yanked_at", "deleted_at", "quarantined_at")
        rows = Version.objects.filter(skill__project=project_id).values_list(*columns)
        found: dict[str, set[str]] = {}
        for name, version, digest, yanked_at, deleted_at, quarantined_at in rows.iterator(chunk_size=2_000):
            found.setdefault(name, set()).add(version)
            state = self._states.get(name)
            if state is None or state.digests.get(version) != digest:
                yield f"version {version} of {name} has no event"
                continue
            for fact, is_so, recorded in (
                ("withdrawn", yanked_at is not None, version in state.yanked),
                ("deleted", deleted_at is not None, version not in state.live),
                ("in quarantine", quarantined_at is not None, digest in state.held),
            ):
                # The upgrade that introduced `deleted_at` left some withdrawn versions without it. No agent gets them.
                if is_so != recorded and not (fact == "deleted" and version in state.yanked):
                    is_, was = ("is", "is not") if is_so else ("is not", "is")
                    yield f"version {version} of {name} {is_} {fact}, and its events say that it {was}"
        for name, state in sorted(self._states.items()):
            for version in sorted(state.digests.keys() - found.get(name, set())):
                yield f"version {version} of {name} is missing, and no event says so"


def _is_deletion(event: Event) -> bool:
    if event.verb == "source.uninstalled":
        return not event.after and "version" not in event.data
    return event.verb == "skill.deleted" or (event.verb == "proposal.approved" and event.data.get("kind") == "delete")


def _enabled(enabled: bool) -> str:
    return "enabled" if enabled else "disabled"


def _deleted(deleted: bool) -> str:
    return "deleted" if deleted else "not deleted"
