# SPDX-License-Identifier: Apache-2.0
# Builds Raddle.  `make` builds, `make check` tests, `make demo` shows an example,
# `make help` lists the rest.  Sources are found by folder: a new .c file or
# test needs no change here.

.DEFAULT_GOAL := all

VERSION := 0.1.0
PREFIX ?= /usr/local
LLVM ?= 19
# The web site of this build, for SARIF and packages; if it is empty, reports name the manual.
HOMEPAGE ?=
CLANG := clang-$(LLVM)
LLVM_CONFIG := llvm-config-$(LLVM)
B ?= build
JOBS ?= $(shell nproc)

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Werror
CFLAGS ?= -O2 -g
# More than 250 tests are linked; mold takes a fraction of the time.
ifndef LDFLAGS
LDFLAGS := $(shell command -v mold >/dev/null && echo -fuse-ld=mold)
endif
ifeq ($(notdir $(B)),asan)
SANITIZE ?= address,undefined
endif
ifdef SANITIZE
SANITIZE_FLAGS := -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
endif
# `make` prints a word and a name for each file it makes; `make V=1` prints the commands.
# Neither this nor the test for a directory starts a process.
ifeq ($(V),1)
say =
Q :=
else
say = $(info $(empty)  $(1)	$(2))
Q := @
endif
in_directory = $(if $(wildcard $(@D)/.),,@mkdir -p $(@D))

# Rooms lie on floors below src/ (ARCHITECTURE.md).  Headers are included by the name of their room:
# "trace/stream.h".  The floors base and report are rooms themselves.
FLOORS := contract program target data execution analysis procedure fleet command
INCLUDES := -Isrc $(FLOORS:%=-Isrc/%)
ALL_CFLAGS = -std=gnu17 -D_GNU_SOURCE= $(WARN) $(CFLAGS) $(SANITIZE_FLAGS) $(INCLUDES) \
	-DRADDLE_VERSION='"$(VERSION)"' -DRADDLE_LLVM='"$(LLVM)"' \
	$(if $(HOMEPAGE),-DRADDLE_HOMEPAGE='"$(HOMEPAGE)"') -MMD -MP
ALL_LDFLAGS = $(CFLAGS) $(SANITIZE_FLAGS) $(LDFLAGS)

# Each room is an archive.  raddle does not link LLVM, so it starts fast and stays small beside the
# program that it records; raddle-instr is its LLVM worker.  The hive and the agent of a site are
# separate executables, because of the libraries that they need; `raddle hive` and `raddle site` run
# them.
ROOMS := base report $(filter-out raddle rt,$(notdir $(wildcard $(FLOORS:%=src/%/*))))
INSTR_ROOMS := instr ir facts base
TOOL_ROOMS := $(filter-out cmd instr ir protocol hive site,$(ROOMS))
room_path = $(firstword $(wildcard src/*/$(1)) src/$(1))
object = $(patsubst src/%.c,$(B)/obj/%.o,$(1))
archive = $(1:%=$(B)/lib/%.a)
link_with = -Wl,--start-group $(filter %.a,$(1)) -Wl,--end-group

# An archive also depends on a file that lists its objects, so it is made anew when a source file is
# added to its room or removed.
define archive_rules
ifneq ($$(strip $$(file <$(B)/lib/$(1).list)),$$(strip $(2:$(B)/%=%)))
$$(shell mkdir -p $(B)/lib)
$$(file >$(B)/lib/$(1).list,$(2:$(B)/%=%))
endif
$(B)/lib/$(1).a: $(2) $(B)/lib/$(1).list
	$$(call say,AR,$$@)
	$(Q)rm -f $$@ && ar rcsDT $$@ $$(filter %.o,$$^)
endef
room_objects = $(call object,$(wildcard $(call room_path,$(1))/*.c $(call room_path,$(1))/*/*.c))
$(foreach r,$(filter-out cmd instr,$(ROOMS)),$(eval $(call archive_rules,$(r),$(call room_objects,$(r)))))
$(eval $(call archive_rules,instr,$(filter-out %/instr/main.o,$(call room_objects,instr))))
$(eval $(call archive_rules,cmd,$(filter-out %/cmd/main.o,$(call object,$(wildcard src/command/cmd/*.c)))))
$(eval $(call archive_rules,cmd-hive,$(call object,$(wildcard src/command/cmd/hive/*.c))))
$(eval $(call archive_rules,cmd-site,$(call object,$(wildcard src/command/cmd/site/*.c))))

LIBS := $(call archive,$(TOOL_ROOMS))
INSTR_ARCHIVES := $(call archive,$(INSTR_ROOMS))
MAIN := $(B)/obj/command/cmd/main.o
TOOL_LIBS := -lzstd -lxxhash -ljansson -lm
PROTOCOL_LIBS := -lgnutls
SITE_LIBS := -lcurl $(PROTOCOL_LIBS)
HIVE_LIBS := -lmicrohttpd -lsqlite3 -lpq -lcurl $(PROTOCOL_LIBS)
INSTR_LIBS = -L$(shell $(LLVM_CONFIG) --libdir) -lLLVM-$(LLVM) -lxxhash -ljansson -lm

# The runtime is built by clang, because hooks call it with clang's preserve_most convention.  It is
# the same in every kind of build (sanitizers, fuzzers), so all of them share one.  Every link of a
# flavour reads it, so it has line tables only, a quarter of full debug information.
RT_FLAGS := -std=gnu17 -D_GNU_SOURCE= $(WARN) -O2 -g1 $(INCLUDES) -fPIC \
	-fvisibility=hidden -fno-stack-protector -fexceptions -MMD -MP
RT := src/target/rt
RT_B := $(if $(filter build/%,$(B)),build,$(B))
# For static programs, only the files that call or interpose real functions are compiled again.
RT_BY_LINK := $(shell grep -rlE 'RADDLE_STATIC|INTERPOSE|(real|resolve|front|track)\.h"' --include='*.c' $(RT))
# Places the runtime's variables after the program's (rt/core/memory/redzone.c).
RT_OWN_BSS := objcopy --rename-section .bss=.raddle_bss
# The names of the flavours and the layers of their runtimes, from the table of flavours.
FLAVOUR_TABLE := src/contract/raddle/flavour.inc
FLAVOUR_ROWS := $(shell sed -n 's/^RADDLE_FLAVOUR.[A-Z]*, \([a-z]*\), "\([a-z ]*\)".*/\1 \2;/p' $(FLAVOUR_TABLE))
FLAVOURS := $(shell echo '$(FLAVOUR_ROWS)' | tr ';' '\n' | awk '{ print $$1 }')
layers = $(shell echo '$(FLAVOUR_ROWS)' | tr ';' '\n' | awk '$$1 == "$(1)" { $$1 = ""; print }')
RT_FILES := $(foreach f,$(FLAVOURS),libraddle-rt-$(f).a libraddle-rt-$(f)-static.a hook-$(f).bc)

WORKERS := $(B)/raddle-instr $(B)/raddle-hive $(B)/raddle-site
SUPPORT := $(WORKERS) $(RT_FILES:%=$(B)/%)
LINKS := $(addprefix $(B)/raddle-,cc c++ llvm-ar llvm-ranlib)
UNIT := $(patsubst test/unit/%.c,$(B)/%,$(wildcard test/unit/u-*.c))
UNIT_INSTR := $(filter $(B)/u-ir% $(B)/u-instr%,$(UNIT))
UNIT_HIVE := $(filter $(B)/u-hive%,$(UNIT))
UNIT_SITE := $(filter $(B)/u-site%,$(UNIT))
UNIT_PROTOCOL := $(filter $(B)/u-protocol%,$(UNIT))
UNIT_CMD := $(filter $(B)/u-cmd%,$(UNIT))
UNIT_TOOL := $(filter-out $(UNIT_INSTR) $(UNIT_HIVE) $(UNIT_SITE) $(UNIT_PROTOCOL) $(UNIT_CMD),$(UNIT))
SEEDS := $(patsubst test/fuzz/%.c,$(B)/%,$(wildcard test/fuzz/fuzz-*.c))

all: $(B)/raddle $(LINKS) $(SUPPORT)

help:
	@echo 'make            build into $(B)/ (V=1 shows the commands)'
	@echo 'make demo       install what is needed, build, and check an example'
	@echo 'make check      install what is needed, build, and run the tests'
	@echo 'make check-all  the same, with the long forms of the tests'
	@echo 'make install    install into PREFIX=$(PREFIX), below DESTDIR='
	@echo 'make deb        make a Debian package in $(B)/'
	@echo 'make asan       build with ASan and UBSan into build/asan/'
	@echo 'make fuzz       fuzz every reader for FUZZ_SECONDS=$(FUZZ_SECONDS)'
	@echo 'make bench      run the benchmarks (takes long)'
	@echo 'make figures    make doc/figures.md from what was measured'
	@echo 'make format, check-format, check-layers, check-style, check-docs, check-clang, check-gcc, clean'

# Links the objects, then the archives, then libraries.
define link
	$(call say,LINK,$@)
	$(in_directory)
	$(Q)$(CC) $(ALL_LDFLAGS) -o $@ $(filter %.o,$^) $(call link_with,$^) $(1)
endef

$(B)/raddle: $(MAIN) $(call archive,cmd) $(LIBS)
	$(call link,$(TOOL_LIBS))

$(LINKS):
	$(in_directory)
	$(Q)ln -sf raddle $@

$(B)/raddle-instr: $(B)/obj/program/instr/main.o $(INSTR_ARCHIVES)
	$(call link,$(INSTR_LIBS))

# cmd-hive contains the command, and cmd a stub of the same name, so cmd-hive comes first.  The same
# is true of raddle-site.
$(B)/raddle-hive: $(MAIN) $(call archive,cmd-hive cmd hive protocol) $(LIBS)
	$(call link,-u cmd_hive $(TOOL_LIBS) $(HIVE_LIBS))

$(B)/raddle-site: $(MAIN) $(call archive,cmd-site cmd site protocol) $(LIBS)
	$(call link,-u cmd_site $(TOOL_LIBS) $(SITE_LIBS))

$(B)/obj/fleet/hive/db-postgres.o: ALL_CFLAGS += -isystem $(shell pg_config --includedir 2>/dev/null)
$(B)/obj/fleet/hive/web.o: $(wildcard src/fleet/hive/web/*) doc/format/hive-api.json

$(B)/obj/program/ir/%.o $(B)/obj/program/instr/%.o $(UNIT_INSTR:$(B)/%=$(B)/obj/test/unit/%.o): \
	ALL_CFLAGS += -isystem $(shell $(LLVM_CONFIG) --includedir)

define compile
	$(call say,CC,$<)
	$(in_directory)
	$(Q)$(CC) $(ALL_CFLAGS) -c -o $@ $<
endef

$(B)/obj/%.o: src/%.c
	$(compile)

# Optimised tests would take twice as long to compile.
$(B)/obj/test/%.o: ALL_CFLAGS += -I. -O0
$(B)/obj/test/%.o: test/%.c
	$(compile)

$(B)/obj/bench/%.o: bench/%.c
	$(compile)

define compile_rt
	$(call say,RT,$@)
	$(in_directory)
	$(Q)$(CLANG) $(RT_FLAGS) $(1) -c -o $@ $< && $(RT_OWN_BSS) $@
endef

ifeq ($(RT_B),$(B))
$(B)/rt/%.o: $(RT)/%.c
	$(call compile_rt)

$(B)/rt-static/%.o: $(RT)/%.c
	$(call compile_rt,-DRADDLE_STATIC)

# The runtime of a flavour consists of common/, the core (except in guard and track) and the layers
# of the flavour.  The first layer has the hooks.
define flavour_rules
RT_$(1) := $(if $(filter guard track,$(1)),,core/memory/redzone.o layers-$(1).o) $(patsubst $(RT)/%.c,%.o,$(filter-out \
	$(RT)/core/layers.c $(RT)/core/memory/redzone.c,$(wildcard $(foreach l,common $(if $(filter guard track,$(1)),,core) $(call layers,$(1)),\
	$(RT)/$(l)/*.c $(RT)/$(l)/*/*.c))))
$(B)/rt/layers-$(1).o: $(RT)/core/layers.c $(FLAVOUR_TABLE)
	$$(call compile_rt,-DRT_LAYERS='$(foreach l,$(call layers,$(1)),RT_LAYER($(l)))')
$(B)/libraddle-rt-$(1).a: $$(RT_$(1):%=$(B)/rt/%)
$(B)/libraddle-rt-$(1)-static.a: $$(foreach o,$$(RT_$(1)),$(B)/$$(if $$(filter $(RT)/$$(o:.o=.c),$(RT_BY_LINK)),rt-static,rt)/$$(o))
$(B)/hook-$(1).bc: $(RT)/$(firstword $(call layers,$(1)))/hook.c
endef
$(foreach f,$(FLAVOURS),$(eval $(call flavour_rules,$(f))))
$(B)/libraddle-rt-%.a:
	$(call say,AR,$@)
	$(Q)rm -f $@ && ar rcs $@ $^

$(B)/hook-%.bc: $(wildcard src/contract/raddle/*)
	$(call say,HOOK,$@)
	$(in_directory)
	$(Q)$(CLANG) -std=gnu17 $(WARN) $(INCLUDES) -DRADDLE_BITCODE= -O2 -fPIC -emit-llvm -c -o $@ $(filter %/hook.c,$^)

runtime: $(RT_FILES:%=$(B)/%)
else
$(RT_FILES:%=$(B)/%): $(B)/%: $(RT_B)/%
	$(in_directory)
	$(Q)ln -f $< $@
$(RT_FILES:%=$(RT_B)/%): runtime
runtime:
	@$(MAKE) --no-print-directory B=$(RT_B) runtime
endif

# Tests.  Unit tests are built beside raddle, where they find its support files.  So are the fuzz
# harnesses, in the form that only runs given inputs.

unit: $(UNIT)

seeds: $(SEEDS)

$(UNIT): $(B)/u-%: $(B)/obj/test/unit/u-%.o
$(UNIT_TOOL): $(LIBS)
	$(call link,-lcmocka $(TOOL_LIBS))

$(UNIT_CMD): $(call archive,cmd) $(LIBS)
	$(call link,-lcmocka $(TOOL_LIBS))

$(UNIT_INSTR): $(INSTR_ARCHIVES)
	$(call link,-lcmocka $(INSTR_LIBS))

$(UNIT_PROTOCOL): $(call archive,protocol) $(LIBS)
	$(call link,-lcmocka $(TOOL_LIBS) $(PROTOCOL_LIBS))

$(UNIT_HIVE): $(call archive,hive protocol) $(LIBS)
	$(call link,-lcmocka $(TOOL_LIBS) $(HIVE_LIBS))

$(UNIT_SITE): $(call archive,site protocol) $(LIBS)
	$(call link,-lcmocka $(TOOL_LIBS) $(SITE_LIBS))

# Each test/fuzz/fuzz-*.c is a libFuzzer harness with its seeds in test/fuzz/corpus/fuzz-*/.  `make
# check` runs the seeds; `make fuzz` searches for new inputs, with separately built harnesses.  The
# job file of raddle-instr is read without LLVM, so fuzz-job needs only that object.
FUZZ_DRIVER := $(if $(FUZZING),,$(B)/obj/test/fuzz/seeds.o)
$(SEEDS): $(B)/fuzz-%: $(B)/obj/test/fuzz/fuzz-%.o $(FUZZ_DRIVER) $(LIBS)
	$(call link,$(if $(FUZZING),-fsanitize=fuzzer) $(TOOL_LIBS) $(FUZZ_LIBS))
$(filter $(B)/fuzz-hive%,$(SEEDS)): FUZZ_LIBS := $(HIVE_LIBS)
$(filter $(B)/fuzz-hive%,$(SEEDS)): $(call archive,hive protocol)
$(filter $(B)/fuzz-protocol%,$(SEEDS)): FUZZ_LIBS := $(PROTOCOL_LIBS)
$(filter $(B)/fuzz-protocol%,$(SEEDS)): $(call archive,protocol)
$(filter $(B)/fuzz-site%,$(SEEDS)): FUZZ_LIBS := $(SITE_LIBS)
$(filter $(B)/fuzz-site%,$(SEEDS)): $(call archive,site protocol)
$(B)/fuzz-job: $(B)/obj/program/instr/job.o

deps:
	@tool/install-packages tool/packages

# CONTRIBUTING.md describes the short and long forms of tests.
check: deps
	@$(MAKE) --no-print-directory -j$(JOBS) all unit seeds
	@tool/run-tests --build $(B)

check-long: deps
	@$(MAKE) --no-print-directory -j$(JOBS) all unit
	@tool/run-tests --build $(B) --long

check-all: deps
	@$(MAKE) --no-print-directory -j$(JOBS) all unit seeds
	@tool/run-tests --build $(B) --all

demo:
	@tool/install-packages --to-build
	@[ -e $(B)/raddle ] || echo 'building into $(B)/ ...'
	@$(MAKE) --no-print-directory -s -j$(JOBS) all
	@examples/demo $(B)

asan:
	$(MAKE) B=build/asan CFLAGS="-O1 -g1" all unit seeds

FUZZ_SECONDS ?= 60
FUZZ := $(patsubst test/fuzz/%.c,$(B)/fuzz/%,$(wildcard test/fuzz/fuzz-*.c))
FUZZ_FLAGS := -g -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all

fuzzers:
	@$(MAKE) --no-print-directory B=$(B)/fuzz CC=$(CLANG) CFLAGS="$(FUZZ_FLAGS)" FUZZING=1 seeds

fuzz: fuzzers
	@tool/fuzz $(FUZZ_SECONDS) $(FUZZ)

# detect-run runs a program under the on-line detector, with a plan that never ends (`make
# build/detect-run`).
# full-read reads full traces; bench/full builds and uses it.
$(B)/detect-run $(B)/full-read: $(B)/%: $(B)/obj/bench/%.o $(LIBS)
	$(call link,$(TOOL_LIBS))

bench: all
	bench/record
	bench/flavour
	bench/build
	bench/trace-read
	bench/replay
	bench/full
	bench/compare
	bench/inject
	bench/reversible
	bench/hive

figures:
	@tool/figures

# Checks of the tree.

SOURCES = $(shell git ls-files --cached --others --exclude-standard '*.c' '*.h')

format:
	clang-format-14 -i $(SOURCES)

check-format:
	@clang-format-14 --dry-run -Werror $(SOURCES)

check-layers:
	@tool/check-layers --self-test
	@tool/check-layers

check-style: check-docs
	@tool/check-style

check-docs:
	@tool/check-docs

# To see the warnings of another compiler, checking the syntax is enough.  The runtime is left out,
# because it is always built by clang.
SYNTAX_SOURCES := $(filter-out $(RT)/%,$(wildcard src/*/*.c src/*/*/*.c src/*/*/*/*.c)) $(wildcard test/unit/*.c test/fuzz/*.c)
check-clang: SYNTAX_CC := $(CLANG)
check-gcc: SYNTAX_CC := gcc
check-clang check-gcc:
	@printf '%s\n' $(SYNTAX_SOURCES) | xargs -P $(JOBS) -n 20 $(SYNTAX_CC) \
		$(filter-out -MMD -MP,$(ALL_CFLAGS)) -I. -fsyntax-only \
		-isystem $(shell $(LLVM_CONFIG) --includedir) -isystem $(shell pg_config --includedir 2>/dev/null)

# Installation.

MAN := $(wildcard doc/man/*.1)
MAN_LINKS := $(addsuffix .1,$(filter-out raddle-cc,$(notdir $(LINKS))))
D = $(DESTDIR)$(PREFIX)
COMPLETIONS = bash-completion/completions/raddle zsh/site-functions/_raddle fish/vendor_completions.d/raddle.fish

install: all
	install -d $(D)/bin $(D)/lib/raddle $(D)/share/man/man1 $(dir $(COMPLETIONS:%=$(D)/share/%))
	install -d $(D)/share/doc/raddle/format $(D)/share/doc/raddle/examples $(D)/include/raddle
	install $(B)/raddle $(D)/bin/
	for link in $(notdir $(LINKS)); do ln -sf raddle $(D)/bin/$$link; done
	install $(WORKERS) $(D)/lib/raddle/
	install -m 644 $(filter-out $(WORKERS),$(SUPPORT)) $(D)/lib/raddle/
	install -m 644 src/contract/raddle/annotate.h $(D)/include/raddle/
	install -m 644 $(MAN) $(D)/share/man/man1/
	for page in $(MAN_LINKS); do ln -sf raddle-cc.1 $(D)/share/man/man1/$$page; done
	install -m 644 tool/completion.bash $(D)/share/bash-completion/completions/raddle
	install -m 644 tool/completion.zsh $(D)/share/zsh/site-functions/_raddle
	install -m 644 tool/completion.fish $(D)/share/fish/vendor_completions.d/raddle.fish
	install -m 644 README.md ARCHITECTURE.md LICENSE doc/ci.md $(D)/share/doc/raddle/
	install -m 644 doc/format/*.md doc/format/*.json $(D)/share/doc/raddle/format/
	install -m 644 src/fleet/hive/raddle-hive.service $(D)/share/doc/raddle/examples/
	install -m 644 examples/*.c examples/README.md $(D)/share/doc/raddle/examples/

uninstall:
	rm -f $(D)/bin/raddle $(addprefix $(D)/bin/,$(notdir $(LINKS)))
	rm -f $(addprefix $(D)/share/man/man1/,$(notdir $(MAN)) $(MAN_LINKS)) $(COMPLETIONS:%=$(D)/share/%)
	rm -rf $(D)/lib/raddle $(D)/share/doc/raddle $(D)/include/raddle

deb: all
	tool/make-deb $(B) $(VERSION) $(HOMEPAGE)

clean:
	rm -rf $(B)

.PHONY: all help unit seeds runtime deps check check-long check-all demo asan fuzzers fuzz bench figures format check-format \
	check-layers check-style check-docs check-clang check-gcc install uninstall deb clean
.SECONDARY:
-include $(shell find $(B)/obj $(B)/rt $(B)/rt-static -name "*.d" 2>/dev/null)
