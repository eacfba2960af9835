"""The check that agents get exactly the approved bytes."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from registry.lib import lru
from registry.models import Approval, Project, Proposal, User, Version
from registry.services.permissions import Actor
from registry.services.proposals import approval_records
from tests.services.proposals.suggesting import approve, propose


def test_verify_counts_valid_versions(project: Project, skill: str, bot: Actor, reviewer: Actor) -> None:
    approve(project, propose(project, bot), reviewer)
    assert approval_records.verify() == (2, [])
    out = StringIO()
    call_command("verify_approvals", stdout=out)
    assert out.getvalue() == "2 served versions are correct, 0 problems.\n"


def tamper_with_the_version(version: Version, approval: Approval, directory: Path) -> None:
    other = Version.objects.exclude(pk=version.pk).get()
    Version.objects.filter(pk=version.pk).update(digest=other.digest, manifest=other.manifest)


def tamper_with_the_files(version: Version, approval: Approval, directory: Path) -> None:
    other = Version.objects.exclude(pk=version.pk).get()
    Version.objects.filter(pk=version.pk).update(manifest=other.manifest)


def tamper_with_the_bytes(version: Version, approval: Approval, directory: Path) -> None:
    entry = version.manifest[0]
    (directory / entry.digest[:2] / entry.digest).write_bytes(b"x" * entry.size)
    lru.clear_all()


def tamper_with_the_approval(version: Version, approval: Approval, directory: Path) -> None:
    Approval.objects.update(digest=approval.base_digest)


def tamper_with_the_proposal(version: Version, approval: Approval, directory: Path) -> None:
    Proposal.objects.update(state="rejected")


def tamper_with_the_name(version: Version, approval: Approval, directory: Path) -> None:
    Approval.objects.update(by=User.objects.exclude(pk=approval.by_id)[0])


@pytest.mark.parametrize(
    "tamper",
    [
        tamper_with_the_version,
        tamper_with_the_files,
        tamper_with_the_bytes,
        tamper_with_the_approval,
        tamper_with_the_proposal,
        tamper_with_the_name,
    ],
)
def test_verify_finds_invalid_versions(
    project: Project, skill: str, bot: Actor, reviewer: Actor, blob_directory: Path, tamper: Callable[..., None]
) -> None:
    approve(project, propose(project, bot), reviewer)
    approval = Approval.objects.get()
    assert approval.version is not None
    tamper(approval.version, approval, blob_directory)
    out = StringIO()
    with pytest.raises(CommandError, match="do not match their approval"):
        call_command("verify_approvals", stdout=out)
    assert out.getvalue().startswith("demo/greeting 2: ")


def test_verify_lists_unapproved_versions_of_a_protected_project(protected: Project) -> None:
    out = StringIO()
    call_command("verify_approvals", stdout=out)
    assert "demo/greeting 1: Nobody approved it" in out.getvalue()
    with pytest.raises(CommandError):
        call_command("verify_approvals", "--strict", stdout=StringIO())
