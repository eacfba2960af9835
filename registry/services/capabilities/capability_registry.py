"""The registry of capabilities: the built-in ones, and those that operators and owners register."""

from registry.core.workflows.builtins.catalogue import BUILTINS
from registry.core.workflows.capability_set import CapabilitySet

_BUILT_IN = CapabilitySet(builtin.capability for builtin in BUILTINS.values())


def of(project_id: int) -> CapabilitySet:
    """Return the capabilities that workflows of a project can use."""
    return _BUILT_IN
