"""Learned weights of the evidence. One unit is used by all links, so that the sum of their scores is one ranking."""

NAME = 2.1
NAME_SHARE = 1.25
TRIGGERS = 1.1
SUMMARY = 4.5
COVER = 2.7
HEAD = 3.6
PAIRS = 2.7
TEXT = 4.0
LEAD_COVER = 1.5
TEXT_COVER = 1.9
VECTOR = 3.2
PHRASE = 3.3
