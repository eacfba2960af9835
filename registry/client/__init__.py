"""A client for Skillsite, as a library and as a command. It needs httpx and PyYAML, but not Django."""

from registry.client.client import SkillsiteClient
from registry.client.errors import ClientError
from registry.client.retry import Retrying

__all__ = ["ClientError", "Retrying", "SkillsiteClient"]
