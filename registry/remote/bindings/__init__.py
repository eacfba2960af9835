"""Calls of capabilities that other programs answer: HTTP APIs, MCP servers and language models."""
