# Needs only Python 3.11 or newer. Another interpreter: make test PYTHON=python3.12
PYTHON ?= python3
WORKERS ?= 2
# oldest: the oldest versions of the libraries that pyproject.toml allows.
DEPENDENCIES ?= newest

VENV := .venv
BIN := $(VENV)/$(if $(filter Windows_NT,$(OS)),Scripts,bin)
PIP := $(BIN)/python -m pip --disable-pip-version-check -q
INSTALLED := $(VENV)/.installed
INSTALLED_DEV := $(VENV)/.installed-dev
INSTALLED_DOCS := $(VENV)/.installed-docs
SITE := build/site

.PHONY: help demo test coverage docs check-links wheel check-wheel screenshots bench clean

help:
	@echo "make demo         fit the built-in corpus, print topics and label effects, write a report"
	@echo "make test         every check and test"
	@echo "make coverage     the tests alone, with a report of the lines they reach"
	@echo "make docs         the site in $(SITE), with every example run and every internal link checked"
	@echo "make check-links  the links of the site to other sites, over the network"
	@echo "make wheel        wheels of hdsp and hdsp-studies in dist"
	@echo "make check-wheel  these wheels in a fresh environment, with the lines of the README"
	@echo "make screenshots  the pictures of the report in README and docs"
	@echo "make bench        the benchmarks, on corpora in the folder HDSP_DATA"
	@echo "make clean        remove the environment and caches"

demo: $(INSTALLED)
	@$(BIN)/hdsp demo

# One BLAS thread per worker: workers that each start a thread per core slow one another down.
test coverage docs: export OMP_NUM_THREADS := 1
test coverage docs: export OPENBLAS_NUM_THREADS := 1
# Whatever the locale: it is read before tests/conftest.py can change it.
test coverage docs check-wheel: export PYTHONUTF8 := 1
test: $(INSTALLED_DEV)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/numpydoc lint $$(find src studies/src examples -name '*.py' ! -name 'plot_*')
	@sh tools/install_browser.sh
	@$(BIN)/python -m pytest -q -rs -n $(WORKERS) --dist loadgroup

coverage: $(INSTALLED_DEV)
	@sh tools/install_browser.sh
	@$(BIN)/python -m pytest -q -rs -n $(WORKERS) --dist loadgroup --cov=hdsp --cov=hdsp_studies --cov-report=xml --cov-report=term:skip-covered

# Blocks of the pages run as tests, examples of the gallery while the site is built.
docs: $(INSTALLED_DOCS)
	@$(BIN)/python -m pytest -q -n $(WORKERS) tests/test_documentation.py tests/test_site.py
	@$(BIN)/python -m sphinx -q -W --keep-going -n -b html docs $(SITE)
	@echo "The site is at $(SITE)/index.html"

check-links: $(INSTALLED_DOCS)
	@$(BIN)/python -m sphinx -q -b linkcheck docs build/linkcheck

wheel: | $(VENV)/pyvenv.cfg
	@$(PIP) install 'build>=1.2'
	@rm -rf dist
	@$(BIN)/python -m build -q -o dist .
	@$(BIN)/python -m build -q -o dist studies

check-wheel: wheel
	@$(BIN)/python tools/check_wheel.py dist

# Looked at before they are committed.
screenshots: $(INSTALLED_DEV)
	@sh tools/install_browser.sh
	@$(BIN)/python tools/screenshots.py

bench: $(INSTALLED_DEV)
	@$(BIN)/python benchmarks/run_all.py

$(VENV)/pyvenv.cfg:
	@$(PYTHON) -c 'import sys; v = sys.version_info; sys.exit(None if v >= (3, 11) else "hdsp needs Python 3.11 or newer, and $(PYTHON) is %d.%d. Name another with PYTHON=..." % v[:2])'
	@echo "Creating $(VENV)"
	@$(PYTHON) -m venv $(VENV)

# The environment is order-only: its date says nothing about what is installed.
$(INSTALLED): pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "Installing hdsp"
	@$(PIP) install -e .
	@touch $@

$(INSTALLED_DEV): pyproject.toml studies/pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "Installing hdsp and hdsp-studies with their development tools"
	@$(BIN)/python tools/constraints.py $(DEPENDENCIES) > $(VENV)/constraints.txt
	@$(PIP) install -e '.[dev]' -e studies -c $(VENV)/constraints.txt
	@touch $(INSTALLED) $@

$(INSTALLED_DOCS): pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "Installing hdsp with what the site is built from"
	@$(PIP) install -e '.[docs]'
	@touch $(INSTALLED) $@

clean:
	rm -rf $(VENV) build dist coverage.xml docs/gallery docs/generated .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
	find src tests studies -name __pycache__ -type d -prune -exec rm -rf {} +
