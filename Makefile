PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PB     := adapters/kubelet/pb
CODE   := domain application adapters entrypoints tests
export PYTHONPATH := $(CURDIR)

.DEFAULT_GOAL := help

help: ## List the targets
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-14s %s\n", $$1, $$2}'

# The stamp is newer than the lock file once everything in it is installed.
$(VENV)/.stamp: requirements/dev.txt pyproject.toml
	@command -v $(PYTHON) >/dev/null || { echo "make: $(PYTHON) not found: install Python 3.11 or newer, or set PYTHON=" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; v = sys.version.split()[0]; sys.exit(0 if sys.version_info >= (3, 11) else f"make: Python {v} is too old: 3.11 or newer is needed, set PYTHON=")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

venv: $(VENV)/.stamp ## Make .venv with the pinned dependencies

test: $(VENV)/.stamp ## Run the tests, with branch coverage
	@rm -f .coverage*
	$(BIN)/python -m coverage run -m pytest $(ARGS)
	@$(BIN)/python -m coverage combine --quiet && $(BIN)/python -m coverage report

lint: $(VENV)/.stamp check-protos ## ruff, mypy, import contracts, licences, generated code
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m tests.licences

format: $(VENV)/.stamp ## Let ruff format and mend what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

demo: $(VENV)/.stamp ## A simulated node, the real daemon and a fake kubelet (WATCH=1 keeps it running)
	@$(BIN)/python -m tests.demo $(if $(WATCH),--watch)

e2e: $(VENV)/.stamp ## Boot a QEMU guest with real SR-IOV NICs and run the daemon in it
	@bash tests/e2e/run $(ARGS)

bench: $(VENV)/.stamp ## Measure start, Allocate, memory and syscalls; writes bench.json
	@$(BIN)/python -m tests.bench $(ARGS)

bench-live: $(VENV)/.stamp ## Measure reactions to changes; writes bench-live.json
	@$(BIN)/python -m tests.bench.live $(ARGS)

kubelet-build: ## Build the real kubelet's device manager, 1.32 to 1.37, into the cache (needs Go)
	@bash tests/kubelet/build $(ARGS)

kubelet: $(VENV)/.stamp kubelet-build ## Fake and daemon before every kubelet: a table (ARGS="137 134" some, SHORT=1 less often)
	@SRIOVDP_KUBELETS="$(or $(ARGS),all)" $(if $(SHORT),,SRIOVDP_RESTARTS=50 SRIOVDP_KILLS=30 SRIOVDP_CASES=all) $(BIN)/python -m tests.kubelet

fuzz: $(VENV)/.stamp ## 10,000 broken hosts
	SRIOVDP_FUZZ=$${SRIOVDP_FUZZ:-10000} $(BIN)/python -m pytest tests/fuzz $(ARGS)

live: $(VENV)/.stamp ## Run the tests of a live node RUNS times in a row (20); stops at the first failure
	@bash tests/daemon/in_a_row $(or $(RUNS),20) $(ARGS)

soak: $(VENV)/.stamp ## 10 minutes of random changes under a real daemon, with a table at the end
	@$(BIN)/python -m tests.soak $(ARGS)

chaos: $(VENV)/.stamp ## 10 minutes of faults under a real daemon before a real kubelet (SRIOVDP_CHAOS_SECONDS)
	@$(BIN)/python -m tests.chaos $(ARGS)

protos: $(VENV)/.stamp ## Generate the gRPC code from protos/
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/python -m grpc_tools.protoc -I$(PB)=protos --python_out=. --grpc_python_out=. --mypy_out=quiet:. --mypy_grpc_out=quiet:. protos/*.proto

check-protos: protos ## Fail if the generated code is not what protos/ says
	@git diff --exit-code --stat -- $(PB) || { echo "generated code differs from protos/: commit what 'make protos' wrote" >&2; exit 1; }

lock: $(VENV)/.stamp ## Pin the dependencies anew (needs uv)
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate --upgrade pyproject.toml -o requirements/runtime.txt
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url --no-header --no-annotate pyproject.toml --group dev -c requirements/runtime.txt -o requirements/dev.txt

clean: ## Remove everything that was made here
	rm -rf $(VENV) .cache .coverage* .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache bench.json bench-live.json

.PHONY: help venv test lint format demo e2e bench bench-live chaos fuzz kubelet kubelet-build live soak protos check-protos lock clean
