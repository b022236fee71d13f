// SPDX-License-Identifier: Apache-2.0
/*
 * Estimates the cost of code from the size of the bitcode, records the CPU seconds that runs
 * really take, and decides which code to generate.  The file with the CPU seconds of a flavour is
 * renamed into place.  If two processes add to it at the same time, one of the additions may be
 * lost, which does no harm.
 */
#include "bitcode/cost-int.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <stdlib.h>
#include <string.h>

/* CPU seconds to generate code, per megabyte of bitcode.  Measured on sqlite3, memcached and the
 * kernels of bench/. */
#define QUICK_PER_MB 0.6
#define FAST_PER_MB 7.0

/* If a program is recorded with quick code, this is the share of its run time that fast code would
 * save.  Measured on the same programs as QUICK_PER_MB. */
#define SAVED 0.6

bool bitcode_cost_wants_fast(const struct bitcode_cost *c)
{
	RD_ASSERT(c->make_fast >= 0 && c->make_quick >= 0);
	return (!c->most || c->make_fast <= c->most) &&
	       c->make_fast - c->make_quick <= SAVED * (c->spent + c->expected);
}

double bitcode_cost_to_make(uint64_t bytes, bool fast)
{
	return (double)bytes / 1e6 * (fast ? FAST_PER_MB : QUICK_PER_MB);
}

static char *file_of(const struct bitcode_cache *c, const char *key)
{
	return rd_xasprintf("%s/cost/%s", c->directory, key);
}

double bitcode_cost_spent(const struct bitcode_cache *c, const char *key)
{
	char *path = file_of(c, key), *end;
	struct rd_buf text = RD_BUF_INIT;
	double seconds = -1;

	if (rd_file_exists(path) && !rd_file_read(path, &text)) {
		rd_buf_addc(&text, '\0');
		seconds = strtod(text.data, &end);
		if (*end != '\n' || !(seconds >= 0 && seconds < 1e9))
			seconds = 0; /* the file is damaged; start again from 0 */
	}
	rd_buf_release(&text);
	free(path);
	return seconds;
}

void bitcode_cost_spend(const struct bitcode_cache *c, const char *key, double seconds)
{
	char *path = file_of(c, key), *directory = rd_xasprintf("%s/cost", c->directory);
	double before = bitcode_cost_spent(c, key);
	char *text = rd_xasprintf("%.3f\n", (before > 0 ? before : 0) + seconds);

	if (!rd_mkdirs(directory))
		rd_file_write(path, text, strlen(text));
	RD_FREE(path, directory, text);
}
