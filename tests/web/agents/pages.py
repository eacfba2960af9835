"""Paths of the pages of agents and tokens, and a filled form."""

LIST, NEW, DESK = "/projects/demo/agents/", "/projects/demo/new-agent/", "/projects/demo/agents/desk/"
TOKENS, MINE = f"{DESK}tokens/", "/projects/demo/tokens/"
FILLED = {
    "name": "desk",
    "prompt": "You check reports.\r\nBe exact.",
    "instructions": "Answer in German.",
    "uses_skills": "greeting, letters",
    "sees": "listed",
    "allowed_skills": "other-one",
    "trust": "elevated",
}
