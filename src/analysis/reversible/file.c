// SPDX-License-Identifier: Apache-2.0
/*
 * Finds files that threads share.  From the arguments and results of calls, and the file names that
 * they read, it decides whether another thread has used the same file or descriptor without a fixed
 * order.
 *
 * Locations in a shadow memory represent the contents of each file (identified by the hash of its
 * name), the position of each stream (identified by its descriptor or FILE), and the table of
 * descriptors.  Opening a descriptor shows which numbers are free, so it reads and writes the
 * table.  Closing a descriptor changes the table, but tells the program nothing about the table's
 * contents.  Nor does opening a FILE, because the program does not use its number.  Two calls of
 * these kinds do not depend on each other, so they count as reads of the table.
 */
#include "reversible/file-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "reversible/shadow.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum way { NOTHING, OPENS, OPENS_STREAM, NUMBERS, READS, WRITES, CLOSES, NAMES };

/* These replace the index of an argument if a function uses a standard stream instead of an
 * argument. */
#define STDOUT 255
#define STDIN 254

static const struct function {
	const char *name;
	uint8_t way, argument;
} functions[] = {
#define LIBC_FILE(name, way, argument) {name, way, argument},
#define LIBC_STREAM(name, argument) {name, WRITES, argument},
#include "raddle/libc.inc"
};

/* Locations in this shadow memory, which is not the shadow memory of the program.  There is one
 * location for the table of descriptors, one for the position of each descriptor or FILE, and one
 * for each file.  A stream number that is larger than all descriptors is the address of a FILE. */
enum { TABLE = 8, DESCRIPTORS = 1 << 16 };
#define FILES (1ull << 40)
#define PLACE 8 /* bytes of each location */

struct file_lane {
	/* The function that is being called; NULL if it does not use files. */
	const struct function *function;
	uint64_t path; /* address of the file name */
	uint64_t file; /* location of the file's contents; 0 if not known yet */
	bool writes;   /* the call may create or empty the file */
};

struct rev_files {
	const struct rev_run *run;
	struct rev_shadow *shadow;
	struct file_lane *lanes;
	struct rd_umap named;  /* maps the hash of a name to the location of the contents */
	struct rd_umap opened; /* maps a stream to the location of the contents */
	uint64_t count;
};

struct rev_files *rev_files_new(const struct rev_run *run)
{
	struct rev_files *f = rd_xcalloc(1, sizeof *f);

	f->run = run;
	f->shadow = rev_shadow_new(run);
	f->lanes = rd_xcalloc(run->thread_count + 1, sizeof *f->lanes);
	return f;
}

void rev_files_free(struct rev_files *f)
{
	if (!f)
		return;
	rev_shadow_free(f->shadow);
	RD_UMAP_RELEASE(&f->named, &f->opened);
	free(f->lanes);
	free(f);
}

static const struct function *find(const char *name)
{
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
		if (!strcmp(functions[i].name, name))
			return &functions[i];
	return NULL;
}

static bool touch(struct rev_files *f, uint32_t thread, uint32_t segment, uint64_t place, bool writes)
{
	size_t before, now;

	rev_shadow_pairs(f->shadow, &before);
	rev_shadow_touch(f->shadow, &(struct rev_touch){.u = thread,
							.r = segment,
							.address = place,
							.size = 1,
							.access = writes ? REV_CALLED : REV_READ});
	rev_shadow_pairs(f->shadow, &now);
	return now != before;
}

/* Returns the location of a stream's position.  Reads and writes of a stream that is not a file on
 * disk, for example a socket, are independent, so they have separate locations. */
static uint64_t position(uint64_t stream, bool file, bool writes)
{
	uint64_t place = stream < DESCRIPTORS ? (stream + 2) * 2 * PLACE : stream;

	return file || !writes ? place : place + (stream < DESCRIPTORS ? PLACE : 1);
}

static bool use(struct rev_files *f, uint32_t thread, uint32_t segment, uint64_t stream, bool writes)
{
	const uint64_t *file = rd_umap_get(&f->opened, stream);
	bool open = touch(f, thread, segment, position(stream, file && *file, writes), true);

	return (file && *file && touch(f, thread, segment, *file, writes)) || open;
}

static uint64_t stream_of(const struct function *function, const struct trace_record *r)
{
	uint64_t value = function->argument < r->value_count ? trace_record_value(r, function->argument) : 0;

	if (function->argument == STDOUT)
		return 1;
	if (function->argument == STDIN)
		return 0;
	return value < UINT32_MAX ? (uint32_t)value : value;
}

static bool begin(struct rev_files *f, uint32_t thread, uint32_t segment, const char *call,
		  const struct trace_record *r)
{
	const struct function *function = find(call);
	struct file_lane *lane = &f->lanes[thread];
	bool open = false;

	*lane = (struct file_lane){.function = function};
	if (!function)
		return false;
	switch (function->way) {
	case READS:
	case WRITES: return use(f, thread, segment, stream_of(function, r), function->way == WRITES);
	case CLOSES:
		*rd_umap_put(&f->opened, stream_of(function, r), NULL) = 0;
		return touch(f, thread, segment, TABLE, false);
	case NUMBERS: return touch(f, thread, segment, TABLE, true);
	case OPENS:
		open = touch(f, thread, segment, TABLE, true);
		lane->writes = function->argument + 1u < r->value_count &&
			       trace_record_value(r, function->argument + 1u) & (O_CREAT | O_TRUNC);
		break;
	case OPENS_STREAM: open = touch(f, thread, segment, TABLE, false); break;
	default: lane->writes = true; break;
	}
	lane->path = function->argument < r->value_count ? trace_record_value(r, function->argument) : 0;
	return open;
}

/* Handles a file name that the current function reads. */
static bool name(struct rev_files *f, uint32_t thread, uint32_t segment, const struct trace_record *r)
{
	struct file_lane *lane = &f->lanes[thread];
	uint64_t *place;

	if (!lane->path || lane->path != r->address)
		return false;
	place = rd_umap_put(&f->named, r->value, NULL);
	if (!*place)
		*place = FILES + PLACE * f->count++;
	lane->path = 0;
	lane->file = *place;
	return touch(f, thread, segment, lane->file, lane->writes);
}

/* Handles the return of a call.  If the call opened a stream, the stream's lifetime begins. */
static void end(struct rev_files *f, uint32_t thread, const struct trace_record *r)
{
	struct file_lane *lane = &f->lanes[thread];
	uint64_t stream = r->value_count ? trace_record_value(r, 0) : 0;

	if (lane->function && lane->function->way == OPENS)
		stream = (uint32_t)stream;
	if (lane->function && (lane->function->way == OPENS || lane->function->way == OPENS_STREAM) &&
	    stream && stream != UINT32_MAX) {
		*rd_umap_put(&f->opened, stream, NULL) = lane->file;
		rev_shadow_clear(f->shadow, position(stream, true, false), 2 * PLACE, false);
	}
	*lane = (struct file_lane){0};
}

bool rev_files_feed(struct rev_files *f, uint32_t thread, uint32_t segment, const char *call,
		    const struct trace_record *r)
{
	RD_ASSERT(thread < f->run->thread_count);
	switch (r->kind) {
	case TRACE_FULL_CALL:
	case TRACE_FULL_TAIL: return begin(f, thread, segment, call, r);
	case TRACE_FULL_RANGE: return name(f, thread, segment, r);
	case TRACE_FULL_RESULT: end(f, thread, r); return false;
	default: return false;
	}
}
