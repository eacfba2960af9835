"""Learned weights of the evidence. One unit is used by all links, so that the sum of their scores is one ranking."""

NAME = 2.11
NAME_SHARE = 1.07
TRIGGERS = 0.69
EXACT = 5.0  # not learned: a question that is a trigger word for word is hardly ever meant for another skill
SUMMARY = 4.07
COVER = 2.07
EARLY = 0.7
HEAD = 3.19
LEAD_HEAD = 1.57
PAIRS = 2.32
TEXT = 3.97
LEAD_COVER = 1.6
TEXT_COVER = 1.12
VECTOR = 3.1
PHRASE = 2.82
