# Everything here works on a fresh clone with Python 3.11 or newer and make. The environment lives in .venv.

PYTHON ?= python3
BIN := .venv/bin
DJANGO := $(BIN)/python manage.py

.PHONY: run test soak check openapi clients screenshots clean

run: .venv/run
	@$(DJANGO) serve

# What may differ between databases: the verbs and their queries, stories through all layers, races. Pages do not.
ON_POSTGRES := tests/services tests/management tests/flows tests/faults tests/api/test_queries.py tests/protocols/test_one_resolver.py

# Every test on SQLite, and those on a real PostgreSQL too. Browser tests run where a Chromium is found; REQUIRE_BROWSER=1
# insists.
test: .venv/dev
	@$(BIN)/lint-imports
	@$(BIN)/python -m pytest -n auto
	@$(BIN)/python -m tests.postgres $(BIN)/python -m pytest -n auto -p no:schemathesis $(ON_POSTGRES)

check: .venv/dev
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/djlint --quiet --lint templates
	@$(DJANGO) makemigrations --check --dry-run

# Races, kills, laws and requests of every shape in the numbers that found the rare ones.
LAWS := tests/services/proposals/test_proposal_laws.py tests/services/transfer/test_exporting.py
soak: .venv/dev
	@SOAK_ROUNDS=$${SOAK_ROUNDS:-100} $(BIN)/python -m pytest tests/faults tests/api/test_conformance.py tests/core $(LAWS)
	@SOAK_ROUNDS=$${SOAK_ROUNDS:-100} $(BIN)/python -m tests.postgres $(BIN)/python -m pytest tests/faults $(LAWS)

# The real clients of other people against the real server. Wants Node 20 or newer; keeps them in .venv/clients.
clients: .venv/dev
	@$(BIN)/python -m tests.clients

# After a change of the API that is meant: writes the document that tests compare with.
openapi: .venv/dev
	@$(DJANGO) spectacular --file tests/api/openapi.json --format openapi-json --validate

# Pictures of each screen for docs/screens.md. Wants a Chromium.
screenshots: .venv/dev
	@$(BIN)/python -m tests.browser.screenshots

clean:
	rm -rf .venv staticfiles

.venv/run: pyproject.toml
	@$(PYTHON) -m venv .venv
	@$(BIN)/pip install -qq --upgrade pip
	@$(BIN)/pip install -qq --editable ".[server]"
	@touch $@

.venv/dev: .venv/run
	@$(BIN)/pip install -qq --group dev
	@touch $@
