# SPDX-License-Identifier: Apache-2.0
# Raddle's build.  `make` builds, `make check` tests, `make demo` shows.
# Sources are found by folder; a new .c file needs no change here.

VERSION := 0.1.0
PREFIX ?= /usr/local
CC ?= cc
LLVM ?= 19
CLANG := clang-$(LLVM)
LLVM_CONFIG := llvm-config-$(LLVM)
B ?= build

WARN := -Wall -Wextra -Wshadow -Wstrict-prototypes -Werror
CFLAGS ?= -O2 -g
ALL_CFLAGS = -std=gnu17 -D_GNU_SOURCE= $(WARN) $(CFLAGS) -I. -Iinclude -DRADDLE_VERSION='"$(VERSION)"' -DRADDLE_LLVM='"$(LLVM)"' -MMD -MP

# The tool proper knows nothing of LLVM, so that it starts fast and stays
# small beside the program it records; raddle-instr is its LLVM worker.
TOOL_DIRS := base bitcode trace model record cmd
INSTR_DIRS := ir instr
RT_SRC := $(filter-out rt/hook.c,$(wildcard rt/*.c))

TOOL_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard $(TOOL_DIRS:%=%/*.c)))
LIB_OBJ := $(filter-out $(B)/cmd/%,$(TOOL_OBJ))
INSTR_OBJ := $(patsubst %.c,$(B)/%.o,$(wildcard $(INSTR_DIRS:%=%/*.c))) $(patsubst %.c,$(B)/%.o,$(wildcard base/*.c))
RT_FLAGS := -std=gnu17 -D_GNU_SOURCE= $(WARN) -O2 -g -Iinclude -I. -fPIC -fvisibility=hidden -fno-stack-protector -MMD -MP
RT_OBJ := $(RT_SRC:%.c=$(B)/%.o)
RT_STATIC_OBJ := $(RT_SRC:rt/%.c=$(B)/rt-static/%.o)
TOOL_LIBS := -lzstd -lxxhash -ljansson

ARTEFACTS := $(B)/raddle $(B)/raddle-instr $(B)/hook.bc $(B)/libraddle-rt.a $(B)/libraddle-rt-static.a

all: $(ARTEFACTS)

$(B)/raddle: $(TOOL_OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(TOOL_OBJ) $(TOOL_LIBS)

$(B)/raddle-instr: $(INSTR_OBJ)
	$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(INSTR_OBJ) -L$(shell $(LLVM_CONFIG) --libdir) -lLLVM-$(LLVM) -lxxhash

$(B)/ir/%.o $(B)/instr/%.o: ALL_CFLAGS += -isystem $(shell $(LLVM_CONFIG) --includedir)

$(B)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -c -o $@ $<

# The runtime is built by clang: hooks call it with clang's preserve_most.
$(B)/rt/%.o: rt/%.c
	@mkdir -p $(@D)
	$(CLANG) $(RT_FLAGS) -c -o $@ $<

$(B)/rt-static/%.o: rt/%.c
	@mkdir -p $(@D)
	$(CLANG) $(RT_FLAGS) -DRADDLE_STATIC -c -o $@ $<

$(B)/libraddle-rt.a: $(RT_OBJ)
	rm -f $@ && ar rcs $@ $(RT_OBJ)

$(B)/libraddle-rt-static.a: $(RT_STATIC_OBJ)
	rm -f $@ && ar rcs $@ $(RT_STATIC_OBJ)

$(B)/hook.bc: rt/hook.c include/raddle/abi.h
	@mkdir -p $(@D)
	$(CLANG) -std=gnu17 $(WARN) -Iinclude -O2 -Xclang -disable-llvm-passes -fPIC -emit-llvm -c -o $@ rt/hook.c

clean:
	rm -rf $(B)

.PHONY: all clean
-include $(shell find $(B) -name '*.d' 2>/dev/null)
