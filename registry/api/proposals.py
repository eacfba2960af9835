"""Views of proposals: agents and people propose changes and follow them, reviewers decide."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from registry import models
from registry.api import proposal_answers as answers
from registry.api import proposal_inputs as inputs
from registry.api import write_view
from registry.api.inputs import row_id, validate
from registry.api.read_view import PAGE_PARAMETERS, Answer, Read, as_json, flag, parse_page
from registry.api.write_view import Write, actor
from registry.core import roles
from registry.core.bundle import normalise
from registry.core.errors import Forbidden, InvalidRequest
from registry.core.proposals.lifecycle import State
from registry.core.text import edits
from registry.services import permissions
from registry.services.agents.tokens import Caller
from registry.services.proposals import prepare, proposal_queries, proposals, rebasing, recommendations, reviews
from registry.services.proposals.prepare import Suggestion
from registry.services.skills.stale_proposals import DELETE

_FILTERS = [
    OpenApiParameter("state", str, enum=[str(state) for state in State]),
    OpenApiParameter("skill", str, description="The name of a skill."),
    OpenApiParameter(
        "mine",
        bool,
        description="1 lists only your own proposals, the default for agents. 0 lists all that you may see.",
    ),
    *PAGE_PARAMETERS,
]


class _ProposalRead(Read):
    """Answers differ between callers, so they are not cached."""

    cached = False

    def permit(self, caller: Caller, **kwargs: str) -> None:
        if not caller.actor.may(roles.PROPOSE) and not caller.actor.may(roles.REVIEW):
            raise Forbidden("This token has neither the scope “propose” nor “review”.", scope=roles.PROPOSE)


class Proposals(_ProposalRead, Write):
    @extend_schema(
        operation_id="proposals",
        summary="List proposals, newest first; only reviewers see those of others",
        parameters=_FILTERS,
        responses=answers.ProposalsPage,
    )
    def get(self, request: HttpRequest, caller: Caller) -> Answer:
        page = parse_page(request)
        found = proposals.list_proposals(
            models.Project(pk=caller.project_id),
            state=_state(request),
            skill=normalise(request.GET.get("skill", "")),
            mine=flag(request, "mine") if request.GET.get("mine") else None,
            by=caller.actor,
        )
        results = [answers.summary_shape(proposal) for proposal in found[page.bounds]]
        return as_json(answers.ProposalsPage(results=results, next=page.next_link(request, found.count())))

    @extend_schema(
        operation_id="propose",
        summary="Propose a change to one skill; if the same change is already open, you join that proposal",
        request=inputs.ProposalInput,
        responses={201: answers.ProposedShape, 200: answers.ProposedShape},
    )
    def post(self, request: Request, project: str) -> Response:
        where, by = write_view.project(request), actor(request)
        permissions.require(by, roles.PROPOSE, where)
        body = validate(inputs.ProposalInput, request)
        proposed = proposals.propose(where, _suggestion(body, body["skill"]), by=by)
        return Response(answers.proposed_shape(proposed), status=200 if proposed.joined else 201)


class Proposal(_ProposalRead, Write):
    @extend_schema(
        operation_id="proposal",
        summary="Get one proposal: its change, assessment, history and comments",
        responses=answers.ProposalShape,
    )
    def get(self, request: HttpRequest, caller: Caller, proposal: str) -> Answer:
        dossier = proposal_queries.details(models.Project(pk=caller.project_id), row_id(proposal), by=caller.actor)
        return as_json(answers.proposal_shape(dossier))

    @extend_schema(
        operation_id="revise_proposal",
        summary="Replace your proposal with a new revision against the current version",
        request=inputs.RevisionInput,
        responses=answers.ProposedShape,
    )
    def put(self, request: Request, project: str, proposal: str) -> Response:
        where, by = write_view.project(request), actor(request)
        current = proposals.require_proposer(where, row_id(proposal), by=by)
        body = validate(inputs.RevisionInput, request)
        still_deletes = current.kind == DELETE and not inputs.edit_fields(body)
        body.setdefault("kind", DELETE if still_deletes else None)
        proposed = proposals.revise(where, current.pk, _suggestion(body, current.skill), by=by)
        return Response(answers.proposed_shape(proposed))


class Withdraw(Write):
    @extend_schema(
        operation_id="withdraw_proposal",
        summary="Withdraw your proposal",
        request=inputs.CommentIfAny,
        responses=answers.SummaryShape,
    )
    def post(self, request: Request, project: str, proposal: str) -> Response:
        where, by = write_view.project(request), actor(request)
        proposals.require_proposer(where, row_id(proposal), by=by)
        body = validate(inputs.CommentIfAny, request)
        withdrawn = proposals.withdraw(where, row_id(proposal), comment=body["comment"], by=by)
        return Response(answers.summary_shape(withdrawn))


class Approve(Write):
    @extend_schema(
        operation_id="approve_proposal",
        summary="Approve exactly the result that you reviewed, or your edit of it",
        request=inputs.ApproveInput,
        responses=answers.SummaryShape,
    )
    def post(self, request: Request, project: str, proposal: str) -> Response:
        where, by = write_view.project(request), actor(request)
        reviews.may_decide(where, row_id(proposal), approving=True, by=by)
        body = validate(inputs.ApproveInput, request)
        edit = inputs.edit_fields(body)
        approved = reviews.approve(
            where,
            row_id(proposal),
            result_digest=body["result_digest"] or "",
            base_digest=body.get("base_digest"),
            comment=body["comment"],
            edit=edits.parse(**edit) if edit else None,
            gate_reason=body["gate_reason"],
            by=by,
        )
        return Response(answers.summary_shape(approved))


class Reject(Write):
    @extend_schema(
        operation_id="reject_proposal",
        summary="Reject a proposal, with a reason",
        request=inputs.CommentInput,
        responses=answers.SummaryShape,
    )
    def post(self, request: Request, project: str, proposal: str) -> Response:
        return _decide(request, proposal, reviews.reject)


class RequestChanges(Write):
    @extend_schema(
        operation_id="request_changes",
        summary="Ask the proposer for changes",
        request=inputs.CommentInput,
        responses=answers.SummaryShape,
    )
    def post(self, request: Request, project: str, proposal: str) -> Response:
        return _decide(request, proposal, reviews.request_changes)


def _decide(request: Request, proposal: str, decision: Callable[..., models.Proposal]) -> Response:
    """Check the permission before the body, so that a caller without it gets 403 for any body."""
    where, by = write_view.project(request), actor(request)
    reviews.may_decide(where, row_id(proposal), by=by)
    body = validate(inputs.CommentInput, request)
    return Response(answers.summary_shape(decision(where, row_id(proposal), comment=body["comment"], by=by)))


class Rebase(Write):
    @extend_schema(
        operation_id="rebase_proposal",
        summary="Update an outdated proposal to the current version; it then needs a new review",
        request=inputs.RebaseInput,
        responses=answers.SummaryShape,
    )
    def post(self, request: Request, project: str, proposal: str) -> Response:
        where, by = write_view.project(request), actor(request)
        rebasing.may_rebase(where, row_id(proposal), by=by)
        choices = inputs.rebase_choices(validate(inputs.RebaseInput, request))
        return Response(answers.summary_shape(rebasing.rebase(where, row_id(proposal), choices=choices, by=by)))


class Comments(Write):
    @extend_schema(
        operation_id="comment_on_proposal",
        summary="Comment on a proposal",
        request=inputs.CommentInput,
        responses={201: answers.CommentShape},
    )
    def post(self, request: Request, project: str, proposal: str) -> Response:
        where, by = write_view.project(request), actor(request)
        proposals.find(where, row_id(proposal), by=by)
        body = validate(inputs.CommentInput, request)
        comment = proposals.comment(where, row_id(proposal), body["comment"], by=by)
        return Response(answers.comment_shape(comment), status=201)


class Recommend(Write):
    @extend_schema(
        operation_id="recommend",
        summary="Recommend a decision as an agent, if an owner allows it; a person decides",
        request=inputs.RecommendInput,
        responses={201: answers.RecommendationShape},
    )
    def post(self, request: Request, project: str, proposal: str) -> Response:
        where, by = write_view.project(request), actor(request)
        recommendations.may_recommend(where, row_id(proposal), by=by)
        body = validate(inputs.RecommendInput, request)
        recommendation = recommendations.recommend(
            where, row_id(proposal), verdict=body["verdict"], reason=body["reason"], by=by
        )
        return Response(answers.recommendation_shape(recommendation), status=201)


def _suggestion(body: dict[str, Any], skill: str) -> Suggestion:
    change, kind = inputs.edit_fields(body), body.get("kind")
    if kind == DELETE and change:
        raise InvalidRequest("A proposal to delete a skill cannot change it as well. Nothing was saved.")
    return Suggestion(
        skill=skill,
        edit=None if kind == DELETE else edits.parse(**change),
        justification=body["justification"],
        evidence=prepare.evidence(body["evidence"]),
        kind=kind,
        base_digest=body.get("base_digest"),
        run=body["run"],
    )


def _state(request: HttpRequest) -> str:
    text = request.GET.get("state", "")
    if text and text not in list(State):
        raise InvalidRequest(f"state is one of {', '.join(State)}; not {text[:40]!r}.")
    return text
