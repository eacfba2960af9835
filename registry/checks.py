"""System checks: misconfiguration explained before it hurts, each with a stable id."""
