# Two commands: `make demo` installs what a user needs into ./.venv and shows the real thing; `make test` adds the
# development tools and runs every check. Delete the folder to begin again.

VENV := .venv
BIN := $(VENV)/bin
DEMO_DATA := .agentic-rag

.DEFAULT_GOAL := help
.PHONY: help demo serve test coverage test-notebooks test-browser pictures test-mcp test-servers test-distributed test-models audit format bench lock clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(or $(wildcard $(VENV)/.installed),$(VENV)/.usable)  ## ingest the example vault and ask it one question per operation
	@BIN=$(BIN) DATA=$(DEMO_DATA) sh scripts/demo.sh

serve: $(or $(wildcard $(VENV)/.installed),$(VENV)/.usable)  ## the page on the demo's data, at http://127.0.0.1:8321/
	@$(BIN)/agentic-rag serve --data-dir $(DEMO_DATA)

test: $(VENV)/.installed  ## format, lint, types, import contract, tests
	@BIN=$(BIN) sh scripts/test.sh

coverage: $(VENV)/.installed  ## the tests traced: which lines none of them runs
	@$(BIN)/python -m pytest --numprocesses=auto --dist=worksteal --cov --cov-report=term

test-notebooks: $(VENV)/.installed  ## the notebooks run anew, and agree with what they show
	@AGENTIC_RAG_NOTEBOOKS=run $(BIN)/python -m pytest tests/integration/test_notebooks.py

test-browser: $(VENV)/.installed  ## the page in Chromium, by mouse, by keyboard and by axe
	@BIN=$(BIN) TOOLS=$(VENV)/node sh scripts/test_browser.sh

pictures: $(VENV)/.installed  ## the pictures of docs/, taken anew in the browser
	@BIN=$(BIN) TOOLS=$(VENV)/node AGENTIC_RAG_PICTURES=docs/pictures sh scripts/test_browser.sh -k "citation or viewer"

test-mcp: $(VENV)/.installed  ## the official MCP conformance suite
	@BIN=$(BIN) TOOLS=$(VENV)/node sh scripts/test_mcp.sh

test-servers: $(VENV)/.installed  ## the stores on real Neo4j and FalkorDB servers, two replicas behind nginx
	@BIN=$(BIN) BUILT=$(VENV)/neo4j sh scripts/test_servers.sh

test-distributed: $(VENV)/.installed  ## ingest, reindex and evaluation on a Ray cluster of two nodes on this machine
	@AGENTIC_RAG_RAY=run $(BIN)/python -m pytest tests/distributed

test-models: $(VENV)/.installed  ## what asks a chat model, on a real small one
	@BIN=$(BIN) TOOLS=$(VENV)/node sh scripts/test_models.sh

audit: $(VENV)/.installed  ## known vulnerabilities of the locked dependencies
	@$(BIN)/python scripts/audit.py

format: $(VENV)/.installed  ## put the sources into the project's form
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

bench: $(VENV)/.installed  ## every benchmark in its quick form
	@missed=; for bench in evaluation/bench_*.py; do $(BIN)/python $$bench --quick || missed="$$missed $$bench"; done; \
	  test -z "$$missed" || { echo "missed a floor, or could not run:$$missed" >&2; exit 1; }

lock: $(VENV)/.installed  ## resolve the dependencies anew into requirements.lock
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --group dev --extra service pyproject.toml -o requirements.lock

clean:  ## remove the environment and the demo's data
	rm -rf $(VENV) $(DEMO_DATA)

$(VENV)/.installed: requirements.lock pyproject.toml scripts/setup.sh
	@VENV=$(VENV) sh scripts/setup.sh

# What a user needs, without the development tools; the versions are those of the lock.
$(VENV)/.usable: requirements.lock pyproject.toml scripts/setup.sh
	@VENV=$(VENV) EXTRAS=documents,service sh scripts/setup.sh
