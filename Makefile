# Parley. `make help` lists what there is.

SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS   += --no-builtin-rules

GO      ?= go
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -X main.version=$(VERSION)

# The SQLite engine is C that was translated to Go, and each connection runs on
# one goroutine at a time. Under the race detector it is sixteen times slower and
# finds nothing of ours, so that package is compiled without it. Our own
# code and the driver around the engine are watched.
#
# The same goes for the vocabularies of the tokenizer, which are only data. Nothing
# else may be left out: a package that is takes its copies of generic functions, such
# as those of sync, from the detector's sight, and others may be linked to them.
RACE := -race '-gcflags=github.com/ncruces/go-sqlite3-wasm/...=-race=false' \
	'-gcflags=github.com/tiktoken-go/tokenizer/codec=-race=false'

# A program that watches for races sleeps for a second when it ends, in case others still run into one, and maps its notes on a
# piece of memory anew where that is large. Tests end thousands of programs, and stores have large buffers: half of the time was the system's.
export GORACE ?= atexit_sleep_ms=20 clear_shadow_mmap_threshold=67108864

# Packages and flags for one-off runs: make test PKG=./sqlite ARGS='-run Fork -v'
PKG  ?= ./...
ARGS ?=

FUZZTIME ?= 1m
BENCH    ?= store

LINT_VERSION := v2.14.0
LINT         := bin/golangci-lint-$(LINT_VERSION)

.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: build ## build, and start the daemon on 127.0.0.1:7788
	@exec bin/parley serve

.PHONY: build
build: ## build bin/parley
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o bin/parley ./cmd/parley

.PHONY: test
test: compiler keyring browser node eventsource terminal shells ## run every test, with the race detector
	CGO_ENABLED=1 $(GO) test $(RACE) -timeout 30m $(ARGS) $(PKG)

.PHONY: soak
soak: compiler keyring browser node eventsource terminal shells ## run every test with its full counts; takes hours
	PARLEY_SOAK=1 CGO_ENABLED=1 $(GO) test $(RACE) -timeout 170m -count=1 $(ARGS) $(PKG)

.PHONY: lint
lint: $(LINT) ## run the linters; the first time this builds them, which takes minutes
	$(LINT) run

.PHONY: fmt
fmt: $(LINT) ## format the code
	$(LINT) fmt

.PHONY: bench
bench: build ## measure the store beside what the machine can do; BENCH=feed or all for more
	bin/parley bench $(BENCH)

.PHONY: fuzz
fuzz: ## run each fuzz target for FUZZTIME (1m)
	@$(GO) test -list '^Fuzz' $(PKG) | awk '/^Fuzz/ { names[++n] = $$1 } /^ok/ { for (i = 1; i <= n; i++) print $$2, names[i]; n = 0 }' | \
	while read -r package target; do \
		echo "== $$package $$target"; \
		$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1s $(ARGS) "$$package" < /dev/null; \
	done

.PHONY: generate
generate: ## write the generated parts of files anew
	$(GO) generate ./...

SCREENS := cmd/parley/testdata/screens
.PHONY: screens
screens: terminal ## capture the screens of the terminal program anew, and draw the pictures of docs
	PARLEY_UPDATE=1 $(GO) test -count=1 -run '^TestGolden_' ./cmd/parley
	$(GO) run ./internal/termsvg/convert.go -title 'parley chat' $(SCREENS)/approval.ansi docs/chat.svg
	$(GO) run ./internal/termsvg/convert.go -title 'parley chat' -light $(SCREENS)/light-approval.ansi docs/chat-light.svg

.PHONY: tidy
tidy: ## bring go.mod and go.sum up to date
	$(GO) mod tidy

.PHONY: clean
clean: ## remove what was built
	rm -rf bin

# A mirror may be down for a moment, so packages are asked for three times. Whether they
# are there in the end, who calls this looks at.
SUDO := $(shell [ "$$(id -u)" = 0 ] || echo sudo -n)
define install
for attempt in 1 2 3; do \
		if [ $$attempt != 1 ]; then echo "apt-get could not install $(1): trying again in 5 seconds, $$attempt of 3" >&2; sleep 5; fi; \
		if $(SUDO) apt-get update -qq && \
			$(SUDO) env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $(1) > /dev/null; then break; fi; \
	done
endef

# The race detector needs a C compiler. Debian and its relatives get one if we
# may install it; elsewhere we say what is missing.
.PHONY: compiler
compiler:
	@cc=$$($(GO) env CC); \
	if command -v "$${cc%% *}" > /dev/null; then exit 0; fi; \
	if command -v apt-get > /dev/null && $(SUDO) true 2> /dev/null; then \
		echo "no C compiler, which the race detector needs: installing gcc"; \
		$(call install,gcc libc6-dev); \
		if command -v "$${cc%% *}" > /dev/null; then exit 0; fi; \
	fi; \
	echo "the race detector needs a C compiler ($$cc): please install one, such as gcc" >&2; \
	exit 1

# What follows is for some tests alone. Root on Debian, which is a container nearly
# always, gets it; a desktop has its own, and we do not put another beside it. Without
# it these tests are skipped, or, where nothing may be skipped, make fails.
#
# $(call lacking,such tests without what they need)
define lacking
if [ "$${PARLEY_NO_SKIPS:-}" = 1 ]; then echo "$(1) cannot run, and with PARLEY_NO_SKIPS=1 none is skipped" >&2; exit 1; fi; \
	echo "$(1) are skipped"
endef

# $(call need,name,a command that succeeds if it is there,packages,such tests without it)
define need
@there() { $(2); }; \
	if there > /dev/null; then exit 0; fi; \
	if command -v apt-get > /dev/null && [ "$$(id -u)" = 0 ]; then \
		echo "no $(1) to test with: installing $(3)"; \
		$(call install,$(3)); \
		if there > /dev/null; then exit 0; fi; \
	fi; \
	$(call lacking,$(4))
endef

# A test talks to a real keyring, on a bus of its own. A Mac has another kind.
.PHONY: keyring
keyring:
	$(call need,keyring,[ "$$(uname)" = Darwin ] || { command -v gnome-keyring-daemon && command -v dbus-run-session; },gnome-keyring dbus,without gnome-keyring-daemon and dbus-run-session the tests with a real keyring)

# The page is tested in a real browser, and its modules in Node.js.
.PHONY: browser
browser:
	$(call need,browser,command -v chromium || command -v chromium-browser || command -v google-chrome || command -v google-chrome-stable,chromium,without chromium the tests of the page in a browser)

.PHONY: node
node:
	$(call need,Node.js,command -v node && command -v npm,nodejs npm,without node and npm the tests of JavaScript)

# A client that others use reads the event streams, in the version of its lock file.
EVENTSOURCE := cmd/parley/testdata/eventsource
.PHONY: eventsource
eventsource: node
	@if ! command -v npm > /dev/null || cmp -s $(EVENTSOURCE)/package-lock.json $(EVENTSOURCE)/node_modules/.installed; then exit 0; fi; \
	echo "installing eventsource, which the tests of event streams use"; \
	if npm ci --silent --no-audit --no-fund --ignore-scripts --prefix $(EVENTSOURCE) && \
		cp $(EVENTSOURCE)/package-lock.json $(EVENTSOURCE)/node_modules/.installed; then exit 0; fi; \
	$(call lacking,without eventsource from npm the tests with a real EventSource)

# What is made for a terminal is tested in a real one.
.PHONY: terminal
terminal:
	$(call need,terminal,command -v tmux,tmux,without tmux the tests in a terminal)

# Completion scripts are read by their shells, and the README is followed as it stands.
.PHONY: shells
shells:
	$(call need,shells and curl,command -v zsh && command -v fish && command -v curl,zsh fish curl,without zsh and fish and curl the tests of completion scripts and of the README)

bin/golangci-lint-$(LINT_VERSION):
	@echo "building golangci-lint $(LINT_VERSION), once; this takes some minutes"
	GOBIN='$(CURDIR)/bin' $(GO) install github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$(LINT_VERSION)
	mv bin/golangci-lint $@
