"""Questions of runs: ask them, and answer them once. An answer and the wake-up of its run are one transaction."""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import F
from django.utils import timezone

from registry.core import roles
from registry.core.errors import AlreadyDecided, Conflict, Forbidden, InvalidRequest, NotFound
from registry.core.text.shorten import one_line
from registry.core.workflows import json_tree
from registry.core.workflows.capability import Properties
from registry.core.workflows.failures import StepFailed
from registry.core.workflows.field_checks import check_inputs, check_outputs
from registry.core.workflows.input_form import declared_fields
from registry.core.workflows.records import Asks
from registry.core.workflows.tasks import Ask
from registry.core.workflows.values import Json
from registry.models import Project, Run, RunApproval, RunQuestion
from registry.models.workflows import APPROVED, DENIED, EXPIRED, OPEN, WITHDRAWN
from registry.services import audit
from registry.services.audit import Change
from registry.services.capabilities import capability_registry
from registry.services.permissions import Actor, require, require_still
from registry.services.workflows import answerers, run_events, runs

COMMENT_CHARS = 1_000
_ANSWER = json_tree.Size(256 * 1024, 20_000)
_SWEPT = 200  # expired questions in one sweep


def rows(run: Run, asks: Iterable[Ask], *, now: datetime) -> list[RunQuestion]:
    """Return the rows of questions, to be stored with the decision that asks them."""
    return [_row(run, ask, now) for ask in asks]


def new(run: Run, asked: list[RunQuestion]) -> list[RunQuestion]:
    """Return the questions that are not stored yet. They are, if the commit of the decision was not confirmed."""
    known = set(RunQuestion.objects.filter(run=run, taken=False).exclude(state=WITHDRAWN).values_list("path", "digest"))
    return [each for each in asked if (each.path, each.digest) not in known]


def _row(run: Run, ask: Ask, now: datetime) -> RunQuestion:
    seconds = ask.expires_seconds or settings.WORKFLOW_ANSWER_DAYS * 86_400
    return RunQuestion(
        run=run, path=ask.path, kind=ask.kind.value, digest=ask.digest, shown=_shown(ask),
        people=list(ask.approvers.people), roles=list(ask.approvers.roles),
        needed=ask.approvers.count if ask.kind is Asks.APPROVE else 1, asked_at=now,
        expires_at=now + timedelta(seconds=seconds),
    )  # fmt: skip


def _shown(ask: Ask) -> Json:
    """Return what people see before they answer: everything that the digest covers, and why they are asked."""
    record, capability = ask.record, ask.capability
    properties: Properties = capability.properties
    return {
        "step": record.path,
        "reason": ask.reason,
        "capability": capability.id,
        "description": capability.description,
        "definition": capability.digest,
        "target": capability.target,
        "input": record.input,
        "output": record.held,
        "verdicts": [
            {"gate": each.gate, "allowed": each.allowed, "reason": each.reason, "on_fail": each.on_fail}
            for each in (*(record.verdicts or ()), *(record.post_verdicts or ()))
        ],
        "side_effects": properties.side_effects,
        "reversible": capability.safety.reversible,
        "classification": capability.safety.data_classification,
        "trust_level": capability.safety.trust_level,
    }


def approve(project: Project, run_id: int, question_id: int, *, digest: str, comment: str = "", by: Actor) -> Run:
    """Approve exactly what the question shows. A question that needs several people stays open until the last."""
    question = _may_answer(project, run_id, question_id, by=by)
    if question.kind != Asks.APPROVE:
        raise InvalidRequest("This question needs an answer, not an approval.", field="question")
    answerers.require_other(question, by)
    comment = _comment(comment)
    with audit.change(project, run_events.QUESTION_APPROVED, by=by, target=question.run.skill, revises=False) as change:
        require_still(by, roles.REVIEW, project)
        question = _locked(question, digest)
        answerers.require_other(question, by)
        own_agent = _note_own_agent(change, question, by)
        _, is_new = RunApproval.objects.get_or_create(
            question=question, user_id=by.user_id or 0, defaults={"comment": comment, "own_agent": own_agent}
        )
        is_enough = len(answerers.standing([question]).get(question.pk, ())) >= question.needed
        if not (is_new or is_enough):
            raise AlreadyDecided("You have approved this already. Other people have to approve it too.")
        change.data.update(_described(question))
        if is_enough:
            _settle(question, APPROVED, None, comment, by)
        else:
            Run.objects.filter(pk=question.run_id).update(changes=F("changes") + 1)
    return question.run


def deny(project: Project, run_id: int, question_id: int, *, digest: str, comment: str = "", by: Actor) -> Run:
    """Deny what the question asks for."""
    question = _may_answer(project, run_id, question_id, by=by)
    comment = _comment(comment)
    with audit.change(project, run_events.QUESTION_DENIED, by=by, target=question.run.skill, revises=False) as change:
        require_still(by, roles.REVIEW, project)
        question = _locked(question, digest)
        change.data.update(_described(question))
        _settle(question, DENIED, None, comment, by)
    return question.run


def answer(
    project: Project, run_id: int, question_id: int, *, digest: str, value: Json, comment: str = "", by: Actor
) -> Run:
    """Give the typed input of a question, or say whether a call that was cut off has happened.

    For a call in doubt, `value` is `{"happened": true, "output": {…}}` or `{"happened": false}`.
    """
    question = _may_answer(project, run_id, question_id, by=by)
    if question.kind == Asks.APPROVE:
        raise InvalidRequest("This question needs an approval, not an answer.", field="question")
    if question.kind == Asks.DOUBT:
        answerers.require_other(question, by)
    checked = _checked(question, value)
    comment = _comment(comment)
    with audit.change(project, run_events.QUESTION_ANSWERED, by=by, target=question.run.skill, revises=False) as change:
        require_still(by, roles.REVIEW, project)
        question = _locked(question, digest)
        if question.kind == Asks.DOUBT:
            answerers.require_other(question, by)
            _note_own_agent(change, question, by)
        change.data.update(_described(question))
        _settle(question, APPROVED, checked, comment, by)
    return question.run


def may_decide(project: Project, run_id: int, *, approving: bool = False, by: Actor) -> None:
    """Raise if the actor cannot answer questions of a run. Call it before the body of a request is read."""
    _require_person(project, by)
    run = Run.objects.filter(pk=run_id, project=project).first()
    if run is None:
        raise NotFound("There is no such run in this project.")
    if approving:
        answerers.require_other(RunQuestion(run=run, kind=Asks.APPROVE), by)


def _require_person(project: Project, by: Actor) -> None:
    require(by, roles.REVIEW, project)
    if by.user_id is None:
        raise Forbidden("Only people can answer the questions of a run.")


def _may_answer(project: Project, run_id: int, question_id: int, *, by: Actor) -> RunQuestion:
    _require_person(project, by)
    found = RunQuestion.objects.filter(pk=question_id, run=run_id, run__project=project).select_related("run").first()
    if found is None:
        raise NotFound("This run has no such question.")
    if not answerers.is_asked(found, by):
        raise Forbidden("This question is for other people. It names who may answer it.")
    return found


def _note_own_agent(change: Change, question: RunQuestion, by: Actor) -> bool:
    """Record that somebody decides about an agent for which they made a token, which the project allows."""
    own_agent = answerers.is_of_own_agent(question.run, by)
    if own_agent:
        change.data["own_agent"] = True
    return own_agent


def _locked(question: RunQuestion, digest: str) -> RunQuestion:
    """Return the question as it is inside the transaction, if it is open and the digest is the one it shows."""
    found = RunQuestion.objects.select_for_update().select_related("run").get(pk=question.pk)
    if found.state != OPEN:
        raise AlreadyDecided(f"The question was already {_words(found)}. Nothing was changed.", state=found.state)
    if found.expires_at is not None and found.expires_at <= timezone.now():
        raise AlreadyDecided("The time to answer has run out. Nothing was changed.", state=EXPIRED)
    if digest != found.digest:
        raise Conflict(
            "This is not what the run asks now. Look at the question again. Nothing was changed.", digest=found.digest
        )
    return found


def _words(question: RunQuestion) -> str:
    return "answered" if question.kind != Asks.APPROVE and question.state == APPROVED else question.state


def _settle(question: RunQuestion, state: str, value: Json, comment: str, by: Actor) -> None:
    """Store the answer, and wake the run."""
    question.state, question.value, question.comment = state, value, comment
    question.answered_by, question.answered_at = by.name[:150], timezone.now()
    question.save(update_fields=["state", "value", "comment", "answered_by", "answered_at"])
    Run.objects.filter(pk=question.run_id).update(**runs.woken())
    run_events.close_questions(question.run_id)


def _described(question: RunQuestion) -> dict[str, Json]:
    return {"run": question.run_id, "question": question.pk, "path": question.path, "digest": question.digest}


def _comment(comment: str) -> str:
    if len(comment) > COMMENT_CHARS:
        raise InvalidRequest(
            f"The comment has {len(comment):,} characters. {COMMENT_CHARS:,} are allowed. Nothing was changed.",
            field="comment",
        )
    return one_line(comment)


def _checked(question: RunQuestion, value: Json) -> Json:
    try:
        value, _ = json_tree.take(value, _ANSWER)
        if question.kind == Asks.INPUT:
            fields = declared_fields(question.shown["input"].get("fields"))
            return check_inputs(fields, value, what="The answer")
        if not isinstance(value, dict) or not isinstance(value.get("happened"), bool):
            raise InvalidRequest('The answer says whether it happened: {"happened": true} or false.', field="value")
        if not value["happened"]:
            return {"happened": False}
        fields = capability_registry.of(question.run.project_id).get(question.shown["capability"]).outputs
        output = check_outputs(fields, value.get("output") or {}, what="The result of the call")
    except json_tree.Refused as refused:
        raise InvalidRequest(f"The answer cannot be used: {refused} Nothing was changed.", field="value") from None
    except StepFailed as failed:
        raise InvalidRequest(f"{failed.failure.message} Nothing was changed.", field="value") from None
    return {"happened": True, "output": output}


def withdraw(run: Run, paths: Iterable[str] | None = None) -> None:
    """Withdraw the open questions of a run that has ended, or those of paths that have."""
    found = RunQuestion.objects.filter(run=run, state=OPEN)
    (found if paths is None else found.filter(path__in=paths)).update(state=WITHDRAWN)


def expire(*, now: datetime, by: Actor) -> int:
    """Deny the questions that nobody answered in time."""
    late = RunQuestion.objects.filter(state=OPEN, expires_at__lte=now).select_related("run__project").order_by("pk")
    expired = 0
    for found in late[:_SWEPT]:
        project = found.run.project
        with audit.change(project, run_events.QUESTION_EXPIRED, by=by, target=found.run.skill, revises=False) as change:
            question = RunQuestion.objects.select_for_update().select_related("run").get(pk=found.pk)
            if question.state != OPEN:
                change.cancel()
                continue
            change.data.update(_described(question))
            _settle(question, EXPIRED, None, "", by)
            run_events.announce_late_question(question, by=by)
            expired += 1
    return expired
