/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The site table (doc/format/sites.md) contains what each site number means, which variables exist,
 * how structures are laid out, and where variables lie.
 *
 * Strings are valid as long as the table.  Absent strings are "".
 */
#ifndef TRACE_SITES_H
#define TRACE_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trace_site_kind {
	TRACE_SITE_READ,
	TRACE_SITE_WRITE,
	TRACE_SITE_RANGE_READ,
	TRACE_SITE_RANGE_WRITE,
	TRACE_SITE_ATOMIC_LOAD,
	TRACE_SITE_ATOMIC_STORE,
	TRACE_SITE_ATOMIC_RMW,
	TRACE_SITE_ATOMIC_CMPXCHG,
	TRACE_SITE_FENCE,
	TRACE_SITE_CALL,
	/* The following kinds occur only in full traces. */
	TRACE_SITE_ENTRY,
	TRACE_SITE_ALLOCA,
	TRACE_SITE_RETURN,
	TRACE_SITE_LANDING,
	TRACE_SITE_RESTORE,
	TRACE_SITE_BRANCH,
	TRACE_SITE_RESULT,
	TRACE_SITE_COPY,
	TRACE_SITE_VALUE,
	TRACE_SITE_ARGUMENT,
	TRACE_SITE_PREVENTABLE,
	TRACE_SITE_OPERAND,
	TRACE_SITE_KINDS,
};

enum trace_site_flag {
	TRACE_SITE_VOLATILE = 1,
	TRACE_SITE_WAIT_LOOP = 2,
	TRACE_SITE_TLS = 4,
	TRACE_SITE_STACK = 8,
	TRACE_SITE_UNSEEN = 16,
};

#define TRACE_NO_FILE UINT32_MAX

struct trace_site {
	uint32_t n; /* number within the unit */
	uint32_t size;
	uint32_t file; /* index of trace_sites.files, or TRACE_NO_FILE */
	uint32_t line, column;
	/* The range of trace_sites.chains with the calls into which the site was inlined, innermost
	 * first. */
	uint32_t chain, chain_length;
	uint8_t kind;  /* enum trace_site_kind */
	uint8_t flags; /* enum trace_site_flag */
	/* The memory order of atomics and fences, as a letter: x a r q S.  0 for other sites. */
	char order;
	/* For TRACE_SITE_ARGUMENT and TRACE_SITE_OPERAND, the number of the argument or operand, at
	 * most 255. */
	uint8_t argument;
	uint32_t holder_offset;
	const char *function, *what, *type;
	/* The struct or union to which a pointer led, and the offset of the access in it. */
	const char *holder;
	const char *result; /* for a call: the variable that receives its result */
};

struct trace_inlined {
	uint32_t file, line;
	const char *function;
};

struct trace_unit {
	const char *name;
	uint32_t slot, slots;
	size_t site, site_count;   /* its part of trace_sites.sites */
	size_t piece, piece_count; /* its part of trace_sites.pieces */
};

/* A P record (doc/format/full.md), which trace/full.h interprets. */
struct trace_piece_text {
	/* `function` is the number of the piece that contains the function's entry, and `size` is
	 * the number of bytes of this piece.  The pieces of a unit are numbered from 1, in the
	 * order of their records. */
	uint32_t function, size;
	uint32_t op_count;
	const char *ops; /* strings, one after another */
};

struct trace_global {
	const char *name, *linkage, *type;
	uint64_t size;
	uint32_t file, line;
	uint32_t unit;
};

struct trace_member {
	const char *type, *name, *member_type;
	uint64_t size, offset, member_size;
};

struct trace_placed {
	const char *module, *linkage;
	uint64_t offset, size;
};

struct trace_sites {
	struct trace_site *sites;
	struct trace_inlined *chains;
	struct trace_unit *units;
	struct trace_global *globals;
	struct trace_member *members; /* the members of a type are contiguous */
	struct trace_placed *placed;
	struct trace_piece_text *pieces;
	const char **files;
	size_t site_count, chain_count, unit_count, global_count, member_count, placed_count, file_count,
		piece_count;
	struct trace_sites_private *private;
};

/* Parses a table in memory, whether compressed or plain.  `name` is used in messages. */
int trace_sites_parse(struct trace_sites **sites, const void *data, size_t length, const char *name);
int trace_sites_read(struct trace_sites **sites, const char *path);
void trace_sites_free(struct trace_sites *sites); /* `sites` may be NULL */

/* Returns the site with that number, or NULL if it is unknown.  `sites` may be NULL. */
const struct trace_site *trace_sites_find(const struct trace_sites *sites, uint32_t site);

/* Returns the number that a site of that unit has in traces. */
uint32_t trace_sites_number(const struct trace_sites *sites, size_t unit, const struct trace_site *site);

/* A place in the source, as debuggers show it. */
struct trace_frame {
	const char *function, *file; /* "" if unknown */
	uint32_t line, column;
};

/* Stores the frames of a site, innermost first: its function, then the functions into which it was
 * inlined.  At most `max` frames are stored.  Returns the number of frames. */
size_t trace_sites_frames(const struct trace_sites *sites, uint32_t site, struct trace_frame *frames,
			  size_t max);

/* Returns the innermost frame of a site.  Its unknown parts are "" and 0. */
struct trace_frame trace_sites_frame(const struct trace_sites *sites, uint32_t site);

/* Returns the path of a file number of the table, or "" for TRACE_NO_FILE. */
const char *trace_sites_file(const struct trace_sites *sites, uint32_t file);

/* Finds the members of a type.  Returns their number, and stores the index of the first in
 * *first. */
size_t trace_sites_members(const struct trace_sites *sites, const char *type, size_t *first);

/* Returns the variable with that linkage name, or NULL if there is none. */
const struct trace_global *trace_sites_global(const struct trace_sites *sites, const char *linkage);

/* Returns the name of a kind in the table, such as "r" or "rw". */
const char *trace_site_kind_name(enum trace_site_kind kind);

/* Returns true if the site accesses memory.  Some sites of full traces only concern values. */
static inline bool trace_site_accesses(const struct trace_site *s)
{
	return s->kind < TRACE_SITE_FENCE || s->kind == TRACE_SITE_COPY;
}

static inline bool trace_site_writes(const struct trace_site *s)
{
	return s->kind == TRACE_SITE_WRITE || s->kind == TRACE_SITE_RANGE_WRITE ||
	       s->kind == TRACE_SITE_ATOMIC_STORE || s->kind == TRACE_SITE_ATOMIC_RMW ||
	       s->kind == TRACE_SITE_ATOMIC_CMPXCHG || s->kind == TRACE_SITE_COPY;
}

/* Returns true if the program has memory barriers in inline assembler.  Such barriers may order
 * accesses that look plain or relaxed. */
bool trace_sites_have_barriers(const struct trace_sites *sites);

#endif
