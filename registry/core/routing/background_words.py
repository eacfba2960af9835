"""Stems of general English by the share of documents that contain them. Written by `bench/background_words.py`."""

SHARES: tuple[tuple[float, str], ...] = ()
