# Builds, shows and checks ds2. `make help` lists the targets.

VERSION := $(shell git describe --tags --always --dirty 2>/dev/null)
GO      ?= go
ARGS    ?=
VERSIONS ?= 13 14 15 16 17 18
ENDURANCE ?= 30m
CUTS    ?= 20
KILLS   ?= 100
MODES   ?= honest lying disorder nobarrier torn whole
FUZZTIME ?= 5s
INPUTS  ?= 10000000
SEED    ?= 0
REPLICATES ?= 2000
PLATFORMS ?=
GOLANGCI := bin/golangci-lint-2.12.2

.DEFAULT_GOAL := build
.PHONY: help go-version build docs pictures example afternoon demo endurance powercut cgroup kills kubernetes release platforms test tests versions ios simulate bench bench-driver check nightly fmt vet lint actions cross arm tsql vuln fuzz mutations corpus

help: ## this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

build: go-version ## builds bin/ds2
	$(GO) build -ldflags '-X main.version=$(VERSION)' -o bin/ds2 ./cmd/ds2

# Older ones fail with "invalid go version".
go-version:
	@$(GO) version 2>/dev/null | grep -qE 'go1\.(2[1-9]|[3-9][0-9])' || { echo 'ds2 needs Go 1.21 or later, which fetches Go' \
		"$$(sed -n 's/^go //p' go.mod)" 'by itself: see https://go.dev/dl; then make GO=/usr/local/go/bin/go' >&2; exit 1; }

docs: ## writes the outputs, the reference of commands and the exit codes into the documents
	$(GO) test -count=1 -run '^TestDocuments$$' ./cmd/ds2 -update

pictures: ## draws docs/pictures: the first screens of made-up records, by a headless Chromium
	mkdir -p docs/pictures bin/pictures
	DS2_TEST_ARTIFACTS=$$PWD/bin/pictures $(GO) test -count=1 -run '^TestBrowser$$' ./internal/report
	cp $(PICTURES:%=bin/pictures/%.png) docs/pictures

PICTURES = published experiment experiment-phone-dark same cold bench-dark run mailbox-phone

example: build ## makes the example record of the documents anew, after a change of the record's form; then make docs
	rm -rf docs/examples/demo && bin/ds2 demo --out docs/examples/demo && rm docs/examples/demo/report.html && $(MAKE) docs

afternoon: ## makes the tutorial's example anew, of two emulated arrays: as root, an hour; then make docs
	scripts/afternoon.sh

demo: build ## runs end to end on a private PostgreSQL (ARGS='--run-time 10s' shortens it)
	bin/ds2 demo $(ARGS)

endurance: build ## runs a demo for ENDURANCE (30m) and looks whether ds2 itself stays as it is
	scripts/endurance.sh $(ENDURANCE) $$(mktemp -d)/record --threads 4 $(ARGS)

powercut: build ## cuts the power of a virtual machine CUTS times in each of MODES, built of Debian's packages in bin/powercut
	scripts/powercut/build bin/powercut
	@for mode in $(MODES); do DS2=bin/ds2 scripts/powercut/run bin/powercut $$mode $(CUTS) || exit 1; done

cgroup: ## tests on a kernel with control groups of version 2, in a virtual machine
	GO='$(GO)' scripts/cgroup2.sh

release: ## writes archives, packages, images and checksums for Linux, Windows and macOS (or for PLATFORMS) to dist
	scripts/release/release dist $(PLATFORMS)

# What these need of Debian: binutils-mingw-w64-x86-64 docker.io lintian man-db qemu-user rpm wine wine64.
platforms: release ## tests a release: twice the same bytes, packages, ARM by QEMU, Windows by Wine, the image and PostgreSQL's in Docker (as root)
	scripts/release/release bin/again && diff -r dist bin/again && cd dist && sha256sum --check --quiet SHA256SUMS
	! lintian --no-tag-display-limit dist/*.deb | grep -v -e statically-linked-binary -e initial-upload-closes-no-bugs
	rpm -K --nosignature dist/*.rpm
	DS2_TEST_PLATFORMS=1 DS2_TEST_DOCKER=1 DS2_TEST_IMAGE="$$PWD/dist/*_image_$$($(GO) env GOARCH).tar" \
		$(GO) test -count=1 -v -run '^(TestARM64UnderQemu|TestWindowsUnderWine|TestImage|TestMan)$$' ./cmd/ds2
	DS2_TEST_DOCKER=1 $(GO) test -count=1 -v -run '^Test(ConformanceIn|DriveOf)Container$$' ./internal/storetest ./internal/monitor

kills: ## kills ds2 itself KILLS times (100) at random moments of its commands, by SEED (0)
	DS2_TEST_KILLS=$(KILLS) DS2_TEST_SEED=$(SEED) $(GO) test -run '^TestKilled$$' -count=1 -timeout 0 -v ./cmd/ds2

# Its programs are built once, which takes a quarter of an hour; what else it needs is in the script.
kubernetes: ## compares two storage classes of a Kubernetes cluster that it starts on this machine, and breaks what can break: as root, an hour
	GO='$(GO)' scripts/kubernetes/cluster/cluster start
	DS2_TEST_CLUSTER=/var/tmp/ds2-kubernetes $(GO) test -count=1 -timeout 2h -v -run '^TestCluster' ./cmd/ds2; \
		code=$$?; scripts/kubernetes/cluster/cluster stop; exit $$code

# A cluster in memory takes a quarter of the CPU time of one on a drive, so temporary files lie there if there is room.
test tests: export TMPDIR := $(shell [ "$$(df --output=avail -BG /dev/shm 2>/dev/null | sed -n 's/G$$//p')" -ge 4 ] 2>/dev/null && echo /dev/shm || echo "$${TMPDIR:-/tmp}")

test: ## runs the tests but those that take long; those that need a PostgreSQL start one
	$(GO) test -short -p 4 -parallel 8 -ldflags=-s -timeout 60m ./... # without symbols, which take a third of the time to link

versions: ## runs what versions of PostgreSQL change on each major version in VERSIONS: conformance, counters, snapshots
	@for v in $(VERSIONS); do echo "PostgreSQL $$v"; \
		DS2_TEST_POSTGRES_VERSION=$$v $(GO) test -count=1 -run '$(VERSIONED)' ./internal/store/postgres ./internal/storetest ./internal/load ./internal/monitor || exit 1; done

VERSIONED = ^Test(Conformance(InContainer)?$$|LoadIsWhole|Statistics|BackToTheStart|Snapshot|Placement|Classify|Binary|DatabaseCounters|Databases|Checkpoints)

ios: ## has the tracer judge what is said of drives: as root, on loop devices, all caches, methods of sync and PostgreSQL 15 and 18
	DS2_TEST_IOS=1 $(GO) test -count=1 -timeout 60m -v -run '^TestIOs$$' ./cmd/ds2

simulate: ## simulates the statistics, REPLICATES (2000) times a figure, and writes the tables of method.md and of the evidence: many minutes
	$(GO) test -count=1 -timeout 0 -v ./scripts/simulate -args -replicates=$(REPLICATES) -write=../../docs/explanation/method.md,../../docs/evidence/2026-11-simulations.md

bench: ## runs the Go benchmarks
	$(GO) test -run '^$$' -bench . -benchmem ./...

bench-driver: build ## compares ds2 drive with pgbench (ARGS=postgres://… on a database of yours)
	scripts/bench-driver $(ARGS)

check: vet lint actions cross arm tsql tests ## everything that CI asks for, but the versions of PostgreSQL

nightly: vuln fuzz cross ## what takes longer than CI may: all tests, each package with the race detector, all versions, macOS, vulnerabilities, fuzzing
	$(MAKE) versions VERSIONED=.
	$(MAKE) ios
	$(MAKE) kubernetes
	DS2_TEST_HOURS=24 $(GO) test -run '^TestDay$$' ./internal/result
	$(GO) test -count=1 -timeout 0 ./scripts/simulate -args -replicates=2000
	DS2_TEST_NIGHTLY=1 $(GOTESTSUM) --packages ./... -- -race -timeout 60m

fmt: $(GOLANGCI) ## formats all Go code as lint asks for, by gofumpt
	$(GOLANGCI) fmt

vet:
	$(GO) vet ./...

# A cache that several clones share keeps the paths of the first, whose lines the exclusions of .golangci.yml then cannot read.
lint: $(GOLANGCI) ## staticcheck, gofumpt, lines of at most 100 columns, comments on exported names: .golangci.yml
	GOLANGCI_LINT_CACHE=$(CURDIR)/bin/lint $(GOLANGCI) run ./...

actions: ## actionlint: the workflows of this repository, and the one in scripts/ci for others
	$(GO) run github.com/rhysd/actionlint/cmd/actionlint@v1.7.7 .github/workflows/*.yml scripts/ci/benchmark.yml

$(GOLANGCI):
	GOBIN=$(CURDIR)/bin $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.12.2
	mv bin/golangci-lint $@

# What these systems lack, and how they are asked for their counters, is in separate files, which no other check compiles.
cross: ## compiles for Windows and macOS
	GOOS=windows GOARCH=amd64 $(GO) build -o /dev/null ./cmd/ds2
	GOOS=darwin GOARCH=arm64 $(GO) build -o /dev/null ./cmd/ds2

arm: ## makes the dataset on ARM, by QEMU: there a multiplication and an addition may be one instruction, which rounds once
	GOARCH=arm64 CGO_ENABLED=0 $(GO) test -count=1 -exec qemu-aarch64 -run '^Test(Amounts|Golden)$$/^S' ./datagen

tsql: ## checks the T-SQL for SQL Server, by Microsoft's own parser and schema compiler
	GO='$(GO)' .ci/tsql

vuln:
	GO='$(GO)' .ci/vulncheck

fuzz: ## feeds each parser with made-up input for FUZZTIME (5s), guided by what its code does
	@for p in $(FUZZED); do \
		for f in $$($(GO) test -list '^Fuzz' $$p | grep '^Fuzz'); do echo "$$p $$f"; \
			$(GO) test -run '^$$' -fuzz "^$$f$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x $$p || exit 1; done; done

FUZZED = $$(grep -rl '^func Fuzz' --include='*_test.go' . | xargs -n1 dirname | sort -u)

mutations: SHELL = /bin/bash
mutations: ## feeds each parser with INPUTS (10 million) changed examples of SEED (0): an hour or two
	@set -o pipefail; GOGC=off GOMEMLIMIT=128MiB DS2_TEST_INPUTS=$(INPUTS) DS2_TEST_SEED=$(SEED) $(GO) test -run '^Fuzz' -timeout 0 -count=1 -v $(FUZZED) | grep -E '^(=== RUN +Fuzz[A-Za-z0-9]+$$|FAIL|ok|panic)|changed examples|this input'

corpus: ## keeps what `make fuzz` found in testdata/corpus of each package
	@for p in $$($(GO) list $(FUZZED)); do GO='$(GO)' .ci/corpus $$p || exit 1; done

# The list of the tests that were skipped, and why, is the last that is printed.
tests: ## runs all tests but those of `make nightly`, with the race detector where goroutines are started
	$(GOTESTSUM) --raw-command -- env GO='$(GO)' .ci/tests

GOTESTSUM = $(GO) tool gotestsum --format standard-quiet
