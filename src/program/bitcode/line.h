/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The link line, which `raddle cc` stores in each program.  With it, Raddle can link the program
 * again even after the build tree is gone, and replace the objects that have bitcode.
 * doc/format/program.md describes the bytes.
 */
#ifndef BITCODE_LINE_H
#define BITCODE_LINE_H

#include "base/buf.h"
#include "bitcode/args.h"

#include <stdbool.h>
#include <stdint.h>

enum bitcode_item_kind {
	BITCODE_LINE_DIRECTORY = 'D', /* the directory in which the link ran */
	BITCODE_LINE_DRIVER = 'R',    /* the compiler, "clang-19" or "clang++-19" */
	BITCODE_LINE_OUTPUT = 'O',    /* the absolute path of the result */
	BITCODE_ITEM_ARGUMENT = 'a',  /* an argument for the driver */
	BITCODE_ITEM_LINKER = 'w',    /* an argument for the linker, passed by -Xlinker */
	BITCODE_ITEM_INPUT = 'i',     /* the absolute path of a file to link */
	BITCODE_ITEM_COVERED = 'c',   /* the name of an input with bitcode */
	BITCODE_ITEM_NATIVE = 'n',    /* name and bytes of an object without bitcode */
	/* Name and bytes of an object that has bitcode and may also contain other code. */
	BITCODE_ITEM_PARTIAL = 'p',
	BITCODE_ITEM_ARCHIVE = 'r', /* the absolute path of an archive */
	/* Name and bytes of an archive member without bitcode.  The records of an archive's
	 * members follow the BITCODE_ITEM_ARCHIVE record of the archive. */
	BITCODE_ITEM_MEMBER = 'm',
	BITCODE_ITEM_FILE = 'f', /* a linker option that ends in a file name, and the file's bytes */
};

struct bitcode_item {
	enum bitcode_item_kind kind;
	const char *text;
	const uint8_t *data; /* the data, for kinds of records that have data */
	size_t length;
};

struct bitcode_line {
	const char *directory, *driver, *output;
	struct bitcode_item *items;
	size_t count, capacity;
};

/* Writes the link line of a command into `out`.  Reads the inputs to determine which of them have
 * bitcode.  objects[i] is the object that the caller assembled from input i, or NULL if input i
 * was not assembled.  Returns true if the user's linker script determines the layout. */
bool bitcode_line_write(struct rd_buf *out, const struct bitcode_args *args, const char *driver,
			char *const *objects);

/* Parses a section.  The strings and data of the result point into it.  Returns false, without a
 * message, if the bytes are not a link line. */
bool bitcode_line_parse(struct bitcode_line *line, const uint8_t *data, size_t length);
void bitcode_line_release(struct bitcode_line *line);

#endif
