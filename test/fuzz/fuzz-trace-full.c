// SPDX-License-Identifier: Apache-2.0
/*
 * Reads any bytes as a full trace: a site table with pieces, then raw bytes, then packed ones.  The
 * first byte selects the variant.  The second and third are the length of the table; 0 selects a
 * table that is known to be valid.
 */
#include "base/error.h"
#include "raddle/full.h"
#include "trace/pack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static const char good[] = "U\t1\t1\tu.c\n"
			   "S\t1\tr\t4\t-\t-1\t2\t0\tf\tx\tint\n"
			   "P\t1\t1\t41\te1F8i4p8\tl1i4\tb1\n"
			   "P\t2\t1\t37\ti1\ts1f10\ta1\tx1i4\n"
			   "P\t3\t1\t62\tc1C8v24\tm1p8i8\tb1\n"
			   "P\t4\t1\t4\tb1\n";

/* Parses a table after correcting its checksum, which the fuzzer could not guess. */
static struct trace_sites *parse(const char *body, size_t length)
{
	char text[8192];
	struct trace_sites *sites = NULL;
	size_t lines = 0, n;
	if (length > 4096)
		return NULL;
	n = (size_t)sprintf(text, "raddle-sites\t1\n");
	memcpy(text + n, body, length);
	n += length;
	for (size_t i = 0; i < length; i++)
		lines += body[i] == '\n';
	n += (size_t)sprintf(text + n, "end\t%zu\t%016llx\n", lines, (unsigned long long)XXH64(text, n, 0));
	return trace_sites_parse(&sites, text, n, "fuzz") == RD_OK ? sites : NULL;
}

static void read_raw(const struct trace_layout *layout, const uint8_t *data, size_t size)
{
	struct trace_full *f;
	struct trace_record r;
	uint64_t sum = 0;
	uint32_t stack[4];
	trace_full_open_raw(&f, layout, 0, size & 1);
	trace_full_feed(f, data, size);
	while (trace_full_next(f, &r) > 0)
		for (size_t i = 0; i < r.value_count; i++)
			sum += trace_record_value(&r, i);
	if (trace_full_next(f, &r) != 0)
		abort();
	sum += trace_full_stack(f, stack, 4);
	trace_full_close(f);
	(void)sum;
}

/* What the packer accepts must be the same after unpacking. */
static void pack_raw(const struct trace_layout *layout, const uint8_t *data, size_t size)
{
	struct trace_packer *p = trace_packer_new(layout);
	struct trace_unpacker *u = trace_unpacker_new(layout, TRACE_FULL_VERSION);
	size_t length, raw;
	trace_pack(p, data, size);
	raw = trace_packed_raw(p);
	const void *packed = trace_packed_take(p, &length);
	if (raw && trace_unpack(u, packed, length, raw))
		abort();
	trace_packer_free(p);
	trace_unpacker_free(u);
}

static void unpack(const struct trace_layout *layout, unsigned version, const uint8_t *data, size_t size)
{
	struct trace_unpacker *u = trace_unpacker_new(layout, version);
	if (size > 2) {
		size_t raw = 1 + (data[0] | (size_t)data[1] << 8);
		if (!trace_unpack(u, data + 2, size - 2, raw))
			read_raw(layout, trace_unpacked(u), raw);
	}
	trace_unpacker_free(u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_layout *layout = NULL;
	struct trace_sites *sites;
	size_t table;
	if (size < 3)
		return 0;
	rd_log_set(rd_log_discard, NULL);
	table = data[1] | (size_t)data[2] << 8;
	table = table < size - 3 ? table : size - 3;
	sites = table ? parse((const char *)data + 3, table) : parse(good, sizeof good - 1);
	if (sites && trace_layout_new(&layout, sites) == RD_OK) {
		const uint8_t *rest = data + 3 + table;
		size_t left = size - 3 - table;
		if (data[0] % 3 == 0)
			read_raw(layout, rest, left);
		else if (data[0] % 3 == 1)
			pack_raw(layout, rest, left);
		else
			unpack(layout, 1 + data[0] / 3 % TRACE_FULL_VERSION, rest, left);
	}
	trace_layout_free(layout);
	trace_sites_free(sites);
	return 0;
}
