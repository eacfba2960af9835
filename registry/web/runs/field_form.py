"""Forms made from declared fields: for the answer of a person, and for the result of a call."""

from django import forms
from django.http import QueryDict

from registry.core.workflows.values import Fields, Json
from registry.web.runs.value_fields import value_field


class FieldForm(forms.Form):
    """A form with one field for each declared one. `given` returns the values that were typed in.

    Names of fields are free text, so the inputs are numbered.
    """

    def __init__(self, fields: Fields, data: QueryDict | None, *, prefix: str) -> None:
        super().__init__(data, prefix=prefix)
        self._names = {f"field-{number}": name for number, name in enumerate(fields)}
        for name, field in zip(self._names, fields.values(), strict=True):
            self.fields[name] = value_field(field, missing="Fill this in.")

    def given(self) -> dict[str, Json]:
        """Return the values by the names of the declared fields, without those that were left empty."""
        found = {label: self.cleaned_data[name] for name, label in self._names.items()}
        return {label: value for label, value in found.items() if value is not None}
