/* SPDX-License-Identifier: Apache-2.0 */
/* A program or shared library that `raddle cc` made, split into its units, native objects and link
 * line. */
#ifndef BITCODE_PROGRAM_H
#define BITCODE_PROGRAM_H

#include "base/file.h"
#include "bitcode/elf.h"
#include "bitcode/line.h"

/* A bitcode module inside the file. */
struct bitcode_unit {
	uint64_t offset, length;
};

/* An object without bitcode that is stored inside the file. */
struct bitcode_native {
	const uint8_t *data;
	size_t length;
	const char *name; /* the object's name, not terminated by NUL */
	size_t name_length;
};

struct bitcode_program {
	char *path;
	struct rd_map map;
	struct bitcode_elf elf;
	struct bitcode_unit *units;
	size_t unit_count, unit_capacity;
	struct bitcode_native *natives;
	size_t native_count, native_capacity;
	struct bitcode_line line;
};

/* Opens a program.  Fails with a message if the file has no bitcode. */
int bitcode_program_open(struct bitcode_program *p, const char *path);

/* Does the same as bitcode_program_open(), but without messages.  Returns false if `raddle cc` did
 * not make the file. */
bool bitcode_program_probe(struct bitcode_program *p, const char *path);
void bitcode_program_close(struct bitcode_program *p);

/* Returns true if the file defines a global symbol of that name. */
bool bitcode_program_defines(const struct bitcode_program *p, const char *name);

/* Extracts the pieces of `p->elf`.  Called directly only by tests and the fuzzer. */
void bitcode_program_split(struct bitcode_program *p);

#endif
