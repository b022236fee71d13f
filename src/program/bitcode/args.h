/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a compiler command line asks for, as far as the wrapper has to know:
 * the phase it stops at, its inputs and output, and the few options that
 * matter for embedding.  Everything else is clang's business.
 */
#ifndef BITCODE_ARGS_H
#define BITCODE_ARGS_H

#include "base/process.h"

#include <stdbool.h>
#include <stddef.h>

enum bitcode_phase {
	BITCODE_PASS,	     /* nothing for us to do: run clang as it is */
	BITCODE_ASSEMBLY,    /* -S */
	BITCODE_COMPILE,     /* -c */
	BITCODE_RELOCATABLE, /* -r */
	BITCODE_LINK,
};

enum bitcode_input_kind {
	BITCODE_SOURCE,	   /* C family or LLVM IR: gets bitcode */
	BITCODE_ASSEMBLER, /* .s, .S: has none */
	BITCODE_OBJECT,	   /* for the linker: objects, archives, libraries, scripts */
};

struct bitcode_input {
	const char *path;
	size_t argument; /* index in `all` */
	enum bitcode_input_kind kind;
};

enum bitcode_debug { BITCODE_DEBUG_UNSAID, BITCODE_DEBUG_OFF, BITCODE_DEBUG_LINES, BITCODE_DEBUG_FULL };

struct bitcode_args {
	struct rd_argv all; /* the arguments after the driver, @files expanded */
	struct bitcode_input *inputs;
	size_t input_count, input_capacity;
	size_t sources, assemblers; /* how many inputs are such */
	enum bitcode_phase phase;
	enum bitcode_debug debug; /* what the last -g option says */
	const char *output;	  /* of -o, or NULL */
	bool expanded;		  /* an @file was there */
	bool dropped;		  /* an option is there that bitcode_args_keep() may refuse */
	bool optimised;		  /* the last -O is not -O0 */
	bool save_temps, is_static, shared;
};

/* Parses argv[1..]. */
void bitcode_args_parse(struct bitcode_args *a, int argc, char **argv);
void bitcode_args_release(struct bitcode_args *a);

/* Whether clang gets this argument: link-time optimisation would hide the
 * bitcode, -g0 or -g1 would take the names out of it, and -gsplit-dwarf without
 * -g must not split the debug information that we ask for. */
bool bitcode_args_keep(const struct bitcode_args *a, const char *argument);

/* Whether the argument behind `option` belongs to it. */
bool bitcode_args_takes_value(const char *option);

#endif
