"""The settings of the product and one address more: a bare view that gives the same bytes under the same middleware."""

from skillsite.settings import *  # noqa: F403

ROOT_URLCONF = "bench.urls"
