"""Adapters for agent frameworks that cannot read a site by themselves; each needs its framework installed."""
