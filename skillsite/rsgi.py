"""The application for the web server of `manage.py serve`."""

import gc

from skillsite import memory

memory.collect_rarely()

from skillsite.wsgi import application as wsgi  # noqa: E402

# The line above sets Django up, which the lines below need.
# isort: split
from registry.services.catalog import built_in  # noqa: E402
from registry.services.routing import warm_up  # noqa: E402
from skillsite.server.application import Application  # noqa: E402

application = Application(wsgi)
built_in.snapshot()  # so that the first request need not wait until the built-in skills are read
gc.freeze()  # No later pass reads the modules.
warm_up.start()
