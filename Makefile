# Everything here works on a fresh clone with Python 3.11 or newer and make. The environment lives in .venv.

PYTHON ?= python3
BIN := .venv/bin
DJANGO := $(BIN)/python manage.py

.DEFAULT_GOAL := help
.PHONY: help run test test-fast soak check evaluate openapi schemas clients screenshots lock clean

help: ## List these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: .venv/run ## Install and start the site with its worker; PORT=8001 for another port
	@echo "Starting the site ..."
	@$(DJANGO) serve

# Tests that can fail on one database alone: services and their queries, whole flows, processes. Pages cannot.
ON_POSTGRES := tests/services tests/management tests/flows tests/faults tests/api/test_queries.py \
	tests/protocols/test_one_resolver.py

# test-fast leaves these out: they start real processes, or call each operation of the API with hundreds of requests.
SLOW := tests/browser tests/faults tests/api/test_conformance.py

# Some tests wait for Chromium and other processes. One worker more than cores keeps the cores busy meanwhile.
WORKERS = $$($(BIN)/python -c 'import os; print((os.cpu_count() or 1) + 1)')

# The first line of output comes before anything that takes long. Cheap checks run first.
# Browser tests are skipped without a Chromium, and tests of Celery without redis-server. REQUIRE_BROWSER=1 and
# REQUIRE_REDIS=1 make that a failure.
test: .venv/dev ## Run every test on SQLite, on PostgreSQL and in Chromium
	@echo "Checking the import contracts, a few seconds ..."
	@$(BIN)/lint-imports
	@echo "Running the tests on SQLite and in Chromium, five to ten minutes ..."
	@$(BIN)/python -m pytest -n $(WORKERS) -m "not cpu"
	@echo "Running the tests that measure CPU time, one to two minutes ..."
	@$(BIN)/python -m pytest -n 0 -m cpu
	@echo "Running what may differ on PostgreSQL, one to three minutes ..."
	@$(BIN)/python -m tests.postgres $(BIN)/python -m pytest -n $(WORKERS) $(ON_POSTGRES)

test-fast: .venv/dev ## Run quick tests on SQLite: no Chromium, no other processes, none marked slow
	@echo "Running the fast tests on SQLite, about one minute ..."
	@$(BIN)/python -m pytest -n auto -m "not processes and not slow" $(SLOW:%=--ignore=%)

check: .venv/dev ## Check lint, format, types, import contracts, templates and migrations
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/djlint --quiet --lint templates
	@$(DJANGO) makemigrations --check --dry-run

# The shipped questions are indirect, so these limits are below the defaults for a project: 0.691, 0.764 and 0.483 were
# measured. Nothing is learned from these questions.
LIBRARY_LIMITS := --least-p-at-1 0.68 --least-mrr 0.75 --most-false-triggers 0.50

# A new database in a temporary directory, because the built-in skills are measured alone.
evaluate: .venv/dev ## Run the test questions of the built-in skills; fails below the limits of the gate
	@data=$$(mktemp -d) && trap 'rm -rf "$$data"' EXIT && export SKILLSITE_DATA="$$data" DATABASE_URL= && \
		$(DJANGO) migrate --verbosity 0 && $(DJANGO) evaluate --library $(LIBRARY_LIMITS)

# Random examples and many repetitions, in the numbers that found rare faults.
LAWS := tests/services/proposals/test_laws.py tests/services/transfer/test_import_project.py \
	tests/services/workflows/test_run_laws.py
soak: .venv/dev ## Repeat races, kills and random inputs; SOAK_ROUNDS=100
	@echo "Repeating races, kills and random inputs, several hours ..."
	@SOAK_ROUNDS=$${SOAK_ROUNDS:-100} $(BIN)/python -m pytest tests/faults tests/api/test_conformance.py tests/core tests/costs $(LAWS)
	@SOAK_ROUNDS=$${SOAK_ROUNDS:-100} $(BIN)/python -m tests.postgres $(BIN)/python -m pytest tests/faults $(LAWS)

clients: .venv/dev ## Run real third-party clients against a site; needs Node 20, installs into .venv/clients
	@$(BIN)/python -m tests.clients

openapi: .venv/dev ## Rewrite the OpenAPI document that tests compare with
	@$(DJANGO) spectacular --file tests/api/openapi.json --format openapi-json --validate

schemas: .venv/dev ## Rewrite the JSON Schemas in registry/schemas/ from the code
	@$(DJANGO) write_schemas

screenshots: .venv/dev ## Take the pictures in docs/screens.md; needs Chromium
	@$(BIN)/python -m tests.browser.screenshots

clean: ## Delete .venv and the collected static files; data in var/ stays
	rm -rf .venv staticfiles

# -- Dependencies ---------------------------------------------------------------------------------------------

# uv resolves for every Python version and platform at once, and lists the hashes of every file of a release.
COMPILE = .venv/lock/bin/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-emit-find-links --custom-compile-command "make lock" pyproject.toml

# The other two files start from a copy of dev.txt, because uv keeps the versions that it finds in its output file.
lock: ## Renew requirements/ with the newest versions that pyproject.toml allows
	@echo "Resolving the dependencies of pyproject.toml into requirements/ ..."
	@$(PYTHON) -m venv .venv/lock
	@.venv/lock/bin/pip install -qq --disable-pip-version-check uv==0.13.8
	@$(COMPILE) --upgrade --all-extras --group dev --output-file requirements/dev.txt
	@cp requirements/dev.txt requirements/deploy.txt
	@$(COMPILE) --extra server --extra redis --extra s3 --extra celery --output-file requirements/deploy.txt
	@cp requirements/dev.txt requirements/run.txt
	@$(COMPILE) --extra server --output-file requirements/run.txt
	@rm -rf .venv/lock

INSTALL := $(BIN)/pip install -qq --disable-pip-version-check --no-deps --require-hashes --requirement
ENVIRONMENT := $(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	"Python 3.11 or newer is needed. Name it with make PYTHON=...")' && $(PYTHON) -m venv .venv

.venv/run: requirements/run.txt
	@echo "Installing into .venv, about half a minute ..."
	@$(ENVIRONMENT)
	@$(INSTALL) $<
	@touch $@

# dev.txt contains everything that run.txt does.
.venv/dev: requirements/dev.txt
	@echo "Installing into .venv, with everything that tests need, about two minutes ..."
	@$(ENVIRONMENT)
	@$(INSTALL) $<
	@touch .venv/run $@
