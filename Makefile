# `make demo` is for users, `make test` and `make smoke` for contributors.
PYTHON ?= python3
VENV := .venv
RUNTIME := .venv-runtime
BIN := $(VENV)/bin
PIP_INSTALL := python -m pip install --quiet --disable-pip-version-check

.PHONY: demo check test smoke lint docs release clean

$(VENV)/installed: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit("dovetail needs Python 3.11 or newer; call make with PYTHON=python3.11") if sys.version_info < (3, 11) else 0'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/$(PIP_INSTALL) --editable '.[serve]'
	touch $@

$(VENV)/installed-dev: $(VENV)/installed
	$(BIN)/$(PIP_INSTALL) --editable '.[dev,docs,release,plot,bench]'
	touch $@

demo: $(VENV)/installed
	$(BIN)/dovetail demo

# In two minutes: lint, types, and the tests that the change can touch, nearest first.
check: $(VENV)/installed-dev
	$(BIN)/python tools/check.py

test: $(VENV)/installed-dev lint
	$(BIN)/python -m pytest -n auto --dist loadfile

# What `pip install .` alone gives: every command and every estimator, without anything that only tests install.
smoke:
	$(PYTHON) -m venv --clear $(RUNTIME)
	$(RUNTIME)/bin/$(PIP_INSTALL) .
	$(RUNTIME)/bin/python tools/smoke.py

lint: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The documentation as pages, in build/site: open build/site/index.html. Needs no network once the extra is installed.
docs: $(VENV)/installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

# The wheel and the source distribution, in dist/, each tried in an empty environment of every Python that is here.
release: $(VENV)/installed-dev
	$(BIN)/python tools/release.py

clean:
	rm -rf $(VENV) $(RUNTIME) dist build .pytest_cache .mypy_cache .ruff_cache .hypothesis
