"""Transactions in captured statements."""

from collections.abc import Sequence


def commits(statements: Sequence[str]) -> int:
    """Return how many transactions were committed. A change outside of one is a transaction of its own."""
    count, inside = 0, False
    for statement in statements:
        verb = statement.split(maxsplit=1)[0]
        inside = (inside or verb == "BEGIN") and verb not in ("COMMIT", "ROLLBACK")
        count += verb == "COMMIT" or (not inside and verb in ("INSERT", "UPDATE", "DELETE"))
    return count
