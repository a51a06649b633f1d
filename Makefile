# Needs only Python 3.11 or newer. Another interpreter: make test PYTHON=python3.12
PYTHON ?= python3
WORKERS ?= 2

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
INSTALLED := $(VENV)/.installed
INSTALLED_DEV := $(VENV)/.installed-dev

.PHONY: help demo test screenshots bench clean

help:
	@echo "make demo         fit the built-in corpus, print topics and label effects, write a report"
	@echo "make test         every check and test"
	@echo "make screenshots  the pictures of the report in README and docs"
	@echo "make bench        the benchmarks, on corpora in the folder HDSP_DATA"
	@echo "make clean        remove the environment and caches"

demo: $(INSTALLED)
	@$(BIN)/hdsp demo

# One BLAS thread per worker: workers that each start a thread per core slow one another down.
test: export OMP_NUM_THREADS := 1
test: export OPENBLAS_NUM_THREADS := 1
# Whatever the locale: it is read before tests/conftest.py can change it.
test: export PYTHONUTF8 := 1
test: $(INSTALLED_DEV)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/numpydoc lint $$(find src studies/src examples -name '*.py')
	@sh tests/report/install_browser.sh
	@$(BIN)/python -m pytest -q -rs -n $(WORKERS) --dist loadgroup

# Looked at before they are committed.
screenshots: $(INSTALLED_DEV)
	@sh tests/report/install_browser.sh
	@$(BIN)/python docs/screenshots.py

bench: $(INSTALLED_DEV)
	@$(BIN)/python benchmarks/run_all.py

$(BIN)/python:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(None if v >= (3, 11) else "hdsp needs Python 3.11 or newer, and $(PYTHON) is %d.%d. Name another with PYTHON=..." % v[:2])'
	@echo "Creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)

# The environment is order-only: its interpreter's date says nothing about what is installed.
$(INSTALLED): pyproject.toml | $(BIN)/python
	@echo "Installing hdsp"
	@$(PIP) install -e .
	@touch $@

$(INSTALLED_DEV): pyproject.toml studies/pyproject.toml | $(BIN)/python
	@echo "Installing hdsp and hdsp-studies with their development tools"
	@$(PIP) install -e '.[dev]' -e studies
	@touch $(INSTALLED) $@

clean:
	rm -rf $(VENV) build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests studies -name __pycache__ -type d -prune -exec rm -rf {} +
