"""Settings of routing. `settings.py` imports them."""

from skillsite import env, logs

ROUTING_EMBEDDINGS = env.boolean("ROUTING_EMBEDDINGS", True)
ROUTING_WAIT_SECONDS = env.integer("ROUTING_WAIT_SECONDS", 1, most=30)
ROUTING_WARM_SKILLS = env.integer("ROUTING_WARM_SKILLS", 20_000)
ROUTING_RERANK_URL = env.text("ROUTING_RERANK_URL")  # of chat completions; off if empty
ROUTING_RERANK_MODEL = env.text("ROUTING_RERANK_MODEL")
ROUTING_RERANK_KEY = env.text("ROUTING_RERANK_KEY")
ROUTING_RERANK_SECONDS = env.integer("ROUTING_RERANK_SECONDS", 3, least=1, most=30)

logs.hide([ROUTING_RERANK_KEY])
