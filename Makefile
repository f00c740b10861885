# `make` alone lists the targets. Each does all the set-up that it needs.

VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.skitter-setup
PIP    := $(BIN)/python -m pip --disable-pip-version-check -q
CODE   := src tests $(wildcard bench) $(wildcard scripts/*.py)
ARGS   ?=
ROUNDS ?= 200
JOBS   ?= 4

.DEFAULT_GOAL := help
.PHONY: help setup servers demo test check format bench bench-frontier bench-crawl bench-memory bench-sinks bench-history bench-clients bench-autoscaler bench-api chaos docs constraints clean

help:  ## List the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP)  ## Make .venv with everything in it (runs again only when its inputs change)

# The build's own packages are pinned too, hence no build isolation.
$(STAMP): pyproject.toml constraints.txt
	@test -x $(BIN)/python || scripts/venv.sh $(VENV)
	$(PIP) install -c constraints.txt hatchling editables
	$(PIP) install -c constraints.txt --no-build-isolation -e '.[dev,bench]'
	@touch $@

servers:  # the servers that tests run on
	@scripts/servers.sh

demo: setup  ## Crawl demo shops and an exchange on this machine; items, prices, the referee's verdict
	@$(BIN)/skitter demo $(ARGS)

test: setup servers  ## Run all tests, JOBS= at a time (ARGS= goes to pytest)
	$(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(ARGS)

check: setup  ## Lint, format, types and layers, as CI checks them
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy --strict $(CODE)
	$(BIN)/lint-imports

format: setup  ## Format the code and make the safe fixes
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

bench: bench-frontier bench-crawl bench-memory bench-sinks bench-history bench-autoscaler  ## Run all benchmarks

bench-frontier: setup servers  ## Measure the frontier: JSON lines, a table, and the figures as one JSON object
	@$(BIN)/python -m bench.frontier $(ARGS)

bench-crawl: setup servers  ## Measure a page's cost: Skitter, its peers and a hand-made loop, in turn
	@$(BIN)/python -m bench.crawl $(ARGS)

bench-memory: setup servers  ## Watch a worker's memory: 200,000 pages, a slow sink, big pages, dead hosts
	@$(BIN)/python -m bench.memory $(ARGS)

bench-sinks: setup servers  ## Measure the sinks: items a second and CPU for each item
	@$(BIN)/python -m bench.sinks $(ARGS)

bench-history: setup servers  ## Ask a history of 300,000 jobs and one of 3,000 the same: times, CPU, ratios
	@$(BIN)/python -m bench.history $(ARGS)

bench-autoscaler: setup  ## Simulate a day of the scaling policy, and draw it (docs/autoscaling.svg)
	@$(BIN)/python -m bench.autoscaler $(ARGS)

bench-clients: setup  ## Measure HTTP clients: CPU for each page, and whether they do what a crawler needs
	@$(BIN)/python -m bench.clients $(ARGS)

bench-api: setup servers  ## Ask the API with 200 clients beside a busy crawl: errors, time, memory, the verdict
	@$(BIN)/python -m bench.api $(ARGS)

chaos: setup servers  ## Kill, stop and cut for ROUNDS= rounds, and check that nothing is lost
	@$(BIN)/python -m tests.chaos --rounds $(ROUNDS) $(ARGS)

docs: setup  ## Write docs/settings.md, docs/cli.md and docs/api.md from the code
	$(BIN)/skitter settings --markdown > docs/settings.md
	$(BIN)/skitter reference > docs/cli.md
	$(BIN)/python -m skitter.api.reference > docs/api.md

constraints: setup  ## Write constraints.txt from what is installed
	scripts/constraints.sh $(BIN)/python > constraints.txt.new
	mv constraints.txt.new constraints.txt

clean:  ## Remove all that make has made
	rm -rf $(VENV) build dist skitter-demo .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis .schemathesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
