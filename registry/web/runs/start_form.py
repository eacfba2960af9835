"""The form that starts a run. Its fields are made from the inputs of the workflow."""

from collections.abc import Mapping
from typing import Any

from django import forms

from registry.core.workflows.state import FRAME_FIELDS
from registry.core.workflows.values import Field, Fields, Json
from registry.services.workflows.runs import MOST_DEADLINE_SECONDS, MOST_WORKERS, Options
from registry.web.humanize import number
from registry.web.runs.value_fields import ValueField, value_field

INPUT, ADVANCED = "in-", "with-"  # starts of field names
_MOST_MINUTES = MOST_DEADLINE_SECONDS // 60


class StartForm(forms.Form):
    """Inputs are `in-NAME`. `values` are those that were given: an empty box is no value."""

    def __init__(self, fields: Fields, data: Mapping[str, Any] | None = None) -> None:
        super().__init__(data)
        self.inputs = fields
        for name, field in fields.items():
            self.fields[f"{INPUT}{name}"] = value_field(field, missing=f"Fill in {name}. The workflow needs it.")
        self.fields |= _advanced_fields()
        self.label_suffix = ""

    @property
    def input_fields(self) -> list[forms.BoundField]:
        return [self[f"{INPUT}{name}"] for name in self.inputs]

    @property
    def advanced_fields(self) -> list[forms.BoundField]:
        return [self[name] for name in self.fields if name.startswith(ADVANCED)]

    @property
    def refused_fields(self) -> list[forms.BoundField]:
        return [bound for bound in self if bound.errors]

    @property
    def is_advanced_open(self) -> bool:
        """Tell whether one of the options was changed, or refused."""
        return self.is_bound and any(bound.errors or bound.name in self.changed_data for bound in self.advanced_fields)

    @property
    def values(self) -> dict[str, Json]:
        found = {name: self.cleaned_data[f"{INPUT}{name}"] for name in self.inputs}
        return {name: value for name, value in found.items() if value is not None}

    @property
    def frame(self) -> dict[str, Json] | None:
        given = {name: self.cleaned_data[f"{ADVANCED}{name}"] for name in ("goal", "context")}
        return {name: value for name, value in given.items() if value not in (None, "")} or None

    @property
    def options(self) -> Options:
        minutes = self.cleaned_data[f"{ADVANCED}deadline"]
        return Options(
            max_workers=self.cleaned_data[f"{ADVANCED}workers"],
            fail_fast=self.cleaned_data[f"{ADVANCED}failures"] != "go-on",
            deadline_seconds=None if minutes is None else minutes * 60,
        )


def _advanced_fields() -> dict[str, forms.Field]:
    minutes = f"Enter minutes from 1 to {number(_MOST_MINUTES)}."
    workers = f"Enter a number from 1 to {MOST_WORKERS}."
    numbers = ("invalid", "min_value", "max_value")
    return {
        f"{ADVANCED}deadline": forms.IntegerField(
            label="Stop after", required=False, min_value=1, max_value=_MOST_MINUTES,
            help_text="Minutes, with the time that it waits for people. Empty means no limit.",
            error_messages=dict.fromkeys(numbers, minutes),
        ),
        f"{ADVANCED}workers": forms.IntegerField(
            label="Calls at once", required=False, min_value=1, max_value=MOST_WORKERS,
            help_text=f"At most {MOST_WORKERS}. Empty means the setting of the site.",
            error_messages=dict.fromkeys(numbers, workers),
        ),
        f"{ADVANCED}failures": forms.ChoiceField(
            label="If a step fails", initial="stop", required=False,
            choices=[("stop", "Stop the run"), ("go-on", "Go on with the steps that don’t need it")],
        ),
        f"{ADVANCED}goal": ValueField(
            Field("goal", FRAME_FIELDS["goal"]), label="Goal", required=False, widget=forms.Textarea(attrs={"rows": 2}),
            help_text="Steps can read it as frame.goal.",
        ),
        f"{ADVANCED}context": ValueField(
            Field("context", FRAME_FIELDS["context"]), label="Context", required=False,
            widget=forms.Textarea(attrs={"rows": 3, "spellcheck": "false"}),
            help_text='JSON, such as {"customer": "Ada"}. Steps can read it as frame.context.',
        ),
    }  # fmt: skip
