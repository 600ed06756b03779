# Two commands: `make demo` shows the real thing, `make test` runs every check. Both make ./.venv first.
# A development machine keeps what it needs in ./.venv; delete the folder to begin again.

VENV := .venv
BIN := $(VENV)/bin
DEMO_DATA := .agentic-rag

.DEFAULT_GOAL := help
.PHONY: help demo test format bench lock clean

help:  ## this list
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: $(VENV)/.installed  ## ingest the example vault and ask it one question per operation
	@BIN=$(BIN) DATA=$(DEMO_DATA) sh scripts/demo.sh

test: $(VENV)/.installed  ## format, lint, types, import contract, tests with coverage
	@BIN=$(BIN) sh scripts/test.sh

format: $(VENV)/.installed  ## put the sources into the project's form
	@$(BIN)/ruff format . && $(BIN)/ruff check --fix .

bench: $(VENV)/.installed  ## every benchmark in its quick form
	@missed=; for bench in evaluation/bench_*.py; do $(BIN)/python $$bench --quick || missed="$$missed $$bench"; done; \
	  test -z "$$missed" || { echo "missed a floor, or could not run:$$missed" >&2; exit 1; }

lock: $(VENV)/.installed  ## resolve the dependencies anew into requirements.lock
	@$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	  --no-header --group dev pyproject.toml -o requirements.lock

clean:  ## remove the environment and the demo's data
	rm -rf $(VENV) $(DEMO_DATA)

$(VENV)/.installed: requirements.lock pyproject.toml scripts/setup.sh
	@VENV=$(VENV) sh scripts/setup.sh
