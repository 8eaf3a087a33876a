PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
export PYTHONDONTWRITEBYTECODE := # hundreds of processes are started: one compiles for all

.PHONY: sandbox run demo test check crash chaos bench screenshots format clean

sandbox: $(VENV)/.run
	$(PY) -m bot sandbox

run: $(VENV)/.run
	$(PY) -m bot run

.PHONY: ready
ready: $(VENV)/.run
	$(PY) -m bot check

demo: $(VENV)/.run
	$(PY) -m bot sandbox --demo

test: $(VENV)/.test
	$(PY) -m pytest -q -n 4 --dist worksteal $(if $(COVERAGE),--cov --cov-report=)

check: $(VENV)/.test
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	$(if $(COVERAGE),$(PY) -m tests.coverage)

crash: $(VENV)/.test
	$(PY) -m benchmarks.crash

chaos: $(VENV)/.test
	$(PY) -m benchmarks.chaos

bench: $(VENV)/.test
	$(PY) -m benchmarks.all

format: $(VENV)/.test
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .

screenshots: $(VENV)/.test
	$(PY) -m docs.screenshots

$(VENV)/bin/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.run: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Installing into $(VENV): about half a minute."
	$(PY) -m pip install -q --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/.test: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Installing into $(VENV), with what the tests need: about a minute."
	$(PY) -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[test]'
	@touch $@ $(VENV)/.run

clean:
	rm -rf $(VENV) .coverage .mypy_cache .pytest_cache .ruff_cache .import_linter_cache
