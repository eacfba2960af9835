"""The plan of a workflow: its steps in an order that respects their dependencies.

`core/workflows/workflow_yaml.py` builds plans from `workflow.yaml`, and `graph.py` checks their dependencies.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from registry.core.workflows.values import Fields, Json

FILE = "workflow.yaml"
SKILL_PREFIX = "skill:"  # of `uses`, for a nested skill

# Merge strategies of a step, for all its outputs.
OVERWRITE, APPEND, DEEP_MERGE, REPLACE = "overwrite", "append", "deep_merge", "replace"
STRATEGIES = (OVERWRITE, APPEND, DEEP_MERGE, REPLACE)

# How the outputs of a scatter become one output.
COLLECT, CONCAT_LISTS, FIRST_SUCCESS = "collect", "concat_lists", "first_success"
SCATTER_MERGES = (COLLECT, CONCAT_LISTS, FIRST_SUCCESS)

DEFAULT_TIMEOUT_SECONDS = 60.0
MOST_ITERATIONS = 1_000  # of foreach and while
MOST_STEPS = 500  # in one workflow
MOST_SCATTER = 50
MOST_DEPTH = 10  # of nested skills


@dataclass(frozen=True, slots=True)
class Retry:
    """Retry a failed call. The pause before attempt n+1 is `backoff_seconds * backoff_multiplier ** (n - 1)`."""

    max_attempts: int = 3
    backoff_seconds: float = 1.0
    backoff_multiplier: float = 2.0


@dataclass(frozen=True, slots=True)
class Foreach:
    """Call once for each item. `items` is an expression; `as_` and `index_as` are names in the input of the step."""

    items: str
    as_: str = "item"
    index_as: str = "index"


@dataclass(frozen=True, slots=True)
class While:
    """Call again while `condition` holds. The first iteration always runs."""

    condition: str
    max_iterations: int = 10


@dataclass(frozen=True, slots=True)
class Router:
    """Choose what the step uses by the value of an expression."""

    on: str
    cases: Mapping[str, str]
    default: str = ""


@dataclass(frozen=True, slots=True)
class Scatter:
    """Call several capabilities with the same input."""

    capabilities: tuple[str, ...]
    merge: str = COLLECT


@dataclass(frozen=True, slots=True)
class Approvers:
    """The people who may answer a question: by user name, or anybody with one of the roles. Empty means every reviewer.

    `count` is the number of different people who have to approve.
    """

    people: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    count: int = 1

    def include(self, name: str, role: str) -> bool:
        """Return whether a reviewer with this user name and role is asked."""
        return not (self.people or self.roles) or name in self.people or role in self.roles

    def is_within(self, other: "Approvers") -> bool:
        """Return whether this names somebody, and nobody whom the other one does not ask."""
        if not (self.people or self.roles):
            return False
        is_open = not (other.people or other.roles)
        return is_open or (set(self.people) <= set(other.people) and set(self.roles) <= set(other.roles))


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `output` is None if the file has none, so that the hints of the capability decide.

    `depends_on` is never implicit here: it names every step that this one waits for. `on_deny` names the step that runs
    instead of the dependants if a person denies this step. `line` is its line in the file.
    """

    id: str
    uses: str
    input: Mapping[str, Json] = field(default_factory=dict)
    output: Mapping[str, str] | None = None
    depends_on: tuple[str, ...] = ()
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS
    merge_strategy: str = OVERWRITE
    condition: str = ""
    retry: Retry | None = None
    foreach: Foreach | None = None
    while_: While | None = None
    router: Router | None = None
    scatter: Scatter | None = None
    approvers: Approvers | None = None
    expires_seconds: float | None = None  # for the answer of a person; None is the setting of the site
    on_deny: str = ""
    line: int = 0

    @property
    def used(self) -> tuple[str, ...]:
        """Everything that the step may call: capabilities, and nested skills as `skill:NAME`."""
        routed = (*self.router.cases.values(), self.router.default) if self.router else ()
        named = self.scatter.capabilities if self.scatter else (*routed, self.uses)
        return tuple(dict.fromkeys(name for name in named if name))


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked workflow. `steps` are in the order of the file; `order` has their ids in an order that can run."""

    id: str
    version: str
    inputs: Fields
    outputs: Fields
    steps: tuple[Step, ...]
    order: tuple[str, ...]
    description: str = ""

    def step(self, id_: str) -> Step:
        return next(step for step in self.steps if step.id == id_)

    @property
    def used(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for step in self.steps for name in step.used))

    def with_dependants(self, ids: Collection[str]) -> frozenset[str]:
        """Return the steps, and all that depend on one of them."""
        found = set(ids)
        for id_ in self.order:
            if not found.isdisjoint(self.step(id_).depends_on):
                found.add(id_)
        return frozenset(found)

    def behind(self, ids: Collection[str]) -> frozenset[str]:
        """Return all steps that one of the steps depends on, at any distance."""
        found: set[str] = set()
        for id_ in reversed(self.order):
            if id_ in ids or id_ in found:
                found.update(self.step(id_).depends_on)
        return frozenset(found)
