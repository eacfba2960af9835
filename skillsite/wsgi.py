"""The WSGI application."""

import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "skillsite.settings")
application = get_wsgi_application()
get_resolver().url_patterns  # noqa: B018 - imports every view at start, so that the first request is not slow
