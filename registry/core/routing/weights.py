"""Learned weights of the evidence. One unit is used by all links, so that the sum of their scores is one ranking."""

NAME = 1.74
NAME_SHARE = 0.5
TRIGGERS = 1.0
SUMMARY = 3.66
COVER = 1.51
HEAD = 2.43
PAIRS = 1.98
TEXT = 3.66
TEXT_COVER = 1.51
VECTOR = 2.49
PHRASE = 2.28
