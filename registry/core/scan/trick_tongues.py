"""Phrases of tricks in German, French, Spanish, Russian and related languages."""

from registry.core.scan.matches import Rule

TRICKS: tuple[tuple[Rule, str, str], ...] = ()
DESTROY = SPEND = CARRIERS = PLACES = ""
NEVER = r"(?!)"
DESTROYED = WORTHLESS = SPENT = CARRIER = CARRIED = ENCODED = PRIVATE = PLACE = CARRY_OUT = BLINDLY = NEVER
