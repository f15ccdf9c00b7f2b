# The whole of it is `make test`; it is what .ci/run runs.

GO      ?= go
FUZZ    ?= 2000x
CORPORA ?= ../shared/corpora
CLIENTS ?= $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/assent-test-clients

.PHONY: build test vet fmt arrows unit race fuzz golden bench corpora lint tools clients test-clients

build:
	$(GO) build -o bin/ ./cmd/...

test: vet fmt arrows unit race fuzz golden

vet:
	$(GO) vet ./...

fmt:
	@.ci/fmt

# Read from the sources each time: a cached answer could hide a new arrow.
arrows:
	$(GO) test -count=1 ./internal/shape

unit:
	$(GO) test -timeout 20m ./...

# The race detector needs a C compiler and costs several times the time, so it
# runs the short tests.
race:
	$(GO) test -race -short -timeout 20m ./...

# Every fuzz target there is, each for a short while.
fuzz:
	@GO="$(GO)" .ci/fuzz $(FUZZ)

# Golden files must be what the program says today.
golden:
	@GO="$(GO)" .ci/golden

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...

# The collections of other people's reports, where they are at hand.
corpora:
	@test -d "$(CORPORA)" || { echo "corpora: none at $(CORPORA)"; exit 1; }
	$(GO) test -count=1 -v -run 'Corp' ./...

# Programs of others that tests run: Tirith, of one version with its checksum.
tools:
	npm ci --prefix tools --ignore-scripts --no-audit --no-fund

# The clients themselves, of the versions whose payloads were recorded. They are
# large (700 MB), so they are kept outside of the tree.
clients:
	@cmp -s tools/clients/package-lock.json "$(CLIENTS)/installed.json" || { \
		mkdir -p "$(CLIENTS)" && cp tools/clients/package.json tools/clients/package-lock.json "$(CLIENTS)" && \
		npm ci --prefix "$(CLIENTS)" --ignore-scripts --no-audit --no-fund && \
		cp tools/clients/package-lock.json "$(CLIENTS)/installed.json"; }

# Runs them against a model by a script, each in a home of its own.
test-clients: clients
	ASSENT_TEST_CLIENTS="$(CLIENTS)" $(GO) test -count=1 -v -timeout 10m ./front/live

lint:
	golangci-lint run
