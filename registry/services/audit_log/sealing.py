"""New seals for an audit log whose key was lost or changed."""

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from registry.core.audit.chain import event_seal, head_seal
from registry.core.errors import Conflict
from registry.models import Chain, Event
from registry.services import audit
from registry.services.audit_log import heads
from registry.services.audit_log.verification import WRONG_KEY, verify
from registry.services.permissions import Actor, require_operator

UNPROVEN = (
    "The key of the earlier seals was lost. The new seals show changes made from now on. Nothing before can be proven "
    "any more, except with heads that were kept elsewhere."
)
_BATCH = 500


def seal_again(*, key_was_lost: bool = False, by: Actor) -> int:
    """Seal every event with the present key. Return how many.

    Anybody can write foreign seals, so the caller confirms that the key was lost. A log that is broken in another way,
    or that contradicts the hashes of the heads file, is refused.
    """
    require_operator(by)
    with transaction.atomic(), audit.change(None, "audit.sealed", by=by) as change:
        _, broken = verify(heads=heads.read(settings.AUDIT_HEADS_FILE))
        if any(fault.reason != WRONG_KEY for fault in broken):
            first = next(fault for fault in broken if fault.reason != WRONG_KEY)
            raise Conflict(
                "The audit log has faults that a new key does not explain. Nothing was sealed. Run verify_audit. "
                f"The first one is in {first.chain}, event {first.sequence}: {first.reason}."
            )
        if not broken:
            change.cancel()
            return 0
        if not key_was_lost:
            raise Conflict(
                "No seal matches AUDIT_KEY. Set it to the key of the time when the events were written. If that key is "
                "lost, use --key-was-lost. After that, nothing that the log records until now can be proven any more. "
                "Nothing was sealed."
            )
        change.data["unproven"] = UNPROVEN
        change.data["events"] = count = sum(_seal(chain) for chain in Chain.objects.select_for_update().order_by("pk"))
    return count


def _seal(chain: Chain) -> int:
    count, batch = 0, []
    for event in Event.objects.filter(chain=chain).order_by("sequence").iterator(chunk_size=_BATCH):
        event.seal = event_seal(settings.AUDIT_KEY, chain.name, event.sequence, event.hash)
        batch.append(event)
        if len(batch) == _BATCH:
            count, batch = count + _store(batch), []
    chain.seal = head_seal(settings.AUDIT_KEY, chain.name, chain.length, chain.head)
    chain.save(update_fields=["seal"])
    return count + _store(batch)


def _store(events: list[Event]) -> int:
    """Write only the seals. The manager of events refuses every update, so this does not use it."""
    return QuerySet[Event, Event](Event).bulk_update(events, ["seal"]) if events else 0
