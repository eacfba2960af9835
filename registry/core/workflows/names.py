"""Names in workflow files: ids of steps and capabilities, names of fields and skills."""

import re

from registry.core.workflows.plan import SKILL_PREFIX

STEP_ID = r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}"
CAPABILITY_ID = r"[a-z0-9]+(?:[._-][a-z0-9]+)*"
FIELD_NAME = r"[A-Za-z_][A-Za-z0-9_-]{0,63}"
SKILL = SKILL_PREFIX + r"[^\s/\\:]{1,128}"
ID_CHARS = 128  # of capabilities and workflows

_STEP_ID, _CAPABILITY_ID, _FIELD_NAME, _SKILL = map(re.compile, (STEP_ID, CAPABILITY_ID, FIELD_NAME, SKILL))


def is_step_id(text: str) -> bool:
    return bool(_STEP_ID.fullmatch(text))


def is_capability_id(text: str) -> bool:
    return len(text) <= ID_CHARS and bool(_CAPABILITY_ID.fullmatch(text))


def is_field_name(text: str) -> bool:
    return bool(_FIELD_NAME.fullmatch(text))


def is_used(text: str) -> bool:
    """Return whether a step can use this: a capability, or a nested skill."""
    return is_capability_id(text) or bool(_SKILL.fullmatch(text))
