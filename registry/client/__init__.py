"""The client of a Skillsite, for programs and the command line; it needs httpx and PyYAML and no Django."""

from registry.client.client import SkillsiteClient
from registry.client.errors import ClientError
from registry.client.retry import Retrying

__all__ = ["ClientError", "Retrying", "SkillsiteClient"]
