"""Forms for the definition of an agent."""

from typing import Any

from django import forms

from registry.core import roles
from registry.core.catalog.visibility import BEST_SKILLS, Definition
from registry.core.errors import InvalidRequest
from registry.models import Agent

_ALL, _LISTED = "all", "listed"
_LONG = {"rows": 5, "spellcheck": "true"}
_NAMES = {
    "list": "known-names",
    "data-chips": "Add a skill",
    "data-one": "skill",
    "autocomplete": "off",
    "autocapitalize": "none",
}


class AgentForm(forms.Form):
    prompt = forms.CharField(
        label="Role prompt",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs=_LONG),
        help_text="Describe the agent and its task. This is the first part of its instructions.",
    )
    uses_skills = forms.CharField(
        label="Uses skills",
        required=False,
        widget=forms.TextInput(attrs=_NAMES),
        help_text="Their instructions follow the role prompt, in this order. The agent doesn’t need to load them.",
    )
    instructions = forms.CharField(
        label="Own instructions",
        required=False,
        strip=False,
        widget=forms.Textarea(attrs=_LONG),
        help_text="Rules for this agent alone. This is the last part of its instructions.",
    )
    sees = forms.ChoiceField(
        label="Visible skills",
        choices=[(_ALL, "All skills"), (_LISTED, "Selected skills")],
        initial=_ALL,
        error_messages={"required": "Choose which skills the agent can see."},
    )
    allowed_skills = forms.CharField(
        label="Selected skills",
        required=False,
        widget=forms.TextInput(attrs=_NAMES),
        help_text="If you chose “Selected skills”: the agent sees these and the skills it uses, and no others.",
    )
    best_skills = forms.IntegerField(
        label="Most skills in its list",
        required=False,
        min_value=1,
        max_value=BEST_SKILLS,
        widget=forms.NumberInput(attrs={"inputmode": "numeric"}),
        help_text=(
            "Lists only this many skills: those that fit its role prompt best. The others are named or counted at the "
            "end of the list, and the agent can still find and load them. Leave this empty to list all visible skills."
        ),
        error_messages={
            "invalid": "Enter a whole number, or leave it empty.",
            "min_value": f"Enter a number from 1 to {BEST_SKILLS}, or leave it empty.",
            "max_value": f"Enter a number from 1 to {BEST_SKILLS}, or leave it empty.",
        },
    )
    trust = forms.ChoiceField(
        choices=[(level, level.capitalize()) for level in roles.TRUST_LEVELS],
        initial=roles.STANDARD,
        label="Trust level",
        help_text=(
            "Programs can read it over the API. It has no effect on this site yet: it changes neither what the agent "
            "sees nor what it may do."
        ),
    )

    def definition(self) -> Definition:
        data = self.cleaned_data
        return Definition(
            prompt=_unix_lines(data["prompt"]),
            instructions=_unix_lines(data["instructions"]),
            uses_skills=_names(data["uses_skills"]),
            allowed_skills=_names(data["allowed_skills"]) if data["sees"] == _LISTED else None,
            trust=data["trust"],
            best_skills=data["best_skills"],
        )


class NewAgentForm(AgentForm):
    name = forms.CharField(
        max_length=64,
        widget=forms.TextInput(attrs={"autocomplete": "off", "autocapitalize": "none", "spellcheck": "false"}),
        help_text="Lower-case letters, digits and hyphens. You can’t change it later.",
        error_messages={"required": "Give the agent a name, for example expense-desk."},
    )
    field_order = ["name"]


def initial(agent: Agent) -> dict[str, Any]:
    """Return the values with which the form of an existing agent opens."""
    return {
        "prompt": agent.prompt,
        "instructions": agent.instructions,
        "uses_skills": ", ".join(agent.uses_skills),
        "sees": _ALL if agent.allowed_skills is None else _LISTED,
        "allowed_skills": ", ".join(agent.allowed_skills or ()),
        "best_skills": agent.best_skills,
        "trust": agent.trust,
    }


def add_error(form: AgentForm, error: InvalidRequest) -> None:
    """Show the error at its field, or above the form if no field is at fault."""
    form.add_error(error.field if error.field in form.fields else None, f"{error.message} Nothing was saved.")


def _unix_lines(text: str) -> str:
    """Browsers send every line end as CRLF."""
    return text.replace("\r\n", "\n")


def _names(text: str) -> tuple[str, ...]:
    return tuple(" ".join(name.split()) for name in text.replace("\n", ",").split(",") if name.strip())
