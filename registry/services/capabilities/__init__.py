"""Capabilities: the registry of definitions, and their calls."""
