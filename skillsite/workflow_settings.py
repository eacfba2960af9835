"""Settings of workflows. `settings.py` imports them."""

from skillsite import env, logs

# Capabilities name these variables as secret:NAME, and can use no others.
WORKFLOW_SECRETS = env.secrets_of_operators("WORKFLOW_SECRETS")
# Not the endpoint for re-ranking by default: that one was only allowed to get questions and descriptions of skills.
WORKFLOW_LLM_URL = env.text("WORKFLOW_LLM_URL")  # of chat completions; off if empty
WORKFLOW_LLM_MODEL = env.text("WORKFLOW_LLM_MODEL")
WORKFLOW_LLM_KEY = env.text("WORKFLOW_LLM_KEY")
WORKFLOW_LLM_SECONDS = env.integer("WORKFLOW_LLM_SECONDS", 60, least=1, most=600)

logs.hide([*WORKFLOW_SECRETS.values(), WORKFLOW_LLM_KEY])
