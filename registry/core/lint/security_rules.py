"""Lint rules about harmful content: the fast part of the security scan."""

from collections.abc import Callable, Iterator

from registry.core.findings import Finding
from registry.core.lint.context import LintContext
from registry.core.scan import scanner
from registry.core.scan.rules import RULES as RULES


def security(context: LintContext) -> Iterator[Finding]:
    return scanner.fast(context.texts, context.skill, context.known_names)


CHECKS: tuple[Callable[[LintContext], Iterator[Finding]], ...] = (security,)
