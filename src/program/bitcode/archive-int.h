/* SPDX-License-Identifier: Apache-2.0 */
/* Reading and writing `ar` archives. */
#ifndef BITCODE_ARCHIVE_INT_H
#define BITCODE_ARCHIVE_INT_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

struct bitcode_archive {
	const uint8_t *data;
	size_t length, next;
	/* True if the members are separate files.  They then have names here, but no data. */
	bool thin;
	const uint8_t *names; /* the table of long names; NULL if there is none */
	size_t names_length;
};

struct bitcode_member {
	char name[4096];
	const uint8_t *data; /* the bytes of the member; NULL in a thin archive */
	size_t length;
};

/* Begins to read an archive.  Returns false if the bytes are not an archive. */
bool bitcode_archive_parse(struct bitcode_archive *a, const void *data, size_t length);

/* Reads the next member, and skips symbol indexes and name tables.  Returns false at the end, and
 * where the archive is damaged. */
bool bitcode_archive_next(struct bitcode_archive *a, struct bitcode_member *member);

/* To write an archive, call bitcode_archive_begin(), and then bitcode_archive_add() for each
 * member.  The result has no symbol index, and names are cut after 15 characters. */
void bitcode_archive_begin(struct rd_buf *out);
void bitcode_archive_add(struct rd_buf *out, const char *name, const void *data, size_t length);

#endif
