"""Probabilities in percent, for people."""


def in_percent(probability: float) -> str:
    """Return 0.837 as "84", without claiming more than is known: only 0 is "0", and only 1 is "100"."""
    if 0 < probability < 0.01:
        return "<1"
    return ">99" if 0.99 < probability < 1 else f"{100 * probability:.0f}"
