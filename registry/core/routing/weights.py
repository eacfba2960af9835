"""Learned weights of the evidence. One unit is used by all links, so that the sum of their scores is one ranking."""

NAME = 2.0
NAME_SHARE = 1.1
TRIGGERS = 0.9
SUMMARY = 4.25
COVER = 2.35
HEAD = 3.35
PAIRS = 2.5
TEXT = 3.9
LEAD_COVER = 1.65
TEXT_COVER = 1.75
VECTOR = 3.0
PHRASE = 3.05
