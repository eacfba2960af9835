"""The form field for a question, on “Try it” and among the test questions."""

from typing import Any

from django import forms

from registry.core.routing.golden import QUERY_CHARS


class QuestionField(forms.CharField):
    """A text as long as a question may be. A longer one is refused: with `maxlength`, a browser would cut it."""

    def __init__(self, *, label: str, required: str, widget: forms.Textarea, help_text: str = "") -> None:
        """`required` is the message for an empty field."""
        super().__init__(
            label=label,
            max_length=QUERY_CHARS,
            widget=widget,
            help_text=help_text,
            error_messages={
                "required": required,
                "max_length": "The question has %(show_value)s characters. At most %(limit_value)s are allowed.",
                "null_characters_not_allowed": "The question contains a NUL character. Remove it.",
            },
        )

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        return {name: value for name, value in super().widget_attrs(widget).items() if name != "maxlength"}
