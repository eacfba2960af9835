"""The policy engine of the site: the standard one, or that of the setting WORKFLOW_POLICY."""

from functools import lru_cache

from django.conf import settings
from django.utils.module_loading import import_string

from registry.core.workflows.policy import PolicyEngine, StandardPolicy


def current() -> PolicyEngine:
    return _engine(settings.WORKFLOW_POLICY)


@lru_cache(maxsize=4)
def _engine(path: str) -> PolicyEngine:
    if not path:
        return StandardPolicy()
    engine: PolicyEngine = import_string(path)()
    return engine
