"""Real clients against the real server on loopback. `make clients` installs them beside .venv and runs them all."""
