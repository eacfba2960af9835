"""Views of the values of a run: those that are too large for its own answer, its state, and the lineage of a value."""

from django.http import HttpRequest
from drf_spectacular.utils import OpenApiParameter, extend_schema

from registry.api import run_value_answers as answers
from registry.api.inputs import row_id
from registry.api.read_view import Answer, RowRead, as_json
from registry.api.run_answers import RunQuestionShape, question_shape
from registry.core.errors import InvalidRequest
from registry.core.workflows import references
from registry.models import Project
from registry.services.agents.tokens import Caller
from registry.services.workflows import run_details, run_versions

_LINEAGE = [
    OpenApiParameter("of", str, required=True, description="A value of the state, such as `outputs.summary`."),
    OpenApiParameter("scope", str, description="The path of the nested skill that the value belongs to."),
]


class RunRead(RowRead):
    """A read of a run, or of a part of it. It changes only if the run does."""

    def row_version(self, caller: Caller, run: str, **_: str) -> str:
        return run_versions.tag(Project(pk=caller.project_id), row_id(run), by=caller.actor)


class Values(RunRead):
    @extend_schema(
        operation_id="run_values",
        summary="Get the inputs and outputs of a run, however large they are",
        responses=answers.RunValuesShape,
    )
    def get(self, request: HttpRequest, caller: Caller, run: str) -> Answer:
        found = run_details.run_values(Project(pk=caller.project_id), row_id(run), by=caller.actor)
        return as_json(answers.RunValuesShape(inputs=found["inputs"], outputs=found["outputs"]))


class StepValues(RunRead):
    @extend_schema(
        operation_id="run_step",
        summary="Get the input and output of one step, however large they are",
        responses=answers.StepValuesShape,
    )
    def get(self, request: HttpRequest, caller: Caller, run: str, path: str) -> Answer:
        found = run_details.step_values(Project(pk=caller.project_id), row_id(run), path, by=caller.actor)
        return as_json(answers.StepValuesShape(path=path, input=found["input"], output=found["output"]))


class Question(RunRead):
    @extend_schema(
        operation_id="run_question",
        summary="Get one question of a run with everything that it shows",
        responses=RunQuestionShape,
    )
    def get(self, request: HttpRequest, caller: Caller, run: str, question: str) -> Answer:
        where = Project(pk=caller.project_id)
        found = run_details.question(where, row_id(run), row_id(question), by=caller.actor)
        return as_json(question_shape(found))


class State(RunRead):
    @extend_schema(
        operation_id="run_state",
        summary="Get the state of a run, rebuilt from the records of its steps",
        responses=answers.RunStateShape,
    )
    def get(self, request: HttpRequest, caller: Caller, run: str) -> Answer:
        return as_json(run_details.state_of(Project(pk=caller.project_id), row_id(run), by=caller.actor))


class Lineage(RunRead):
    @extend_schema(
        operation_id="run_lineage",
        summary="List the steps that contributed to a value of a run, with what they read and wrote",
        parameters=_LINEAGE,
        responses=answers.LineageShape,
    )
    def get(self, request: HttpRequest, caller: Caller, run: str) -> Answer:
        target, scope = request.GET.get("of", ""), request.GET.get("scope", "")[:500]
        if references.parse(target[: references.MOST_CHARACTERS + 1]) is None:
            names = ", ".join(references.NAMESPACES)
            raise InvalidRequest(f"of names a value such as outputs.summary. Its first part is one of {names}.")
        where = Project(pk=caller.project_id)
        found = run_details.lineage_of(where, row_id(run), target, scope=scope, by=caller.actor)
        return as_json(answers.lineage_shape(target, found))
