"""Views of security scans and suppressed findings."""

from typing import Annotated, TypedDict

from django.http import HttpRequest
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from registry.api import write_view
from registry.api.answers import timestamp
from registry.api.inputs import StrictInput, row_id, validate
from registry.api.read_view import PAGE_PARAMETERS, Answer, Read, as_json, parse_page
from registry.api.write_view import Write, actor
from registry.core import roles
from registry.core.findings import FindingShape
from registry.core.scan.report import ScanStatus
from registry.lib.json_types import OneOf, Timestamp
from registry.models import Project, Suppression
from registry.services.agents.tokens import Caller
from registry.services.catalog import catalog, skill_facts
from registry.services.catalog.current_version import ScanSummary
from registry.services.scans import scan_queries, scans, suppressions
from registry.services.scans.scan_queries import JudgedFinding, ScanDetails

_STATUS = OneOf(tuple(map(str, ScanStatus)))


class ScanSummaryShape(TypedDict):
    status: Annotated[str, _STATUS]
    errors: int
    warnings: int


class SuppressionShape(TypedDict):
    id: int
    skill: str
    digest: str
    rule: str
    file: str
    line: int | None
    reason: str
    by: str
    created_at: Timestamp
    expires_at: Timestamp
    ended_at: Annotated[Timestamp | None, "When a reviewer ended it, or when it expired and was replaced."]


class ScanFindingShape(FindingShape):
    suppression: Annotated[SuppressionShape | None, "The decision of a reviewer to accept the finding in these bytes."]
    blocks: Annotated[bool, "Whether the finding keeps the project from publishing these bytes."]


class ScanShape(TypedDict):
    digest: str
    status: Annotated[str, _STATUS]
    scanner: str
    scanned_at: Timestamp | None
    deep: Annotated[bool, "Whether the deep pass is finished."]
    unread: Annotated[list[str], "Files that were not or not completely scanned."]
    findings: list[ScanFindingShape]


class SuppressionsPage(TypedDict):
    results: list[SuppressionShape]
    next: str | None


class SuppressionInput(StrictInput):
    digest = serializers.CharField(max_length=71)
    rule = serializers.CharField(max_length=100)
    file = serializers.CharField(max_length=1000)
    line = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=1, max_value=2**31 - 1)
    reason = serializers.CharField()
    days = serializers.IntegerField(required=False, default=suppressions.DEFAULT_DAYS, max_value=2**31 - 1)


class SkillScan(Read):
    cached = False  # a suppression expires without a new revision

    @extend_schema(
        operation_id="scan",
        summary="Get the security scan of a skill",
        parameters=[OpenApiParameter("version", str, description="An exact version. The default is the current one.")],
        responses=ScanShape,
    )
    def get(self, request: HttpRequest, caller: Caller, name: str) -> Answer:
        version = request.GET.get("version")
        loaded = catalog.load(caller.project_id, name, version=version, allowed=caller.allowed)
        found = scan_queries.details(Project(pk=caller.project_id), loaded.candidate.digest)
        if found is None:
            facts = skill_facts.facts(loaded, known_names=loaded.candidate.requires)
            found = scan_queries.of_report(loaded.candidate.digest, loaded.name, scans.fast_report(facts.findings))
        return as_json(scan_shape(found))


class Suppressions(Read, Write):
    cached = False
    read_scope = roles.REVIEW
    write_scope = roles.REVIEW

    @extend_schema(
        operation_id="suppressions",
        summary="List suppressed findings, newest first, with those that ended",
        parameters=PAGE_PARAMETERS,
        responses=SuppressionsPage,
    )
    def get(self, request: HttpRequest, caller: Caller) -> Answer:
        page = parse_page(request)
        rows = suppressions.listed(Project(pk=caller.project_id), by=caller.actor)
        results = [suppression_shape(row) for row in rows[page.bounds]]
        return as_json(SuppressionsPage(results=results, next=page.next_link(request, rows.count())))

    @extend_schema(
        operation_id="suppress_finding",
        summary="Accept a finding in exactly these bytes, for a limited time",
        request=SuppressionInput,
        responses={201: SuppressionShape},
    )
    def post(self, request: Request, project: str) -> Response:
        body = validate(SuppressionInput, request)
        made = suppressions.suppress(write_view.project(request), **body, by=actor(request))
        return Response(suppression_shape(made), status=201)


class OneSuppression(Write):
    write_scope = roles.REVIEW

    @extend_schema(
        operation_id="end_suppression",
        summary="End a suppression, so that its finding counts again",
        responses={204: None},
    )
    def delete(self, request: Request, project: str, suppression: str) -> Response:
        suppressions.end(write_view.project(request), row_id(suppression), by=actor(request))
        return Response(status=204)


def summary_shape(scan: ScanSummary | None) -> ScanSummaryShape | None:
    return {"status": scan.status, "errors": scan.errors, "warnings": scan.warnings} if scan else None


def scan_shape(scan: ScanDetails) -> ScanShape:
    return {
        "digest": scan.digest,
        "status": scan.status,
        "scanner": scan.scanner,
        "scanned_at": timestamp(scan.scanned_at),
        "deep": scan.deep,
        "unread": list(scan.unread),
        "findings": [_finding_shape(each) for each in scan.findings],
    }


def _finding_shape(judged: JudgedFinding) -> ScanFindingShape:
    suppression = suppression_shape(judged.suppression) if judged.suppression else None
    return {**judged.finding.as_json(), "suppression": suppression, "blocks": judged.blocks}


def suppression_shape(row: Suppression) -> SuppressionShape:
    return {
        "id": row.pk,
        "skill": row.skill,
        "digest": row.digest,
        "rule": row.rule,
        "file": row.file,
        "line": row.line or None,
        "reason": row.reason,
        "by": row.made_by,
        "created_at": row.created_at.isoformat(),
        "expires_at": row.expires_at.isoformat(),
        "ended_at": timestamp(row.ended_at),
    }
