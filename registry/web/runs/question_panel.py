"""View model of one question of a run: everything that a person has to see before they answer."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.http import QueryDict
from django.utils.safestring import SafeString

from registry.core import roles
from registry.core.text.shorten import one_line, shorten
from registry.core.workflows import human
from registry.core.workflows.capability import BLOCK, DEGRADE, REQUIRE_HUMAN, WARN
from registry.core.workflows.failures import StepFailed
from registry.core.workflows.input_form import declared_fields
from registry.core.workflows.plan import Step
from registry.core.workflows.records import Asks
from registry.core.workflows.value_rows import ValueRow
from registry.core.workflows.values import Fields, Json
from registry.models import Run, RunQuestion, User
from registry.models.workflows import APPROVED, DENIED, EXPIRED, OPEN
from registry.services.workflows import answerers, question_calls
from registry.services.workflows.question_calls import CallFacts, InterruptedCall
from registry.services.workflows.run_details import ShownQuestion
from registry.web import labels
from registry.web.humanize import counted
from registry.web.render.value_table import Cell, Drawing, ValueTable
from registry.web.runs import question_changes
from registry.web.runs.field_form import FieldForm
from registry.web.runs.question_changes import Changes

_TITLE_CHARS = 300
_MOST_NAMED = 5
_VERDICTS = {
    BLOCK: ("Blocks the call", "failed", "error"),
    WARN: ("Warns", "degraded", "warning"),
    DEGRADE: ("Withholds the output", "degraded", "half"),
    REQUIRE_HUMAN: ("Asks for a person", "waiting", "person"),
}
_UNDO = {"True": "It can be undone.", "False": "It can’t be undone."}
_ROLES = {roles.REVIEWER: "every reviewer", roles.OWNER: "every owner"}


@dataclass(frozen=True, slots=True)
class VerdictRow:
    """The verdict of a gate: its words, and the style and the icon of the state."""

    gate: str
    words: str
    style: str
    icon: str
    reason: SafeString


class QuestionPanel:
    """One question as one person sees it. `able` are the people who may answer, if it is open."""

    def __init__(
        self, run: Run, shown: ShownQuestion, *, able: Sequence[User] = (), before: RunQuestion | None = None,
        newer: RunQuestion | None = None, own_agent: bool = False, data: QueryDict | None = None,
        drawing: Drawing | None = None,
    ) -> None:  # fmt: skip
        self.run, self.row, self.obstacle = run, shown.row, shown.obstacle
        self.shown: Mapping[str, Json] = shown.shown
        self.approved_by, self.able, self.newer = shown.approved_by, able, newer
        self.is_own_agent = own_agent and shown.row.kind != Asks.INPUT
        self._before, self._data = before, data
        self.drawing = drawing or Drawing()

    # -- The kind of the question -------------------------------------------------------------------------------

    @property
    def is_open(self) -> bool:
        return bool(self.row.state == OPEN)

    @property
    def may_answer(self) -> bool:
        return self.is_open and not self.obstacle

    @property
    def is_late(self) -> bool:
        return self.is_open and self.obstacle == answerers.TOO_LATE

    @property
    def may_deny(self) -> bool:
        """Return whether they can only deny it: it is their own run."""
        return self.is_open and self.obstacle == answerers.OWN_RUN

    @property
    def is_human(self) -> bool:
        """Return whether the step itself asks, and no call follows."""
        return human.asks(self.capability)

    @property
    def is_release(self) -> bool:
        """Return whether the call has happened, and its output is what needs an approval."""
        return self.row.kind == Asks.APPROVE and self.shown.get("output") is not None

    @property
    def asks_input(self) -> bool:
        return bool(self.row.kind == Asks.INPUT)

    @property
    def asks_doubt(self) -> bool:
        return bool(self.row.kind == Asks.DOUBT)

    @property
    def capability(self) -> str:
        return str(self.shown.get("capability", ""))

    @property
    def head(self) -> str:
        if not self.is_open:
            return labels.question_state(self.row.state, self.row.kind)
        if self.is_late:
            return "The time to answer has run out"
        if self.obstacle:
            return "Waiting for somebody else"
        return {Asks.INPUT: "Your input is needed", Asks.DOUBT: "Did it happen?"}.get(
            Asks(self.row.kind), "Your approval is needed"
        )

    @property
    def icon(self) -> str:
        if self.is_open:
            return "ask" if self.asks_doubt else "person"
        return {APPROVED: "check", DENIED: "x", EXPIRED: "clock"}.get(self.row.state, "skip")

    @cached_property
    def title(self) -> SafeString:
        return self.drawing.text(shorten(one_line(self._question[: 2 * _TITLE_CHARS]), _TITLE_CHARS))

    @property
    def _question(self) -> str:
        if self.is_human:
            return human.question_of(self.shown.get("input")) or (
                "Give the input" if self.asks_input else "Approve this"
            )
        if self.asks_doubt:
            return f"Did the call of {self.capability} happen?"
        return (
            f"Release the output of {self.capability}?" if self.is_release else f"Allow the call of {self.capability}?"
        )

    @cached_property
    def whole_question(self) -> Cell | None:
        """The question, if the title does not hold all of it."""
        is_long = len(self._question) > _TITLE_CHARS or "\n" in self._question
        return self.drawing.cell(ValueRow("", self._question)) if is_long else None

    @property
    def reason(self) -> SafeString | str:
        text = str(self.shown.get("reason") or "")
        return "" if self.is_human else self.drawing.text(text)

    @cached_property
    def help(self) -> Cell | None:
        given = self.shown.get("input")
        text = given.get("help") if isinstance(given, Mapping) and self.asks_input else None
        return self.drawing.cell(ValueRow("", text)) if isinstance(text, str) and text else None

    # -- Facts about the call -----------------------------------------------------------------------------------

    @cached_property
    def call(self) -> CallFacts:
        return CallFacts() if self.is_human else question_calls.facts(self.row)

    @property
    def effects(self) -> str:
        if not self.shown.get("side_effects"):
            return "It changes nothing outside this run."
        undo = _UNDO.get(str(self.shown.get("reversible")), "Its definition does not say whether it can be undone.")
        return f"It changes something elsewhere. {undo}"

    @property
    def is_irreversible(self) -> bool:
        return bool(self.shown.get("side_effects")) and self.shown.get("reversible") is not True

    @cached_property
    def verdicts(self) -> list[VerdictRow]:
        return [self._verdict(each) for each in self.shown.get("verdicts") or ()]

    def _verdict(self, verdict: Mapping[str, Json]) -> VerdictRow:
        allowed, reason = verdict.get("allowed"), self.drawing.text(str(verdict.get("reason") or ""))
        words = ("Gave no verdict", "failed", "error")
        if allowed is True:
            words = ("Allows it", "done", "check")
        elif allowed is False:
            words = _VERDICTS.get(str(verdict.get("on_fail")), _VERDICTS[BLOCK])
        return VerdictRow(str(verdict.get("gate", "")), *words, reason)

    @cached_property
    def input(self) -> ValueTable:
        """The input of the call. The parts of a question of the workflow are elsewhere in the panel."""
        given = self.shown.get("input")
        if not self.is_human or not isinstance(given, dict):
            return self.drawing.table(given)
        if self.asks_input:
            return self.drawing.table(given, without=("question", "fields", "help"))
        return self.drawing.table(given["details"]) if "details" in given else ValueTable(())

    @property
    def input_title(self) -> str:
        if self.is_human:
            return "What to look at"
        return "What was sent" if self.asks_doubt or self.is_release else "What it sends"

    @cached_property
    def output(self) -> ValueTable | None:
        return self.drawing.table(self.shown["output"]) if self.is_release else None

    @cached_property
    def changes(self) -> Changes | None:
        """The differences from the question that the run asked at this step before."""
        return question_changes.between(self._before, self.row, self.drawing) if self._before else None

    # -- Who answers, and until when ----------------------------------------------------------------------------

    @property
    def starter(self) -> User | Any:
        return self.run.user or self.run.agent or self.run.started_by

    @property
    def is_by_agent(self) -> bool:
        return self.run.agent_id is not None

    @property
    def who(self) -> str:
        """Say who may answer, as the question names them."""
        named = [*self.row.people, *(_ROLES.get(role, f"every {role}") for role in self.row.roles)]
        if not named:
            return "Every reviewer and owner"
        return _or(named) if self.row.people else _or(named).capitalize()  # user names stay as they are

    @property
    def able_names(self) -> str:
        """Name people who may answer, or return an empty text if there is nobody."""
        names = [user.display_name for user in self.able]
        more = len(names) - _MOST_NAMED
        return _or([*names[:_MOST_NAMED], counted(more, "other")] if more > 0 else names)

    @property
    def approvals(self) -> str:
        if self.row.needed <= 1:
            return ""
        words = f"{len(self.approved_by)} of {self.row.needed}"
        return f"{words}: {', '.join(self.approved_by)}" if self.approved_by else words

    @property
    def is_last_approval(self) -> bool:
        return len(self.approved_by) + 1 >= int(self.row.needed)

    @cached_property
    def _step(self) -> Step | None:
        return question_calls.step_of(self.run, self.row.path)

    @property
    def denial(self) -> str:
        """Say what a denial means for the run."""
        if self._step is not None and self._step.on_deny:
            return f"the run goes on with the step {self._step.on_deny} instead"
        return "the run ends" if self.run.options.get("fail_fast", True) else "steps that need this one do not run"

    # -- Forms --------------------------------------------------------------------------------------------------

    @cached_property
    def interrupted(self) -> InterruptedCall | None:
        return question_calls.interrupted(self.row) if self.asks_doubt else None

    @cached_property
    def form(self) -> FieldForm | None:
        """The form of an open question that asks for input, or for the result of a call in doubt."""
        if self.row.kind == Asks.APPROVE or not self.may_answer:
            return None
        return FieldForm(self._fields, self._data, prefix=f"q{self.row.pk}")

    @property
    def _fields(self) -> Fields:
        if self.interrupted is not None:
            return self.interrupted.outputs
        try:
            return declared_fields(self.shown["input"].get("fields"))
        except StepFailed:
            return {}

    @property
    def comment(self) -> str:
        return self._data.get("comment", "") if self._data is not None else ""

    # -- The answer ---------------------------------------------------------------------------------------------

    @cached_property
    def makers(self) -> str:
        """Name the people who approved it although they made a token of the agent."""
        approvals = self.row.approvals.filter(own_agent=True).select_related("user") if self.is_by_agent else ()
        return ", ".join(each.user.display_name for each in approvals)

    @cached_property
    def answer(self) -> ValueTable | None:
        value = self.row.value
        if self.is_open or not isinstance(value, Mapping):
            return None
        return self.drawing.table(value.get("output") if self.asks_doubt else value)

    @property
    def did_happen(self) -> bool | None:
        value = self.row.value
        return value.get("happened") if self.asks_doubt and isinstance(value, Mapping) else None


def _or(names: Sequence[str]) -> str:
    return " or ".join((", ".join(names[:-1]), names[-1])) if len(names) > 1 else "".join(names)
