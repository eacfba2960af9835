"""Proposals over the API: agents suggest and learn what became of it, people decide."""

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from registry import models
from registry.api import proposal_inputs as inputs
from registry.api import proposal_shapes as shapes
from registry.api import write_view
from registry.api.read_view import Answer, Read, as_json, page
from registry.api.write_view import Write, actor
from registry.core import roles
from registry.core.bundle import normalise
from registry.core.errors import Forbidden, InvalidRequest
from registry.core.proposals.lifecycle import State
from registry.core.text import edits
from registry.services import permissions
from registry.services.agents.tokens import Caller
from registry.services.proposals import prepare, proposal_queries, proposals, rebasing, reviews
from registry.services.proposals.prepare import Suggestion
from registry.services.skills.stale_proposals import DELETE

_FILTERS = [
    OpenApiParameter("state", str, enum=[str(state) for state in State]),
    OpenApiParameter("skill", str, description="Those for one skill."),
    OpenApiParameter("mine", bool, description="1: only my own. Agents get only their own unless it is 0."),
    OpenApiParameter("limit", int),
    OpenApiParameter("offset", int),
]


class _Reading(Read):
    """Answers differ between callers, so none is kept for another one."""

    changes_unseen = True

    def permit(self, caller: Caller, **kwargs: str) -> None:
        if not caller.actor.may(roles.PROPOSE) and not caller.actor.may(roles.REVIEW):
            raise Forbidden("This token has neither the scope “propose” nor “review”.", scope=roles.PROPOSE)


class Proposals(_Reading, Write):
    @extend_schema(
        operation_id="proposals",
        summary="Proposals, newest first: reviewers see all, others their own with what became of them",
        parameters=_FILTERS,
        responses=shapes.ProposalsPage,
    )
    def get(self, request: Request, project: str) -> Response:
        raise NotImplementedError

    def answer(self, request: HttpRequest, caller: Caller, **kwargs: str) -> Answer:
        asked = page(request)
        found = proposals.listed(
            models.Project(pk=caller.project_id),
            state=_state(request),
            skill=normalise(request.GET.get("skill", "")),
            mine=_switch(request, "mine"),
            by=caller.actor,
        )
        shown = [shapes.summary(each) for each in found[asked.offset : asked.offset + asked.limit]]
        return as_json({"results": shown, "next": asked.next_link(request, found.count())})

    @extend_schema(
        operation_id="propose",
        summary="Suggest a change of one skill; the very same one that waits already is joined",
        request=inputs.ProposalInput,
        responses={201: shapes.ProposedShape, 200: shapes.ProposedShape},
    )
    def post(self, request: Request, project: str) -> Response:
        where, by = write_view.project(request), actor(request)
        permissions.require(by, roles.PROPOSE, where)
        given = inputs.checked(inputs.ProposalInput, request)
        proposed = proposals.propose(where, _suggestion(given, given["skill"]), by=by)
        return Response(shapes.proposed(proposed), status=200 if proposed.joined else 201)


class Proposal(_Reading, Write):
    @extend_schema(
        operation_id="proposal",
        summary="One proposal: the change, what it does, its history and what was said about it",
        responses=shapes.ProposalShape,
    )
    def get(self, request: Request, project: str, proposal: str) -> Response:
        raise NotImplementedError

    def answer(self, request: HttpRequest, caller: Caller, **kwargs: str) -> Answer:
        found = proposal_queries.look(models.Project(pk=caller.project_id), _id(kwargs["proposal"]), by=caller.actor)
        return as_json(shapes.whole(found))

    @extend_schema(
        operation_id="revise_proposal",
        summary="The proposer's next try, made against what stands now",
        request=inputs.RevisionInput,
        responses=shapes.ProposedShape,
    )
    def put(self, request: Request, project: str, proposal: str) -> Response:
        where, by = write_view.project(request), actor(request)
        standing = proposals.require_proposer(where, _id(proposal), by=by)
        given = inputs.checked(inputs.RevisionInput, request)
        keeps = standing.kind == DELETE and not inputs.edits_in(given)
        given.setdefault("kind", DELETE if keeps else None)
        proposed = proposals.revise(where, standing.pk, _suggestion(given, standing.skill), by=by)
        return Response(shapes.proposed(proposed))


class Withdraw(Write):
    @extend_schema(
        operation_id="withdraw_proposal",
        summary="The proposer takes it back",
        request=inputs.CommentIfAny,
        responses=shapes.SummaryShape,
    )
    def post(self, request: Request, project: str, proposal: str) -> Response:
        where, by = write_view.project(request), actor(request)
        proposals.require_proposer(where, _id(proposal), by=by)
        given = inputs.checked(inputs.CommentIfAny, request)
        return Response(shapes.summary(proposals.withdraw(where, _id(proposal), comment=given["comment"], by=by)))


class Approve(Write):
    @extend_schema(
        operation_id="approve_proposal",
        summary="Let through exactly the result that you saw, or your edit of it",
        request=inputs.ApproveInput,
        responses=shapes.SummaryShape,
    )
    def post(self, request: Request, project: str, proposal: str) -> Response:
        where, by = write_view.project(request), actor(request)
        reviews.may_decide(where, _id(proposal), approving=True, by=by)
        given = inputs.checked(inputs.ApproveInput, request)
        decided = reviews.approve(
            where,
            _id(proposal),
            result_digest=given["result_digest"] or "",
            base_digest=given.get("base_digest"),
            comment=given["comment"],
            edit=edits.parse(**inputs.edits_in(given)) if inputs.edits_in(given) else None,
            by=by,
        )
        return Response(shapes.summary(decided))


class Reject(Write):
    @extend_schema(
        operation_id="reject_proposal",
        summary="End a proposal, and say why",
        request=inputs.CommentInput,
        responses=shapes.SummaryShape,
    )
    def post(self, request: Request, project: str, proposal: str) -> Response:
        return _answered(request, proposal, reviews.reject)


class RequestChanges(Write):
    @extend_schema(
        operation_id="request_changes",
        summary="Send a proposal back, and say what to change",
        request=inputs.CommentInput,
        responses=shapes.SummaryShape,
    )
    def post(self, request: Request, project: str, proposal: str) -> Response:
        return _answered(request, proposal, reviews.request_changes)


def _answered(request: Request, proposal: str, verb: Callable[..., models.Proposal]) -> Response:
    """Whoever may not decide learns that before what they sent is looked at."""
    where, by = write_view.project(request), actor(request)
    reviews.may_decide(where, _id(proposal), by=by)
    given = inputs.checked(inputs.CommentInput, request)
    return Response(shapes.summary(verb(where, _id(proposal), comment=given["comment"], by=by)))


class Rebase(Write):
    @extend_schema(
        operation_id="rebase_proposal",
        summary="Bring a stale proposal over to what stands now; it has to be looked at again",
        request=inputs.RebaseInput,
        responses=shapes.SummaryShape,
    )
    def post(self, request: Request, project: str, proposal: str) -> Response:
        where, by = write_view.project(request), actor(request)
        rebasing.may_rebase(where, _id(proposal), by=by)
        choices = inputs.choices_in(inputs.checked(inputs.RebaseInput, request))
        return Response(shapes.summary(rebasing.rebase(where, _id(proposal), choices=choices, by=by)))


class Comments(Write):
    @extend_schema(
        operation_id="comment_on_proposal",
        summary="Say something about a proposal",
        request=inputs.CommentInput,
        responses={201: shapes.CommentShape},
    )
    def post(self, request: Request, project: str, proposal: str) -> Response:
        where, by = write_view.project(request), actor(request)
        proposals.find(where, _id(proposal), by=by)
        given = inputs.checked(inputs.CommentInput, request)
        said = proposals.comment(where, _id(proposal), given["comment"], by=by)
        return Response(shapes.comment(said), status=201)


class Recommend(Write):
    @extend_schema(
        operation_id="recommend",
        summary="An agent's advice to the reviewers, where an owner allows it; a person decides",
        request=inputs.RecommendInput,
        responses={201: shapes.RecommendationShape},
    )
    def post(self, request: Request, project: str, proposal: str) -> Response:
        where, by = write_view.project(request), actor(request)
        reviews.may_recommend(where, _id(proposal), by=by)
        given = inputs.checked(inputs.RecommendInput, request)
        advice = reviews.recommend(where, _id(proposal), verdict=given["verdict"], reason=given["reason"], by=by)
        return Response(shapes.recommendation(advice), status=201)


def _suggestion(given: dict[str, Any], skill: str) -> Suggestion:
    change = inputs.edits_in(given)
    kind = given.get("kind")
    if kind == DELETE and change:
        raise InvalidRequest("A proposal to delete a skill carries no change of it. Nothing was stored.")
    return Suggestion(
        skill=skill,
        edit=None if kind == DELETE else edits.parse(**change),
        justification=given["justification"],
        evidence=prepare.evidence(given["evidence"]),
        kind=kind,
        base_digest=given.get("base_digest"),
        run=given["run"],
    )


def _id(text: str) -> int:
    """0, which no proposal has, for what is no number."""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else 0


def _state(request: HttpRequest) -> str:
    text = request.GET.get("state", "")
    if text and text not in list(State):
        raise InvalidRequest(f"state is one of {', '.join(State)}; not {text[:40]!r}.")
    return text


def _switch(request: HttpRequest, name: str) -> bool | None:
    text = request.GET.get(name, "")
    if text not in ("", "0", "1", "true", "false"):
        raise InvalidRequest(f"{name} is 1 or 0; not {text[:40]!r}.")
    return None if not text else text in ("1", "true")
