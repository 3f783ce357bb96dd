# Everything a newcomer needs: `make demo`, then `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 5000
OUT ?= outputs
READY := $(VENV)/.ready

export MLFLOW_DISABLE_TELEMETRY := true
# Without byte code each start would compile hundreds of modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help install demo faces test test-all check docs format paper tables bench ui clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /\t/' | awk -F'\t' '{printf "  make %-9s %s\n", $$1, $$2}'

$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit("fairfr needs Python 3.11 or newer: make PYTHON=python3.11 ..." if sys.version_info < (3, 11) else 0)'
	@echo "Installing into $(VENV): one to five minutes, once."
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python -m pip install --quiet --upgrade "pip>=25"
	@$(BIN)/python -m pip install --quiet --no-compile -c constraints.txt -e '.[all,dev]'
	@$(BIN)/python scripts/warm_up.py
	@touch $(READY)

install: $(READY)  ## create .venv with the pinned packages (every target does this when needed)

demo: $(READY)  ## every method on the synthetic LFW stand-in, with a table at the end
	@$(BIN)/python run.py -m dataset=lfw backbone=magface 'method=glob(*)' source=synthetic

faces: $(READY)  ## real faces: LFW downloaded (180 MB), embedded in about 15 minutes, checked (IMAGES=folder or archive)
	@$(BIN)/fairfr faces lfw $(if $(IMAGES),--images "$(IMAGES)")

test: $(READY)  ## the test suite, without servers, parallel launchers and kills
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto -m "not server and not launcher and not kill"

test-all: $(READY)  ## the whole test suite
	@OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto

check: $(READY)  ## style, types, import rules and the documentation
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python scripts/method_table.py --check
	@$(BIN)/python scripts/commands_page.py --check
	@$(MAKE) --no-print-directory docs

docs: $(READY)  ## the documentation site, in build/site; a broken link is an error
	@$(BIN)/python -m sphinx -q -W --keep-going -E -d build/doctrees -b html docs build/site

format: $(READY)  ## put the code in its standard form
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

paper: $(READY)  ## the paper's headline sweep: 20 methods on nine settings (docs/speed.md has the time)
	@$(BIN)/python run.py -m experiment=headline hydra/launcher=joblib

tables: $(READY)  ## the paper's tables and figures from what has run, beside the paper's numbers (READING=strict, paper: all of it so)
	@$(BIN)/python scripts/make_tables.py $(if $(READING),--reading $(READING)) --out-root "$(OUT)"

bench: $(READY)  ## speed, as ratios against plain scikit-learn and faiss code in the same run
	@$(BIN)/python tests/benchmarks/bench.py

ui: $(READY)  ## compare runs in the MLflow page, on this machine only (OUT=outputs PORT=5000)
	@$(BIN)/python scripts/ui.py --out-root "$(OUT)" --port $(PORT)

clean:  ## remove .venv and caches; outputs and data stay
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find fairfr tests -name __pycache__ -type d -prune -exec rm -rf {} +
