"""Convert one amount with a given rate, in exact decimals, rounded half up to the unit of the target currency."""

import argparse
import sys
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation

NO_DECIMALS = {"CLP", "ISK", "JPY", "KRW", "PYG", "UGX", "VND", "XAF", "XOF"}
THREE_DECIMALS = {"BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"}


def unit(code):
    if code in NO_DECIMALS:
        return Decimal(1)
    return Decimal("0.001") if code in THREE_DECIMALS else Decimal("0.01")


def decimal(text):
    try:
        value = Decimal(text)
    except InvalidOperation:
        raise argparse.ArgumentTypeError(f'"{text}" is not a number; write 1234.50') from None
    if not value.is_finite():
        raise argparse.ArgumentTypeError(f'"{text}" is not an amount')
    return value


def currency(text):
    if len(text) != 3 or not text.isascii() or not text.isalpha():
        raise argparse.ArgumentTypeError(f'"{text}" is not a currency code such as EUR')
    return text.upper()


def main():
    parser = argparse.ArgumentParser(description="Convert one amount with the rate you give.")
    parser.add_argument("amount", type=decimal)
    parser.add_argument("source", type=currency, help="currency of the amount, such as NOK")
    parser.add_argument("target", type=currency, help="currency of the result, such as EUR")
    parser.add_argument("--rate", type=decimal, required=True, help="units of target for one unit of source")
    parser.add_argument("--inverse", action="store_true", help="the rate is units of source for one unit of target")
    options = parser.parse_args()
    if options.rate <= 0:
        parser.error("the rate must be above 0")
    exact = options.amount / options.rate if options.inverse else options.amount * options.rate
    result = exact.quantize(unit(options.target), ROUND_HALF_UP)
    one, other = (options.target, options.source) if options.inverse else (options.source, options.target)
    print(f"{options.amount} {options.source} = {result} {options.target}  (1 {one} = {options.rate} {other})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
