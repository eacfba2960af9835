"""Labels on screen for values that the API and the file format name differently."""

SOURCES = {"project": "Project", "imported": "Imported", "bundled": "Built-in"}
_ACTORS = {"command line": "Command line"}
KINDS = {"tool": "How-to", "knowledge": "Reference"}


def kind(value: str) -> str:
    """Return the label of a skill's kind; a kind we do not know keeps its own name."""
    return KINDS.get(value, value.capitalize())


def actor(name: str) -> str:
    """Return the label of an actor at the start of a line. People and agents keep their names."""
    return _ACTORS.get(name, name)
