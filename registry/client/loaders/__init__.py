"""Adapters for agent frameworks. Each one needs its framework to be installed."""
