# Every target creates a .venv with the standard library and installs nothing outside it.
SHELL := /bin/bash
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	command -v $$p >/dev/null && $$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' && echo $$p && break; done)
VENV := .venv
# Of the commands that run this Python: `tools/chroot.sh FOLDER` where it is of another system.
PREFIX :=
RUN := $(PREFIX) $(VENV)/bin/python
PIP := $(RUN) -m pip install --disable-pip-version-check
JOBS ?= 2

# The tests start hundreds of Python processes, which would compile gradtape anew where the environment forbids Python to
# keep compiled files. `make clean` removes them.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: help first-hour demo example test test-quick test-changed test-several test-gpu test-torch test-pythons test-keras-next test-next test-oldest fuzz lint types docs gallery bench bench-peers keras-suite keras-slice ecosystem stress frozen release clean

help:  ## Shows this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

demo: $(VENV)/.examples  ## Trains a Keras CNN on handwritten digits, with fit and with a GradientTape loop
	$(RUN) examples/keras_digits.py

EXAMPLE := $(or $(NAME),gpt)
example: $(VENV)/.examples  ## Runs the example NAME=: gpt (the default), text_lstm, vae, gan, keras_digits, digits, or one of examples/gallery
	$(RUN) $(or $(wildcard examples/gallery/$(EXAMPLE).py),examples/$(EXAMPLE).py)

test: $(VENV)/.test  ## Runs the test suite, including the examples in docstrings, README and docs
	$(RUN) -m pytest -n $(JOBS) --dist worksteal -q -m "not several"

# The names and signatures of the API, TensorFlow's recorded results, the code of the docs, and for the other subsystems
# the files of tests that reach most functions per second.
QUICK := $(addsuffix .py,$(addprefix tests/,test_bad_input test_checkpoint_extensions test_compat_v1 \
	test_compiled_sweeps test_composites test_contract test_custom_gradient test_data test_data_storage \
	test_distribute test_explain test_explain_zeros test_extend test_extension_types test_feature_columns \
	test_files test_forward test_function test_function_control_flow test_function_effects test_function_graphs \
	test_graph_passes test_graphs_as_listed test_hessians test_image test_layers test_numpy_executor \
	test_ragged test_recorded test_saved_model \
	test_tape_gradient test_tape_hooks test_tape_jacobian test_tape_life test_tape_watch test_tensor test_trace_programs \
	test_variable keras/test_training keras/test_variables))
test-quick: $(VENV)/.test  ## Runs a fast subset of the test suite
	$(RUN) -m pytest -n $(JOBS) --dist worksteal -q -m "not several" $(QUICK)

test-changed: $(VENV)/.test  ## Runs the tests that the changes since the branch point with main most likely break
	$(RUN) tools/changed_tests.py -n $(JOBS) -q

test-several: $(VENV)/.test  ## Runs the tests that use several processes or devices, a browser, or the gallery's programs
	$(RUN) -m pytest -n $(JOBS) -q tests/test_processes.py tests/test_workers.py tests/test_distribute_replicas.py tests/test_keras_distribution.py \
		tests/test_keras_choice.py tests/test_legacy_saving.py tests/test_several_hosts.py tests/test_forks.py tests/test_service.py \
		tests/test_run_children.py tests/test_zip_archives.py tests/test_odd_places.py tests/test_debuggers.py tests/test_thread_stress.py tests/test_pickle_keras.py tests/test_pickle_table.py::test_the_table_under_gradtape_run \
		tests/test_gallery.py tests/test_drawing_browser.py

fuzz: $(VENV)/.test  ## Runs N= random programs and cases of each feature (or of FEATURES=), starting at SEED=, and every op at every size
	PYTHONPATH=tests $(RUN) -m fuzz $(FEATURES) --count $(or $(N),1000) --seed $(or $(SEED),0) --jobs $(JOBS) $(if $(TENSORFLOW),--tensorflow $(TENSORFLOW))
	PYTHONPATH=tests $(RUN) -m random_programs --count $(or $(N),1000) --seed $(or $(SEED),0) --jobs $(JOBS) $(if $(TENSORFLOW),--tensorflow $(TENSORFLOW))
	GRADTAPE_ALL_TIERS=1 $(RUN) -m pytest -n $(JOBS) -q tests/test_size_tiers.py

stress: $(VENV)/.test  ## Runs N= rounds (1,000) of 16 threads that trace, compile, build and predict, with delays at locks; starts at SEED=
	PYTHONPATH=tests GRADTAPE_LOCK_DELAYS=0.001 $(RUN) -m thread_stress --rounds $(or $(N),1000) --seed $(or $(SEED),0)

first-hour:  ## Installs gradtape as the README says in a fresh virtual environment, and runs 20 programs there
	$(PYTHON) tools/first_hour.py $(NAME)

test-pythons:  ## Runs the quick tests, or another TARGET=, with every other Python (or PYTHONS=, such as "3.14 3.15"), each in a separate virtual environment
	@set -o pipefail; $(PYTHON) tools/other_pythons.py $(PYTHONS) | while read -r version python prefix; do \
		echo "testing with Python $$version"; mkdir -p .pythons; \
		$(MAKE) --no-print-directory $(or $(TARGET),test-quick) PYTHON="$$python" VENV=".pythons/$$version" PREFIX="$$prefix" </dev/null || exit 1; done

test-gpu: $(VENV)/.test  ## Runs the device tests on a GPU; requires one, and PyTorch with CUDA (`pip install '.[torch]'`)
	GRADTAPE_TEST_DEVICE=gpu $(RUN) -m pytest -n auto --maxprocesses 12 --dist worksteal -q tests/devices

# PyTorch's threads spin while they wait, which would take the cores from the other worker.
test-torch: .torch/.installed  ## Runs the tests of ops and kernels with PyTorch installed, in a separate virtual environment
	OMP_WAIT_POLICY=passive .torch/bin/python -m pytest -n $(JOBS) -q tests/test_torch_kernels.py tests/test_size_tiers.py \
		tests/test_joint_rules.py tests/test_nn.py tests/test_reductions.py tests/test_sorting.py tests/devices

# Creates the virtual environment $(1) with the Python $(2).
define environment
	@test -n "$(2)" || { echo "no Python for $(1) was found: gradtape needs 3.11 or newer, .oldest exactly 3.11"; exit 1; }
	@echo "installing gradtape with $$($(2) --version) into $(1)"
	$(2) -m venv $(1)
	$(call install,$(1)) --upgrade 'pip>=25.1'
endef

install = $(1)/bin/python -m pip install --quiet --disable-pip-version-check

# Installs a development build of Keras with the arguments $(2) of pip. It has another name, but the folder of `keras`.
define replace-keras
	$(1)/bin/python -m pip uninstall --quiet --disable-pip-version-check --yes keras keras-nightly
	$(call install,$(1)) $(2)
endef

# Runs the quick tests and the tests of Keras and PyTorch in the environment $(1), and prints its versions and what failed.
define test-versions
	@rm -f $(1)/results.xml; status=0; \
	$(1)/bin/python -m pytest -n $(JOBS) --dist worksteal -q -m "not several" --junitxml=$(1)/results.xml \
		$(filter-out tests/keras/%,$(QUICK)) tests/keras tests/test_legacy_keras.py tests/test_torch_kernels.py || status=$$?; \
	$(1)/bin/python tools/dependencies.py report $(1)/results.xml && exit $$status
endef

.torch/.installed: pyproject.toml
	$(call environment,.torch,$(PYTHON))
	$(call install,.torch) --editable . --group test-torch
	@touch $@

test-keras-next: .keras-next/.installed  ## Runs the Keras tests with a development version of Keras, in a separate virtual environment
	.keras-next/bin/python -m pytest -n $(JOBS) --dist worksteal -q tests/keras

.keras-next/.installed: pyproject.toml
	$(call environment,.keras-next,$(PYTHON))
	$(call install,.keras-next) --editable . --group test
	$(call replace-keras,.keras-next,--group keras-next)
	@touch $@

# The newest NumPy, SciPy and JAX need a newer Python than 3.11. h5py has no wheel for 3.15 yet.
NEXT_PYTHON = $(shell for p in python3.14 python3.13 python3.12 \
	$$(ls -d $(HOME)/.pyenv/versions/3.1[2-4].*/bin/python3 2>/dev/null | sort -rV) $(PYTHON); do \
	command -v $$p >/dev/null && $$p -c 'pass' 2>/dev/null && echo $$p && break; done)
OLDEST_PYTHON = $(shell for p in python3.11 $(HOME)/.pyenv/versions/3.11.*/bin/python3 $(PYTHON); do \
	command -v $$p >/dev/null && $$p -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' 2>/dev/null && echo $$p && break; done)

# PyTorch is the newest (or oldest) build for the CPU that pip finds. For Linux, the package index has only builds with
# several GB of CUDA libraries: there, PyTorch is left out unless pip is told where builds for the CPU are, or TORCH=torch
# asks for the index's.
test-next: .next/.installed  ## Runs the quick and the Keras tests with the newest pre-releases of all dependencies; TORCH= names a PyTorch
	.next/bin/python tools/dependencies.py newest $(if $(TORCH),--torch '$(TORCH)') > .next/requirements.txt
	$(call replace-keras,.next,--pre --upgrade --only-binary :all: --requirement .next/requirements.txt)
	$(call test-versions,.next)

.next/.installed: pyproject.toml
	$(call environment,.next,$(NEXT_PYTHON))
	$(call install,.next) --editable . --group test
	$(call install,.next) --no-deps tf-keras==2.21.0
	@touch $@

test-oldest: .oldest/.installed  ## Runs the same with the oldest versions that pyproject.toml allows, on Python 3.11
	.oldest/bin/python tools/dependencies.py oldest $(if $(TORCH),--torch '$(TORCH)') > .oldest/requirements.txt
	$(call install,.oldest) --editable . --group test --requirement .oldest/requirements.txt
	$(call test-versions,.oldest)

.oldest/.installed:
	$(call environment,.oldest,$(OLDEST_PYTHON))
	$(call install,.oldest) --no-deps tf-keras==2.21.0
	@touch $@

# The wheels of development versions of Keras have no tests: those of CHECKOUT= are run on the version in .keras-next.
NEXT := $(if $(CHECKOUT),.keras-next/bin/python tools/keras_suite.py --checkout $(CHECKOUT))

keras-suite: $(if $(NEXT),.keras-next/.installed,$(VENV)/.keras-suite)  ## Runs Keras' own tests on gradtape, all or those of FOLDER=, and compares with JAX's numbers; CHECKOUT= of Keras tests its development version
	$(or $(NEXT),$(RUN) tools/keras_suite.py) $(FOLDER)

keras-slice: $(if $(NEXT),.keras-next/.installed,$(VENV)/.test)  ## Runs a fast subset of Keras' own tests, without TensorFlow and PyTorch; CHECKOUT= as above
	$(or $(NEXT),$(RUN) tools/keras_suite.py) --slice --jobs $(JOBS)

ecosystem: .ecosystem/.installed  ## Runs third-party libraries on gradtape, in a separate virtual environment, and compares with TensorFlow's numbers
	.ecosystem/bin/python tools/ecosystem/run.py $(PROGRAMS)

.ecosystem/.installed: tools/ecosystem/requirements.txt tools/ecosystem/dependencies.txt
	$(call environment,.ecosystem,$(PYTHON))
	$(call install,.ecosystem) --editable '.[xla,keras]' --requirement tools/ecosystem/dependencies.txt
	$(call install,.ecosystem) --no-deps --requirement tools/ecosystem/requirements.txt
	@touch $@

frozen: .frozen/.installed  ## Freezes programs with PyInstaller, in a separate virtual environment, and checks what they print
	.frozen/bin/python tools/frozen/run.py $(PROGRAMS)

.frozen/.installed: pyproject.toml
	$(call environment,.frozen,$(PYTHON))
	$(call install,.frozen) --editable '.[xla,keras]' 'pyinstaller>=6.10'
	@touch $@

lint: $(VENV)/.lint  ## Checks style and types
	$(RUN) -m ruff check src tests tools benchmarks examples
	$(RUN) -m mypy

types: $(VENV)/.types  ## Checks with pyright and mypy what the public API tells type checkers: names, examples, docs, planted mistakes
	$(RUN) tools/check_types.py

docs: $(VENV)/.docs  ## Builds the documentation into site/, and checks its links
	NO_MKDOCS_2_WARNING=1 $(RUN) -m mkdocs build --strict --quiet
	$(RUN) tools/check_links.py site
	@echo "the documentation is in site/index.html"

# The browser is a package of the system: a machine where the tests run as root, as in a container, gets Debian's.
docs-test: $(VENV)/.docs  ## Searches, follows links and opens pages of site/ in a headless Chromium, which it installs on a Debian without one if it may
	@$(RUN) tools/browser.py > /dev/null || { test "$$(id -u)" = 0 && command -v apt-get > /dev/null && \
		apt-get update -qq && apt-get install -qq -y --no-install-recommends chromium-headless-shell > /dev/null; } || true
	$(RUN) tools/check_site.py site

gallery: $(VENV)/.examples  ## Recreates the pictures of the gallery, and the printed output on its pages, or only NAME='s
	$(RUN) tools/make_gallery.py $(NAME)

.PHONY: docs-test notebooks browser-test screenshots

notebooks: $(VENV)/.test  ## Runs the notebooks of the documentation and rewrites their outputs, or only NAME='s
	$(RUN) tools/write_notebooks.py $(if $(NAME),docs/notebooks/$(NAME).ipynb)

browser-test: $(VENV)/.test  ## Opens the HTML report in a headless Chromium; fails, and says how to get one, if there is none
	$(RUN) tools/browser.py
	$(RUN) -m pytest -q tests/test_report_browser.py tests/test_drawing_browser.py

screenshots: $(VENV)/.test docs  ## Takes the pictures of the documentation with a headless Chromium
	$(RUN) tools/take_screenshots.py

bench: $(VENV)/.bench  ## Compares gradtape's speed (eager, compiled, Keras) with the installed peers
	$(RUN) benchmarks/run.py

bench-peers:  ## Installs the peers (several GB) for `make bench`, each in a separate virtual environment
	@for peer in torch==2.13.0 tensorflow jax 'autograd[scipy]'; do \
		folder=.bench/$${peer%%[=[]*}; echo "installing $$peer into $$folder"; \
		$(PYTHON) -m venv $$folder && $$folder/bin/python -m pip install --quiet numpy 'keras==3.15.*' "$$peer" || exit 1; done

release: $(VENV)/.release  ## Builds the wheel and the source archive into dist/, checks them, and says how to upload them; URL= adds the project's addresses
	$(RUN) tools/release.py $(if $(URL),--url $(URL))

clean:  ## Removes everything that the other targets created
	rm -rf $(VENV) .ecosystem .frozen .keras-next .next .oldest .pythons .torch dist site .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find benchmarks docs examples src tests tools -name __pycache__ -prune -exec rm -r {} +
	rm -rf __pycache__

$(VENV)/pyvenv.cfg:
	@test -n "$(PYTHON)" || { echo "gradtape needs Python 3.11 or newer; none was found"; exit 1; }
	@echo "setting up $(VENV) with $$($(PREFIX) $(PYTHON) --version)"
	$(PREFIX) $(PYTHON) -m venv $(VENV)

$(VENV)/.%: pyproject.toml | $(VENV)/pyvenv.cfg
	@echo "installing gradtape and the dependency group '$*'"
	@$(PIP) --quiet 'pip>=25.1'  # which knows dependency groups
	@set -o pipefail; $(PIP) --progress-bar off --editable . --group $* | sed -u -n -E '/^ *Downloading|^Successfully/p'
	$(if $(filter test,$*),$(PIP) --quiet --no-deps tf-keras==2.21.0)
	@touch $@
