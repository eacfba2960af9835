"""The public verbs of the service layer: functions that take the actor as `by`."""

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

from registry import services


def public_verbs() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield each verb as `module.function`, whatever package its module is in."""
    for found in pkgutil.walk_packages(services.__path__, f"{services.__name__}."):
        module = importlib.import_module(found.name)
        for name, function in vars(module).items():
            defined_here = inspect.isfunction(function) and function.__module__ == module.__name__
            if defined_here and not name.startswith("_") and "by" in inspect.signature(function).parameters:
                yield f"{module.__name__.rpartition('.')[2]}.{name}", function
