# Everything a person does with a clone. Needs Python 3.11+, make and the package registry.
.DEFAULT_GOAL := help
.PHONY: help up test check bench demo lint format lock clean venv

PYTHON ?=
export PYTHON

VENV_PYTHON := .venv/bin/python
# Two workers on the two cores that the suite is sized for. Each file stays whole on one of them,
# since it may share servers of its own; only blocks of a long test go to whichever is free.
# PYTEST_ARGS narrows or widens what runs.
PYTEST := $(VENV_PYTHON) -m pytest -n 2 --dist loadfile

help: ## Say what each target does
	@awk -F ':.*## ' '/^[a-z]+:.*## /{printf "  make %-8s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

venv: ## Build .venv (the other targets do so themselves)
	@sh xqmj_site/devstack/venv.sh

up: venv ## Serve on this machine: PostgreSQL, Valkey, web, live, worker, beat (Ctrl-C stops all)
	@exec $(VENV_PYTHON) manage.py up

test: venv ## Run the tests against throw-away servers
	$(PYTEST) $(PYTEST_ARGS)

lint: venv ## Check style, imports and types
	$(VENV_PYTHON) -m ruff format --check .
	$(VENV_PYTHON) -m ruff check .
	.venv/bin/lint-imports
	$(VENV_PYTHON) -m mypy

check: lint test ## Lint, then test; .ci/run runs these, the slow tests and what else a change must pass

format: venv ## Put the sources into their one form
	$(VENV_PYTHON) -m ruff check --fix-only --quiet .
	$(VENV_PYTHON) -m ruff format .

bench: venv ## Measure, print a table and write JSON
	$(VENV_PYTHON) -m tests.bench $(BENCH_ARGS)

demo: venv ## Play a rated match through a running `make up`
	@$(VENV_PYTHON) manage.py demo $(DEMO_ARGS)

lock: venv ## Pin the requirement files anew from their .in files
	$(VENV_PYTHON) -m pip --disable-pip-version-check install --quiet uv==0.13.9
	sh xqmj_site/devstack/lock.sh

clean: ## Remove .venv and caches; .data, with its keys and matches, stays
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache staticfiles
