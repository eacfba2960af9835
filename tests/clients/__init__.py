"""Real clients against a real server on loopback. `make clients` installs and runs all of them."""
