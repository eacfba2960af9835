"""The id and the version at the top of workflows and capabilities."""

from registry.core.workflows import names
from registry.core.workflows.sections import Section, shown

ID = "workflow-id"
VERSION_CHARS = 64


def identity(root: Section, example: str) -> str:
    text = root.text("id")
    if root.get("id") is None:
        root.missing("id", f"Add `id:` with a name such as `{example}`.")
    elif not names.is_capability_id(text) and (text or root.get("id") == ""):
        fix = f"Use lowercase words with dots, `-` or `_` between them, at most {names.ID_CHARS} characters."
        root.problem(ID, "id", f"cannot be {shown(text)}.", fix)
    return text


def version(root: Section) -> str:
    text = root.text("version", most=VERSION_CHARS)
    if root.get("version") is None:
        root.missing("version", "Add a version, such as `version: 1.0.0`.")
    elif not text.strip() and root.get("version") == text:
        root.refuse("version", text, "a version, such as `1.0.0`")
    return text.strip()
