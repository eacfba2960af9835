"""Labels on screen for values that the API and the file format name differently."""

SOURCES = {"project": "Project", "imported": "Imported", "bundled": "Built-in"}
_ACTORS = {"command line": "Command line"}
_QUESTIONS = {
    "open": "Waiting for an answer",
    "approved": "Approved",
    "denied": "Denied",
    "expired": "Not answered in time",
    "withdrawn": "Not needed any more",
}
_ANSWERS = {"approve": {}, "input": {"approved": "Answered"}, "doubt": {"approved": "Answered", "denied": "Stopped"}}
KINDS = {"tool": "How-to", "knowledge": "Reference"}


def kind(value: str) -> str:
    """Return the label of a skill's kind; a kind we do not know keeps its own name."""
    return KINDS.get(value, value.capitalize())


def actor(name: str) -> str:
    """Return the label of an actor at the start of a line. People and agents keep their names."""
    return _ACTORS.get(name, name)


def question_state(state: str, kind: str) -> str:
    """Return the state of a question of a run. `kind` is what it asks for."""
    return _ANSWERS[kind].get(state, _QUESTIONS[state])
