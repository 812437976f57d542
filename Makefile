# The daily commands. `make` alone lists them; every one first sets up what is missing on this machine.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

CACHE := $(or $(XDG_CACHE_HOME),$(if $(HOME),$(HOME)/.cache),/tmp)
# Stores that the benchmarks prepare and keep, outside the tree: they are large and survive a clean build.
BENCH_STORES ?= $(CACHE)/faultline-bench
DEMO_STORE ?= $(CACHE)/faultline-demo

# Extra flags for every build; the gate turns warnings into errors with them.
SWIFT_FLAGS ?=
BUILD_TESTS := --build-tests --quiet
# Nothing is built, so the lock of the build folder is not needed: a build for release may go on beside the tests.
# As many tests at a time as the pool of tasks has threads: a test that suspends resumes at once, whatever others do.
RUN_TESTS := --skip-build --ignore-lock --disable-xctest --experimental-maximum-parallelization-width $(shell nproc)
# With the compiler plugin of the debug build.
RELEASE := .ci/release
TOOL := .build/release/faultline
PROOFS := .build/release/FaultlineProofs
MIGRATION_PROOFS := .build/release/MigrationProofs
BENCHMARKS := .build/release/FaultlineBenchmarks
COMPARE := Benchmarks/Compare
SERVICE := Examples/PhotoService

# Rounds of `demo-kill`. For `bench`, N is the number of objects; unset, each workload takes its own.
ifneq ($(filter demo-kill,$(MAKECMDGOALS)),)
N ?= 10
endif
# Seeds of `faults`, each with other contents and limits for every workload; of migrations one of so many calls fails.
ifneq ($(filter faults,$(MAKECMDGOALS)),)
N ?= 4
EVERY ?= 23
endif
# Kills of `kill`.
ifneq ($(filter kill,$(MAKECMDGOALS)),)
N ?= 500
endif
# Backups of `backups`.
ifneq ($(filter backups,$(MAKECMDGOALS)),)
N ?= 100
endif
# Size of the store of `memory`, and the ceiling, in MiB.
ifneq ($(filter memory,$(MAKECMDGOALS)),)
N ?= $(if $(CANARY),300,5120)
BUDGET ?= $(if $(CANARY),16,64)
endif
# Stores and results of `memory-matrix`, outside the tree.
MATRIX ?= $(CACHE)/faultline-matrix
# Lives of `model`: 334 make a million operations.
ifneq ($(filter model,$(MAKECMDGOALS)),)
SEEDS ?= 334
endif
# Lives of `graph`: 350 make a million operations.
ifneq ($(filter graph,$(MAKECMDGOALS)),)
SEEDS ?= 350
endif
# The same under the thread sanitizer, which takes ten times as long.
ifneq ($(filter sanitize-graph,$(MAKECMDGOALS)),)
SEEDS ?= 40
endif
# Cycles of `full-disk`.
ifneq ($(filter full-disk,$(MAKECMDGOALS)),)
N ?= 20
endif
# What the fuzzer gathers, and what it finds.
FUZZ_FOLDER ?= $(CACHE)/faultline-fuzz
INSTRUMENTED := .build-instrumented
SEEDS ?= 100

.PHONY: help setup demo test check check-night demo-kill proofs crash bitflips faults kill backups model graph \
    interleavings memory memory-matrix full-disk fuzz mutants sanitize sanitize-graph instructions bench compare \
    service-compare plots docs manual coredata-samples compat ratchet format

help:  ## Lists these commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)
	@echo
	@echo '  Arguments: demo-kill N=rounds; crash SEEDS=count | SEED=one [IMAGES=count ITEMS=count] | CANARY=1;'
	@echo '             bitflips SECTORS=1 EVERY=odd | STORE=name BIT=number | CANARY=1;'
	@echo '             faults N=seeds EVERY=calls | SEED=one | CANARY=1 | PLACE=disk|system LEG=name SEED=one FAULT=number;'
	@echo '             memory N=MiB BUDGET=MiB CANARY=1; memory-matrix SHAPE=name RECORD=1;'
	@echo '             kill N=count SEED=one CANARY=1; backups N=count SEED=one CANARY=1; full-disk N=cycles | CANARY=1;'
	@echo '             model SEEDS=count | SEED=one [KEEP=operations] | CANARY=1;'
	@echo '             graph SEEDS=count | SEED=one | CANARY=1;'
	@echo '             interleavings NUMBER=one | CANARY=1;'
	@echo '             fuzz SECONDS=each | TARGET=name [REPAIRED=1] INPUT=file; sanitize F=SuiteName;'
	@echo '             sanitize-graph SEEDS=count | SEED=one;'
	@echo '             mutants CHOSEN=1 | MUTANT=name;'
	@echo '             bench W="w1 w3" N=objects BUDGET=MiB; test F=SuiteName'
	@echo '             compat DIR=folder SWIFT=5|6 TESTS=1 FLAGS="-default-isolation MainActor";'
	@echo '             compare W="w1 w3" N=objects R=rounds PEERS="lmdb rocksdb";'
	@echo '             service-compare W="get list" N=photos R=rounds SECONDS=each CLIENTS=count'

setup:
	@.ci/setup

demo: setup  ## Stores, faults and migrates this machine's own package database
	@echo 'Building (the first time takes a few minutes) …'
	@$(RELEASE) --product faultline --quiet
	@$(TOOL) demo $(DEMO_STORE) --fresh

test: setup  ## Builds and runs every test; F=SuiteName runs those that match
	@swift build $(SWIFT_FLAGS) $(BUILD_TESTS)
	@.ci/suite $(RUN_TESTS) $(if $(F),--filter $(F))

check: setup  ## Everything that CI runs: lint, build with warnings as errors, tests
	@.ci/check

check-night: setup  ## Every proof at full size, a line each in docs/Proofs.md; goes on where it was broken off
	@.ci/check-night

demo-kill: setup  ## Kills the demo N times at random moments, runs it on, compares everything
	@$(RELEASE) --product faultline --quiet
	@$(TOOL) demo $(DEMO_STORE)-kill --fresh --kills $(N)

proofs: setup  ## Builds the proofs: of the engine, without the macros, and of what lies above it
	@$(RELEASE) --product FaultlineProofs --quiet
	@$(RELEASE) --product MigrationProofs --quiet

crash: setup  ## Simulates power cuts over SEEDS seeds, replays SEED, or leaves each sync out (CANARY=1)
	@$(RELEASE) --product FaultlineProofs --quiet
ifeq ($(CANARY),)
	@$(RELEASE) --product MigrationProofs --quiet
	@$(MIGRATION_PROOFS) crash $(if $(SEED),--seed $(SEED),--states $$(($(SEEDS) * 12500)))
endif
	@$(PROOFS) crash $(if $(SEED),--seed $(SEED),--seeds $(SEEDS)) $(if $(CANARY),--canary,\
	    $(if $(IMAGES),--images $(IMAGES)) $(if $(ITEMS),--items $(ITEMS)))

bitflips: setup  ## Flips every bit of four stores, and reads everything back after each; docs/Testing.md
	@$(RELEASE) --product FaultlineProofs --quiet
	@$(PROOFS) bitflips $(if $(CANARY),--canary,$(if $(BIT),flips $(STORE) $(BIT),$(if $(SECTORS),--sectors) $(if $(EVERY),--every $(EVERY))))

faults: setup  ## Injects every error into every call of the disk and every system call; docs/Testing.md
	@$(RELEASE) --product FaultlineProofs --quiet
ifeq ($(CANARY)$(FAULT),)
	@$(RELEASE) --product MigrationProofs --quiet
	@$(MIGRATION_PROOFS) faults $(if $(SEED),--seed $(SEED),--seed 1) --every $(EVERY)
endif
	@$(PROOFS) faults $(if $(FAULT),$(PLACE) "$(LEG)" $(SEED) $(FAULT),\
	    $(if $(CANARY),--canary,$(if $(SEED),--seed $(SEED),--seeds $(N))))

kill: setup  ## Kills a process that writes with eight threads N times, and compares what it left; docs/Testing.md
	@$(RELEASE) --product FaultlineProofs --quiet
	@$(PROOFS) kill --rounds $(N) $(if $(SEED),--seed $(SEED)) $(if $(CANARY),--canary)

backups: setup  ## Backs up a store in which a process writes N times, restores and compares each; docs/Testing.md
	@$(RELEASE) --product FaultlineProofs --quiet
	@$(PROOFS) backup --rounds $(N) $(if $(SEED),--seed $(SEED)) $(if $(CANARY),--canary)

model: setup  ## Random operations under twelve configurations against a model; docs/Testing.md
	@$(RELEASE) --product FaultlineProofs --quiet
	@$(PROOFS) model $(if $(CANARY),--canary,\
	    $(if $(SEED),--seed $(SEED) $(if $(KEEP),--keep $(KEEP)),--seeds $(SEEDS)))

graph: setup  ## Random operations on objects and their relationships against plain values; docs/Testing.md
	@$(RELEASE) --product MigrationProofs --quiet
	@$(MIGRATION_PROOFS) graph $(if $(CANARY),--canary,$(if $(SEED),--seed $(SEED),--seeds $(SEEDS)))

interleavings: setup  ## Every order of the steps of two jobs, for ten pairs of jobs; docs/Testing.md
	@$(RELEASE) --product FaultlineProofs --quiet
	@$(PROOFS) interleavings $(if $(CANARY),--canary,$(if $(NUMBER),one $(NUMBER)))

memory: setup  ## Migrates a store of N MiB by two kinds of stages, at a ceiling of BUDGET MiB; docs/Testing.md
	@$(RELEASE) --product MigrationProofs --quiet
	@$(if $(CANARY),,$(MIGRATION_PROOFS) peaks)
	@$(MIGRATION_PROOFS) large $(N) $(BUDGET) $(if $(CANARY),--canary)

# A cell that was measured for the same committed sources is not measured again, unless FRESH=1.
memory-matrix: setup  ## Peaks of all kinds of stages, by size and shape of the store, as a table; docs/Testing.md
	@$(RELEASE) --product MigrationProofs --quiet
	@$(MIGRATION_PROOFS) matrix $(MATRIX) $$(.ci/sources-commit) $(if $(SHAPE),--shape $(SHAPE)) $(if $(KIND),--kind $(KIND)) \
	    $(if $(FRESH),--fresh) \
	    $(if $(RECORD),--document docs/Migrations.md --lines Benchmarks/Results/memory-matrix.jsonl)

full-disk: setup  ## Fills an ext4 of 32 MiB and a tmpfs of 16 MiB, N times each (root only); docs/Testing.md
	@$(RELEASE) --product FaultlineProofs --quiet
	@.ci/full-disk $(PROOFS) $(if $(CANARY),--canary,$(N))

fuzz: setup  ## Looks for bytes that a decoder takes wrongly, SECONDS for each; docs/Testing.md
	@.ci/instrumented build $(SWIFT_FLAGS) --scratch-path $(INSTRUMENTED)/.build-fuzzing \
	    --configuration release --product Fuzzing --quiet
	@$(INSTRUMENTED)/.build-fuzzing/release/Fuzzing --folder $(FUZZ_FOLDER) \
	    $(if $(INPUT),--target $(TARGET) $(if $(REPAIRED),--repaired) --input $(INPUT),--seconds $(or $(SECONDS),10))

# All are built at once, into copies of the files outside the tree; the sources keep no trace of them.
# Mutants that crash print no backtrace: the program that prints it has hung, and the mutants with it.
mutants: setup  ## Breaks one rule after the other: tests and proofs must see each; docs/Testing.md
	@swift build $(SWIFT_FLAGS) $(BUILD_TESTS)
	@SWIFT_BACKTRACE=enable=no .build/debug/FaultlineMutants $(CACHE)/faultline-mutants \
	    $(if $(MUTANT),--mutant $(MUTANT),$(if $(CHOSEN),--chosen))

# Both slow everything down; a suite that has passed at a commit is not run again there.
sanitize: setup  ## Runs all tests, or F, under the thread and the address sanitizer
	@.ci/sanitize thread $(F)
	@.ci/sanitize address $(F)

# The proof with the macros, and all layers under it: its threads share contexts' stores as those of a service do.
sanitize-graph: setup  ## Lives SEEDS object graphs under the thread sanitizer; docs/Testing.md
	@swift build $(SWIFT_FLAGS) --scratch-path .build-thread --sanitize=thread -Xswiftc -DFAULTLINE_TSAN \
	    --product MigrationProofs --quiet
	@TSAN_OPTIONS="suppressions=$(CURDIR)/.ci/thread-sanitizer.supp" \
	    .build-thread/debug/MigrationProofs graph $(if $(SEED),--seed $(SEED),--seeds $(SEEDS))

# One process a workload, and another before it that prepares the store: what preparing leaves in memory is not measured.
bench: setup  ## Runs workloads W (default: all) over N objects; one JSON line each
	@$(RELEASE) --product FaultlineBenchmarks --quiet >&2
	@mkdir -p $(BENCH_STORES)
	@for workload in $(or $(W),$$($(BENCHMARKS) --list)); do \
	    arguments="--workload $$workload --store $(BENCH_STORES) $(if $(N),--n $(N)) $(if $(BUDGET),--budget $(BUDGET))"; \
	    $(BENCHMARKS) $$arguments --prepare >&2; \
	    $(BENCHMARKS) $$arguments; \
	done

# A package of its own: no user of the library builds a peer.
compare: setup  ## Runs workloads W through GRDB, SQLite, RocksDB and LMDB beside Faultline; docs/Benchmarks.md
	@Benchmarks/setup compare
	@$(RELEASE) --product FaultlineBenchmarks --quiet >&2
	@swift build --package-path $(COMPARE) --configuration release --product PeerBenchmarks --quiet >&2
	@mkdir -p $(BENCH_STORES)
	@$(COMPARE)/.build/release/PeerBenchmarks compare --faultline $(BENCHMARKS) --store $(BENCH_STORES) \
	    $(if $(W),--workloads "$(W)") $(if $(PEERS),--peers "$(PEERS)") $(if $(N),--n $(N)) $(if $(R),--rounds $(R))

service-compare: setup  ## Loads Examples/PhotoService and the same routes on GRDB by CLIENTS; docs/Benchmarks.md
	@Benchmarks/setup compare
	@$(RELEASE) --package-path $(SERVICE) --product PhotoService --quiet >&2
	@swift build --package-path Benchmarks/Service --configuration release --quiet >&2
	@mkdir -p $(BENCH_STORES)
	@Benchmarks/Service/.build/release/ServiceLoad --faultline $(SERVICE)/.build/release/PhotoService \
	    --grdb Benchmarks/Service/.build/release/GRDBService --store $(BENCH_STORES) \
	    $(if $(W),--endpoints "$(W)") $(if $(N),--photos $(N)) $(if $(R),--rounds $(R)) \
	    $(if $(SECONDS),--seconds $(SECONDS)) $(if $(CLIENTS),--connections $(CLIENTS))

# A copy without debug information, which valgrind cannot read all of.
instructions: setup  ## Counts the instructions of fourteen hot operations against Benchmarks/instructions.txt; RECORD=1
	@Benchmarks/setup instructions
	@$(RELEASE) --product FaultlineBenchmarks --quiet >&2
	@strip --strip-debug -o $(BENCHMARKS).stripped $(BENCHMARKS)
	@$(BENCHMARKS) instructions $(BENCHMARKS).stripped Benchmarks/instructions.txt $(if $(RECORD),record)

plots:  ## Draws the figures of docs from the lines in Benchmarks/Results; docs/Benchmarks.md
	@Benchmarks/setup plots
	@Benchmarks/plots Benchmarks/Results Sources/Faultline/Faultline.docc/Resources

docs: setup  ## Builds the documentation into .build/docs/site, and refuses a warning
	@.ci/docs

manual: setup  ## Writes the manual pages and shell completions of the tool to .build/manual
	@$(RELEASE) --product faultline --quiet
	@swift build --package-path .build/checkouts/swift-argument-parser --scratch-path .build/manual-tool \
	    --product generate-manual -Xswiftc -suppress-warnings --quiet
	@rm -rf .build/manual && mkdir -p .build/manual
	@.build/manual-tool/debug/generate-manual $(TOOL) --multi-page --output-directory .build/manual
	@for shell in bash zsh fish; do \
	    $(TOOL) --generate-completion-script $$shell >.build/manual/faultline.$$shell; done
	@rm .build/manual/faultline.demo-step.1  # for the demo alone
	@ls .build/manual

coredata-samples: setup  ## Reads the Core Data models and mapping models in the folder DIR, and compiles the models' classes
	@$(if $(DIR),,echo 'Give a folder with models: make coredata-samples DIR=folder'; exit 2)
	@$(RELEASE) --product faultline --quiet
	@.ci/coredata-samples $(TOOL) "$(DIR)"

compat:  ## Compiles SwiftData sources in the folder DIR, and runs their tests with TESTS=1; docs/features/SwiftDataSurface.md
	@$(if $(DIR),,echo 'Give a folder that has a folder for each repository: make compat DIR=folder'; exit 2)
	@.ci/setup python3
	@swift build $(SWIFT_FLAGS) --target Faultline --quiet >&2
	@.ci/compat "$(DIR)" $(if $(SWIFT),--swift $(SWIFT)) $(if $(TESTS),--tests) $(if $(FLAGS),-- $(FLAGS))

ratchet:  ## Lowers the lists of Tests/Ratchet to the sizes of today; docs/Testing.md
	@FAULTLINE_RATCHET=lower $(MAKE) test F=RatchetTests

format:  ## Formats every Swift file
	@swift format --in-place --recursive --parallel Package.swift Sources Tests Benchmarks Examples
