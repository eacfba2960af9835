"""The settings of the site, with the URLs of the bare view."""

from skillsite.settings import *  # noqa: F403

ROOT_URLCONF = "bench.urls"
