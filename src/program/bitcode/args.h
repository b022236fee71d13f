/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of a compiler command line that the wrapper needs: the phase at which it stops, its
 * inputs and output, and the few options that matter for embedding.  Everything else is left to
 * clang.
 */
#ifndef BITCODE_ARGS_H
#define BITCODE_ARGS_H

#include "base/process.h"

#include <stdbool.h>
#include <stddef.h>

enum bitcode_phase {
	BITCODE_PASS,	     /* there is nothing to embed, so clang is run unchanged */
	BITCODE_ASSEMBLY,    /* stops after assembler code (-S) */
	BITCODE_COMPILE,     /* stops after objects (-c) */
	BITCODE_RELOCATABLE, /* merges objects into one (-r) */
	BITCODE_LINK,
};

enum bitcode_input_kind {
	BITCODE_SOURCE,	   /* C family or LLVM IR; gets bitcode */
	BITCODE_ASSEMBLER, /* .s or .S; has no bitcode */
	BITCODE_OBJECT,	   /* an input for the linker: an object, archive, library or script */
};

struct bitcode_input {
	const char *path;
	size_t argument; /* the index of this input in `all` */
	enum bitcode_input_kind kind;
};

enum bitcode_debug { BITCODE_DEBUG_UNSAID, BITCODE_DEBUG_OFF, BITCODE_DEBUG_LINES, BITCODE_DEBUG_FULL };

struct bitcode_args {
	struct rd_argv all; /* the arguments after the driver, with @files expanded */
	struct bitcode_input *inputs;
	size_t input_count, input_capacity;
	/* The number of inputs that are sources, and of those that are assembler files. */
	size_t sources, assemblers;
	enum bitcode_phase phase;
	enum bitcode_debug debug; /* the amount of debug information that the last -g option sets */
	const char *output;	  /* the value of -o; NULL without -o */
	bool expanded;		  /* true if there was an @file */
	/* True if there is an option that bitcode_args_keep() may reject. */
	bool dropped;
	bool optimised; /* true if the last -O option is not -O0 */
	bool save_temps, is_static, shared;
};

/* Parses argv[1..]. */
void bitcode_args_parse(struct bitcode_args *a, int argc, char **argv);
void bitcode_args_release(struct bitcode_args *a);

/* Returns true if this argument is passed to clang.  Three kinds of options are withheld:
 * link-time optimisation, which would hide the bitcode; -g0 and -g1, which would remove names from
 * it; and -gsplit-dwarf without -g, which would split the debug information that we request. */
bool bitcode_args_keep(const struct bitcode_args *a, const char *argument);

/* Returns true if the argument after `option` is the value of `option`. */
bool bitcode_args_takes_value(const char *option);

#endif
