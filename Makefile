# Two commands set everything up: `make demo` and `make test`. They need python3 (3.11 or newer) and make.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PAGES ?= 600
TESTERS ?= 3
TIMES ?= 20
PYWB := $(abspath $(VENV))/pywb
BASELINE ?= --check
PYTEST := PYTHONHASHSEED=0 $(BIN)/coverage run -m pytest -n $(TESTERS) --dist loadfile --no-loadscope-reorder
unexport PYTHONDONTWRITEBYTECODE  # every crawl would compile all modules again

.PHONY: help install demo demo-template test test-slow test-all slow-tools fuzz baseline check docs house licences audit coverage dist format clean

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
	$(BIN)/python -m lab.demo crawl --pages $(PAGES)

demo-template: $(VENV)/.installed  ## Find the project's own made companies, two periods, on loopback
	$(BIN)/python -m lab.demo.companies

test: $(VENV)/.tested  ## Run the tests, all but those that take long
	$(BIN)/coverage erase
	$(PYTEST) -m 'not slow'

test-slow: slow-tools  ## Run what `make test` leaves out: kill runs, nodes, long crawls, Chromium, pywb
	export TOPICCRAWL_TEST_PYWB=$$(test -x $(PYWB)/bin/wayback && echo $(PYWB)); $(PYTEST) -m slow

test-all: test test-slow coverage  ## Run all tests and judge their coverage

slow-tools: $(VENV)/.tested
	-@test -x $(PYWB)/bin/wayback || { $(PYTHON) -m venv $(PYWB) && $(PYWB)/bin/python -m pip install --quiet pywb; }
	-@test -n "$(TOPICCRAWL_TEST_BROWSER)" || command -v chromium >/dev/null || { test "$$(id -u)" = 0 \
		&& apt-get update -qq && apt-get install -y -qq --no-install-recommends chromium >/dev/null; }

fuzz: $(VENV)/.tested  ## Look for new counterexamples to all laws: TIMES=20 times as many, random ones
	TOPICCRAWL_TEST_FUZZ=$(TIMES) $(BIN)/pytest -n $(TESTERS) --dist loadfile -m hypothesis tests

baseline: $(VENV)/.tested  ## Compare crawls, articles and the surface with what is kept; BASELINE=--write keeps
	$(BIN)/python -m benchmarks.baseline $(BASELINE)

check: $(VENV)/.tested  ## Lint, types, import contracts, words, settings, licences and workflows
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m lab.house --check
	$(BIN)/python -m lab.licences --check
	$(BIN)/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml

docs: $(VENV)/.tested  ## Build the documentation's site into build/site; a wrong link or anchor fails
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build

house: $(VENV)/.tested  ## Measure the code: lines, rooms, words, settings
	$(BIN)/python -m lab.house

audit: $(VENV)/.tested  ## Look for known vulnerabilities of the installed dependencies, in the network
	$(BIN)/python -m pip install --quiet pip-audit
	$(BIN)/pip-audit --skip-editable --progress-spinner off

licences: $(VENV)/.tested  ## List the licences of all packages that an installation brings
	$(BIN)/python -m lab.licences

dist: $(VENV)/.tested  ## Build the wheel and the source archive into dist
	rm -rf dist build
	$(BIN)/python -m pip install --quiet build
	$(BIN)/python -m build --outdir dist .

coverage: $(VENV)/.tested  ## The coverage of the last `make test-all`, and its floor
	if ls .coverage.* >/dev/null 2>&1; then $(BIN)/coverage combine --quiet --append; fi
	$(BIN)/coverage report --format=total

format: $(VENV)/.tested  ## Format and sort imports
	$(BIN)/ruff check --fix-only .
	$(BIN)/ruff format .

clean:  ## Remove what make created, but no data
	rm -rf $(VENV) build dist *.egg-info .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
