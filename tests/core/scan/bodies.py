"""Alarms of a skill that consists of its body."""

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.scan.scanner import scan

PAGE = "https://guide.example/steps.txt"


def rules_of(body: str) -> set[str]:
    text = f'---\nname: trip\ndescription: "Plan a trip. Use when somebody wants to travel."\n---\n\n{body}\n'
    return {finding.rule for finding in scan(Bundle({SKILL_MD: text.encode()})).alarms}
