"""Alarms of a skill that consists of its body, or of a body and one file."""

from registry.core.bundle import SKILL_MD, Bundle
from registry.core.scan.scanner import scan

PAGE = "https://guide.example/steps.txt"
TRIP = "Plan a trip. Use when somebody wants to travel."


def rules_of(body: str, *, description: str = TRIP, **files: str) -> set[str]:
    """Return the rules that alarm. `files` are further files, with `__` for the dot in their names."""
    text = f'---\nname: trip\ndescription: "{description}"\n---\n\n{body}\n'
    added = {name.replace("__", "."): content.encode() for name, content in files.items()}
    return {finding.rule for finding in scan(Bundle({SKILL_MD: text.encode(), **added})).alarms}


def rules_of_file(name: str, *lines: str) -> set[str]:
    """Return the rules that alarm in a skill with one script."""
    return rules_of(f"Run `{name}` first.", **{name.replace(".", "__"): "\n".join(lines) + "\n"})
