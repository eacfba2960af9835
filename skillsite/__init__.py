"""The Django project: settings, logging and the WSGI application."""

import os

# One thread for the arithmetic of a question. Several threads of OpenBLAS wait for one another on a busy machine, and
# then take three times as long. NumPy reads the variable when it is imported, which is later.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
