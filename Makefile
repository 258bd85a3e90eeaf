# weft: everything runs in .venv, which the first target that needs it makes.
# Needed beforehand: make, and Python 3.11 or newer. Another interpreter: make test PYTHON=/path/to/python

# Paths may hold spaces, which make's own functions do not bear: the shell takes the folder from the Makefile's name.
ROOT := $(shell cd "$$(dirname "$$(echo "$(MAKEFILE_LIST)" | sed 's/^ *//')")" && pwd -P)

.PHONY: demo test check bench soak env clean
.DEFAULT_GOAL := test

ifneq ($(ROOT),$(CURDIR))
# Called from elsewhere, as make -f /path/Makefile: everything happens in the Makefile's folder.
demo test check bench soak env clean:
	@$(MAKE) --no-print-directory -C "$(ROOT)" $@
else

PYTHON ?= $(shell for p in python3 python python3.14 python3.13 python3.12 python3.11; do $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# A user's own setting of this would install beside the environment, not into it.
export PIP_USER := 0

# Runs what follows while no other make of this folder does the same; the kernel gives the lock back whatever happens.
ALONE := $(PYTHON) -c 'import fcntl, subprocess, sys; lock = open("Makefile"); fcntl.flock(lock, fcntl.LOCK_EX); sys.exit(subprocess.call(sys.argv[1:]))'

demo: env
	$(BIN)/weft demo

test: env
	$(BIN)/pytest -q -n auto --dist worksteal

soak: env
	$(BIN)/pytest -q -m soak

check: env
	$(BIN)/python tests/harness/typecheck.py
	$(BIN)/ruff check .

bench: env
	@$(ALONE) $(BIN)/python -m pip install -q --disable-pip-version-check -e '.[bench]'
	$(BIN)/weft bench

env: $(READY)

# The stamp is newer than pyproject.toml when everything that pyproject.toml names is installed. A half-made environment (no pip in it) is made again.
# Debian keeps ensurepip in a package of its own: without it the environment is made bare, and the pip beside the interpreter, if there is one, fills it.
# Of two makes at once the second waits, and then finds everything there.
$(READY): pyproject.toml
ifndef IS_ALONE
	@test -n "$(PYTHON)" || { echo "weft needs Python 3.11 or newer, and none was found. Install one, or name it: make $(or $(MAKECMDGOALS),test) PYTHON=/path/to/python" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "weft needs Python 3.11 or newer; $(PYTHON) is $$($(PYTHON) -V 2>&1). Name another: make $(or $(MAKECMDGOALS),test) PYTHON=/path/to/python" >&2; exit 1; }
	@$(ALONE) $(MAKE) --no-print-directory IS_ALONE=yes $(READY)
else
	@if $(BIN)/python -m pip --version >/dev/null 2>&1; then :; \
	elif $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null; then $(PYTHON) -m venv --clear $(VENV); \
	elif $(PYTHON) -m pip --version >/dev/null 2>&1 && $(PYTHON) -m venv --clear --without-pip $(VENV); then $(PYTHON) -m pip --python $(BIN)/python install -q pip; \
	else echo "$(PYTHON) cannot make an environment with pip in it: its venv or ensurepip module is missing. On Debian and Ubuntu: apt install python3-venv" >&2; exit 1; fi
	$(BIN)/python -m pip install -q --disable-pip-version-check -e '.[test,check]'
	@touch $@
endif

clean:
	rm -rf $(VENV) .links build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis

endif
