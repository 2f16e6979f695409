# Two commands set everything up: `make demo` and `make test`. They need python3 (3.11 or newer) and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PAGES ?= 600
TESTERS ?= 3
TIMES ?= 20
unexport PYTHONDONTWRITEBYTECODE  # every crawl would compile all modules anew

.PHONY: help install demo demo-template test fuzz check format clean

help:  ## Say what there is
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 24

$(VENV)/.installed: pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "topiccrawl needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -e .
	@touch $@

$(VENV)/.tested: pyproject.toml $(VENV)/.installed
	$(BIN)/python -m pip install --quiet -e '.[test]'
	@touch $@

install: $(VENV)/.installed  ## Create .venv and install topiccrawl into it

demo: $(VENV)/.installed  ## Crawl the project's own news web for 新能源汽车, on loopback
	$(BIN)/python -m topiccrawl.demo crawl --pages $(PAGES)

demo-template: $(VENV)/.installed  ## Find the project's own made companies, two periods, on loopback
	$(BIN)/python -m topiccrawl.demo.companies

test: $(VENV)/.tested  ## Run all tests
	$(BIN)/coverage erase
	PYTHONHASHSEED=0 $(BIN)/coverage run -m pytest -n $(TESTERS) --dist loadfile --no-loadscope-reorder

fuzz: $(VENV)/.tested  ## Look for new counterexamples to all laws: TIMES=20 times as many, random ones
	TOPICCRAWL_TEST_FUZZ=$(TIMES) $(BIN)/pytest -n $(TESTERS) --dist loadfile -m hypothesis tests

check: $(VENV)/.tested  ## Lint, types, import contracts, and the coverage of the last `make test`
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	if ls .coverage.* >/dev/null 2>&1; then $(BIN)/coverage combine --quiet --append; fi
	$(BIN)/coverage report --skip-covered

format: $(VENV)/.tested  ## Format and sort imports
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

clean:  ## Remove what make created, but no data
	rm -rf $(VENV) build *.egg-info .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
