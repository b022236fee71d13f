// SPDX-License-Identifier: Apache-2.0
/*
 * Reads any bytes as facts of a program.  Mutated bytes never have the right checksum, so they are
 * also tried with a corrected one.  Accepted facts are queried in every way that callers use, and
 * must be written exactly as they were read.
 */
#include "base/buf.h"
#include "base/error.h"
#include "facts/facts.h"

#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static void discard(void *context, enum rd_level level, const char *message)
{
	(void)context;
	(void)level;
	(void)message;
}

static void ask(const struct facts *f)
{
	for (uint32_t i = 0; i < f->function_count; i++) {
		struct facts_graph g, turned;
		facts_flow(f, i, &g);
		facts_graph_dominators(&g);
		facts_graph_reverse(&g, &turned);
		facts_graph_dominators(&turned);
		facts_graph_release(&g);
		facts_graph_release(&turned);
		struct facts_run blocks = facts_blocks_of(f, i);
		for (uint32_t b = blocks.first; b < blocks.end; b++)
			RD_ASSERT(facts_block_values(f, i, b).end <= f->value_count);
	}
	for (uint32_t v = 0; v < f->value_count; v++) {
		struct facts_run run = facts_operands_of(f, v);
		RD_ASSERT(facts_function_at(f, v) < f->function_count);
		for (uint32_t i = run.first; i < run.end; i++)
			RD_ASSERT(facts_operand_set(f, f->operands[i].operand) < f->set_count);
		facts_calls_of(f, v);
	}
	for (size_t i = 1; i < f->access_count && i < 64; i++)
		facts_sets_overlap(f, f->accesses[i - 1].set, f->accesses[i - 1].size, f->accesses[i].set,
				   f->accesses[i].size);
}

static void try_facts(const void *data, size_t size)
{
	struct facts *f, *again;
	struct rd_buf b = RD_BUF_INIT;
	if (facts_decode(&f, data, size, "fuzz") != 0)
		return;
	ask(f);
	facts_encode(f, &b);
	RD_ASSERT(facts_decode(&again, b.data, b.length, "again") == 0);
	struct rd_buf c = RD_BUF_INIT;
	facts_encode(again, &c);
	RD_ASSERT(b.length == c.length && memcmp(b.data, c.data, b.length) == 0);
	rd_buf_release(&b);
	rd_buf_release(&c);
	facts_free(f);
	facts_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rd_buf b = RD_BUF_INIT;
	rd_log_set(discard, NULL);
	try_facts(data, size);
	if (size > 8) {
		rd_buf_add(&b, data, size - 8);
		uint64_t sum = XXH64(b.data, b.length, 0);
		for (int i = 0; i < 8; i++)
			rd_buf_addc(&b, (char)(sum >> 8 * i));
		try_facts(b.data, b.length);
	}
	rd_buf_release(&b);
	return 0;
}
