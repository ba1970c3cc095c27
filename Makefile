# The executable book of Self-Critical Inference. `make help` lists what there is.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help env reproduce quick lint test soak book release lab pages versions integrations
.PHONY: integrations-ray device-tree

VENV := .venv
BIN := $(VENV)/bin
# Two stamps in one environment: what the book needs is there, and so is all the rest. Their names
# carry a checksum of what was installed, so a changed lock installs again.
checksum = $(shell cat $(1) pyproject.toml | cksum | cut -d' ' -f1)
FOR_BOOK := $(VENV)/.installed-book-$(call checksum,requirements-book.lock)
FOR_ALL := $(VENV)/.installed-all-$(call checksum,requirements-book.lock requirements.lock)
# Any interpreter that calls itself 3.11 will do; PYTHON=/path/to/python3.11 overrides the search.
PYTHON ?= $(shell for p in python3.11 python3 python; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null \
	&& { command -v "$$p"; break; }; done)

# A process a core; a file's tests (a notebook's cells) stay together, in order.
PROCESSES := --numprocesses auto --maxprocesses 4
PARALLEL := $(PROCESSES) --dist loadfile --no-loadscope-reorder

export HF_HUB_OFFLINE ?= 1
export TOKENIZERS_PARALLELISM ?= false
# Packages are compiled when they are imported, and not when installed: most never are (0.4 GB).
unexport PYTHONDONTWRITEBYTECODE

help: ## list the commands
	@echo "make reproduce                        pocket data, evaluation, notebooks, book"
	@echo "make reproduce FULL=1                 the same, recomputing every record"
	@echo "make reproduce MODEL=… DATA=… LIMIT=… another model or data set, into runs/ (DTYPE=…)"
	@echo "make reproduce … ONLY=sci,oric        those papers alone; COMPANIONS=0 leaves out all but sci"
	@echo "make reproduce … TOKENS=… BATCH=… WORKERS=…  new tokens, questions at a time, processes"
	@echo "make quick                            before a commit: style, types, laws, units, layers and the"
	@echo "                                      form of pages, in a minute"
	@echo "make lint                             style and types alone"
	@echo "make test                             laws, units, layers, then every notebook re-run"
	@echo "make test ALL=1                       the same, with what bears the mark slow (a release)"
	@echo "make soak                             the laws, on many times as many random cases, and faults,"
	@echo "                                      again and again (hours)"
	@echo "make book                             render the committed notebooks"
	@echo "make release                          the same as an archive in dist/, with notes and checksums"
	@echo "make lab                              open the notebooks in JupyterLab, which it installs"
	@echo "make pages                            check every page of the rendered book in Chromium,"
	@echo "                                      and every chapter with models of every kind"
	@echo "make env                              only make .venv, with what the book needs (1.7 GB)"
	@echo "make env ALL=1                        the same, with what tests and extras need (2.6 GB)"
	@echo "make versions                         decode with the oldest and the newest releases of"
	@echo "                                      transformers that are declared (benchmarks/versions.py)"
	@echo "make integrations                     vLLM in an environment of its own (3.5 GB): its tests,"
	@echo "                                      and its answers beside generate's (benchmarks/vllm_parity.py)"
	@echo "make device-tree                      leave in this checkout what a GPU is measured with, 19 MB,"
	@echo "                                      and no records, pages or weights but one's"
	@echo "make integrations-ray                 the extra ray in an environment of its own (1.9 GB): its tests"

define install
	@test -n "$(PYTHON)" || { echo "make: no Python 3.11 found; install it (with its venv module)" \
		"or name one: make PYTHON=/path/to/python3.11 …" >&2; exit 2; }
	@"$(PYTHON)" -m venv $(VENV) || { echo "make: $(PYTHON) cannot make a virtual environment;" \
		"install its venv module (on Debian and Ubuntu: python3.11-venv)" >&2; exit 2; }
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile -r $(1)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check \
		--no-deps --no-build-isolation --editable .
	@rm -f $(VENV)/.installed-* && touch $(2)
endef

$(FOR_BOOK):
	$(call install,requirements-book.lock,$(FOR_BOOK))

$(FOR_ALL):
	$(call install,requirements.lock,$(FOR_BOOK) $(FOR_ALL))

env: $(if $(ALL),$(FOR_ALL),$(FOR_BOOK))

# Every record includes those in reduced precision, which bitsandbytes makes.
reproduce: $(if $(FULL),$(FOR_ALL),$(FOR_BOOK))
	@$(BIN)/python -m sci_book reproduce $(if $(MODEL),--model "$(MODEL)") \
		$(if $(DATA),--data "$(DATA)") $(if $(LIMIT),--limit $(LIMIT)) $(if $(DTYPE),--dtype "$(DTYPE)") \
		$(if $(ONLY),--only "$(ONLY)") $(if $(filter 0 no,$(COMPANIONS)),--no-companions) \
		$(if $(TOKENS),--max-new-tokens $(TOKENS)) $(if $(BATCH),--batch-size $(BATCH)) \
		$(if $(WORKERS),--workers $(WORKERS)) \
		$(if $(MIN_PIXELS),--min-pixels $(MIN_PIXELS)) $(if $(MAX_PIXELS),--max-pixels $(MAX_PIXELS)) \
		$(if $(FULL),--full)

# A test is quick that bears the mark `quick`.
quick: lint
	$(BIN)/python -m pytest -q -m quick $$(grep -rl --include='test_*.py' 'mark\.quick' tests)

lint: $(FOR_ALL)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check --quiet .
	$(BIN)/mypy

# A test that bears the mark `slow` is tried every night and before a release.
MERGE := $(if $(ALL),,-m "not slow")

test: $(FOR_ALL)
	$(BIN)/python -m pytest $(PARALLEL) $(MERGE)
	@if ls notebooks/*.ipynb >/dev/null 2>&1; then \
		echo "$(BIN)/python -m pytest --nbval notebooks/"; \
		$(BIN)/python -m pytest --nbval --nbval-current-env \
			--nbval-sanitize-with tests/nbval_sanitize.cfg -p tests.forked_kernels $(PARALLEL) \
			notebooks/; \
	else echo "no notebook yet: nothing to check with nbval"; fi

# How many times as many: `make soak SOAK=5`.
SOAK ?= 20
soak: $(FOR_ALL)
	SCI_SOAK=$(SOAK) $(BIN)/python -m pytest $(PARALLEL) tests tests/books \
		tests/browser/test_explorer.py tests/browser/test_live.py
	$(BIN)/python benchmarks/soak.py --fuzz $(SOAK)

book: $(FOR_BOOK)
	$(BIN)/jupyter-book build . -W --keep-going --quiet
	@echo "$(CURDIR)/_build/html/index.html"

release: book
	$(BIN)/python -m sci_book.pipeline.release

lab: $(FOR_BOOK)
	@$(BIN)/python -c "import jupyterlab" 2>/dev/null || $(BIN)/python -m pip install --quiet \
		--disable-pip-version-check --no-compile -r requirements-lab.lock
	$(BIN)/jupyter lab notebooks

# Two files take most of the time: a process that is done takes tests from the other.
pages: $(FOR_ALL)
	$(BIN)/python -m pytest -q $(PROCESSES) --dist worksteal $(MERGE) tests/books tests/browser

# Its environments stay in runs/versions, where a second call finds them.
versions: $(FOR_ALL)
	$(BIN)/python benchmarks/versions.py --folder runs/versions

# A tool has an environment of its own in runs/integrations, where a second call finds it.
VLLM := runs/integrations/vllm
FOR_VLLM := $(VLLM)/.installed-$(call checksum,requirements-vllm.lock)

$(FOR_VLLM):
	"$(PYTHON)" -m venv $(VLLM)
	$(VLLM)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps \
		-r requirements-vllm.lock
	@# torchvision registers operators that it does not have beside torch's build for CPUs
	: > $(VLLM)/lib/python3.11/site-packages/torchvision/_meta_registrations.py
	@rm -f $(VLLM)/.installed-* && touch $@

integrations: export OMP_NUM_THREADS = 1
integrations: export VLLM_LOGGING_LEVEL = ERROR
integrations: $(FOR_ALL) $(FOR_VLLM)
	$(BIN)/python -m sci_book data make pocket
	@# without the suite's own settings, which import all of the book; a process a file, for each lets
	@# stand-ins take vLLM's place, and vLLM cannot be imported twice
	for file in tests/integrations/test_vllm.py tests/integrations/test_vllm_runs.py; do \
		PYTHONPATH=. $(VLLM)/bin/python -m pytest -q -o addopts= --noconftest -W ignore $$file; done
	$(VLLM)/bin/python -W ignore benchmarks/vllm_parity.py

# The extra alone, with what its tests need, at the locked versions.
RAY := runs/integrations/ray
FOR_RAY := $(RAY)/.installed-$(call checksum,requirements-book.lock requirements.lock)

$(FOR_RAY):
	"$(PYTHON)" -m venv $(RAY)
	$(RAY)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile \
		-c requirements-book.lock -c <(grep -v '^-r' requirements.lock) \
		-e ".[ray]" pytest hypothesis beartype
	@rm -f $(RAY)/.installed-* && touch $@

integrations-ray: $(FOR_RAY)
	$(RAY)/bin/python -m pytest -q tests/run/test_executors.py -k ray

# For a machine that takes little: `python benchmarks/overhead.py --preset gpu` reads nothing else.
device-tree:
	@git diff --quiet HEAD || { echo "make: commit or stash what was changed first; files that are left" \
		"out must be as committed" >&2; exit 2; }
	git sparse-checkout set --no-cone '/*' '!/notebooks/' '!/data_manifests/records/' \
		'!/data_manifests/paper/golden/' '!/checkpoints/**/model.safetensors' \
		'/checkpoints/pocket-qwen2vl/model.safetensors'
	@echo "git sparse-checkout disable    brings the rest back"
