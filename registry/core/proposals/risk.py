"""The risk of a change. Models need it, and should not import every lint rule as an assessment does."""

from enum import StrEnum


class Risk(StrEnum):
    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"
