"""Capability files: one definition in a file, read into a draft, with every problem and its line.

`capability_linking.py` makes capabilities of drafts: it needs the other definitions for `extends` and for gates.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from registry.core.errors import SkillsiteError
from registry.core.findings import Finding, Severity
from registry.core.format.yaml_errors import clip
from registry.core.limits import DEFAULT, Limits
from registry.core.text.nearest import nearest_of
from registry.core.workflows import capability_bindings, capability_safety, documents, fields, heading, names, targets
from registry.core.workflows.capability import Capability, Hints, Produced, Properties, Safety
from registry.core.workflows.documents import Document
from registry.core.workflows.outputs import COGNITIVE_TYPES
from registry.core.workflows.problems import Problems, listed
from registry.core.workflows.sections import Section, shown
from registry.core.workflows.values import Json

FILE = "capability.yaml"
YAML, ROOT, NAME, HINTS = "capability-yaml", "capability-root", "capability-name", "capability-hints"
DESCRIPTION = "capability-description"
ROLES = ("perceive", "analyze", "evaluate", "decide", "synthesize", "act", "reflect")
MOST_ALIASES = 20
_FLAGS = ("side_effects", "idempotent", "deterministic")


@dataclass(frozen=True, slots=True)
class Draft:
    """A definition as it is written. Without `extends` it is complete; `binding` is empty only with it."""

    capability: Capability
    extends: str
    document: Document

    def says(self, *path: str) -> bool:
        """Return whether the file has a value at a path, such as `says("safety", "trust_level")`."""
        value: Json = self.document.value
        for key in path:
            value = value.get(key) if isinstance(value, Mapping) else None
        return value is not None


@dataclass(frozen=True, slots=True)
class Parsed:
    """A capability file. `draft` is None if a finding is an error."""

    draft: Draft | None
    findings: tuple[Finding, ...]
    id: str = ""


def parse(content: bytes | str, *, file: str = FILE, limits: Limits = DEFAULT) -> Parsed:
    """Parse a capability file. Problems are findings, never raised."""
    try:
        document = documents.load(content, file=file, limits=limits)
    except SkillsiteError as error:
        return Parsed(None, tuple(replace(finding, rule=YAML) for finding in error.findings))
    problems = Problems(document)
    draft = _draft(problems)
    findings = listed(problems.findings)
    return Parsed(None if problems.fatal else draft, findings, draft.capability.id if draft else "")


def _draft(problems: Problems) -> Draft | None:
    value = problems.document.value
    if not isinstance(value, dict):
        message = "The file is empty." if value is None else f"The file is {shown(value)} instead of keys and values."
        problems.add(ROOT, (), message, "Start it with `id:`, `version:` and `binding:`.")
        return None
    root = Section(problems, (), value)
    extends = _capability_name(root, "extends")
    safety, binding = capability_safety.read(root), capability_bindings.read(root)
    if root.get("binding") is None and not extends:
        root.missing("binding", "Add `binding:` with a `kind:`, or `extends:` with the id of another capability.")
    capability = Capability(
        id=heading.identity(root, "ledger.entry.write"),
        version=heading.version(root),
        description=root.text("description", most=fields.DESCRIPTION_CHARS),
        inputs=fields.inputs(root),
        outputs=fields.outputs(root),
        binding=binding or {},
        safety=safety or Safety(),
        properties=_properties(root),
        hints=_hints(root),
        aliases=_aliases(root),
        deprecated=root.flag("deprecated"),
        replacement=_capability_name(root, "replacement"),
        has_safety=safety is not None,
    )
    if not capability.description and not extends and root.get("description") in (None, ""):
        fix = "Add one sentence. People read it before they approve a call."
        root.problem(DESCRIPTION, "description", "is missing.", fix, Severity.WARNING)
    for key in ("name", "metadata", "requires"):
        root.ignore(key, "is not used.")
    root.unknown_keys()
    return Draft(capability, extends, problems.document)


def _capability_name(root: Section, key: str) -> str:
    name = root.text(key)
    if name and not names.is_capability_id(name):
        root.problem(NAME, key, f"is {shown(name)}.", "Write the id of a capability, such as `text.template`.")
        return ""
    return name


def _aliases(root: Section) -> tuple[str, ...]:
    listed_ = root.texts("aliases", "a list of ids")
    if len(listed_) > MOST_ALIASES:
        root.problem(NAME, "aliases", f"has {len(listed_):,} names. {MOST_ALIASES} are allowed.", "Remove some.")
    for at, alias in enumerate(listed_):
        if not names.is_capability_id(alias):
            message = f"`aliases` cannot have {shown(alias)}."
            root.problems.add(NAME, ("aliases", at), message, "Write an id, such as `ledger.write`.")
    return tuple(dict.fromkeys(listed_))[:MOST_ALIASES]


def _properties(root: Section) -> Properties:
    section = root.section("properties")
    if section is None:
        return Properties()
    usual = Properties()
    said = {key: section.flag(key) if section.get(key) is not None else getattr(usual, key) for key in _FLAGS}
    for key in ("state_access", "audit_level"):
        section.ignore(key, "is not used. The site records every call.")
    section.unknown_keys()
    return Properties(**said)


def _hints(root: Section) -> Hints:
    section = root.section("cognitive_hints")
    if section is None:
        return Hints()
    role = section.get("role")
    roles = (section.choice("role", ROLES, ""),) if isinstance(role, str) else section.texts("role", "a list of roles")
    _known(section, "role", roles, ROLES)
    consumes = section.texts("consumes", "a list of types, such as `[Risk]`")
    _known(section, "consumes", consumes, COGNITIVE_TYPES)
    produces = section.section("produces")
    found = {name: _produced(produces, name) for name in produces.value} if produces else {}
    section.unknown_keys()
    return Hints(tuple(role for role in roles if role), consumes, found)


def _known(section: Section, key: str, listed_: tuple[str, ...], known: Mapping[str, object] | tuple[str, ...]) -> None:
    nearest = nearest_of(tuple(known), cutoff=0.5)
    for at, text in enumerate(listed_):
        if text and text not in known and isinstance(section.value.get(key), list):
            near = nearest(text)
            fix = f"Did you mean `{near}`?" if near else f"Use one of {', '.join(known)}."
            message = f"{section.label(key)} cannot have {shown(text)}."
            section.problems.add(HINTS, (*section.path, key, at), message, fix)


def _produced(produces: Section, name: str) -> Produced:
    """Read the type of an output: `findings: Risk`, or `findings: {type: Risk, target: working.risks}`."""
    if produces.value[name] in (None, ""):
        produces.missing(name, f"Write one of {', '.join(COGNITIVE_TYPES)}.")
    if isinstance(produces.value[name], str):
        return Produced(produces.choice(name, tuple(COGNITIVE_TYPES), ""))
    section = produces.section(name)
    if section is None:
        return Produced("")
    type_, target = section.choice("type", tuple(COGNITIVE_TYPES), ""), section.text("target")
    section.unknown_keys()
    if section.get("type") in (None, ""):
        section.missing("type", f"Add `type:` with one of {', '.join(COGNITIVE_TYPES)}.")
    if target and (fault := targets.fault(target)):
        section.problem(HINTS, "target", f"is {shown(target)}, which {fault[0]}.", fault[1])
    return Produced(type_, target)


def check_outputs(capability: Capability, problems: Problems) -> None:
    """Report hints about outputs that the capability does not have."""
    nearest = nearest_of(sorted(capability.outputs), cutoff=0.5)
    for name in capability.hints.produces:
        if name not in capability.outputs:
            near = nearest(name)
            fix = f"Did you mean `{near}`?" if near else f"Add `{clip(name)}:` to `outputs`."
            path = ("cognitive_hints", "produces", name)
            problems.add(HINTS, path, f"`{clip(name)}` is not an output.", fix, Severity.ERROR)
