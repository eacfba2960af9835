"""Locks of runs: what a run is made of, fixed when it starts."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from django.conf import settings

from registry.core.bundle import FileEntry, normalise
from registry.core.errors import InvalidRequest, NotFound, SkillsiteError
from registry.core.findings import errors
from registry.core.limits import KIB, MIB, Limits
from registry.core.workflows import plan_json, workflow_yaml
from registry.core.workflows.capability import SKILL, Capability, Hints, Produced
from registry.core.workflows.capability_set import CapabilitySet
from registry.core.workflows.failures import StepFailed
from registry.core.workflows.plan import FILE, MOST_DEPTH, SKILL_PREFIX, Plan, Step
from registry.core.workflows.run_tree import ROOT, Library
from registry.core.workflows.values import Json, digest
from registry.lib.lru import LruCache
from registry.models import RunLock
from registry.services.capabilities import capability_registry
from registry.services.catalog import catalog
from registry.services.catalog.catalog import Loaded
from registry.services.workflows import policies

CALL_STEP = "call"  # of a run that makes a single call
SEMANTICS = 1  # of the plan and its records; a later release still finishes runs of an earlier one
_MOST_SKILLS = 50
_MOST_BYTES = 256 * KIB  # of all workflows of a run together; to read them takes a second

_plans = LruCache[tuple[str, Limits], Plan](2 * MIB)  # by the digest of the file
_libraries = LruCache[str, Library](200)  # by digest, because the id of a row can come back with a restored backup


@dataclass(frozen=True, slots=True)
class Prepared:
    """Something that can run: its plan, and the document of its lock."""

    plan: Plan
    document: dict[str, Any]

    @property
    def name(self) -> str:
        return str(self.document["skill"]["name"])

    @property
    def version(self) -> str:
        return str(self.document["skill"]["version"])

    @property
    def skill_digest(self) -> str:
        return str(self.document["skill"]["digest"])

    @property
    def digest(self) -> str:
        return digest(self.document)


class Identity(NamedTuple):
    """A version of a skill in a lock."""

    name: str
    version: str
    digest: str


def prepare(project_id: int, loaded: Loaded, allowed: frozenset[str] | None = None) -> Prepared:
    """Return what a run of a skill is made of. Raise InvalidRequest if it cannot run.

    Nested skills outside `allowed` are refused as if they did not exist.
    """
    plan = plan_of(loaded)
    collected = _Collected(project_id, capability_registry.of(project_id), allowed)
    collected.add(plan, (loaded.name,))
    return Prepared(plan, _document(_identity(loaded), plan, collected))


def prepare_call(project_id: int, name: str, allowed: frozenset[str] | None = None) -> Prepared:
    """Return what a run of a single call is made of."""
    known = capability_registry.of(project_id)
    try:
        capability = known.get(name)
    except StepFailed as failed:
        raise NotFound(failed.failure.message) from None
    if capability.kind == SKILL:
        catalog.permit(str(capability.binding.get("name")), allowed)
    mapping = {field: f"inputs.{field}" for field in capability.inputs}
    step = Step(CALL_STEP, capability.id, input=mapping)
    plan = Plan(capability.id, capability.version, capability.inputs, capability.outputs, (step,), (CALL_STEP,))
    collected = _Collected(project_id, known, allowed)
    collected.add(plan, (capability.id,))
    # Hints, because a step with `output` fails if the call leaves an optional field out.
    produces = {field: Produced("", f"outputs.{field}") for field in capability.outputs}
    collected.capabilities[capability.id]["produces"] = plan_json.hints_as_json(Hints(produces=produces))
    identity = {"name": capability.id, "version": capability.version, "digest": capability.digest}
    return Prepared(plan, _document(identity, plan, collected))


def is_call(plan: Plan, name: str) -> bool:
    """Return whether a run with this plan and name is one of a single call."""
    return plan.order == (CALL_STEP,) and plan.steps[0].uses == plan.id == name


def _document(identity: dict[str, str], plan: Plan, collected: "_Collected") -> dict[str, Any]:
    return {
        "semantics": SEMANTICS,
        "skill": identity,
        "plan": plan_json.plan_as_json(plan),
        "nested": {
            name: {**_identity(nested), "plan": plan_json.plan_as_json(its_plan)}
            for name, (nested, its_plan) in sorted(collected.skills.items())
        },
        "capabilities": dict(sorted(collected.capabilities.items())),
        "policy": policies.current().name,
    }


def plan_of(loaded: Loaded) -> Plan:
    """Return the workflow of a skill. Raise if it has none, or one that cannot run."""
    entry = _file(loaded)
    if entry is None:
        raise InvalidRequest(f"{loaded.name} has no workflow. Add a file {FILE} to the skill.", field="skill")
    known = _plans.get((entry.digest, settings.LIMITS))
    if known is None:
        known = _read_plan(loaded, entry)
        _plans.put((entry.digest, settings.LIMITS), known, entry.size)
    return known


def _file(loaded: Loaded) -> FileEntry | None:
    return next((entry for entry in loaded.files if entry.path == FILE), None)


def _read_plan(loaded: Loaded, entry: FileEntry) -> Plan:
    parsed = workflow_yaml.parse(loaded.read(entry), limits=settings.LIMITS)
    if parsed.plan is None or errors(parsed.findings):
        found = errors(parsed.findings)
        first = f"{found[0].place}: {found[0].message} {found[0].fix}" if found else "It has errors."
        raise InvalidRequest(f"The workflow of {loaded.name} cannot run. {first}", findings=parsed.findings)
    return parsed.plan


class _Collected:
    """Everything that a plan uses, and what its nested skills use."""

    def __init__(self, project_id: int, known: CapabilitySet, allowed: frozenset[str] | None) -> None:
        self.project_id, self._known, self._allowed = project_id, known, allowed
        self.skills: dict[str, tuple[Loaded, Plan]] = {}
        self.bytes = 0
        self.capabilities: dict[str, Any] = {}

    def add(self, plan: Plan, around: tuple[str, ...]) -> None:
        """Add what a plan uses. `around` are the skills that it is nested in, the innermost last."""
        for uses in plan.used:
            name = uses.removeprefix(SKILL_PREFIX) if uses.startswith(SKILL_PREFIX) else None
            if name is None:
                self.capabilities[uses] = _described(self._capability(uses, around[-1]))
                name = self.capabilities[uses]["skill"]
            if name is not None:
                self._add_skill(name, around)

    def _add_skill(self, name: str, around: tuple[str, ...]) -> None:
        if normalise(name) in around:
            circle = " → ".join((*around, name))
            raise InvalidRequest(f"The skills call each other in a circle: {circle}. Remove one of the calls.")
        if len(around) >= MOST_DEPTH or len(self.skills) >= _MOST_SKILLS:
            raise InvalidRequest(
                f"The workflow has more than {_MOST_SKILLS} nested skills, or they are nested more than "
                f"{MOST_DEPTH} deep."
            )
        if name in self.skills:
            return
        try:
            nested = catalog.load(self.project_id, name, allowed=self._allowed)
        except NotFound as error:
            message = f"{around[-1]} uses {SKILL_PREFIX}{name}, which cannot be used. {error.message}"
            raise InvalidRequest(message) from None
        self._count(nested)
        plan = plan_of(nested)
        self.skills[name] = (nested, plan)
        self.add(plan, (*around, nested.name))

    def _count(self, nested: Loaded) -> None:
        """Count the bytes of a nested workflow before it is read."""
        entry = _file(nested)
        self.bytes += entry.size if entry is not None else 0
        if self.bytes > _MOST_BYTES:
            raise InvalidRequest(
                f"The workflows of the nested skills have more than {_MOST_BYTES:,} bytes together. Nest fewer skills, "
                "or divide the work into several runs."
            )

    def _capability(self, uses: str, skill: str) -> Capability:
        try:
            return self._known.get(uses)
        except StepFailed as failed:
            raise InvalidRequest(f"The workflow of {skill} cannot run. {failed.failure.message}") from None


def _described(capability: Capability) -> dict[str, Any]:
    skill = capability.binding.get("name") if capability.kind == SKILL else None
    return {
        "id": capability.id,
        "digest": capability.digest,
        "produces": plan_json.hints_as_json(capability.hints),
        "fields": list(capability.outputs),
        "skill": skill,
    }


def _identity(loaded: Loaded) -> dict[str, str]:
    candidate = loaded.candidate
    return {"name": loaded.name, "version": candidate.version, "digest": candidate.digest}


def store(prepared: Prepared) -> RunLock:
    """Return the row of a lock. Runs of the same version share it."""
    lock, _ = RunLock.objects.get_or_create(digest=prepared.digest, defaults={"document": prepared.document})
    return lock


def library(lock_id: int) -> Library:
    """Return what a run is made of, from the id of its lock."""
    return library_of(RunLock.objects.defer("document").get(pk=lock_id))


def library_of(lock: RunLock) -> Library:
    """Return what a run is made of, from its lock."""
    known = _libraries.get(lock.digest)
    if known is None:
        known = _library(lock)
        _libraries.put(lock.digest, known)
    return known


def _library(lock: RunLock) -> Library:
    document = lock.document
    if document["semantics"] != SEMANTICS:
        raise SkillsiteError("This run was started by a newer release of the site.")
    used = document["capabilities"]
    return Library(
        lock=lock.digest,
        plans={
            ROOT: plan_json.read_plan(document["plan"]),
            **{name: plan_json.read_plan(nested["plan"]) for name, nested in document["nested"].items()},
        },
        hints={name: plan_json.read_hints(one["produces"]) for name, one in used.items()},
        skills={name: one["skill"] for name, one in used.items() if one["skill"]},
        fields={name: tuple(one["fields"]) for name, one in used.items()},
    )


def skills_of(document: dict[str, Any], *, nested_only: bool = False) -> list[Identity]:
    """Return the skills of a lock: the skill itself, and those nested in it."""
    used = [*document["nested"].values()] if nested_only else [document["skill"], *document["nested"].values()]
    return [Identity(one["name"], one["version"], one["digest"]) for one in used]


def shown(document: dict[str, Any]) -> Json:
    """Return the digests of a lock, for people and programs."""
    return {
        "skill": document["skill"],
        "nested": [{key: one[key] for key in ("name", "version", "digest")} for one in document["nested"].values()],
        "capabilities": {one["id"]: one["digest"] for one in document["capabilities"].values()},
        "policy": document["policy"],
    }


def is_single_call(document: dict[str, Any]) -> bool:
    """Return whether a run makes a single call, so that there is no skill behind it."""
    return any(one["digest"] == document["skill"]["digest"] for one in document["capabilities"].values())
