"""The command `pull`."""

import sys
from argparse import Namespace
from collections.abc import Iterable
from pathlib import Path

from registry.client import directories, exit_codes
from registry.client.client import SkillsiteClient
from registry.client.errors import Misconfigured
from registry.client.output import print_line, print_note
from registry.client.progress import Bar
from registry.client.pull import Report
from registry.client.pull import check as check_directory
from registry.client.pull import pull as pull_directory
from registry.client.pull_plan import Step


def pull(client: SkillsiteClient, arguments: Namespace) -> int:
    if not arguments.directory and not arguments.agent:
        raise Misconfigured("Pass a directory for the skills, or an agent with --for.")
    directory = directories.skills_directory(arguments.directory or ".", arguments.agent)
    return _check(client, directory) if arguments.check else _pull(client, directory, force=arguments.force)


def _check(client: SkillsiteClient, directory: Path) -> int:
    steps = check_directory(client, directory)
    for step in steps:
        print_line(str(step))
    if not steps:
        print_line(f"{directory} is up to date.")
        return exit_codes.DONE
    if any(step.is_change for step in steps):
        print_note(f"{directory} is out of date. Run pull to update it.")
    else:
        print_note(f"{directory} differs from the project, but a pull would not change it.")
    _mention_force(steps)
    return exit_codes.DIFFERS


def _pull(client: SkillsiteClient, directory: Path, *, force: bool) -> int:
    bar = Bar(sys.stderr, shown=sys.stderr.isatty())
    try:
        report = pull_directory(
            client,
            directory,
            force=force,
            progress=bar,
            waiting=lambda: print_note(f"Waiting for another pull in {directory}."),
        )
    finally:
        bar.clear()
    for step in report.done:
        print_line(str(step))
    _mention(report)
    if report.failed:
        return exit_codes.UNTRUSTWORTHY
    if report.complete:
        count = "one skill" if report.skills == 1 else f"{report.skills:,} skills"
        print_line(f"{directory} has the {count} of {client.source}.")
    return exit_codes.DIFFERS if report.kept else exit_codes.DONE


def _mention(report: Report) -> None:
    for step in report.kept:
        print_note(f"{str(step).removesuffix('.')}. Not changed.")
    _mention_force(report.kept)
    for name, reason in report.failed:
        print_note(f"! {name}: {reason}")
    if report.from_cache:
        print_note("The cached list of skills was used. The site was not reached.")


def _mention_force(steps: Iterable[Step]) -> None:
    if any(step.action == "keep" for step in steps):
        print_note("To replace these skills, pull with --force. Your changes to them will be lost.")
