"""What requests about proposals say."""

from typing import Any

from rest_framework import serializers
from rest_framework.request import Request

from registry.api.shapes import Strict
from registry.core.text.merge_bundles import MINE, THEIRS
from registry.services.proposals.prepare import KINDS
from registry.services.proposals.rebasing import Choices

_EDITS = ("diff", "skill_md", "files")
_SIDES = {"now": THEIRS, "proposed": MINE}


class _Edit(Strict):
    skill_md = serializers.CharField(required=False, trim_whitespace=False, help_text="The whole SKILL.md.")
    files = serializers.DictField(
        child=serializers.JSONField(allow_null=True),
        required=False,
        help_text='Paths to their new text, {"base64": "…"} for binary, or null to remove the file.',
    )


class RevisionInput(_Edit):
    diff = serializers.CharField(
        required=False, trim_whitespace=False, help_text="A unified diff of SKILL.md, or of several files."
    )
    base_digest = serializers.CharField(
        required=False,
        allow_blank=True,
        allow_null=True,
        help_text="What you started from; the current one if left out.",
    )
    justification = serializers.CharField(required=False, allow_blank=True, default="")
    evidence = serializers.ListField(
        child=serializers.JSONField(), required=False, default=list, help_text="Texts, links or excerpts of logs."
    )
    run = serializers.CharField(required=False, allow_blank=True, default="", help_text="The run or task it came from.")


class ProposalInput(RevisionInput):
    skill = serializers.CharField()
    kind = serializers.ChoiceField(choices=KINDS, required=False, allow_null=True)
    justification = serializers.CharField(help_text="Why. A reviewer reads it first.")


class ApproveInput(_Edit):
    result_digest = serializers.CharField(
        allow_blank=True, allow_null=True, help_text="The result you saw; null for a proposal to delete."
    )
    base_digest = serializers.CharField(required=False, help_text="The text you saw it change or delete, to be sure.")
    comment = serializers.CharField(required=False, allow_blank=True, default="")


class CommentInput(Strict):
    comment = serializers.CharField()


class CommentIfAny(Strict):
    comment = serializers.CharField(required=False, allow_blank=True, default="")


class RebaseInput(Strict):
    choices = serializers.DictField(
        child=serializers.ChoiceField(choices=list(_SIDES)),
        required=False,
        help_text="Where both changed the same lines: which text is taken, by the keys in `rebase.conflicts`.",
    )
    revision = serializers.IntegerField(required=False, help_text="The revision that the choices were made for.")
    base_digest = serializers.CharField(required=False, help_text="`rebase.base_digest` as it was then.")


class RecommendInput(Strict):
    verdict = serializers.ChoiceField(choices=["approve", "reject"])
    reason = serializers.CharField()


def checked(shape: type[Strict], request: Request) -> dict[str, Any]:
    given = shape(data=request.data)
    given.is_valid(raise_exception=True)
    return dict(given.validated_data)


def edits_in(given: dict[str, Any]) -> dict[str, Any]:
    return {name: given[name] for name in _EDITS if given.get(name) is not None}


def choices_in(given: dict[str, Any]) -> Choices | None:
    if not given.get("choices"):
        return None
    taken = {key: _SIDES[side] for key, side in given["choices"].items()}
    return Choices(given.get("revision", 0), given.get("base_digest", ""), taken)
