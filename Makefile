# The two commands of the README, and their neighbours.  Everything real is in meson.build and
# scripts/; this file only names it.
#
#   make run       install what the build needs, build, run a real parallel program
#   make check     install what the tests need, build, run all tests; it names further SUITES at the end
#   make install   PREFIX=/usr/local DESTDIR=
#   make uninstall the same PREFIX and DESTDIR: removes exactly what was installed
#   make deb       Debian packages, in build-deb
#   make dist      archives of the sources and, for users without root, of the programs, in build-dist
#   make site      the documents as pages for a browser, in build-site/html
#   make bench     measure against the floor and against MPICH's Hydra
#   make asan | tsan | fuzz | debian13      one of the further suites
#   make campaign  the long runs at full size, hours; STEPS="kills fuzz" for some of them
#   make format    lay out all C files
#
# BUILD is the build directory; SETUP=no leaves the system's packages alone; MESONFLAGS go to Meson.
BUILD ?= build
SUITES ?=
STEPS ?=
SETUP ?= yes
MESONFLAGS ?=
DESTDIR ?=
export BUILD PREFIX DESTDIR

ifeq ($(SETUP),yes)
setup = @scripts/setup
else
setup = @:
endif

# Clang, which is large, is for the fuzzers; in CI all suites run where none is named.
fuzz_too = $(if $(or $(filter fuzz,$@ $(SUITES)),$(and $(CI),$(if $(SUITES),,all))),fuzz)

.PHONY: all run check campaign install uninstall deb dist site bench fuzz asan tsan debian13 format clean

all:
	$(setup) build
	@scripts/configure $(BUILD) $(MESONFLAGS)
	@ninja -C $(BUILD)

run:
	$(setup) build run
	@$(MAKE) --no-print-directory all SETUP=no
	@scripts/demo $(BUILD)

check:
	$(setup) build run test $(fuzz_too)
	@scripts/check $(SUITES)

asan tsan fuzz debian13:
	$(setup) build run test $(fuzz_too)
	@scripts/check $@

campaign:
	$(setup) build run test fuzz
	@scripts/campaign $(STEPS)

install: all
	@scripts/install $(BUILD)

uninstall:
	@scripts/install --remove $(BUILD)

deb:
	@scripts/deb $(BUILD)-deb

dist:
	$(setup) build
	@scripts/configure $(BUILD)-release -Dtests=false $(MESONFLAGS)
	@ninja -C $(BUILD)-release
	@scripts/dist source $(BUILD)-dist
	@scripts/dist programs $(BUILD)-dist $(BUILD)-release

site:
	$(setup) build run test
	@$(MAKE) --no-print-directory all SETUP=no
	@scripts/site $(BUILD)-site $(BUILD)

bench:
	$(setup) build run test
	@$(MAKE) --no-print-directory all SETUP=no
	@bench/launch --build $(BUILD)
	@bench/prefork --build $(BUILD)
	@bench/pmi1 --build $(BUILD)
	@bench/pmi2 --build $(BUILD)
	@bench/pmix --build $(BUILD)
	@bench/data --build $(BUILD)
	@bench/nodes --build $(BUILD)
	@bench/tasks --build $(BUILD)
	@bench/replace --build $(BUILD)

format:
	$(setup) test
	@scripts/clang-format -i

clean:
	@rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan $(BUILD)-fuzz $(BUILD)-debian13 $(BUILD)-packages $(BUILD)-minimal $(BUILD)-deb $(BUILD)-release $(BUILD)-dist $(BUILD)-site
