"""The registry of capabilities: the built-in ones, and those that operators and owners register."""

from registry.core.workflows.capability_set import CapabilitySet
from registry.services.capabilities import capability_files


def of(project_id: int) -> CapabilitySet:
    """Return the capabilities that workflows of a project can use."""
    return capability_files.snapshot().capabilities
