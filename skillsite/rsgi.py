"""The application for the web server of `manage.py serve`."""

from skillsite.wsgi import application as wsgi

# The line above sets Django up, which the line below needs.
# isort: split
from skillsite.server.application import Application

application = Application(wsgi)
