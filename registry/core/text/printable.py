"""Text from elsewhere, made safe to store and show."""


def printable(text: str, max_chars: int) -> str:
    """Replace control and format characters, except line breaks and tabs, and cut at `max_chars`."""
    kept = (char if char.isprintable() or char in "\n\t" else "\N{REPLACEMENT CHARACTER}" for char in text)
    return "".join(kept)[:max_chars]
