"""Request bodies about runs."""

from typing import Any

from rest_framework import serializers

from registry.api.inputs import StrictInput
from registry.services.workflows.runs import MOST_DEADLINE_SECONDS, MOST_WORKERS, Options


class RunOptionsInput(StrictInput):
    max_workers = serializers.IntegerField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=MOST_WORKERS,
        help_text="How many calls may run at the same time. The default is a setting of the site.",
    )
    fail_fast = serializers.BooleanField(
        required=False, default=True, help_text="Whether the first failure ends the run. Otherwise it goes on without."
    )
    deadline_seconds = serializers.FloatField(
        required=False,
        allow_null=True,
        min_value=1,
        max_value=MOST_DEADLINE_SECONDS,
        help_text="The longest time that the whole run may take, waiting for people included.",
    )


def _values(help_text: str) -> serializers.DictField:
    return serializers.DictField(child=serializers.JSONField(allow_null=True), required=False, help_text=help_text)


class RunInput(StrictInput):
    skill = serializers.CharField(help_text="A skill with a workflow.")
    version = serializers.CharField(required=False, allow_null=True, help_text="The default is the current one.")
    inputs = _values("The inputs that the workflow declares.")
    frame = _values("The goal, the context and the constraints of the run. Steps read it, and cannot change it.")
    options = RunOptionsInput(required=False)


class DecisionInput(StrictInput):
    question = serializers.IntegerField(min_value=1, help_text="The id of an open question.")
    digest = serializers.CharField(help_text="The digest of the question, as you saw it.")
    comment = serializers.CharField(required=False, allow_blank=True, default="")


class AnswerInput(DecisionInput):
    value = serializers.JSONField(
        allow_null=True,
        help_text="The fields that the question asks for. For a call that was cut off: whether it has `happened`, "
        "true or false, and its `output` if it has.",
    )


class ReplayInput(StrictInput):
    def get_fields(self) -> dict[str, Any]:
        """Return the field `from`, which is a keyword of Python."""
        help_text = "The step to start at. It and all steps that depend on it run again. By default none does."
        start = serializers.CharField(required=False, allow_blank=True, default="", help_text=help_text)
        return {"from": start}


def options_of(body: dict[str, Any]) -> Options:
    return Options(**body.get("options", {}))
