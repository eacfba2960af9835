"""The product's settings, with static files served from the source tree so that nothing must be collected first."""

from axe_playwright_python.base import AXE_FILE_PATH

from skillsite.settings import *  # noqa: F403
from skillsite.settings import STATICFILES_DIRS, STORAGES

STORAGES = {**STORAGES, "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}}
STATIC_ROOT = None
STATICFILES_DIRS = [*STATICFILES_DIRS, AXE_FILE_PATH.parent]
WHITENOISE_USE_FINDERS = True
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
