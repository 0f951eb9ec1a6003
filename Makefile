# The front door. `make` lists what it can do; every target installs what it needs first (tools/dev/packages.txt).

BUILD      ?= build
ASAN_BUILD ?= build-asan
FUZZ_BUILD ?= build-fuzz
SECONDS    ?= 20
PREFIX     ?= /usr/local
VAULT      ?=
MESON_ARGS ?=
export BUILD VAULT
# Each program is tools/<name>/main.cc, built as tools/<name>/<name>.
PROGRAMS := $(patsubst tools/%/main.cc,tools/%,$(wildcard tools/*/main.cc))
PROGRAMS := $(foreach p,$(PROGRAMS),$(p)/$(notdir $(p)))
SANITIZE := -Db_sanitize=address,undefined -Db_lundef=false -Doptimization=0 -Dcpp_args=-g1

# clang alone has libFuzzer; its own warnings are not ours to mend here.
FUZZ_CXX   ?= clang++-19
FUZZ_ARGS  := -Db_sanitize=address,undefined -Db_lundef=false -Dwerror=false -Doptimization=1 \
              '-Dcpp_args=-fsanitize=fuzzer-no-link -gline-tables-only'

.DEFAULT_GOAL := help
.NOTPARALLEL:  # ninja does its own
.PHONY: help build programs installable test demo bench mutants lint sanitize fuzz check-layers format install deb test-vm clean setup-build setup-test setup-lint setup-vm setup-fuzz

help: ## this list
	@echo 'intray: make TARGET'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16
	@echo 'Settings: BUILD=$(BUILD) ASAN_BUILD=$(ASAN_BUILD) FUZZ_BUILD=$(FUZZ_BUILD) SECONDS=$(SECONDS) PREFIX=$(PREFIX) DESTDIR=$(DESTDIR) VAULT=$(VAULT); SKIP_SETUP=1 installs nothing.'

demo: programs ## the main path with real parts, watched: VAULT=<notes repository> uses your own (a copy of it)
	@tools/dev/demo $(BUILD)

test: setup-test build ## builds everything, runs the whole suite
	@tools/dev/run-tests $(BUILD)

build: setup-test $(BUILD)/build.ninja ## builds programs and tests into BUILD
	@ninja -C $(BUILD)

programs: setup-build $(BUILD)/build.ninja
	@ninja -C $(BUILD) $(PROGRAMS)

bench: programs ## measures throughput, latency and memory on this machine
	@ninja -C $(BUILD) tests/bench/intray-bench
	@tools/dev/bench $(BUILD)

mutants: setup-test programs ## breaks one guarantee after the other in a copy, and demands that the tests notice
	@tools/dev/mutants $(BUILD)

lint: setup-lint build ## layout, static analysis, layers, headers, scripts, man pages
	@tools/dev/lint $(BUILD)

sanitize: setup-test $(ASAN_BUILD)/build.ninja ## all that runs our code, once more under AddressSanitizer and UBSan
	@ninja -C $(ASAN_BUILD)
	@tools/dev/run-tests $(ASAN_BUILD) --no-suite lint --no-suite packaging --no-suite contract

fuzz: setup-fuzz $(FUZZ_BUILD)/build.ninja ## feeds every parser of foreign bytes made-up input, SECONDS each; keeps what breaks one
	@tools/dev/fuzz $(FUZZ_BUILD) $(SECONDS)

check-layers: setup-test ## who includes whom, where system calls and SQL may stand
	@tools/dev/check-layers

format: setup-lint ## lays out the source in place with clang-format
	@tools/dev/lint --fix-format

install: installable ## puts programs, the library, manual pages, units, users, policies under DESTDIR and PREFIX (docs/packaging.md)
	@DESTDIR='$(abspath $(DESTDIR))' meson install -C $(BUILD) --no-rebuild

installable: setup-build $(BUILD)/build.ninja
	@meson setup --reconfigure $(BUILD) -Dprefix=$(abspath $(PREFIX)) >/dev/null  # sees packages that came later, too
	@ninja -C $(BUILD) $(PROGRAMS)
	@ninja -C $(BUILD) libintray tools/systemd/50-system-calls.conf tools/systemd/save.oci.json
	@! ninja -C $(BUILD) -t query selinux/intray.pp >/dev/null 2>&1 || ninja -C $(BUILD) selinux/intray.pp

deb: PREFIX = /usr
deb: setup-test installable ## makes a Debian package of it in BUILD
	@tools/debian/build-deb $(BUILD)

test-vm: PREFIX = /usr
test-vm: setup-test setup-vm installable ## installs it into a virtual machine and tests it there, AppArmor and SELinux enforcing
	@tests/vm/test-vm $(BUILD)

clean: ## removes BUILD, ASAN_BUILD and FUZZ_BUILD
	rm -rf $(BUILD) $(ASAN_BUILD) $(FUZZ_BUILD)

$(BUILD)/build.ninja:
	@meson setup $(BUILD) $(MESON_ARGS)

$(ASAN_BUILD)/build.ninja:
	@meson setup $(ASAN_BUILD) $(SANITIZE) $(MESON_ARGS)

$(FUZZ_BUILD)/build.ninja:
	@CXX='$(FUZZ_CXX)' meson setup $(FUZZ_BUILD) $(FUZZ_ARGS) $(MESON_ARGS)

$(BUILD)/build.ninja: | setup-build
$(ASAN_BUILD)/build.ninja: | setup-build
$(FUZZ_BUILD)/build.ninja: | setup-fuzz

setup-build:
	@tools/dev/setup build
setup-test: setup-build
	@tools/dev/setup test
setup-lint:
	@tools/dev/setup lint
setup-vm: setup-build
	@tools/dev/setup vm
setup-fuzz: setup-test
	@tools/dev/setup fuzz
