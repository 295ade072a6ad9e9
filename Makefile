# make run    set everything up, then start the program
# make quick  check everything and test the core and what has changed (a minute)
# make test   set everything up, then check and test everything (minutes)
# make soak   the tests that take long, and one table of what is promised and measured
# make release  build, inspect and try what would be published
# make docs   build the documentation as a website in site/
# make speedrun  train from nothing, as the current record of the leaderboard (minutes)
# make budget sizes, start-up and compile times beside their limits
# All make their own .venv, with uv if it can be had, else with pip, and are quick the second time.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# The uv on PATH, else one that pip puts into the virtual environment. `make UV=` does without.
UV ?= $(or $(shell command -v uv 2>/dev/null),$(BIN)/uv)
# As uv's own variable: cpu, auto, or empty for whatever uv's other settings find.
UV_TORCH_BACKEND ?= cpu
unexport UV_TORCH_BACKEND
# Packages are installed without compiled modules; Python must be free to keep those it compiles.
unexport PYTHONDONTWRITEBYTECODE
TORCH := $(if $(UV_TORCH_BACKEND),--torch-backend $(UV_TORCH_BACKEND))
COMMA := ,
# What the targets do is written in tasks.py, which works without make, too.
TASK := $(BIN)/python tasks.py
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet

.PHONY: run quick core-tests test all-tests kaggle soak budget check parts imports docs bench speedrun release lock warmup clean
.DEFAULT_GOAL := run

run: $(VENV)/.core
	@echo "== fourlab web (other commands: $(BIN)/fourlab --help)"
	@$(BIN)/fourlab web $(ARGS)

# $(call timed,TARGET,NAME) makes a target and notes how long it took, for `make budget`.
define timed
	@started=$$(date +%s); $(MAKE) --no-print-directory $(1) \
	&& echo $$(( $$(date +%s) - started )) >$(VENV)/.$(2)-seconds
endef

quick: $(VENV)/.dev
	$(call timed,--jobs 2 check core-tests,quick)

core-tests: $(VENV)/.warm
	@$(TASK) core-tests

# What counts for the budget is a run from nothing.
test:
	$(call timed,all-tests,$(if $(wildcard $(VENV)),warm-test,test))

all-tests: $(VENV)/.dev
	@$(MAKE) --no-print-directory --jobs 3 check parts $(VENV)/.warm imports
	@$(TASK) all-tests

kaggle: $(VENV)/.dev
	@$(MAKE) --no-print-directory $(VENV)/.warm
	@$(TASK) kaggle

soak: $(VENV)/.dev
	@$(MAKE) --no-print-directory $(VENV)/.warm
	@$(TASK) soak

budget: $(VENV)/.dev
	@$(MAKE) --no-print-directory $(VENV)/.warm
	@$(TASK) budget $(ARGS)

check: $(VENV)/.dev
	@$(TASK) check

# Packages are installed without compiled modules; one process compiles those that the tests import,
# lest each of their workers does.
imports: $(VENV)/.dev
	@$(TASK) imports

# A browser, a C compiler and Node: found, installed if that is allowed, or named with the command.
parts: $(VENV)/.dev
	@$(TASK) parts

bench: $(VENV)/.bench
	@$(MAKE) --no-print-directory $(VENV)/.warm
	@$(TASK) bench

speedrun: $(VENV)/.core
	@$(TASK) speedrun $(ARGS)

release lock: $(VENV)/.dev
	@$(TASK) $@ $(ARGS)

docs: $(VENV)/.docs
	@$(TASK) docs

warmup: $(VENV)/.core
	@$(TASK) warmup

clean:
	@$(PYTHON) tasks.py clean
	@rm -rf $(VENV)

# --- stamps: each step runs once, and again when what it depends on has changed ---

# $(call install,WHAT,FIRST) installs with uv, or where that fails with pip. uv does not read pip's
# configuration, so pip may know indexes and folders that uv does not: if uv does not find torch
# without CUDA, pip installs that, and uv the rest.
# Neither compiles all modules in advance: Python compiles those that are used when they are used.
UV_INSTALL = UV_HTTP_RETRIES=1 $(UV) pip install --quiet --python $(BIN)/python --constraint constraints.txt
PIP_INSTALL = $(PIP) install --no-compile --constraint constraints.txt
# The second argument is what pip does before uv is tried without PyTorch's index.
define install
	@if [ -n "$(UV)" ] && command -v "$(UV)" >/dev/null; then \
	    $(UV_INSTALL) $(TORCH) $(1) 2>$(VENV)/uv.log \
	    || { $(2) && $(UV_INSTALL) $(1) 2>>$(VENV)/uv.log; } \
	    || { echo "uv cannot install this ($(VENV)/uv.log says why); trying pip"; $(PIP_INSTALL) $(1); }; \
	else $(PIP_INSTALL) $(1); fi
endef

# pip is part of the virtual environment in any case, since uv may fail later.
$(VENV)/.python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Python 3.11 or newer is needed; try make PYTHON=python3.12"; exit 1; }
	@echo "== making $(VENV)"
	@{ [ -n "$(UV)" ] && command -v "$(UV)" >/dev/null && $(UV) venv --quiet --seed --clear --python "$$(command -v $(PYTHON))" $(VENV); } \
	|| $(PYTHON) -m venv --clear $(VENV)
	@if [ -n "$(UV)" ] && ! command -v "$(UV)" >/dev/null; then $(PIP) install uv 2>/dev/null || true; fi
	@touch $@

$(VENV)/.core: $(VENV)/.python pyproject.toml constraints.txt
	@echo "== installing fourlab"
	$(call install,--editable .,true)
	@touch $@

# Everything at once, the core included (so nothing may need .core and .dev side by side in one make
# with several jobs; recipes ask for .warm when .dev is done). Kaggle's package says that it needs
# gigabytes; its ConnectX needs two small packages, which are among those of the tests.
$(VENV)/.dev: $(VENV)/.python pyproject.toml constraints.txt
	@echo "== installing fourlab with all that the tests and checks need"
	$(call install,--editable '.[all$(COMMA)dev]',$(PIP_INSTALL) torch)
	$(call install,--no-deps kaggle-environments==1.33.2,true)
	@touch $(VENV)/.core $@

$(VENV)/.docs: $(VENV)/.python pyproject.toml constraints.txt
	@echo "== installing fourlab with what the documentation needs"
	$(call install,--editable '.[docs]',true)
	@touch $@

$(VENV)/.bench: $(VENV)/.dev
	@echo "== installing the peers"
	$(call install,--editable '.[bench]',true)
	@touch $@

$(VENV)/.warm: $(VENV)/.core $(wildcard src/fourlab/compiled/*.py src/fourlab/game/*.py) $(shell grep -rl "compiled._jit import" src/fourlab --include=*.py)
	@$(TASK) warmup
	@touch $@
