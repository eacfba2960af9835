"""The application for the web server of `manage.py serve`."""

from skillsite.server.application import Application
from skillsite.wsgi import application as wsgi

application = Application(wsgi)
