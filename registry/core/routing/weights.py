"""Learned weights of the evidence. One unit is used by all links, so that the sum of their scores is one ranking."""

NAME = 2.05
NAME_SHARE = 0.65
TRIGGERS = 0.8
EXACT = 5.0  # not learned: a question that is a trigger word for word is hardly ever meant for another skill
SUMMARY = 4.25
COVER = 1.8
EARLY = 0.85
HEAD = 3.4
LEAD_HEAD = 2.55
PAIRS = 2.3
TEXT = 4.3
LEAD_COVER = 1.65
TEXT_COVER = 2.0
VECTOR = 3.05
PHRASE = 2.75
