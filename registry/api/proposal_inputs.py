"""Request bodies about proposals."""

from typing import Any

from rest_framework import serializers

from registry.api.inputs import GatedInput, StrictInput
from registry.core.text.merge_bundles import MINE, THEIRS
from registry.services.proposals.prepare import KINDS
from registry.services.proposals.rebasing import Choices

_EDITS = ("diff", "skill_md", "files")
_SIDES = {"now": THEIRS, "proposed": MINE}


class _Edit(StrictInput):
    skill_md = serializers.CharField(required=False, trim_whitespace=False, help_text="The whole SKILL.md.")
    files = serializers.DictField(
        child=serializers.JSONField(allow_null=True),
        required=False,
        help_text='Paths and their new text, {"base64": "…"} for binary files, or null to delete a file.',
    )


class RevisionInput(_Edit):
    diff = serializers.CharField(
        required=False, trim_whitespace=False, help_text="A unified diff of SKILL.md or of several files."
    )
    base_digest = serializers.CharField(
        required=False,
        allow_blank=True,
        allow_null=True,
        help_text="The digest that you started from. The default is the current one.",
    )
    justification = serializers.CharField(required=False, allow_blank=True, default="")
    evidence = serializers.ListField(
        child=serializers.JSONField(), required=False, default=list, help_text="Texts, links or log excerpts."
    )
    run = serializers.CharField(
        required=False, allow_blank=True, default="", help_text="The run or task that led to this proposal."
    )


class ProposalInput(RevisionInput):
    skill = serializers.CharField()
    kind = serializers.ChoiceField(choices=KINDS, required=False, allow_null=True)
    justification = serializers.CharField(help_text="The reason for the change. Reviewers read it first.")


class ApproveInput(GatedInput, _Edit):
    result_digest = serializers.CharField(
        allow_blank=True, allow_null=True, help_text="The result that you reviewed; null for a proposal to delete."
    )
    base_digest = serializers.CharField(
        required=False, help_text="The version that you saw it change or delete, as an extra check."
    )
    comment = serializers.CharField(required=False, allow_blank=True, default="")


class CommentInput(StrictInput):
    comment = serializers.CharField()


class CommentIfAny(StrictInput):
    comment = serializers.CharField(required=False, allow_blank=True, default="")


class RebaseInput(StrictInput):
    choices = serializers.DictField(
        child=serializers.ChoiceField(choices=list(_SIDES)),
        required=False,
        help_text="The side to keep where both changed the same lines, by the keys in `rebase.conflicts`.",
    )
    revision = serializers.IntegerField(required=False, help_text="The revision that you made the choices for.")
    base_digest = serializers.CharField(required=False, help_text="`rebase.base_digest` at that time.")


class RecommendInput(StrictInput):
    verdict = serializers.ChoiceField(choices=["approve", "reject"])
    reason = serializers.CharField()


def edit_fields(body: dict[str, Any]) -> dict[str, Any]:
    return {name: body[name] for name in _EDITS if body.get(name) is not None}


def rebase_choices(body: dict[str, Any]) -> Choices | None:
    if not body.get("choices"):
        return None
    sides = {key: _SIDES[side] for key, side in body["choices"].items()}
    return Choices(body.get("revision", 0), body.get("base_digest", ""), sides)
