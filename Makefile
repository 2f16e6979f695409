# Two commands set everything up: `make demo` and `make test`. They need python3 (3.11 or newer) and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PAGES ?= 600
TESTERS ?= 3
TIMES ?= 20
PYWB := $(abspath $(VENV))/pywb
BASELINE ?= --check
PYTEST := PYTHONHASHSEED=0 $(BIN)/coverage run -m pytest -n $(TESTERS) --dist loadfile --no-loadscope-reorder --reruns 1
unexport PYTHONDONTWRITEBYTECODE  # otherwise each crawl of the tests compiles all modules again

.PHONY: help install demo demo-template test test-slow lowest test-all slow-tools fuzz baseline check docs house licences audit coverage dist format clean

help:  ## List the targets
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

demo: $(VENV)/.installed  ## Crawl the bundled demo web for 新能源汽车, on loopback
	$(BIN)/python -m lab.demo crawl --pages $(PAGES)

demo-template: $(VENV)/.installed  ## Run a template crawl of the bundled company web, two periods, on loopback
	$(BIN)/python -m lab.demo.companies

test: $(VENV)/.tested  ## Run the fast tests
	$(BIN)/coverage erase
	$(PYTEST) -m 'not slow'

test-slow: slow-tools  ## Run the slow tests: kill runs, nodes, long crawls, Chromium, pywb
	export TOPICCRAWL_TEST_PYWB=$$(test -x $(PYWB)/bin/wayback && echo $(PYWB)); $(PYTEST) -m slow tests

lowest: pyproject.toml  ## Run unit and contract tests with the lowest versions that pyproject.toml allows
	$(PYTHON) -m venv --clear build/lowest
	build/lowest/bin/python -m pip install --quiet uv
	VIRTUAL_ENV=build/lowest build/lowest/bin/uv pip install --quiet --resolution lowest-direct -e '.[js,metrics,notebook,parquet,pdf,scrapyd,warc]'
	VIRTUAL_ENV=build/lowest build/lowest/bin/uv pip install --quiet -e '.[test]'
	PATH="$(abspath build/lowest/bin):$$PATH" PYTHONHASHSEED=0 build/lowest/bin/pytest -n $(TESTERS) -m 'not slow' -W default tests/unit tests/contracts

test-all: test test-slow coverage  ## Run all tests and check their coverage

slow-tools: $(VENV)/.tested
	-@test -x $(PYWB)/bin/wayback || { $(PYTHON) -m venv $(PYWB) && $(PYWB)/bin/python -m pip install --quiet pywb; }
	-@test -n "$(TOPICCRAWL_TEST_BROWSER)" || command -v chromium >/dev/null || { test "$$(id -u)" = 0 \
		&& apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; }

fuzz: $(VENV)/.tested  ## Run the property tests with TIMES=20 times as many random examples
	TOPICCRAWL_TEST_FUZZ=$(TIMES) $(BIN)/pytest -n $(TESTERS) --dist loadfile -m hypothesis tests

baseline: $(VENV)/.tested  ## Compare crawls, articles and the public surface with the stored baseline; BASELINE=--write stores it
	$(BIN)/python -m benchmarks.baseline $(BASELINE)

check: $(VENV)/.tested  ## Check lint, types, import contracts, words, settings, licences and workflows
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m lab.house --check
	$(BIN)/python -m lab.licences --check
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml

docs: $(VENV)/.tested  ## Build the documentation site into build/site; broken links are errors
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

house: $(VENV)/.tested  ## Measure the code: lines, packages, words, settings
	$(BIN)/python -m lab.house

audit: $(VENV)/.tested  ## Check the installed dependencies for known vulnerabilities (needs network)
	$(BIN)/python -m pip install --quiet pip-audit
	$(BIN)/pip-audit --skip-editable --progress-spinner off

licences: $(VENV)/.tested  ## List the licences of all dependencies
	$(BIN)/python -m lab.licences

dist: $(VENV)/.tested  ## Build the wheel and the source distribution into dist
	rm -rf dist build
	$(BIN)/python -m pip install --quiet build
	$(BIN)/python -m build --outdir dist .

coverage: $(VENV)/.tested  ## Report the coverage of the last `make test-all` and check its minimum
	if ls .coverage.* >/dev/null 2>&1; then $(BIN)/coverage combine --quiet --append; fi
	$(BIN)/coverage report --format=total

format: $(VENV)/.tested  ## Format and sort imports
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

clean:  ## Remove generated files, but no data
	rm -rf $(VENV) build dist *.egg-info .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
