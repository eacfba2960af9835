"""The capabilities that workflows of a project can use, found by their ids and aliases."""

import hashlib
from collections.abc import Iterable, Mapping

from registry.core.text.nearest import nearest_of
from registry.core.workflows.capability import Capability
from registry.core.workflows.failures import Code, StepFailed


class CapabilitySet:
    """An id wins over an alias. Among equal ids, the first one wins, so that nothing replaces a built-in capability.

    Equal sets have the same fingerprint.
    """

    def __init__(self, capabilities: Iterable[Capability]) -> None:
        self.by_id: dict[str, Capability] = {}
        for capability in capabilities:
            self.by_id.setdefault(capability.id, capability)
        aliases = {alias: each for each in reversed(self.by_id.values()) for alias in each.aliases}
        digests = (f"{name} {each.digest}\n" for name, each in sorted(self.by_id.items()))
        self.fingerprint = hashlib.sha256("".join(digests).encode()).hexdigest()
        self._by_name: Mapping[str, Capability] = {**aliases, **self.by_id}

    def find(self, name: str) -> Capability | None:
        return self._by_name.get(name)

    def has(self, name: str) -> bool:
        return name in self._by_name

    def get(self, name: str) -> Capability:
        """Return a capability. Raise StepFailed, with a similar id if there is one."""
        found = self._by_name.get(name)
        if found is not None:
            return found
        near = nearest_of(sorted(self._by_name), cutoff=0.5)(name)
        hint = f" Did you mean {near}?" if near else ""
        raise StepFailed(Code.CAPABILITY, f"There is no capability {name[:128]}.{hint}")
