"""Request bodies about sources."""

from typing import Any

from rest_framework import serializers

from registry.api.inputs import GatedInput, StrictInput
from registry.core.sources import import_request
from registry.core.sources.import_request import ImportRequest
from registry.models.sources import KINDS


class SourceInput(StrictInput):
    kind = serializers.ChoiceField(choices=KINDS)
    address = serializers.CharField(help_text="An https:// address without credentials.")
    ref = serializers.CharField(required=False, allow_blank=True, default="", help_text="git: branch, tag or commit.")
    label = serializers.CharField(  # type: ignore[assignment]  # `Field` has an attribute of this name
        required=False, allow_blank=True, default="", help_text="A name for people."
    )


class _NewNameInput(StrictInput):
    # `as` is a keyword, so it cannot be an attribute.
    def get_fields(self) -> dict[str, Any]:
        new_name = serializers.CharField(
            required=False, allow_blank=True, default="", help_text="The name in the project."
        )
        return {**super().get_fields(), "as": new_name}


class PreviewInput(_NewNameInput):
    name = serializers.CharField(help_text="The name in the source.")
    again = serializers.BooleanField(required=False, default=False, help_text="Fetch it from the source again.")


class SearchInput(StrictInput):
    q = serializers.CharField(help_text="At least two characters.")


class ImportEntryInput(GatedInput, _NewNameInput):
    name = serializers.CharField(help_text="The name in the source.")
    digest = serializers.CharField(
        required=False,
        allow_blank=True,
        default="",
        help_text="The digest of the bundle that you previewed. No other bundle is imported.",
    )
    on_conflict = serializers.ChoiceField(
        choices=import_request.ON_CONFLICT,
        required=False,
        default=import_request.SKIP,
        help_text="The action if another skill has the name.",
    )
    if_edited = serializers.ChoiceField(
        choices=import_request.IF_EDITED,
        required=False,
        allow_blank=True,
        default="",
        help_text="The action if the skill was edited in the project.",
    )
    seen = serializers.CharField(
        required=False, allow_blank=True, default="", help_text="The digest of the project's skill that you saw."
    )
    answers = serializers.DictField(
        child=serializers.CharField(), required=False, default=dict, help_text="theirs or mine for each conflict."
    )


class ImportInput(StrictInput):
    skills = ImportEntryInput(many=True, allow_empty=False)


def parse_import_request(body: dict[str, Any]) -> ImportRequest:
    return ImportRequest(**{("new_name" if key == "as" else key): value for key, value in body.items()})
