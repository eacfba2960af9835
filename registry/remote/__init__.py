"""Fetching and caching of remote skills. Depends only on core and lib, not on Django."""
