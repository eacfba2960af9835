"""The shapes of answers and requests, as the OpenAPI document and the parsers know them."""

from typing import Any

from rest_framework import serializers
from rest_framework.settings import api_settings

from registry.core.catalog.precedence import Hidden


class CatalogEntry(serializers.Serializer[Any]):
    name = serializers.CharField()
    description = serializers.CharField()


class CatalogShape(serializers.Serializer[Any]):
    skills = CatalogEntry(many=True)
    included = serializers.IntegerField()
    omitted = serializers.ListField(child=serializers.CharField())
    tokens = serializers.IntegerField()
    revision = serializers.CharField()


class HiddenShape(serializers.Serializer[Any]):
    source = serializers.CharField()
    root = serializers.CharField()
    version = serializers.CharField()
    digest = serializers.CharField()
    reason = serializers.CharField()


def hidden(one: Hidden) -> dict[str, str]:
    found = one.candidate
    return {
        "source": found.source,
        "root": found.root,
        "version": found.version,
        "digest": found.digest,
        "reason": one.reason,
    }


class EffectiveShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    source = serializers.CharField()
    version = serializers.CharField(allow_null=True)
    digest = serializers.CharField(allow_null=True)
    enabled = serializers.BooleanField()
    hides = HiddenShape(many=True)


class EffectivePage(serializers.Serializer[Any]):
    results = EffectiveShape(many=True)
    next = serializers.CharField(allow_null=True)


class LeftOutShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    directory = serializers.CharField()
    file = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)
    code = serializers.CharField()
    message = serializers.CharField()


class DiagnosticsPage(serializers.Serializer[Any]):
    results = LeftOutShape(many=True)
    next = serializers.CharField(allow_null=True)


class FileShape(serializers.Serializer[Any]):
    path = serializers.CharField()
    size = serializers.IntegerField()
    digest = serializers.CharField()


class ApprovalShape(serializers.Serializer[Any]):
    by = serializers.CharField()
    at = serializers.DateTimeField()
    digest = serializers.CharField()
    proposal = serializers.IntegerField()


class SkillShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    description = serializers.CharField()
    kind = serializers.ChoiceField(choices=["knowledge", "tool"])
    version = serializers.CharField()
    digest = serializers.CharField()
    source = serializers.CharField()
    instructions = serializers.CharField()
    tokens = serializers.IntegerField()
    summary = serializers.CharField()
    requires = serializers.ListField(child=serializers.CharField())
    hint = serializers.CharField(required=False)
    files = FileShape(many=True)
    approval = ApprovalShape(required=False, help_text="Where a proposal was approved: by whom, and which bytes.")


class FileContentShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    version = serializers.CharField()
    digest = serializers.CharField()
    path = serializers.CharField()
    size = serializers.IntegerField()
    content = serializers.CharField()


class FindingShape(serializers.Serializer[Any]):
    rule = serializers.CharField()
    severity = serializers.ChoiceField(choices=["error", "warning", "hint"])
    file = serializers.CharField()
    line = serializers.IntegerField(allow_null=True)
    message = serializers.CharField()
    fix = serializers.CharField()


class ProblemShape(serializers.Serializer[Any]):
    """What every error says. Some add what helps to go on, such as the digest that stands now."""

    type = serializers.CharField()
    title = serializers.CharField()
    status = serializers.IntegerField()
    code = serializers.CharField(help_text="For programs: it never changes.")
    detail = serializers.CharField(help_text="For people.")
    field = serializers.CharField(required=False, help_text="The input that is at fault, if it is a single one.")
    findings = FindingShape(many=True, required=False)


class SavedShape(serializers.Serializer[Any]):
    name = serializers.CharField()
    source = serializers.CharField()
    version = serializers.CharField()
    digest = serializers.CharField()
    findings = FindingShape(many=True)


class ImportedShape(SavedShape):
    action = serializers.ChoiceField(choices=["create", "override", "new-version", "unchanged"])


class PreviewShape(ImportedShape):
    description = serializers.CharField()
    tokens = serializers.IntegerField()
    size = serializers.IntegerField()
    files = FileShape(many=True)
    hides = HiddenShape(many=True)


class ProvenanceShape(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=["url", "well-known", "clawhub", "git"])
    address = serializers.CharField()
    name = serializers.CharField()
    version = serializers.CharField(allow_blank=True)
    digest = serializers.CharField(allow_blank=True)
    bundle = serializers.CharField(help_text="The digest of the bundle as the source gave it.")
    how = serializers.CharField()
    at = serializers.DateTimeField()


class VersionShape(serializers.Serializer[Any]):
    version = serializers.CharField()
    digest = serializers.CharField()
    source = serializers.CharField()
    current = serializers.BooleanField()
    note = serializers.CharField(allow_blank=True)
    by = serializers.CharField()
    agent = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    size = serializers.IntegerField()
    tokens = serializers.IntegerField()
    yanked_at = serializers.DateTimeField(allow_null=True)
    yank_reason = serializers.CharField(allow_blank=True)
    provenance = ProvenanceShape(allow_null=True, help_text="Where it came from, if from a source.")


class VersionsPage(serializers.Serializer[Any]):
    results = VersionShape(many=True)
    next = serializers.CharField(allow_null=True)


class Strict(serializers.Serializer[Any]):
    """Refuses fields it does not know, so that a typing mistake is heard of."""

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, dict) and (unknown := sorted(set(map(str, data)) - set(self.fields))):
            message = f"Unknown: {', '.join(unknown)[:200]}. There are: {', '.join(self.fields)}."
            raise serializers.ValidationError({api_settings.NON_FIELD_ERRORS_KEY: [message]})
        return super().to_internal_value(data)


class SkillInput(Strict):
    skill_md = serializers.CharField(required=False, trim_whitespace=False, help_text="The whole SKILL.md, as it is.")
    name = serializers.CharField(required=False)
    description = serializers.CharField(required=False)
    instructions = serializers.CharField(required=False, allow_blank=True, trim_whitespace=False)
    metadata = serializers.DictField(child=serializers.CharField(allow_blank=True), required=False)
    note = serializers.CharField(required=False, allow_blank=True, default="")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        parts = {"name", "description", "instructions", "metadata"} & set(attrs)
        if ("skill_md" in attrs) == bool(parts):
            raise serializers.ValidationError(
                "Send either skill_md, or description and instructions (with name and metadata where wanted)."
            )
        if parts and not {"description", "instructions"} <= parts:
            raise serializers.ValidationError("description and instructions are both needed.")
        return attrs


class NoteInput(Strict):
    note = serializers.CharField(required=False, allow_blank=True, default="")


class ReasonInput(Strict):
    reason = serializers.CharField(required=False, default="No reason was given over the API.")


class UploadInput(Strict):
    file = serializers.FileField(
        allow_empty_file=True, help_text="A zip with SKILL.md at its root or in its only directory."
    )
    note = serializers.CharField(required=False, allow_blank=True, default="")
