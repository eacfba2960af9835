"""Numbers of JSON as decimals, and back."""

from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow

from registry.core.workflows.builtins.definition import refuse

MOST_DIGITS = 300  # before the point
_EXACT = 2**53  # larger numbers lose digits as a float

# Rounds to 34 digits, and raises an ArithmeticError for a result that is no number or too large.
CONTEXT = Context(prec=34, Emax=MOST_DIGITS, Emin=-MOST_DIGITS, traps=[InvalidOperation, DivisionByZero, Overflow])


def decimal(value: int | float) -> Decimal:
    """Return a number as the decimal that it is written as. Refuse one with hundreds of digits."""
    if isinstance(value, int) and value.bit_length() > MOST_DIGITS * 3:
        raise too_large()
    result = Decimal(repr(value) if isinstance(value, float) else value)
    if not result.is_finite() or result.adjusted() >= MOST_DIGITS:
        raise too_large()
    return result


def number(value: Decimal) -> int | float:
    """Return a decimal as a number of JSON: an integer if it is one."""
    if value == value.to_integral_value() and value.adjusted() < MOST_DIGITS:
        return int(value)
    return float(value)


def too_large() -> Exception:
    return refuse(f"A number has more than {MOST_DIGITS} digits, and the result would not be exact.")
