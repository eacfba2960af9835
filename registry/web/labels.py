"""Labels on screen for values that the API and the file format name differently."""

SOURCES = {"project": "Project", "imported": "Imported", "bundled": "Built-in"}
KINDS = {"tool": "How-to", "knowledge": "Reference"}


def kind(value: str) -> str:
    """Return the label of a skill's kind; a kind we do not know keeps its own name."""
    return KINDS.get(value, value.capitalize())
