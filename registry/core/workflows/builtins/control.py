"""Built-in capabilities that control a run, and those that people answer."""

from registry.core.workflows.builtins.definition import Context, Inputs, define, refuse
from registry.core.workflows.values import Json

MOST_SECONDS = 300
HUMAN_INPUT, HUMAN_APPROVE = "human.input", "human.approve"
HUMAN = frozenset({HUMAN_INPUT, HUMAN_APPROVE})
_MESSAGE_CHARS = 1_000


def _sleep(given: Inputs, context: Context) -> dict[str, Json]:
    if given["seconds"] < 0:
        raise refuse("“seconds” cannot be negative.")
    seconds = min(given["seconds"], MOST_SECONDS, max(0.0, context.remaining_seconds))
    context.sleep(seconds)
    return {"slept": seconds}


def _fail(given: Inputs) -> dict[str, Json]:
    raise refuse(given["message"][:_MESSAGE_CHARS] or "The workflow stopped itself without a message.")


def _ask(given: Inputs) -> dict[str, Json]:
    raise refuse("Only a person can answer this step, and nobody was asked.")


BUILTINS = (
    define(
        "control.sleep",
        _sleep,
        f"Waits, up to {MOST_SECONDS} seconds, and no longer than the step may take.",
        {"seconds: number": "How long to wait."},
        {"slept: number": "The seconds that it waited."},
        world=True,
    ),
    define(
        "control.fail",
        _fail,
        "Fails with a message. Use it with a condition to stop a workflow.",
        {"message: string": "What went wrong, for people."},
        {},
    ),
    define(
        HUMAN_INPUT,
        lambda given, _: _ask(given),
        "Asks a person to fill in a form, and waits for the answer.",
        {
            "question: string": "What to ask.",
            "fields: object": "The form: a name for each field, with its type, required, description and default.",
            "help?: string": "More about the question.",
        },
        {"values: object": "The answers by the names of the fields."},
        role=("perceive",),
        world=True,
    ),
    define(
        HUMAN_APPROVE,
        lambda given, _: _ask(given),
        "Asks a person to approve something, and waits for the answer.",
        {"question: string": "What to approve.", "details?: any": "What the person should see."},
        {
            "approved: boolean": "Whether it was approved.",
            "comment: string": "What the person wrote, or an empty text.",
            "by: string": "The user name of the person.",
        },
        role=("decide",),
        produces={"approved": "Decision"},
        world=True,
    ),
)
