"""CognitiveState v1: the memory of a run, as a fold over the writes of its steps in their recorded order."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches

from registry.core.limits import MIB
from registry.core.text.shorten import one_line, shorten
from registry.core.workflows import json_tree
from registry.core.workflows.json_tree import EMPTY, MOST_LEVELS, Refused, Size
from registry.core.workflows.outputs import Write
from registry.core.workflows.plan import APPEND, DEEP_MERGE, OVERWRITE, REPLACE, STRATEGIES
from registry.core.workflows.references import NAMESPACES, Missing, Path, Unreadable, parse, walk
from registry.core.workflows.values import ARRAY, OBJECT, STRING, Json, digest, fits, type_of

INPUTS, VARS, OUTPUTS, FRAME, WORKING, OUTPUT, EXTENSIONS = NAMESPACES
WRITABLE = (VARS, OUTPUTS, WORKING, OUTPUT, EXTENSIONS)
NULL_WHEN_MISSING = frozenset({INPUTS, FRAME, OUTPUT, EXTENSIONS})

# The types of the fields that a namespace has. The other namespaces have any fields.
FRAME_FIELDS: Mapping[str, str] = {
    "goal": STRING,
    "context": OBJECT,
    "constraints": OBJECT,
    "success_criteria": OBJECT,
    "assumptions": ARRAY,
    "priority": STRING,
}
WORKING_SLOTS: Mapping[str, str] = {
    "artifacts": OBJECT,
    "entities": ARRAY,
    "options": ARRAY,
    "criteria": ARRAY,
    "evidence": ARRAY,
    "risks": ARRAY,
    "hypotheses": ARRAY,
    "uncertainties": ARRAY,
    "intermediate_decisions": ARRAY,
    "messages": ARRAY,
}
OUTPUT_FIELDS = ("result", "result_type", "summary", "status_reason")
_FIELDS: Mapping[str, Iterable[str]] = {WORKING: WORKING_SLOTS, OUTPUT: OUTPUT_FIELDS}

MOST_CHARS = 8 * MIB  # of the canonical JSON of a state
MOST_VALUES = 300_000  # in a state
MOST_PARTS = 20  # of a target
_EMPTY: Mapping[str, Callable[[], Json]] = {STRING: lambda: None, OBJECT: dict, ARRAY: list}


class StateError(Exception):
    """A frame or a write is refused. The message is for people."""


def check_frame(value: Json, *, most_chars: int = MOST_CHARS) -> dict[str, Json]:
    """Return a complete copy of a frame. Fields that are missing or null are empty. Raise StateError if it is wrong."""
    if not isinstance(value, Mapping):
        raise StateError(f"The frame is of type {type_of(value)}. It must be an object.")
    try:
        given, _ = json_tree.take(dict(value), Size(most_chars, MOST_VALUES), MOST_LEVELS - 1)
        for name in given:
            _check_name("the frame", name, FRAME_FIELDS)
    except Refused as error:
        raise StateError(f"The frame cannot be used: {error}") from None
    frame = {}
    for name, type_ in FRAME_FIELDS.items():
        field = given.get(name)
        if field is not None and not fits(field, type_):
            raise StateError(f"“{name}” of the frame is of type {type_of(field)}. It must be of type {type_}.")
        frame[name] = _EMPTY[type_]() if field is None else field
    return frame


class State:
    """The namespaces of a run. Containers that are stored are never changed, only replaced by changed copies.

    A run of the same writes in the same order has the same digest.
    """

    def __init__(
        self, inputs: Mapping[str, Json], frame: Mapping[str, Json] | None = None, *, most_chars: int = MOST_CHARS
    ) -> None:
        self._most = Size(most_chars, MOST_VALUES)
        checked = check_frame(frame or {}, most_chars=most_chars)
        try:
            given, _ = json_tree.take(dict(inputs), self._most, MOST_LEVELS - 1)
            self._roots: dict[str, Json] = {name: {} for name in NAMESPACES} | {INPUTS: given, FRAME: checked}
            self._roots[WORKING] = {name: _EMPTY[type_]() for name, type_ in WORKING_SLOTS.items()}
            self._size = json_tree.size(self._roots)
            self._size.check(self._most, "the state of the run")
        except Refused as error:
            raise StateError(f"The run cannot start with these inputs: {error}") from None
        self._writers: dict[Path, str] = {}  # of each target, the step that wrote it first
        self._absent: set[Path] = set()
        self._above_absent: set[Path] = set()

    def read(self, path: Path) -> Json:
        """Return a copy of a value. Raise Unreadable if a value of vars, outputs or working is missing."""
        return json_tree.copied(self.view(path))

    def view(self, path: Path) -> Json:
        """Return a value without copying it, however large it is. It must not be changed."""
        namespace = path[0]
        if namespace not in self._roots:
            raise Unreadable(f"“{namespace}” is not a namespace. The namespaces are {', '.join(NAMESPACES)}.")
        try:
            return walk(self._roots[namespace], path[1:], path[:1])
        except Missing:
            if namespace in NULL_WHEN_MISSING or self._is_absent(path):
                return None
            raise

    def apply(self, writes: Sequence[Write], *, step: str) -> None:
        """Apply the writes of a step in their order, or raise StateError and apply none."""
        draft = _Draft(self._roots, self._size, self._most, self._writers, step)
        for write in writes:
            try:
                draft.write(write)
            except Refused as error:
                raise StateError(f"Step “{step}” cannot write {_shown(write.target)}: {error}") from None
        self._roots, self._size = draft.roots, draft.size
        self._writers.update(draft.own)

    def mark_absent(self, targets: Iterable[str]) -> None:
        """Make the targets of a skipped or degraded step readable. They are null until another step writes them."""
        for target in targets:
            try:
                path = target_path(target)
            except Refused as error:
                raise StateError(f"{_shown(target)} cannot be marked as absent: {error}") from None
            self._absent.add(path)
            self._above_absent.update(path[:length] for length in range(1, len(path)))

    def _is_absent(self, path: Path) -> bool:
        """Return whether a path would exist if a skipped step had run: at, above or below one of its targets."""
        return path in self._above_absent or any(path[:length] in self._absent for length in range(1, len(path) + 1))

    def as_json(self) -> dict[str, Json]:
        return {name: json_tree.copied(value) for name, value in self._roots.items()}

    @property
    def digest(self) -> str:
        return digest(self._roots)

    @property
    def outputs(self) -> dict[str, Json]:
        return dict(self.read((OUTPUTS,)))

    @property
    def chars(self) -> int:
        """Return the length of the canonical JSON, which is counted write by write."""
        return self._size.chars


def target_path(target: str) -> Path:
    """Return the path of a target, or raise Refused if no step may write it."""
    path = parse(target)
    if path is None:
        raise Refused(f"a target is a namespace and a field. Write to {_writable('name')}.")
    if path[0] not in WRITABLE:
        raise Refused(f"{path[0]} is read-only. Write to {_writable(path[-1])}.")
    if len(path) == 1:
        raise Refused(f"a step writes fields, not a whole namespace. Name one, such as {path[0]}.name.")
    if len(path) > MOST_PARTS:
        raise Refused(f"a target has at most {MOST_PARTS} parts. Use fewer.")
    if path[0] in _FIELDS:
        _check_name(path[0], path[1], _FIELDS[path[0]])
    return path


def _writable(field: str) -> str:
    return f"vars.{field} or outputs.{field}, or below working, output or extensions"


def _check_name(owner: str, name: str, names: Iterable[str]) -> None:
    known = list(names)
    if name not in known:
        close = get_close_matches(name[:64], known, 1)
        fix = f"Did you mean “{close[0]}”?" if close else f"It has: {', '.join(known)}."
        raise Refused(f"{owner} has no field “{_shown(name)}”. {fix}")


class _Draft:
    """The state after the writes of one step so far. It shares all containers that no write has passed."""

    def __init__(self, roots: dict[str, Json], size: Size, most: Size, writers: Mapping[Path, str], step: str) -> None:
        self.roots = dict(roots)
        self.size = size
        self.own: dict[Path, str] = {}  # targets that nobody wrote before this step
        self._most = most
        self._writers = writers
        self._step = step
        self._written: set[Path] = set()

    def write(self, write: Write) -> None:
        path = target_path(write.target)
        if write.strategy not in STRATEGIES:
            raise Refused(f"there is no merge strategy “{write.strategy}”. Use one of {', '.join(STRATEGIES)}.")
        if write.strategy == OVERWRITE:
            self._check_writer(path, again=write.again)
        element = write.strategy == APPEND and not isinstance(write.value, list)
        value, added = json_tree.take(write.value, self._most, MOST_LEVELS - len(path) - element)
        self._store(path, write.strategy, value, added)
        self.size.check(self._most, "the state of the run")
        self._written.add(path)
        if path not in self._writers:
            self.own.setdefault(path, self._step)

    def _check_writer(self, path: Path, *, again: bool) -> None:
        """Raise Refused at a second write, except to what an earlier iteration of the same step wrote."""
        if path in self._written:
            first = self._step
        else:
            first = self._writers.get(path, "")
            if not first or (again and _without_iteration(first) == _without_iteration(self._step)):
                return
        raise Refused(
            f"step “{first}” wrote it first. Choose another target, or set merge_strategy to {APPEND}, {DEEP_MERGE} or "
            f"{REPLACE}."
        )

    def _store(self, path: Path, strategy: str, value: Json, added: Size) -> None:
        container, key = self._container(path), path[-1]
        if strategy == APPEND:
            base = container[key] if key in container else self._create(container, key, [])
            if not isinstance(base, list):
                raise Refused(f"it is {_of_type(base)}, and {APPEND} needs a list. Choose another target.")
            more, added = (value, added) if isinstance(value, list) else ([value], added.plus(EMPTY))
            container[key], grown = json_tree.joined(base, more, added)
        elif strategy == DEEP_MERGE:
            base = container[key] if key in container else self._create(container, key, {})
            for what, side in (("it", base), ("the value", value)):
                if not isinstance(side, dict):
                    raise Refused(f"{what} is {_of_type(side)}, and {DEEP_MERGE} needs an object.")
            container[key], grown = json_tree.merged(base, value)
        else:
            _check_slot(path, value)
            grown = json_tree.put(container, key, value, added)
        self.size = self.size.plus(grown)

    def _container(self, path: Path) -> dict[str, Json]:
        """Return the object that holds the last part of a path, after copying everything on the way to it."""
        container = self.roots
        for position, key in enumerate(path[:-1], 1):
            child = container[key] if key in container else self._create(container, key, {})
            if not isinstance(child, dict):
                above = ".".join(path[:position])
                raise Refused(f"{above} is {_of_type(child)}, so nothing can be below it. Choose another target.")
            copy = dict(child)
            container[key] = copy
            container = copy
        return container

    def _create(self, container: dict[str, Json], key: str, empty: Json) -> Json:
        self.size = self.size.plus(json_tree.put(container, key, empty, EMPTY))
        return empty


def _check_slot(path: Path, value: Json) -> None:
    """Raise Refused if a slot of working would get another type than its own."""
    slot = WORKING_SLOTS[path[1]] if path[0] == WORKING and len(path) == 2 else ""
    if slot == ARRAY and not isinstance(value, list):
        raise Refused(f"the slot is a list, and the value is {_of_type(value)}. Set merge_strategy to {APPEND}.")
    if slot == OBJECT and not isinstance(value, dict):
        raise Refused(f"the slot is an object, and the value is {_of_type(value)}. Write to {'.'.join(path)}.name.")


def _shown(text: str) -> str:
    return shorten(one_line(text[:1_000]), 200)


def _without_iteration(step: str) -> str:
    """Return the path of a step without the number of its iteration."""
    head, mark, number = step.rpartition("#")
    return head if mark and number.isdigit() else step


def _of_type(value: Json) -> str:
    return "null" if value is None else f"of type {type_of(value)}"
