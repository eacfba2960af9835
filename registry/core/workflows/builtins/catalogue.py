"""All built-in capabilities by their ids."""

from collections.abc import Mapping
from types import MappingProxyType

from registry.core.workflows.builtins import (
    control,
    data,
    dates,
    filters,
    formats,
    gates,
    lists,
    matching,
    numbers,
    text,
)
from registry.core.workflows.builtins.control import HUMAN
from registry.core.workflows.builtins.definition import Builtin, Context

__all__ = ["BUILTINS", "HUMAN", "Builtin", "Context"]

_MODULES = (text, matching, data, lists, filters, numbers, dates, formats, control, gates)

BUILTINS: Mapping[str, Builtin] = MappingProxyType(
    {builtin.capability.id: builtin for module in _MODULES for builtin in module.BUILTINS}
)
