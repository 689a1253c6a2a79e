# One virtual environment, made on first use. It needs Python 3.11 or newer, pip and cargo.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
JAXMARL := $(VENV)-jaxmarl
# Options of pytest. A process that is done takes over tests of the other.
PYTEST ?= --numprocesses 2 --dist worksteal --durations 20
# Steps that need only one core are made two at a time, each with its output in one piece.
TWO := --jobs=2 --output-sync=target --no-print-directory
# Options of the benchmarks, such as BENCH=--quick.
BENCH ?=
# A folder with the repositories of the bots' originals, and JaxMARL's repository, to be measured beside ours.
ORIGINALS ?=
JAXMARL_CHECKOUT ?=
INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python --constraint constraints.txt
SOURCES := Cargo.toml Cargo.lock pyproject.toml README.md $(wildcard examples/*.py) $(shell find src python -type f -not -name '*.so' -not -name '*.pyc')
# Versions of Python that test the wheel, each with the numpy to install; WHEEL_OPTIONS=--full runs more tests.
WHEEL_PYTHONS ?= 3.11:==1.26.* 3.12:==1.26.* 3.12: 3.13: 3.14:
WHEEL_OPTIONS ?=
# `make test` plays the same random cases in every run, `make test-long` those of SEED.
SEED := $(shell od -A n -N 4 -t u4 /dev/urandom | tr -d ' ')
export PROPTEST_RNG_SEED ?= 0
# What is left out says so in a line; where this names a file, the line goes there as well.
export SKIPPED ?= /dev/null
SKIP = echo "Skipped: $(1)" | tee -a $(SKIPPED)

.PHONY: help install train check test test-long lint-rust lint-python test-rust test-rust-units check-stub
.PHONY: sanitize check-instructions check-oldest check-arm check-free-threaded test-wheel test-lockstep test-hle miri deny fuzz docs
.PHONY: instructions bench bench-data bench-train constraints clean

help: ## Show this list.
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

$(BIN)/uv: constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt uv
	@touch $@

$(VENV)/requirements: $(BIN)/uv pyproject.toml constraints.txt
	$(INSTALL) --requirements pyproject.toml --extra train --extra data
	@touch $@

$(VENV)/test-requirements: $(VENV)/requirements
	$(INSTALL) --requirements pyproject.toml --extra train --extra data --extra test
	@touch $@

$(VENV)/docs-requirements: $(VENV)/requirements
	$(INSTALL) --requirements pyproject.toml --extra train --extra data --extra docs
	@touch $@

# The package is installed as it is shipped, or for `make check` as the compiler is done with it soonest.
$(VENV)/release: $(VENV)/requirements $(SOURCES)
	$(INSTALL) --no-deps --reinstall-package starmine .
	@rm -f $(VENV)/quick && touch $@

$(VENV)/quick: $(VENV)/requirements $(SOURCES)
	MATURIN_PEP517_ARGS='--profile quick' $(INSTALL) --no-deps --reinstall-package starmine .
	@rm -f $(VENV)/release && touch $@

# The browser of the tests of what is drawn; without it they are skipped.
$(VENV)/chromium: $(VENV)/test-requirements
	@{ command -v chromium || command -v chromium-browser || command -v google-chrome; } > /dev/null || { \
	  echo 'Installing chromium with apt-get, for the tests of pictures and pages'; \
	  { apt-get update -qq && apt-get install -qq --yes chromium; } > /dev/null 2>&1; } || true
	@touch $@

# The peer that the tests compare with; without a C++ compiler it cannot be built.
$(VENV)/hle: $(BIN)/uv
	CMAKE_POLICY_VERSION_MINIMUM=3.5 $(INSTALL) hanabi-learning-environment && touch $@ \
	  || $(call SKIP,the live comparison with the Hanabi Learning Environment: it could not be built)

# JaxMARL wants an older Gymnasium than starmine is tested with, so it has an environment of its own.
$(JAXMARL)/ready: $(BIN)/uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $(JAXMARL)
	sed '/^gymnasium==/d' constraints.txt > $(JAXMARL)/constraints.txt
	$(BIN)/uv pip install --quiet --python $(JAXMARL)/bin/python --constraint $(JAXMARL)/constraints.txt \
	  jaxmarl 'jax[cpu]' six && touch $@ || $(call SKIP,JaxMARL: it could not be installed)

install: $(VENV)/release ## Install starmine and all that training needs into .venv.

# Options of `make train` where PyTorch finds no GPU: in three minutes Muon learns more than Adam (docs/training.md).
MUON := --optimizer muon --minibatch 4096

train: $(VENV)/release ## Train a two-player policy for about three minutes, in a new folder: runs/train-1, runs/train-2, ...
	run=1; while test -e runs/train-$$run; do run=$$((run + 1)); done; \
	options=$$($(BIN)/python -c "import torch; print('' if torch.cuda.is_available() else '$(MUON)')"); \
	echo "A new run in runs/train-$$run"; $(BIN)/python examples/ppo.py --out runs/train-$$run $$options

docs: $(VENV)/release $(VENV)/docs-requirements ## Build the documentation site into docs/_build/html; a warning is an error.
	$(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs docs/_build/html

check: ## Run formatters, linters, type checkers and unit tests: before each commit.
	$(MAKE) $(TWO) $(VENV)/test-requirements lint-rust
	$(MAKE) $(TWO) $(VENV)/quick test-rust-units lint-python
	$(BIN)/python -m mypy.stubtest --mypy-config-file pyproject.toml starmine._core
	$(BIN)/python -m pytest --quiet -m 'not slow and not nightly' $(PYTEST)

# What takes longest comes first.
test: ## Run all tests and checks.
	$(MAKE) $(TWO) $(VENV)/test-requirements lint-rust $(VENV)/chromium $(VENV)/hle
	$(MAKE) $(TWO) $(VENV)/release test-rust lint-python check-oldest check-arm check-stub
	$(BIN)/python -m pytest $(PYTEST)

# Left out of `make test`: more random cases; what is marked "nightly", which repeats a test for other numbers or takes
# long; the tests without default features; the fuzz targets, which take 80 s of processor time to check; compiling for
# Python without the global interpreter lock. The nightly workflow has separate jobs for AddressSanitizer and the
# instruction counts, which compile the crate anew.
test-long: $(VENV)/release $(VENV)/test-requirements $(VENV)/hle ## Play many more random cases, with a new seed or SEED=N.
	@echo 'make test-long SEED=$(SEED)'
	LOCKSTEP_GAMES=300000 LOCKSTEP_SEED=$(SEED) PROPTEST_CASES=20000 PROPTEST_RNG_SEED=$(SEED) \
	  cargo test --quiet --release --test lockstep --test properties
	PROPTEST_CASES=80000 PROPTEST_RNG_SEED=$(SEED) cargo test --quiet --release --lib batch::snapshot
	$(BIN)/python -m pytest tests/python/rules tests/python/batch tests/python/envs tests/python/test_forged_inputs.py \
	  --hypothesis-profile=slow --hypothesis-seed=$(SEED) --hle-games 20000 --hle-seed $(SEED) \
	  --oracle-games 200 --oracle-seed $(SEED) --fuzz-runs 5000 --fuzz-seed $(SEED)
	$(BIN)/python -m pytest -m nightly tests/python
	cargo test --quiet --lib --no-default-features
	cargo check --quiet --locked --manifest-path fuzz/Cargo.toml --target-dir target/fuzz
	$(MAKE) check-free-threaded

# What builds and examines what is published; Zig links for an old glibc without a container.
$(VENV)/distribution: $(BIN)/uv
	$(BIN)/uv venv --quiet --clear --python $(BIN)/python $@
	$(BIN)/uv pip install --quiet --python $@/bin/python maturin==1.16.0 ziglang==0.17.1 auditwheel==6.8.2 \
	  abi3audit==0.0.26 twine==7.0.0

# numpy 1.26 has wheels up to Python 3.12. Pythons that this machine lacks are skipped; those of pyenv are found.
test-wheel: TOOLS := $(abspath $(VENV)/distribution/bin)
test-wheel: $(VENV)/distribution ## Build the wheel and sdist as published, examine them, and test the wheel without cargo.
	rm -rf target/distribution
	$(TOOLS)/maturin sdist --out target/distribution
	PATH=$(TOOLS):$$PATH $(TOOLS)/maturin build --quiet --profile wheel --locked --zig \
	  --target $(shell rustc -vV | sed -n 's/^host: //p') --compatibility manylinux_2_17 --out target/distribution
	$(TOOLS)/python tests/distribution.py sdist target/distribution/*.tar.gz
	$(TOOLS)/python tests/distribution.py examine target/distribution/*.whl
	$(TOOLS)/twine check --strict target/distribution/*
	$(TOOLS)/abi3audit --strict --summary target/distribution/*.whl
	$(TOOLS)/auditwheel show target/distribution/*.whl
	set -e; export PATH="$(abspath $(BIN)):$$PATH$$(printf ':%s' "$$HOME"/.pyenv/versions/*/bin)"; \
	for pair in $(WHEEL_PYTHONS); do \
	  python=$${pair%%:*}; numpy=$${pair#*:}; \
	  if uv python find --quiet --no-python-downloads $$python > /dev/null 2>&1; then \
	    $(TOOLS)/python tests/distribution.py test $(WHEEL_OPTIONS) \
	      --wheel target/distribution --python $$python --numpy "numpy$$numpy"; \
	  else $(call SKIP,the wheel with Python $$python: it is not installed); fi; done

# The parts of the long tests that the nightly run plays by themselves.
LOCKSTEP_GAMES ?= 1000000
HLE_GAMES ?= 2000000
test-lockstep: ## Compare a million games (LOCKSTEP_GAMES) in lockstep with single games.
	LOCKSTEP_GAMES=$(LOCKSTEP_GAMES) LOCKSTEP_SEED=$(SEED) cargo test --quiet --release --test lockstep

test-hle: $(VENV)/release $(VENV)/test-requirements $(VENV)/hle ## Compare two million games (HLE_GAMES) with HLE.
	$(BIN)/python -m pytest tests/python/rules/test_hle_live.py --hle-games $(HLE_GAMES) --hle-seed $(SEED)

# Miri interprets: it finds undefined behaviour that no sanitizer sees, some thousand times slower than the program.
MIRI ?= rules::cards::slot_set rules::names rules::cards::outlook rules::cards::select rules::game::rng batch::rows buffers::write_only
miri: ## Run Rust tests of small parts and of raw memory under Miri.
	if cargo +nightly miri --version > /dev/null 2>&1; then \
	  MIRIFLAGS=-Zmiri-disable-isolation PROPTEST_CASES=2 cargo +nightly miri test --quiet --target-dir target/miri --lib -- $(MIRI); \
	else $(call SKIP,Miri: the nightly compiler or its component miri is not installed); fi

deny: ## Check licences, advisories and sources of the crates.
	if ! cargo deny --version > /dev/null 2>&1; then $(call SKIP,cargo deny: it is not installed); else \
	  cargo deny --all-features check bans licenses sources || exit 1; \
	  if cargo deny --all-features fetch db > /dev/null 2>&1; then cargo deny --all-features check advisories; \
	  else $(call SKIP,the advisories about crates: their database cannot be reached); fi; fi

# A minute each; FUZZ_SECONDS=600 for longer. What is found stays in fuzz/artifacts.
FUZZ_SECONDS ?= 60
fuzz: $(VENV)/test-requirements $(VENV)/release ## Fuzz what reads foreign bytes, for a minute each.
	if cargo +nightly fuzz --version > /dev/null 2>&1; then \
	  for target in $$(cargo +nightly fuzz list); do mkdir -p fuzz/found/$$target; \
	    cargo +nightly fuzz run $$target fuzz/found/$$target fuzz/corpus/$$target -- \
	      -max_total_time=$(FUZZ_SECONDS) -max_len=8192 || exit 1; done; \
	else $(call SKIP,fuzzing: cargo-fuzz or the nightly compiler is not installed); fi
	$(BIN)/python tests/python/helpers/forged_inputs.py 200000
	$(BIN)/python tests/python/helpers/forged_files.py $(FUZZ_SECONDS)

# The features `weights` are the default ones. `make test-long` compiles and runs the tests without default features.
lint-rust:
	cargo fmt --check
	cargo clippy --quiet --all-targets --features python,instructions -- --deny warnings
	for features in '' bots; do \
	  cargo clippy --quiet --lib --no-default-features --features "$$features" -- --deny warnings || exit 1; done
	RUSTDOCFLAGS='--deny warnings' cargo doc --quiet --no-deps

lint-python: $(VENV)/test-requirements
	$(BIN)/zizmor --offline --quiet .github/workflows
	$(BIN)/ruff check --quiet
	$(BIN)/ruff format --check --quiet
	PYTHONPATH=python $(BIN)/lint-imports
	MYPYPATH=python:benchmarks $(BIN)/mypy python/starmine examples benchmarks tools docs

test-rust:
	cargo test --quiet

test-rust-units:
	cargo test --quiet --lib

# The sanitizer is not stable, but the stable compiler usually comes with its runtime. A kernel is one function: not
# optimised, and with what the sanitizer adds, its stack frame is larger than a thread's default stack of 2 MB.
SANITIZE := RUST_MIN_STACK=16777216 RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=address \
  CARGO_PROFILE_DEV_DEBUG=line-tables-only cargo test --quiet --target-dir target/sanitize
SANITIZED ?= --tests
sanitize: ## Run Rust tests under AddressSanitizer; some of them with SANITIZED='--test lockstep'.
	if ls "$$(rustc --print target-libdir)"/librustc*asan* > /dev/null 2>&1; then \
	  $(SANITIZE) --target "$$(rustc -vV | sed -n 's/^host: //p')" $(SANITIZED); \
	else $(call SKIP,AddressSanitizer: the compiler comes without it); fi

check-stub: $(VENV)/release $(VENV)/test-requirements
	$(BIN)/python -m mypy.stubtest --mypy-config-file pyproject.toml starmine._core

check-instructions: $(VENV)/release $(VENV)/test-requirements ## Compare the instruction counts of a step with the recorded ones.
	$(BIN)/python benchmarks/instructions.py

# The oldest compiler that Cargo.toml allows, and another processor.
check-oldest: OLDEST := $(shell sed -n 's/^rust-version = "\(.*\)"/\1/p' Cargo.toml)
check-oldest:
	if rustup toolchain list 2> /dev/null | grep -q '^$(OLDEST)'; then \
	  cargo +$(OLDEST) check --quiet --features python --target-dir target/oldest; \
	else $(call SKIP,the check with Rust $(OLDEST): it is not installed); fi

# On Arm the tests run under QEMU, with a standard library that is compiled from Debian's rust-web-src. The other packages
# are rustc-web, cargo-web, gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user.
check-arm: TARGET := aarch64-unknown-linux-gnu
check-arm: ARM_TESTS := --lib --tests
check-arm:
	if test -d /usr/lib/rustlib/src/rust/library && command -v aarch64-linux-gnu-gcc > /dev/null && command -v qemu-aarch64 > /dev/null; then \
	  RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 \
	  CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER=aarch64-linux-gnu-gcc \
	  CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER='qemu-aarch64 -L /usr/aarch64-linux-gnu' \
	  /usr/bin/cargo test --quiet --profile quick -Zbuild-std --target-dir target/arm --target $(TARGET) $(ARM_TESTS); \
	elif test -d "$$(rustc --print sysroot)/lib/rustlib/$(TARGET)"; then \
	  RUSTFLAGS='--deny warnings' cargo check --quiet --lib --target-dir target/elsewhere --target $(TARGET); \
	else $(call SKIP,the check for Arm: neither its tools nor the standard library for $(TARGET) are installed); fi

# Python without the global interpreter lock; pyo3 reads this description instead of asking an interpreter.
check-free-threaded:
	mkdir -p target
	printf '%s\n' implementation=CPython version=3.14 shared=true suppress_build_script_link_lines=true \
	  build_flags=Py_GIL_DISABLED > target/free-threaded.txt
	RUSTFLAGS='--deny warnings' PYO3_CONFIG_FILE=$(abspath target/free-threaded.txt) \
	  cargo check --quiet --lib --features python --target-dir target/free-threaded

instructions: $(VENV)/release $(VENV)/test-requirements ## Record the instruction counts of a step anew.
	$(BIN)/python benchmarks/instructions.py --record

bench: $(VENV)/release $(VENV)/test-requirements $(VENV)/hle $(JAXMARL)/ready ## Measure the speed, also beside HLE, OpenSpiel and JaxMARL.
	$(INSTALL) open_spiel matplotlib
	$(BIN)/python benchmarks/compare.py --jaxmarl-python $(JAXMARL)/bin/python $(BENCH)
	$(BIN)/python benchmarks/sweep.py $(BENCH)
	$(BIN)/python benchmarks/presets.py $(BENCH)
	$(BIN)/python benchmarks/worlds.py $(BENCH)
	$(BIN)/python benchmarks/bots.py $(if $(ORIGINALS),--originals $(ORIGINALS)) $(BENCH)

bench-data: $(VENV)/release $(VENV)/test-requirements ## Measure games on disk: generating, replaying, reading; a billion turns with BENCH=--billion.
	$(BIN)/python benchmarks/data_speed.py $(BENCH)

bench-train: $(VENV)/release $(VENV)/test-requirements $(JAXMARL)/ready ## Measure the speed of training, also beside JaxMARL's.
	$(BIN)/python benchmarks/training_speed.py --jaxmarl-python $(JAXMARL)/bin/python \
	  $(if $(JAXMARL_CHECKOUT),--jaxmarl-checkout $(JAXMARL_CHECKOUT)) $(BENCH)

constraints: ## Record the newest versions that work together.
	rm -rf $(VENV) $(JAXMARL)
	: > constraints.txt
	$(MAKE) $(VENV)/test-requirements $(VENV)/docs-requirements $(VENV)/hle
	$(INSTALL) open_spiel
	$(BIN)/uv pip freeze --python $(BIN)/python --exclude starmine --exclude pip > $(VENV)/frozen
	mv $(VENV)/frozen constraints.txt
	$(MAKE) $(JAXMARL)/ready
	$(BIN)/uv pip freeze --python $(JAXMARL)/bin/python > $(JAXMARL)/frozen
	LC_ALL=C sort --field-separator '=' --key 1,1 --unique --output constraints.txt constraints.txt $(JAXMARL)/frozen

clean: ## Remove what was built.
	rm -rf $(VENV) $(JAXMARL) target docs/_build
