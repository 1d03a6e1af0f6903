# tunepipe: make, make demo, make check, make bench, make install
#
#   make demo             tune a neural network on handwritten digits
#   make demo-asha        more than three times as many settings of it in no
#                         more epochs, from checkpoint to checkpoint
#   make demo-objectives  tune it for accuracy and size at once: a front
#   make demo-study       tune a function of a Python program, which is killed
#                         in the middle and goes on
#   make check            every test; V=asan: under sanitizers; V=tsan, V=clang:
#                         those that are marked for them (scripts/check)
#   make WEBSOCKET=0      without what NNI 2.8 to 3.0 need, and libwebsockets
#   make SQLITE=0         without `tunepipe index`, and SQLite
#   make install          into $(DESTDIR)$(PREFIX), for Python (PYTHON) to find
#   make dist             the source as a tarball, in build/dist; pip builds and
#                         installs it, too
#   make wheel            for pip, into build/dist: built in a Debian 11 that is
#                         made once, as root; ROOT=/: for this machine alone
#   make check-wheel      it is installed and used in Debian 11, 12 and 13
#   make deb              packages for this Debian, into build/dist
#   make check-deb        they are built, installed, used and removed in Debian 12
#                         and 13
#   make soak-advisors    10,000 simulated experiments of each kind of advisor
#   make torture          every allocation of every case fails once; the log
#                         cut at every byte; 500 times kill -9 of dispatcher,
#                         manager or both, and of the manager beside each of
#                         its writes; power cuts; clocks that jump; ten million
#                         commands.  TORTURE_KILLS=N, SEED=N
#   make fuzz             TARGET=frames SECONDS=60; without TARGET each of them
#   make check-valgrind, make check-helgrind   the unit tests under valgrind
#   make bench-log        what the command log costs, by sync policy
#   make bench-store      what a database, pages and tables of results cost
#   make soak             200,000 trials, as many without a result, and a
#                         million of a study, and what they leave: TRIALS=N
#   make soak-slurm       jobs and pilots of Slurm, with accidents: ROUNDS=N
#   make bench-manager    what the manager of trials costs: TRIALS=N
#   make bench-slurm      jobs of Slurm beside a loop of sbatch, and pilots
#                         beside xargs: JOBS=N
#   make bench-quality    how good what the tuners suggest is: SEEDS=2 ...
#   make bench-objectives the same with several results at once
#   make bench-ask        what asking and telling them costs
#   make bench-study      the same, for a program that asks and tells: Python,
#                         C, shell, beside the bare pipe
#   make bench-sklearn    TuneSearchCV beside scikit-learn's random search
#   make bench-optuna     the Sampler for Optuna beside Optuna's own
#   make bench-fidelity   what advisors and assessors make of learning curves
#                         (tests/bench/README.md has what may be set)
#   make bench-nni        beside NNI's dispatcher, as it was measured
#   make bench-guard      instruction counts; make bench-guard-refresh
#
# Both `make demo` and `make check` install what is missing (scripts/setup).

# What a packager may set.
V          ?= release
CFLAGS     ?= -O2
PREFIX     ?= /usr/local
LIBDIR     ?= $(PREFIX)/lib
LIBEXECDIR ?= $(PREFIX)/libexec
DATADIR    ?= $(PREFIX)/share
MANDIR     ?= $(DATADIR)/man
DESTDIR    ?=
INSTALL    ?= install
PKG_CONFIG ?= pkg-config
PYTHON     ?= python3
PYTHONDIR  ?=
OBJCOPY    ?= objcopy
ifneq ($(filter clang fuzz,$(V)),)
CC := clang
else ifeq ($(origin CC),default)
CC := gcc
endif

ifeq ($(filter release asan tsan clang fuzz,$(V)),)
$(error V is '$(V)', expected release, asan, tsan, clang or fuzz)
endif

# The one place that says the version; protocol/PROMISES.md: what else to raise.
VERSION := $(shell sed -n 's/^__version__ = "\(.*\)".*/\1/p' \
             src/python/tunepipe/__init__.py)
B       := build/$(V)

# What the project needs.
WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
        -Wpointer-arith -Wwrite-strings -Wformat=2 -Wno-format-nonliteral -Wundef
ifdef WERROR
WARN += -Werror
endif
FLAGS_release := -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
FLAGS_clang   := -g1
# Lines are all that a sanitizer tells of: -g1.
FLAGS_asan    := -O1 -g1 -fsanitize=address,undefined -fno-omit-frame-pointer \
                 -fno-sanitize-recover=all
FLAGS_tsan    := -O1 -g1 -fsanitize=thread -fno-omit-frame-pointer
FLAGS_fuzz := -O1 -fsanitize=fuzzer-no-link,address,undefined \
              -fno-omit-frame-pointer -fno-sanitize-recover=all
PACKAGES := json-c yaml-0.1 zlib
PKG_CFLAGS := $(shell $(PKG_CONFIG) --cflags $(PACKAGES) 2>/dev/null)
PKG_LIBS   := $(shell $(PKG_CONFIG) --libs $(PACKAGES) 2>/dev/null)
STUDY_NEEDS := $(shell $(PKG_CONFIG) --libs json-c 2>/dev/null) -lm

ALL_CFLAGS := $(CFLAGS) -std=c11 -g -fPIC -fvisibility=hidden -pthread \
              -ffp-contract=off $(WARN) $(FLAGS_$(V))
ALL_CPPFLAGS := -D_GNU_SOURCE -DTP_VERSION='"$(VERSION)"' -Isrc -Iprotocol \
                -Ituners/include -Isrc/client/include $(CPPFLAGS) -MMD -MP
# The program finds its plugins and its wrapper from where it lies; it has to be
# told of folders that PREFIX does not imply.
FOLDERS := \
    $(if $(filter-out $(PREFIX)/lib,$(LIBDIR)),\
        -DTP_PLUGINDIR='"$(LIBDIR)/tunepipe/plugins"' \
        -DTP_MODULEDIR='"$(LIBDIR)/tunepipe"' \
        -DTP_BINDIR='"$(PREFIX)/bin"') \
    $(if $(filter-out $(PREFIX)/libexec,$(LIBEXECDIR)),\
        -DTP_WRAPPERDIR='"$(LIBEXECDIR)/tunepipe"')
ALL_LDFLAGS := $(LDFLAGS) -pthread $(filter -fsanitize%,$(FLAGS_$(V)))

# NNI 2.8 to 3.0 speak over a WebSocket; a results database is SQLite's.  What
# each of them needs is a shared object, loaded when it is used; WEBSOCKET=0 and
# SQLITE=0 leave it out.
UNWANTED  := $(foreach m,WEBSOCKET SQLITE,$(if $(filter 0,$($(m))),$(m)=0))
WEBSOCKET ?= $(if $(shell $(PKG_CONFIG) --exists libwebsockets 2>/dev/null && echo yes),1,0)
SQLITE    ?= $(if $(shell $(PKG_CONFIG) --exists sqlite3 2>/dev/null && echo yes),1,0)
SOCKET_SRC := src/bridge/websocket.c
SOCKET_OBJ := $(patsubst %.c,$(B)/%.o,$(SOCKET_SRC))
SQLITE_SRC := src/store/sqlite.c
SQLITE_OBJ := $(patsubst %.c,$(B)/%.o,$(SQLITE_SRC))
MODULE_SO  := $(if $(filter-out 0,$(WEBSOCKET)),$(B)/lib/websocket.so) \
              $(if $(filter-out 0,$(SQLITE)),$(B)/lib/sqlite.so)

# New files are found, never listed.
MODULES := core log numerics objectives pack space plugin check config nni \
           dispatcher \
           history replay supervisor control client manager trial bridge \
           store import report cli runner agent \
           $(patsubst src/%,%,$(patsubst %/,%,$(wildcard src/runner/*/)))
LIB_SRC := $(filter-out $(SOCKET_SRC) $(SQLITE_SRC),\
             $(foreach m,$(MODULES),$(wildcard src/$(m)/*.c))) \
           $(wildcard protocol/*.c)
LIB_OBJ := $(patsubst %.c,$(B)/%.o,$(filter-out src/cli/main.c,$(LIB_SRC))) \
           $(B)/report/page_parts.o
NUM_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard src/numerics/*.c))
PLUGINS := $(patsubst tuners/%/plugin.c,%,\
             $(wildcard tuners/*/plugin.c tuners/filters/*/plugin.c))
PLUGIN_SO := $(patsubst %,$(B)/plugins/%.so,$(notdir $(PLUGINS)))
ALG_OBJ := $(patsubst %.c,$(B)/%.o,$(filter-out %/plugin.c,\
             $(wildcard tuners/*/*.c tuners/filters/*/*.c)))
WRAPPER_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard src/wrapper/*.c) \
                                       src/core/process.c)
PROGRAMS := $(if $(wildcard src/cli/main.c),$(B)/tunepipe $(B)/tunepipe-node) \
            $(if $(WRAPPER_OBJ),$(B)/tunepipe-wrapper) \
            $(if $(wildcard scripts/demo/mlp.c),$(B)/demo/mlp-digits)
STUDY_SONAME := libtunepipe-study.so.0
STUDY_LIBS := $(addprefix $(B)/libtunepipe-study.,a so)
PAGES    := $(wildcard */man/*.[1-8] src/*/man/*.[1-8])
SHELLS   := $(if $(wildcard src/cli/main.c),\
              $(addprefix $(B)/completion/tunepipe.,bash zsh fish))
# Under TSan those that do not run there (tests/t.h) are left out, unless some
# are named.
TEST_SRC := $(wildcard tests/unit/*.c)
ifeq ($(V)$(filter-out -%,$(UNITS)),tsan)
TEST_SRC := $(shell grep -L '^NOT_UNDER_TSAN;' $(TEST_SRC))
endif
TEST_OBJ := $(TEST_SRC:%.c=$(B)/%.o)
TEST_SO  := $(patsubst tests/plugins/%.c,$(B)/tests/plugins/%.so,\
              $(wildcard tests/plugins/*.c)) \
            $(B)/tests/abi/released.so \
            $(patsubst tests/preload/%.c,$(B)/tests/preload/%.so,\
              $(wildcard tests/preload/*.c))
FUSE     := $(shell $(PKG_CONFIG) --exists fuse3 2>/dev/null && echo fuse3)
TOOLS    := $(patsubst tests/tools/%.c,$(B)/tests/tools/%,\
              $(filter-out $(if $(FUSE),,%/farfs.c),\
                $(wildcard tests/tools/*.c)))
FUZZERS  := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,\
              $(filter-out %/driver.c,$(wildcard tests/fuzz/*.c)))
TORTURE  := $(if $(filter tsan fuzz,$(V)),,$(B)/tests/torture/run)
BENCHES  := $(patsubst tests/bench/%.c,$(B)/tests/bench/%,\
              $(wildcard tests/bench/*.c))
SEARCH   := $(addprefix $(B)/tests/bench/,quality standings ask study)
FIDELITY := $(addprefix $(B)/tests/bench/,fidelity standings)
SEARCH_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard tests/bench/search/*.c))
FIDELITY_OBJ := $(B)/tests/sim/object.o \
                $(patsubst %.c,$(B)/%.o,$(wildcard tests/bench/budgets/*.c))
SIM_OBJ  := $(patsubst %.c,$(B)/%.o,$(wildcard tests/sim/*.c))

.PHONY: check-valgrind check-helgrind
.PHONY: soak-advisors dist sdist wheel check-wheel deb check-deb
.PHONY: fuzz fuzzers torture soak soak-slurm bench-guard bench-guard-refresh
.PHONY: all check demo demo-asha demo-objectives demo-slurm demo-study bench bench-log bench-store bench-manager bench-slurm bench-nni bench-quality bench-objectives bench-ask bench-study bench-sklearn bench-optuna bench-fidelity abi-baseline install uninstall format clean setup tests FORCE
.DELETE_ON_ERROR:

all: $(PROGRAMS) $(PLUGIN_SO) $(MODULE_SO) $(STUDY_LIBS) $(SHELLS)

# Libraries are searched in this order when the program starts: the one that
# nearly all symbols are in comes first, which makes a start 8 % shorter.
$(B)/tunepipe: $(B)/src/cli/main.o $(B)/libtunepipe.a
	$(CC) $(ALL_LDFLAGS) -o $@ $^ -lc -lm $(PKG_LIBS) -ldl -lm

$(B)/libtunepipe.a: $(LIB_OBJ) $(B)/lists
	@rm -f $@
	$(AR) rcs $@ $(LIB_OBJ)

# Written anew only when they change: the folders by `make install PREFIX=...`,
# the lists when a source file goes, which leaves nothing newer behind.
$(B)/folders: TEXT = $(subst ",,$(FOLDERS))
$(B)/lists: TEXT = $(LIB_OBJ) $(TEST_OBJ) $(PAGE_PARTS)
$(B)/folders $(B)/lists: FORCE
	@mkdir -p $(@D)
	@echo "$(TEXT)" | cmp -s - $@ || echo "$(TEXT)" > $@
FOLDERS_IN := $(patsubst %,$(B)/src/%.o,plugin/paths runner/runner \
                cli/module client/start)
$(FOLDERS_IN): $(B)/folders
$(FOLDERS_IN): ALL_CPPFLAGS += $(FOLDERS)

# What a report's page is made of, as bytes.
PAGE_PARTS := $(wildcard src/report/page/*)
$(B)/report/page_parts.c: $(PAGE_PARTS) scripts/gen-page $(B)/lists
	@mkdir -p $(@D)
	scripts/gen-page src/report/page > $@
$(B)/report/page_parts.o: $(B)/report/page_parts.c
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -c -o $@ $<

$(B)/completion/tunepipe.%: scripts/gen-completion $(B)/tunepipe
	@mkdir -p $(@D)
	scripts/gen-completion $* $(B)/tunepipe > $@

$(SOCKET_OBJ): PKG_CFLAGS += $(shell $(PKG_CONFIG) --cflags libwebsockets)
$(B)/lib/websocket.so: $(SOCKET_OBJ) $(B)/libtunepipe.a
	@mkdir -p $(@D)
	$(CC) $(ALL_LDFLAGS) -shared -Wl,--gc-sections -Wl,-u,bridge_run -o $@ \
	    $^ $(PKG_LIBS) \
	    $$($(PKG_CONFIG) --libs libwebsockets) -lm

# What a program links to that asks and tells, tunepipe/study.h: one object, of
# which only the functions of that header can be seen from outside.
$(B)/study_whole.o: $(B)/src/client/study.o $(B)/libtunepipe.a
	$(LD) -r -o $@ $^
	$(OBJCOPY) --localize-hidden $@
$(B)/libtunepipe-study.a: $(B)/study_whole.o
	@rm -f $@
	$(AR) rcs $@ $^
$(B)/$(STUDY_SONAME): $(B)/study_whole.o
	$(CC) $(ALL_LDFLAGS) -shared -Wl,-soname,$(STUDY_SONAME) -o $@ $^ \
	    $(STUDY_NEEDS) -ldl
$(B)/libtunepipe-study.so: $(B)/$(STUDY_SONAME)
	ln -sf $(STUDY_SONAME) $@

# It is a table of calls, store/sqlite.h; what they are for lies elsewhere.
$(SQLITE_OBJ): PKG_CFLAGS += $(shell $(PKG_CONFIG) --cflags sqlite3)
$(B)/lib/sqlite.so: $(SQLITE_OBJ) $(B)/libtunepipe.a
	@mkdir -p $(@D)
	$(CC) $(ALL_LDFLAGS) -shared -Wl,--gc-sections -o $@ $^ \
	    $$($(PKG_CONFIG) --libs sqlite3)

# The wrapper outlives its manager: it links to libc alone, which it has inside
# where that can be had: without a dynamic linker a trial starts 0.2 ms sooner.
WRAPPER_LDFLAGS ?= $(if $(filter release clang,$(V)),$(shell \
    echo 'int main(void) { return 0; }' | \
    $(CC) -static -x c - -o /dev/null 2> /dev/null && echo -static))
$(B)/tunepipe-wrapper: $(WRAPPER_OBJ)
	$(CC) $(ALL_LDFLAGS) $(WRAPPER_LDFLAGS) -o $@ $^

# For machines that have none of our libraries: all that it needs inside, where
# that can be had.
$(B)/tunepipe-node: $(B)/src/cli/main.o $(B)/libtunepipe.a $(B)/tunepipe
	$(if $(filter release clang,$(V)),$(CC) $(ALL_LDFLAGS) -static -s -o $@ \
	    $(wordlist 1,2,$^) $(PKG_LIBS) -ldl -lm 2> /dev/null ||) \
	    ln -f $(B)/tunepipe $@

$(B)/demo/mlp-digits: scripts/demo/mlp.c \
    src/trial/include/tunepipe/trial.h src/trial/include/tunepipe/checkpoint.h
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -std=c11 -D_GNU_SOURCE -Isrc/trial/include $(WARN) \
	    -o $@ $< -lm

# A plugin sees tuners/, src/numerics and, of src/core, grow.h only: reaching
# elsewhere in src/ does not compile, or scripts/check-arrows says so.  It links
# to nothing of the host.
$(B)/tuners/%.o: ALL_CPPFLAGS := -D_GNU_SOURCE -Ituners/include -Ituners \
                                 -Isrc/numerics -iquote src/core \
                                 -DTP_VERSION='"$(VERSION)"' \
                                 $(CPPFLAGS) -MMD -MP
# What a plugin is made of besides its own folder.
PARTS_auto := cmaes gp nsga2 parego parts tpe
PARTS_asha := auto $(PARTS_auto)
PARTS_auto_assessor := percentile
PARTS_bohb := bands parts tpe
PARTS_gp := cmaes
PARTS_nsga2 := cmaes
PARTS_parego := cmaes gp
PARTS_smac := tpe
PARTS_hyperband := bands
define plugin_rule
$(B)/plugins/$(notdir $(1)).so: $(patsubst %.c,$(B)/%.o,$(wildcard tuners/$(1)/*.c)) \
    $(foreach p,$(PARTS_$(1)),$(filter $(B)/tuners/$(p)/%,$(ALG_OBJ))) $(NUM_OBJ)
	@mkdir -p $$(@D)
	$$(CC) $$(ALL_LDFLAGS) -shared -Wl,--gc-sections -o $$@ $$^
endef
$(foreach p,$(PLUGINS),$(eval $(call plugin_rule,$(p))))

$(B)/%.o: %.c Makefile
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) $(PKG_CFLAGS) $(ALL_CFLAGS) -c -o $@ $<

# Tests.
$(B)/tests/%.o: ALL_CPPFLAGS += -Itests -Ituners -Isrc/trial/include \
                                  -Isrc/numerics
# A test waits for what it tests, not for its own code, which compiles in half
# the time when it is not optimized.
$(TEST_OBJ): ALL_CFLAGS += -O0 -U_FORTIFY_SOURCE
$(B)/tests/cases.c: $(TEST_OBJ) scripts/gen-tests $(B)/lists
	@scripts/gen-tests $(TEST_OBJ) > $@
$(B)/tests/cases.o: $(B)/tests/cases.c
	$(CC) $(ALL_CFLAGS) -c -o $@ $<
$(B)/tests/unit/run: $(TEST_OBJ) $(B)/tests/t.o $(B)/tests/cases.o \
                     $(B)/libtunepipe.a $(ALG_OBJ) $(SEARCH_OBJ) $(SIM_OBJ)
	$(CC) $(ALL_LDFLAGS) -o $@ $(TEST_OBJ) $(B)/tests/t.o $(B)/tests/cases.o \
	    $(ALG_OBJ) $(SEARCH_OBJ) $(SIM_OBJ) $(B)/libtunepipe.a $(PKG_LIBS) \
	    -ldl -lm
$(B)/tests/tools/%: tests/tools/%.c $(B)/libtunepipe.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -Itests $(ALL_LDFLAGS) $(TOOL_FLAGS) \
	    -o $@ $< $(B)/libtunepipe.a $(TOOL_LIBS) $(PKG_LIBS) -ldl -lm
$(B)/tests/tools/farfs: TOOL_FLAGS := $(if $(FUSE),$(shell $(PKG_CONFIG) --cflags $(FUSE)))
$(B)/tests/tools/farfs: TOOL_LIBS := $(if $(FUSE),$(shell $(PKG_CONFIG) --libs $(FUSE)))
TORTURE_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard tests/torture/*.c))
$(B)/tests/torture/run: $(TORTURE_OBJ) $(ALG_OBJ) $(B)/libtunepipe.a
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(PKG_LIBS) -ldl -lm
# V=fuzz: libFuzzer drives; else driver.c plays the corpus.
FUZZ_MAIN := $(if $(filter fuzz,$(V)),,$(B)/tests/fuzz/driver.o)
$(B)/fuzz/%: $(B)/tests/fuzz/%.o $(FUZZ_MAIN) $(ALG_OBJ) $(B)/libtunepipe.a
	@mkdir -p $(@D)
	$(CC) $(ALL_LDFLAGS) $(if $(FUZZ_MAIN),,-fsanitize=fuzzer) -o $@ $^ \
	    $(PKG_LIBS) -ldl -lm
$(B)/fuzz/replay $(B)/fuzz/exp_params $(B)/fuzz/saved: | $(PLUGIN_SO)
$(SEARCH): $(SEARCH_OBJ)
$(B)/tests/bench/fidelity: $(FIDELITY_OBJ)
$(B)/tests/bench/%: tests/bench/%.c $(B)/libtunepipe.a
	@mkdir -p $(@D)
	$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -Itests $(ALL_LDFLAGS) -o $@ $< \
	    $(filter %.o,$^) $(B)/libtunepipe.a $(PKG_LIBS) -ldl -lm
$(B)/tests/plugins/%.so: tests/plugins/%.c Makefile
	@mkdir -p $(@D)
	$(CC) -D_GNU_SOURCE -DTP_VERSION='"$(VERSION)"' -Ituners/include -MMD \
	    -MP $(ALL_CFLAGS) $(ALL_LDFLAGS) -shared -o $@ $<
# They are loaded before the program, and so before what a sanitizer brings.
$(B)/tests/preload/%.so: tests/preload/%.c Makefile
	@mkdir -p $(@D)
	$(CC) -D_GNU_SOURCE -MMD -MP -std=c11 -g -O1 -fPIC $(WARN) -shared -o $@ $<
# As plugins were built when their ABI was released.
$(B)/tests/abi/released.so: tests/data/abi/released.c Makefile
	@mkdir -p $(@D)
	$(CC) -std=c90 -Itests/data/abi/include-1 -MMD -MP $(CFLAGS) -fPIC \
	    $(FLAGS_$(V)) $(ALL_LDFLAGS) -shared -o $@ $<

tests: all $(B)/tests/unit/run $(TOOLS) $(TEST_SO) $(FUZZERS) \
       $(TORTURE) $(SEARCH) $(FIDELITY)

setup:
	@$(UNWANTED) scripts/setup $(SETUP)
check: SETUP := tests
PARALLEL = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc 2>/dev/null || echo 1))

# A second make, because what scripts/setup installs decides what the first
# one could find out when it started.
check: setup
	@echo "building into $(B)"
	@$(MAKE) -s --no-print-directory $(PARALLEL) tests
	@UNITS="$(UNITS)" scripts/check $(B) $(ONLY)

soak: setup
	@$(MAKE) -s --no-print-directory $(PARALLEL) all $(TOOLS)
	@scripts/soak $(B) $(TRIALS)

torture: setup
	@$(MAKE) -s --no-print-directory $(PARALLEL) tests
	@scripts/torture $(B) $(SEED)

# SEED=N: others.
soak-slurm: setup
	@$(MAKE) -s --no-print-directory $(PARALLEL) all
	@scripts/soak-slurm $(B) $(ROUNDS)

soak-advisors: setup
	@$(MAKE) -s --no-print-directory $(PARALLEL) $(B)/tests/unit/run \
	    $(PLUGIN_SO) $(TEST_SO)
	@TP_BUILD=$(abspath $(B)) TP_SOURCE=$(CURDIR) TP_LONG=1 \
	    TP_PATIENCE=3600 SIM_SEED=$(SEED) $(B)/tests/unit/run simulated

# make fuzz TARGET=frames SECONDS=60: without TARGET all, each so long.
TARGET  ?=
SECONDS ?= 60
fuzzers: $(FUZZERS)
fuzz:
	@$(MAKE) -s --no-print-directory $(PARALLEL) V=fuzz fuzzers
	@scripts/fuzz $(SECONDS) $(TARGET)

demo: setup
	@echo "building into $(B)"
	@$(MAKE) -s --no-print-directory $(PARALLEL) all
	@scripts/demo/run $(B)

demo-asha: setup
	@echo "building into $(B)"
	@$(MAKE) -s --no-print-directory $(PARALLEL) all
	@scripts/demo/asha $(B)

demo-objectives: setup
	@echo "building into $(B)"
	@$(MAKE) -s --no-print-directory $(PARALLEL) all
	@scripts/demo/objectives $(B)

demo-slurm: setup
	@echo "building into $(B)"
	@$(MAKE) -s --no-print-directory $(PARALLEL) all
	@scripts/demo/slurm $(B)

demo-study: setup
	@echo "building into $(B)"
	@$(MAKE) -s --no-print-directory $(PARALLEL) all
	@scripts/demo/study $(B)

bench: setup
	@$(MAKE) -s --no-print-directory $(PARALLEL) all $(BENCHES)
	@scripts/bench $(B)
	@CC="$(CC)" CFLAGS="$(CFLAGS)" scripts/bench-guard $(B)

bench-log: setup
	@$(MAKE) -s --no-print-directory $(PARALLEL) all $(B)/tests/bench/log \
	    $(B)/tests/bench/recovery
	@scripts/bench $(B) log

bench-store: setup
	@$(MAKE) -s --no-print-directory $(PARALLEL) all $(B)/tests/bench/store
	@scripts/bench $(B) store

bench-slurm: setup
	@$(MAKE) -s --no-print-directory $(PARALLEL) all
	@scripts/bench-slurm $(B) $(JOBS)

bench-manager: setup
	@$(MAKE) -s --no-print-directory $(PARALLEL) all \
	    $(B)/tests/bench/manager $(B)/tests/plugins/stops_at.so
	@scripts/bench $(B) manager

bench-quality bench-objectives bench-ask: setup
	@$(MAKE) -s --no-print-directory $(PARALLEL) all $(SEARCH)
	@scripts/bench-search $(B) $(@:bench-%=%)

bench-study: setup
	@$(MAKE) -s --no-print-directory $(PARALLEL) all $(B)/tests/bench/study
	@scripts/bench-study $(B)

bench-sklearn bench-optuna: setup
	@$(MAKE) -s --no-print-directory $(PARALLEL) all
	@scripts/bench-python $(B) $(@:bench-%=%)

bench-fidelity: setup
	@$(MAKE) -s --no-print-directory $(PARALLEL) all $(FIDELITY)
	@scripts/bench-fidelity $(B)

bench-nni: setup
	@$(MAKE) -s --no-print-directory $(PARALLEL) all $(B)/tests/bench/nni
	@$(B)/tests/bench/nni $(B)

check-valgrind check-helgrind: setup
	@$(MAKE) -s --no-print-directory $(PARALLEL) tests
	@scripts/check-valgrind $(B) $(if $(filter %-valgrind,$@),memcheck,helgrind)

# Instruction counts against the stored ones; a change that is meant: refresh.
bench-guard bench-guard-refresh: setup
	@$(MAKE) -s --no-print-directory $(PARALLEL) all $(B)/tests/bench/guard
	@CC="$(CC)" CFLAGS="$(CFLAGS)" scripts/bench-guard $(B) \
	    $(if $(filter %-refresh,$@),--refresh)

# After members were appended to what plugins include.
abi-baseline:
	scripts/abi-baseline > $(B)/baseline.inc
	mv $(B)/baseline.inc tests/data/abi/baseline.inc

# Installation.
bindir       := $(DESTDIR)$(PREFIX)/bin
plugindir    := $(LIBDIR)/tunepipe/plugins
includedir   := $(PREFIX)/include
pkgconfigdir := $(LIBDIR)/pkgconfig
bashdir      := $(DATADIR)/bash-completion/completions
zshdir       := $(DATADIR)/zsh/site-functions
fishdir      := $(DATADIR)/fish/vendor_completions.d
sharedir     := $(PREFIX)/share/tunepipe

install: all
	$(INSTALL) -d "$(bindir)" "$(DESTDIR)$(plugindir)" \
	    "$(DESTDIR)$(includedir)/tunepipe" "$(DESTDIR)$(pkgconfigdir)" \
	    "$(DESTDIR)$(LIBEXECDIR)/tunepipe" "$(DESTDIR)$(sharedir)/template"
	$(INSTALL) -m 755 $(B)/tunepipe "$(bindir)/"
	$(INSTALL) -m 755 $(B)/tunepipe-wrapper $(B)/tunepipe-node \
	    "$(DESTDIR)$(LIBEXECDIR)/tunepipe/"
	$(INSTALL) -m 644 $(PLUGIN_SO) "$(DESTDIR)$(plugindir)/"
	$(if $(strip $(MODULE_SO)),$(INSTALL) -m 644 $(MODULE_SO) \
	    "$(DESTDIR)$(LIBDIR)/tunepipe/")
	$(INSTALL) -m 644 \
	    $(filter-out %/filter.h,$(wildcard tuners/include/tunepipe/*.h)) \
	    $(wildcard src/trial/include/tunepipe/*.h) \
	    $(wildcard src/client/include/tunepipe/*.h) \
	    "$(DESTDIR)$(includedir)/tunepipe/"
	$(INSTALL) -d "$(DESTDIR)$(sharedir)/python/tunepipe"
	$(INSTALL) -m 644 $(wildcard src/python/tunepipe/*.py) \
	    src/python/tunepipe/py.typed \
	    "$(DESTDIR)$(sharedir)/python/tunepipe/"
	$(INSTALL) -m 755 $(B)/$(STUDY_SONAME) "$(DESTDIR)$(LIBDIR)/"
	$(INSTALL) -m 644 $(B)/libtunepipe-study.a "$(DESTDIR)$(LIBDIR)/"
	ln -sf $(STUDY_SONAME) "$(DESTDIR)$(LIBDIR)/libtunepipe-study.so"
	$(INSTALL) -m 644 tuners/exec/tuner.py tuners/exec/assessor.py \
	    tuners/exec/tunepipe_tuner.py \
	    tuners/nni/nni_class.py tuners/nni/nni_sides.py \
	    "$(DESTDIR)$(sharedir)/"
	$(INSTALL) -d "$(DESTDIR)$(sharedir)/nni-shim"
	$(INSTALL) -m 755 scripts/nni-shim/python3 \
	    "$(DESTDIR)$(sharedir)/nni-shim/"
	sed -i 's|^installed=.*|installed='\''$(PREFIX)/bin/tunepipe'\''|' \
	    "$(DESTDIR)$(sharedir)/nni-shim/python3"
	$(INSTALL) -m 644 scripts/nni-shim/README.md \
	    "$(DESTDIR)$(sharedir)/nni-shim/"
	$(INSTALL) -m 755 scripts/new-tuner "$(DESTDIR)$(sharedir)/"
	ln -sf new-tuner "$(DESTDIR)$(sharedir)/new-assessor"
	$(INSTALL) -m 644 $(wildcard scripts/template/*) \
	    "$(DESTDIR)$(sharedir)/template/"
	for pc in tunepipe tunepipe-study; do \
	    file="$(DESTDIR)$(pkgconfigdir)/$$pc.pc"; \
	    sed -e 's|@PREFIX@|$(PREFIX)|g' -e 's|@LIBDIR@|$(LIBDIR)|g' \
	        -e 's|@VERSION@|$(VERSION)|g' "scripts/$$pc.pc.in" > "$$file" && \
	    chmod 644 "$$file" || exit; \
	done
	for page in $(PAGES); do \
	    folder="$(DESTDIR)$(MANDIR)/man$${page##*.}"; \
	    $(INSTALL) -d "$$folder" && \
	    $(INSTALL) -m 644 "$$page" "$$folder/" || exit; \
	done
	$(INSTALL) -d "$(DESTDIR)$(bashdir)" "$(DESTDIR)$(zshdir)" \
	    "$(DESTDIR)$(fishdir)"
	$(INSTALL) -m 644 $(B)/completion/tunepipe.bash \
	    "$(DESTDIR)$(bashdir)/tunepipe"
	$(INSTALL) -m 644 $(B)/completion/tunepipe.zsh \
	    "$(DESTDIR)$(zshdir)/_tunepipe"
	$(INSTALL) -m 644 $(B)/completion/tunepipe.fish \
	    "$(DESTDIR)$(fishdir)/tunepipe.fish"
	@scripts/packaging/python-path "$(PREFIX)" "$(PYTHON)" "$(DESTDIR)" \
	    "$(PYTHONDIR)"
	@case "$(DESTDIR):$$PATH:" in /*:/* | *:"$(PREFIX)/bin":*) ;; *) \
	    echo '$(PREFIX)/bin is not in your PATH yet:' \
	        'export PATH="$(PREFIX)/bin:$$PATH"' ;; \
	esac

uninstall:
	rm -f "$(bindir)/tunepipe" "$(DESTDIR)$(pkgconfigdir)/tunepipe.pc" \
	    "$(DESTDIR)$(pkgconfigdir)/tunepipe-study.pc" \
	    "$(DESTDIR)$(LIBDIR)/$(STUDY_SONAME)" \
	    "$(DESTDIR)$(LIBDIR)/libtunepipe-study.so" \
	    "$(DESTDIR)$(LIBDIR)/libtunepipe-study.a" \
	    "$(DESTDIR)$(bashdir)/tunepipe" "$(DESTDIR)$(zshdir)/_tunepipe" \
	    "$(DESTDIR)$(fishdir)/tunepipe.fish" \
	    $(foreach p,$(notdir $(PAGES)),\
	        "$(DESTDIR)$(MANDIR)/man$(lastword $(subst ., ,$(p)))/$(p)") \
	    "$(DESTDIR)$(PREFIX)"/lib*/python3*/*-packages/tunepipe.pth \
	    $(if $(PYTHONDIR),"$(DESTDIR)$(PYTHONDIR)/tunepipe.pth")
	rm -rf "$(DESTDIR)$(LIBDIR)/tunepipe" "$(DESTDIR)$(includedir)/tunepipe" \
	    "$(DESTDIR)$(LIBEXECDIR)/tunepipe" "$(DESTDIR)$(sharedir)"

# Packages: DIST is where they go, ROOT the system in which a wheel is built, ROOTS
# has this one and those of check-wheel and check-deb.
DIST  ?= build/dist
ROOTS ?= build/roots
ROOT  ?= $(ROOTS)/build
dist sdist:
	@mkdir -p "$(DIST)"
	@$(PYTHON) scripts/packaging/tunepipe_build.py sdist $(VERSION) "$(DIST)"
wheel:
	@scripts/packaging/wheel $(VERSION) "$(ROOT)" \
	    "$(if $(filter file,$(origin B)),build/wheel,$(B))" "$(DIST)"
check-wheel: wheel
	@scripts/packaging/check-wheel \
	    "$$(ls -t "$(DIST)"/tunepipe-$(VERSION)-*.whl | head -n 1)" "$(ROOTS)"
deb:
	@scripts/setup deb
	@$(MAKE) -s --no-print-directory dist
	@scripts/packaging/deb $(VERSION) "$(DIST)"
check-deb: dist
	@scripts/packaging/check-deb $(VERSION) "$(DIST)" "$(ROOTS)"

FORMATTED = $(shell git ls-files '*.c' '*.h' | grep -vE '^tests/(external|data/abi)/')
format:
	clang-format -i $(FORMATTED)

clean:
	@rm -rf build 2> /dev/null || \
	    { echo "what is left is root's: sudo rm -rf build"; sudo rm -rf build; }

-include $(shell find $(B) -name '*.d' -type f 2>/dev/null)
