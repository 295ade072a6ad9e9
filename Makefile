# make run    set everything up, then start the program
# make test   set everything up, then check and test everything
# Both make their own .venv and are quick the second time.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: run test kaggle soak check bench warmup clean
.DEFAULT_GOAL := run

run: $(VENV)/.warm
	@echo "== fourlab web (other commands: $(BIN)/fourlab --help)"
	@$(BIN)/fourlab web

test:
	@$(MAKE) --no-print-directory --jobs 2 check $(VENV)/.kaggle $(VENV)/.warm
	@echo "== tests"
	@$(BIN)/python -m pytest -n 2

kaggle: $(VENV)/.kaggle $(VENV)/.warm
	@echo "== submissions in Kaggle's own environment"
	@CI=true $(BIN)/python -m pytest tests/interop/kaggle

soak: $(VENV)/.kaggle $(VENV)/.warm
	@echo "== tests that take minutes"
	@$(BIN)/python -m pytest -m soak --durations=10

check: $(VENV)/.dev
	@echo "== ruff, mypy, import-linter"
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

bench: $(VENV)/.bench $(VENV)/.warm
	@echo "== benchmarks: ours beside peers, in one run"
	@$(BIN)/python benchmarks/playouts.py
	@$(BIN)/python benchmarks/mcts.py
	@$(BIN)/python benchmarks/guided.py
	@$(BIN)/python benchmarks/q_learning.py
	@$(BIN)/python benchmarks/alphazero.py
	@$(BIN)/python benchmarks/arena.py
	@$(BIN)/python benchmarks/envs.py
	@$(BIN)/python benchmarks/web.py
	@$(BIN)/python benchmarks/page.py
	@$(BIN)/python benchmarks/solver.py $(if $(TEST_SETS),--positions $(TEST_SETS))
	@$(BIN)/python benchmarks/ablation.py
	@if [ -n "$(POSITIONS)" ]; then $(BIN)/python benchmarks/mistakes.py $(POSITIONS); \
	else echo "for mistake rates: make bench POSITIONS=\"files of positions, one a line\""; fi

warmup: $(VENV)/.core
	@$(BIN)/fourlab warmup

clean:
	rm -rf $(VENV) dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests -name __pycache__ -prune -exec rm -rf {} +

# --- stamps: each step runs once, and again when what it depends on has changed ---

$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; try make PYTHON=python3.12"; exit 1; }
	@echo "== making $(VENV)"
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.core: $(VENV)/.python pyproject.toml
	@echo "== installing fourlab"
	@$(PIP) install --editable .
	@touch $@

$(VENV)/.dev: $(VENV)/.core
	@echo "== installing what the tests and checks need"
	@$(PIP) install --editable '.[chess,dev,envs,openspiel,ray,train]'
	@touch $@

# Kaggle's package says that it needs gigabytes; its ConnectX needs two small packages.
$(VENV)/.kaggle: $(VENV)/.dev
	@echo "== installing Kaggle's environment"
	@$(PIP) install jsonschema requests
	@$(PIP) install --no-deps kaggle-environments==1.33.2
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	@echo "== installing the peers"
	@$(PIP) install --editable '.[bench]'
	@touch $@

$(VENV)/.warm: $(VENV)/.core $(wildcard src/fourlab/kernels/*.py)
	@echo "== compiling the kernels for this machine"
	@$(BIN)/fourlab warmup
	@touch $@
