# One virtual environment, made on first use. It needs Python 3.11 or newer, pip and cargo.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
JAXMARL := $(VENV)-jaxmarl
# Options of the benchmarks, such as BENCH=--quick.
BENCH ?=
# A folder with the repositories of the bots' originals, and JaxMARL's repository, to be measured beside ours.
ORIGINALS ?=
JAXMARL_CHECKOUT ?=
INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt
SOURCES := Cargo.toml Cargo.lock pyproject.toml README.md $(shell find src python -name '*.rs' -o -name '*.py' -o -name '*.pyi')

.PHONY: help install train test check-rust check-python check-instructions check-elsewhere sanitize bench bench-train docs instructions constraints clean

help: ## Show this list.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(BIN)/uv: constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt uv
	@touch $@

$(VENV)/train: $(BIN)/uv $(SOURCES)
	$(INSTALL) --reinstall-package starmine '.[train]'
	@touch $@

$(VENV)/test: $(VENV)/train
	$(INSTALL) '.[train,test]'
	@touch $@

$(VENV)/docs: $(VENV)/train
	$(INSTALL) '.[train,docs]'
	@touch $@

# The peer that the tests compare with; without a C++ compiler it cannot be built.
$(VENV)/hle: $(BIN)/uv
	CMAKE_POLICY_VERSION_MINIMUM=3.5 $(INSTALL) hanabi-learning-environment \
	  && touch $@ || echo 'The Hanabi Learning Environment could not be built: its live comparison is skipped.'

# The instruction counts need it; where it can neither be found nor installed, they are skipped.
$(VENV)/valgrind: $(BIN)/uv
	command -v valgrind > /dev/null || { test "$$(id -u)" = 0 && command -v apt-get > /dev/null \
	  && apt-get update -qq && apt-get install -qq --no-install-recommends valgrind > /dev/null; } \
	  && touch $@ || echo 'valgrind is not installed: the instruction counts are skipped.'

# JaxMARL wants an older Gymnasium than starmine is tested with, so it has an environment of its own.
$(JAXMARL)/ready: $(BIN)/uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(JAXMARL)
	sed '/^gymnasium==/d' constraints.txt > $(JAXMARL)/constraints.txt
	$(BIN)/uv pip install --quiet --python $(JAXMARL)/bin/python --constraint $(JAXMARL)/constraints.txt \
	  jaxmarl 'jax[cpu]' six && touch $@ || echo 'JaxMARL could not be installed: it is left out.'

install: $(VENV)/train ## Install starmine and all that training needs into .venv.

train: $(VENV)/train ## Train a two-player policy for about three minutes and show what it learned.
	$(BIN)/python examples/ppo.py

test: $(VENV)/test $(VENV)/hle check-rust check-python check-instructions check-elsewhere sanitize ## Run all tests and checks.
	$(BIN)/python -m pytest

docs: $(VENV)/docs ## Build the documentation site into docs/_build/html; a warning is an error.
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs docs/_build/html

check-rust:
	cargo fmt --check
	cargo clippy --quiet --all-targets --features instructions -- --deny warnings
	cargo clippy --quiet --features python -- --deny warnings
	cargo test --quiet
	RUSTDOCFLAGS='--deny warnings' cargo doc --quiet --no-deps

check-python: $(VENV)/test
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy --package starmine
	$(BIN)/mypy examples
	MYPYPATH=benchmarks $(BIN)/mypy benchmarks docs
	$(BIN)/python -m mypy.stubtest starmine

check-instructions: $(VENV)/test $(VENV)/valgrind
	$(BIN)/python benchmarks/instructions.py

# The oldest compiler that Cargo.toml allows, and another processor; rustup brings what they need.
check-elsewhere: OLDEST := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
check-elsewhere:
	if cargo +$(OLDEST) --version > /dev/null 2>&1 \
	  || rustup --quiet toolchain install --profile minimal $(OLDEST) > /dev/null 2>&1; then \
	  cargo +$(OLDEST) check --quiet --features python --target-dir target/oldest; \
	else echo 'Rust $(OLDEST) is not installed: its check is skipped.'; fi
	if rustup --quiet target add aarch64-unknown-linux-gnu > /dev/null 2>&1; then \
	  RUSTFLAGS='--deny warnings' cargo check --quiet --lib --target-dir target/elsewhere \
	    --target aarch64-unknown-linux-gnu; \
	else echo 'The standard library for Arm is not installed: its check is skipped.'; fi

# The sanitizer is not stable, but the stable compiler usually comes with its runtime.
# A kernel is one function: not optimised, and with what the sanitizer adds, its frame takes more than
# the 2 MB of a thread's stack.
sanitize: ## Run the Rust tests of batches and buffers under AddressSanitizer.
	if ls "$$(rustc --print target-libdir)"/librustc*asan* > /dev/null 2>&1; then \
	  RUST_MIN_STACK=16777216 RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address cargo test --quiet --target-dir target/sanitize \
	    --target $(shell rustc -vV | sed -n 's/^host: //p') --lib --test lockstep --test properties --test threads; \
	else echo 'The compiler comes without AddressSanitizer: its run is skipped.'; fi

instructions: $(VENV)/test $(VENV)/valgrind ## Record the instruction counts of a step anew.
	$(BIN)/python benchmarks/instructions.py --record

bench: $(VENV)/test $(VENV)/hle $(JAXMARL)/ready ## Measure the speed, also beside HLE, OpenSpiel and JaxMARL.
	$(INSTALL) open_spiel matplotlib
	$(BIN)/python benchmarks/compare.py --jaxmarl-python $(JAXMARL)/bin/python $(BENCH)
	$(BIN)/python benchmarks/sweep.py $(BENCH)
	$(BIN)/python benchmarks/presets.py $(BENCH)
	$(BIN)/python benchmarks/bots.py $(if $(ORIGINALS),--originals $(ORIGINALS)) $(BENCH)

bench-train: $(VENV)/test $(JAXMARL)/ready ## Measure the speed of training, also beside JaxMARL's.
	$(BIN)/python benchmarks/training.py --jaxmarl-python $(JAXMARL)/bin/python \
	  $(if $(JAXMARL_CHECKOUT),--jaxmarl-checkout $(JAXMARL_CHECKOUT)) $(BENCH)

constraints: ## Record the newest versions that work together.
	rm -rf $(VENV) $(JAXMARL)
	: > constraints.txt
	$(MAKE) $(VENV)/test $(VENV)/docs $(VENV)/hle
	$(INSTALL) open_spiel
	$(BIN)/uv pip freeze --python $(BIN)/python --exclude starmine --exclude pip > $(VENV)/frozen
	mv $(VENV)/frozen constraints.txt
	$(MAKE) $(JAXMARL)/ready
	$(BIN)/uv pip freeze --python $(JAXMARL)/bin/python > $(JAXMARL)/frozen
	LC_ALL=C sort --field-separator '=' --key 1,1 --unique --output constraints.txt constraints.txt $(JAXMARL)/frozen

clean: ## Remove what was built.
	rm -rf $(VENV) $(JAXMARL) target runs docs/_build
