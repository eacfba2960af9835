"""Settings of workflows. `settings.py` imports them."""

import os
from pathlib import Path
from urllib.parse import urlsplit

from skillsite import env, logs

CAPABILITIES_DIRS = [Path(item) for item in env.items("CAPABILITIES_DIRS", separator=os.pathsep)]
# Capabilities name these variables as secret:NAME, and can use no others.
WORKFLOW_SECRETS = env.secrets_of_operators("WORKFLOW_SECRETS")
# Not the endpoint for re-ranking by default: that one was only allowed to get questions and descriptions of skills.
WORKFLOW_LLM_URL = env.text("WORKFLOW_LLM_URL")  # of chat completions; off if empty
WORKFLOW_LLM_MODEL = env.text("WORKFLOW_LLM_MODEL")
WORKFLOW_LLM_KEY = env.text("WORKFLOW_LLM_KEY")
WORKFLOW_LLM_SECONDS = env.integer("WORKFLOW_LLM_SECONDS", 60, least=1, most=600)
WORKFLOW_POLICY = env.text("WORKFLOW_POLICY")  # a class like StandardPolicy, by its path; empty for the standard one
WORKFLOW_MAX_WORKERS = env.integer("WORKFLOW_MAX_WORKERS", 8, least=1, most=500)
WORKFLOW_RUNS = env.integer("WORKFLOW_RUNS", 16, least=1, most=1_000)
WORKFLOW_THREADS = env.integer("WORKFLOW_THREADS", 16, least=1, most=500)
WORKFLOW_LEASE_SECONDS = env.integer("WORKFLOW_LEASE_SECONDS", 15, least=1, most=600)
CELERY_BROKER_URL = env.text("CELERY_BROKER_URL")  # of Redis or RabbitMQ; the worker uses its threads if empty
WORKFLOW_ANSWER_DAYS = env.integer("WORKFLOW_ANSWER_DAYS", 7, least=1, most=90)
WORKFLOW_KEEP_DAYS = env.integer("WORKFLOW_KEEP_DAYS", 90, least=1)
WORKFLOW_STREAMS = env.integer("WORKFLOW_STREAMS", 64, least=1, most=1_000)
WORKFLOW_UNFINISHED_RUNS = env.integer("WORKFLOW_UNFINISHED_RUNS", 20_000, least=1)

logs.hide([*WORKFLOW_SECRETS.values(), WORKFLOW_LLM_KEY, urlsplit(CELERY_BROKER_URL).password or ""])
