"""The application for the web server of `manage.py serve`."""

import gc

from skillsite import memory

memory.collect_rarely()

from skillsite.wsgi import application as wsgi  # noqa: E402

# The line above sets Django up, which the line below needs.
# isort: split
from skillsite.server.application import Application  # noqa: E402

application = Application(wsgi)
gc.freeze()  # No later pass reads the modules.
