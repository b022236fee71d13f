# SPDX-License-Identifier: Apache-2.0
# Raddle's build.  `make` builds, `make check` tests, `make demo` shows;
# `make help` lists the rest.  Sources are found by folder: a new .c file or
# test needs no change here.

VERSION := 0.1.0
PREFIX ?= /usr/local
LLVM ?= 19
# A web site of this build, for SARIF and packages; without one reports name the manual.
HOMEPAGE ?=
CLANG := clang-$(LLVM)
LLVM_CONFIG := llvm-config-$(LLVM)
B ?= build
JOBS ?= $(shell nproc)

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Werror
CFLAGS ?= -O2 -g
# Some 200 tests are linked, with mold in a fraction of the time.
ifndef LDFLAGS
LDFLAGS := $(shell command -v mold >/dev/null && echo -fuse-ld=mold)
endif
ifeq ($(notdir $(B)),asan)
SANITIZE ?= address,undefined
endif
ifdef SANITIZE
SANITIZE_FLAGS := -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
endif
ALL_CFLAGS = -std=gnu17 -D_GNU_SOURCE= $(WARN) $(CFLAGS) $(SANITIZE_FLAGS) -I. -Iinclude \
	-DRADDLE_VERSION='"$(VERSION)"' -DRADDLE_LLVM='"$(LLVM)"' \
	$(if $(HOMEPAGE),-DRADDLE_HOMEPAGE='"$(HOMEPAGE)"') -MMD -MP
ALL_LDFLAGS = $(CFLAGS) $(SANITIZE_FLAGS) $(LDFLAGS)

# The tool proper knows nothing of LLVM, so that it starts fast and stays
# small beside the program it records; raddle-instr is its LLVM worker.
TOOL_DIRS := base facts bitcode run trace model order epa reversible finding predict report record replay symbolic explore classify candidates sketch guard inject doctor cmd
INSTR_DIRS := base facts ir instr
# The hive and the agent of a site are executables of their own, because of what they link; `raddle hive` and
# `raddle site` run them.
HIVE_DIRS := hive cmd/hive
SITE_DIRS := site cmd/site
# Flavours: name and layers of the runtime, from their one table.
FLAVOUR_ROWS := $(shell sed -n 's/^RADDLE_FLAVOUR.[A-Z]*, \([a-z]*\), "\([a-z ]*\)".*/\1 \2;/p' \
	include/raddle/flavour.inc)
FLAVOURS := $(shell echo '$(FLAVOUR_ROWS)' | tr ';' '\n' | awk '{ print $$1 }')
layers = $(shell echo '$(FLAVOUR_ROWS)' | tr ';' '\n' | awk '$$1 == "$(1)" { $$1 = ""; print }')

objects = $(patsubst %.c,$(B)/%.o,$(wildcard $(1:%=%/*.c)))
TOOL_OBJ := $(call objects,$(TOOL_DIRS))
LIB_OBJ := $(filter-out $(B)/cmd/%,$(TOOL_OBJ))
INSTR_OBJ := $(call objects,$(INSTR_DIRS))
INSTR_LIB_OBJ := $(filter-out $(B)/instr/main.o,$(INSTR_OBJ))
TOOL_LIBS := -lzstd -lxxhash -ljansson -lm
HIVE_OBJ := $(call objects,$(HIVE_DIRS))
HIVE_LIB_OBJ := $(filter $(B)/hive/%,$(HIVE_OBJ))
SITE_OBJ := $(call objects,$(SITE_DIRS))
SITE_LIB_OBJ := $(filter $(B)/site/%,$(SITE_OBJ))
SITE_LIBS := -lcurl -lcrypto
HIVE_LIBS := -lmicrohttpd -lsqlite3 -lpq -lgnutls -lcurl
INSTR_LIBS = -L$(shell $(LLVM_CONFIG) --libdir) -lLLVM-$(LLVM) -lxxhash -ljansson -lm

# The runtime is built by clang: hooks call it with clang's preserve_most.
RT_FLAGS := -std=gnu17 -D_GNU_SOURCE= $(WARN) -O2 -g -Iinclude -I. -fPIC \
	-fvisibility=hidden -fno-stack-protector -fexceptions -MMD -MP
# Its variables lie behind the program's (rt/core/away.c).
RT_AWAY := objcopy --rename-section .bss=.raddle_bss
RT_LIBS := $(foreach f,$(FLAVOURS),$(B)/libraddle-rt-$(f).a $(B)/libraddle-rt-$(f)-static.a)
HOOKS := $(FLAVOURS:%=$(B)/hook-%.bc)

WORKERS := $(B)/raddle-instr $(B)/raddle-hive $(B)/raddle-site
SUPPORT := $(WORKERS) $(HOOKS) $(RT_LIBS)
LINKS := $(addprefix $(B)/raddle-,cc c++ llvm-ar llvm-ranlib)
UNIT := $(patsubst test/unit/%.c,$(B)/%,$(wildcard test/unit/u-*.c))
UNIT_INSTR := $(filter $(B)/u-ir% $(B)/u-instr%,$(UNIT))
UNIT_HIVE := $(filter $(B)/u-hive%,$(UNIT))
UNIT_SITE := $(filter $(B)/u-site%,$(UNIT))
UNIT_TOOL := $(filter-out $(UNIT_INSTR) $(UNIT_HIVE) $(UNIT_SITE),$(UNIT))
SEEDS := $(patsubst test/fuzz/%.c,$(B)/%,$(wildcard test/fuzz/fuzz-*.c))
SEEDS_HIVE := $(filter $(B)/fuzz-hive%,$(SEEDS))
SEEDS_SITE := $(filter $(B)/fuzz-site%,$(SEEDS))

all: $(B)/raddle $(LINKS) $(SUPPORT)

help:
	@echo 'make            build into $(B)/'
	@echo 'make demo       install what is needed, build, and record an example'
	@echo 'make check      install what is needed, build, and run the tests'
	@echo 'make check-all  the same, and then the long forms of the tests'
	@echo 'make install    PREFIX=$(PREFIX) DESTDIR='
	@echo 'make deb        a Debian package in $(B)/'
	@echo 'make asan       build with ASan and UBSan (the same as B=build/asan)'
	@echo 'make fuzz       fuzz every reader for FUZZ_SECONDS=$(FUZZ_SECONDS)'
	@echo 'make bench      measure (takes long)'
	@echo 'make format, check-format, check-layers, check-style, check-docs, clean'

$(B)/raddle: $(TOOL_OBJ)
	$(CC) $(ALL_LDFLAGS) -o $@ $(TOOL_OBJ) $(TOOL_LIBS)

$(LINKS):
	@mkdir -p $(@D)
	ln -sf raddle $@

$(B)/raddle-instr: $(INSTR_OBJ)
	$(CC) $(ALL_LDFLAGS) -o $@ $(INSTR_OBJ) $(INSTR_LIBS)

$(B)/raddle-hive: $(filter-out $(B)/cmd/hive.o,$(TOOL_OBJ)) $(HIVE_OBJ)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(TOOL_LIBS) $(HIVE_LIBS)

$(B)/raddle-site: $(filter-out $(B)/cmd/site.o,$(TOOL_OBJ)) $(SITE_OBJ)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ $(TOOL_LIBS) $(SITE_LIBS)

$(B)/hive/db-postgres.o $(B)/fuzz/lib/hive/db-postgres.o: ALL_CFLAGS += -isystem $(shell pg_config --includedir 2>/dev/null)
$(B)/hive/web.o $(B)/fuzz/lib/hive/web.o: $(wildcard hive/web/*) doc/format/hive-api.json

$(B)/ir/%.o $(B)/instr/%.o $(UNIT_INSTR:=.o): ALL_CFLAGS += -isystem $(shell $(LLVM_CONFIG) --includedir)

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(B)/rt/%.o: rt/%.c
	@mkdir -p $(@D)
	$(CLANG) $(RT_FLAGS) -c -o $@ $< && $(RT_AWAY) $@

$(B)/rt-static/%.o: rt/%.c
	@mkdir -p $(@D)
	$(CLANG) $(RT_FLAGS) -DRADDLE_STATIC -c -o $@ $< && $(RT_AWAY) $@

# The runtime of a flavour: the core and its layers; the first layer has the hooks.  Those of guard and track stand alone.
define flavour_rules
RT_$(1) := $(if $(filter guard track,$(1)),,core/away.o layers-$(1).o) $(patsubst rt/%.c,%.o,$(filter-out rt/core/layers.c rt/core/away.c,$(wildcard \
	$(foreach l,$(if $(filter guard track,$(1)),,core) $(call layers,$(1)),rt/$(l)/*.c))))
$(B)/rt/layers-$(1).o $(B)/rt-static/layers-$(1).o: rt/core/layers.c include/raddle/flavour.inc
	@mkdir -p $$(@D)
	$(CLANG) $(RT_FLAGS) -DRT_LAYERS='$(foreach l,$(call layers,$(1)),RT_LAYER($(l)))' -c -o $$@ $$< && $(RT_AWAY) $$@
$(B)/libraddle-rt-$(1).a: $$(RT_$(1):%=$(B)/rt/%)
$(B)/libraddle-rt-$(1)-static.a: $$(RT_$(1):%=$(B)/rt-static/%)
$(B)/hook-$(1).bc: rt/$(firstword $(call layers,$(1)))/hook.c
endef
$(foreach f,$(FLAVOURS),$(eval $(call flavour_rules,$(f))))
$(RT_LIBS):
	rm -f $@ && ar rcs $@ $^

$(HOOKS): $(wildcard include/raddle/*)
$(HOOKS):
	@mkdir -p $(@D)
	$(CLANG) -std=gnu17 $(WARN) -Iinclude -I. -DRADDLE_BITCODE= -O2 -fPIC -emit-llvm -c -o $@ $(filter %.c,$^)

# Tests.  Unit tests are built beside raddle, where they find its support files,
# and so are the fuzz harnesses in the form that runs given inputs only.

unit: $(UNIT)

seeds: $(SEEDS)

$(B)/u-%.o: test/unit/u-%.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

$(UNIT_TOOL): $(B)/u-%: $(B)/u-%.o $(LIB_OBJ)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ -lcmocka $(TOOL_LIBS)

$(UNIT_INSTR): $(B)/u-%: $(B)/u-%.o $(INSTR_LIB_OBJ)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ -lcmocka $(INSTR_LIBS)

$(UNIT_HIVE): $(B)/u-%: $(B)/u-%.o $(LIB_OBJ) $(HIVE_LIB_OBJ)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ -lcmocka $(TOOL_LIBS) $(HIVE_LIBS)

$(UNIT_SITE): $(B)/u-%: $(B)/u-%.o $(LIB_OBJ) $(SITE_LIB_OBJ)
	$(CC) $(ALL_LDFLAGS) -o $@ $^ -lcmocka $(TOOL_LIBS) $(SITE_LIBS)

$(SEEDS_SITE): $(B)/fuzz-%: test/fuzz/fuzz-%.c $(B)/test/fuzz/seeds.o $(LIB_OBJ) $(SITE_LIB_OBJ)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(filter %.c %.o,$^) $(TOOL_LIBS) $(SITE_LIBS)

$(SEEDS_HIVE): $(B)/fuzz-%: test/fuzz/fuzz-%.c $(B)/test/fuzz/seeds.o $(LIB_OBJ) $(HIVE_LIB_OBJ)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(filter %.c %.o,$^) $(TOOL_LIBS) $(HIVE_LIBS)

$(filter-out $(SEEDS_HIVE) $(SEEDS_SITE),$(SEEDS)): $(B)/fuzz-%: test/fuzz/fuzz-%.c $(B)/test/fuzz/seeds.o $(LIB_OBJ)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $(filter %.c %.o,$^) $(TOOL_LIBS)

# What raddle-instr reads, it reads without LLVM.
$(B)/fuzz-job: $(B)/instr/job.o
$(B)/fuzz/fuzz-job: $(B)/fuzz/lib/instr/job.o

deps:
	@tool/install-packages tool/packages

# CONTRIBUTING.md says what belongs to which tier.
check: deps
	@$(MAKE) --no-print-directory -j$(JOBS) all unit seeds
	@tool/run-tests --build $(B)

check-long: deps
	@$(MAKE) --no-print-directory -j$(JOBS) all unit
	@tool/run-tests --build $(B) --long

check-all: check
	@$(MAKE) --no-print-directory check-long

demo:
	@tool/install-packages --to-build
	@[ -e $(B)/raddle ] || echo 'building into $(B)/ ...'
	@$(MAKE) --no-print-directory -s -j$(JOBS) all
	@examples/demo $(B)

asan:
	$(MAKE) B=build/asan CFLAGS="-O1 -g" all unit seeds

# Fuzzing.  Each test/fuzz/fuzz-*.c is a libFuzzer harness with its seeds in
# test/fuzz/corpus/fuzz-*/; `make check` runs the seeds, `make fuzz` searches on.

FUZZ_SECONDS ?= 60
FUZZ := $(patsubst test/fuzz/%.c,$(B)/fuzz/%,$(wildcard test/fuzz/fuzz-*.c))
FUZZ_LIB := $(LIB_OBJ:$(B)/%=$(B)/fuzz/lib/%)
FUZZ_HIVE := $(filter $(B)/fuzz/fuzz-hive%,$(FUZZ))
$(FUZZ_HIVE): FUZZ_LIBS := $(HIVE_LIBS)
$(FUZZ_HIVE): $(HIVE_LIB_OBJ:$(B)/%=$(B)/fuzz/lib/%)
FUZZ_SITE := $(filter $(B)/fuzz/fuzz-site%,$(FUZZ))
$(FUZZ_SITE): FUZZ_LIBS := $(SITE_LIBS)
$(FUZZ_SITE): $(SITE_LIB_OBJ:$(B)/%=$(B)/fuzz/lib/%)
FUZZ_FLAGS := -g -O1 -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all

fuzzers: $(FUZZ)

$(B)/fuzz/lib/%.o: %.c
	@mkdir -p $(@D)
	$(CLANG) $(ALL_CFLAGS) $(FUZZ_FLAGS) -c -o $@ $<

$(FUZZ): $(B)/fuzz/%: test/fuzz/%.c $(FUZZ_LIB)
	$(CLANG) $(ALL_CFLAGS) $(FUZZ_FLAGS) -fsanitize=fuzzer -o $@ $(filter %.c %.o,$^) $(TOOL_LIBS) $(FUZZ_LIBS)

fuzz: $(FUZZ)
	@tool/fuzz $(FUZZ_SECONDS) $(FUZZ)

# The on-line detector without a plan: `make build/detect-run`, then give it a program.
$(B)/detect-run: bench/detect-run.c $(LIB_OBJ)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(LIB_OBJ) $(TOOL_LIBS)

# Reading full traces: bench/full makes and uses it.
$(B)/full-read: bench/full-read.c $(LIB_OBJ)
	$(CC) $(ALL_CFLAGS) $(LDFLAGS) -o $@ $< $(LIB_OBJ) $(TOOL_LIBS)

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

# What keeps the tree in order.

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
	install -m 644 include/raddle/annotate.h $(D)/include/raddle/
	install -m 644 $(MAN) $(D)/share/man/man1/
	for page in $(MAN_LINKS); do ln -sf raddle-cc.1 $(D)/share/man/man1/$$page; done
	install -m 644 tool/completion.bash $(D)/share/bash-completion/completions/raddle
	install -m 644 tool/completion.zsh $(D)/share/zsh/site-functions/_raddle
	install -m 644 tool/completion.fish $(D)/share/fish/vendor_completions.d/raddle.fish
	install -m 644 README.md ARCHITECTURE.md LICENSE doc/ci.md $(D)/share/doc/raddle/
	install -m 644 doc/format/*.md doc/format/*.json $(D)/share/doc/raddle/format/
	install -m 644 hive/raddle-hive.service $(D)/share/doc/raddle/examples/
	install -m 644 examples/*.c examples/README.md $(D)/share/doc/raddle/examples/

uninstall:
	rm -f $(D)/bin/raddle $(addprefix $(D)/bin/,$(notdir $(LINKS)))
	rm -f $(addprefix $(D)/share/man/man1/,$(notdir $(MAN)) $(MAN_LINKS)) $(COMPLETIONS:%=$(D)/share/%)
	rm -rf $(D)/lib/raddle $(D)/share/doc/raddle $(D)/include/raddle

deb: all
	tool/make-deb $(B) $(VERSION) $(HOMEPAGE)

clean:
	rm -rf $(B)

.PHONY: all help unit seeds deps check check-long check-all demo asan fuzzers fuzz bench format check-format \
	check-layers check-style check-docs install uninstall deb clean
.SECONDARY:
-include $(shell find $(B) \( -path $(B)/bench -o -path $(B)/deb \) -prune -o -type f -name "*.d" -print 2>/dev/null)
