/* SPDX-License-Identifier: Apache-2.0 */
/* Site tables made from a few lines of text, for tests of rooms that look sites up
 * (doc/format/sites.md). */
#ifndef SITES_FIXTURE_H
#define SITES_FIXTURE_H

#include "base/alloc.h"
#include "trace/sites.h"

#include <stdlib.h>
#include <string.h>

#include <xxhash.h>

/* The number of site n of the first unit. */
#define SITE(n) (1u << 16 | (n))

/* Makes a site table from the text of its records.  The first and the last line of the table are
 * added.  Returns NULL if the text is invalid. */
static inline struct trace_sites *made_sites(const char *lines)
{
	struct trace_sites *sites = NULL;
	char *table = rd_xasprintf("raddle-sites\t1\n%s", lines), *text;
	size_t count = 0;

	for (const char *c = lines; *c; c++)
		count += *c == '\n';
	text = rd_xasprintf("%send\t%zu\t%016llx\n", table, count,
			    (unsigned long long)XXH64(table, strlen(table), 0));
	if (trace_sites_parse(&sites, text, strlen(text), "table"))
		sites = NULL;
	free(table);
	free(text);
	return sites;
}

#endif
