"""Phrases of tricks in Chinese, Japanese and Korean."""

import re

from registry.core.scan.matches import Rule

TRICKS: tuple[tuple[Rule, re.Pattern[str]], ...] = ()
