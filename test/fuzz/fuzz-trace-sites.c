// SPDX-License-Identifier: Apache-2.0
/*
 * Reads any bytes as a site table.  A mutated text never has the right checksum, so it is also
 * tried with a corrected last line.
 */
#include "base/buf.h"
#include "base/error.h"
#include "trace/sites.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static void try_table(const void *data, size_t size)
{
	struct trace_sites *sites = NULL;
	if (trace_sites_parse(&sites, data, size, "fuzz") != RD_OK)
		return;
	for (size_t i = 0; i < sites->unit_count; i++) {
		const struct trace_unit *u = &sites->units[i];
		for (uint32_t n = 0; n < 8; n++) {
			const struct trace_site *s = trace_sites_find(sites, (u->slot << 16) + n);
			if (s)
				trace_sites_file(sites, s->file);
		}
	}
	for (size_t i = 0; i < sites->member_count; i++) {
		size_t first;
		trace_sites_members(sites, sites->members[i].type, &first);
	}
	for (size_t i = 0; i < sites->placed_count; i++)
		trace_sites_global(sites, sites->placed[i].linkage);
	trace_sites_free(sites);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rd_buf b = RD_BUF_INIT;
	size_t lines = 0;
	rd_log_set(rd_log_discard, NULL);
	try_table(data, size);
	rd_buf_adds(&b, "raddle-sites\t1\n");
	rd_buf_add(&b, data, size);
	rd_buf_addc(&b, '\n');
	for (size_t i = 0; i < b.length; i++)
		lines += b.data[i] == '\n';
	uint64_t sum = XXH64(b.data, b.length, 0);
	rd_buf_addf(&b, "end\t%zu\t%016llx\n", lines - 1, (unsigned long long)sum);
	try_table(b.data, b.length);
	rd_buf_release(&b);
	return 0;
}
