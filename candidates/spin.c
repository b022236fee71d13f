// SPDX-License-Identifier: Apache-2.0
/*
 * Empty loops that wait for a variable: `while (!done) {}`.  They are reported as they are: a test in such a
 * loop would be all that it does, and what it waits for is shared in any case.
 *
 * A loop is empty if a way leads from the load back to it on which nothing is written and nothing is called
 * that does more than pass the time.
 */
#include "candidates/candidates.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

static bool only_passes_time(const struct facts *f, uint32_t value)
{
	struct facts_run calls = facts_calls_of(f, value);
	if (f->values[value].flags & FACTS_VALUE_ASSEMBLER)
		return true;
	if (calls.first == calls.end)
		return false;
	for (uint32_t i = calls.first; i < calls.end; i++) {
		const struct facts_function *callee = &f->functions[f->calls[i].function];
		if (!(callee->flags & FACTS_FUNCTION_INTRINSIC) &&
		    strcmp(facts_string(f, callee->name), "sched_yield") != 0)
			return false;
	}
	return true;
}

static bool is_empty(const struct facts *f, uint32_t function, uint32_t block)
{
	struct facts_run values = facts_block_values(f, function, block);
	for (uint32_t v = values.first; v < values.end; v++)
		switch (f->values[v].kind) {
		case FACTS_STORE:
		case FACTS_UPDATE:
		case FACTS_EXCHANGE:
		case FACTS_RETURN:
		case FACTS_UNREACHABLE: return false;
		case FACTS_CALL:
			if (!only_passes_time(f, v))
				return false;
			break;
		default: break;
		}
	return true;
}

static uint32_t block_of(const struct facts *f, uint32_t function, uint32_t value)
{
	struct facts_run blocks = facts_blocks_of(f, function);
	for (uint32_t b = blocks.first; b < blocks.end; b++) {
		struct facts_run values = facts_block_values(f, function, b);
		if (value >= values.first && value < values.end)
			return b;
	}
	return FACTS_NONE;
}

static bool spins(const struct facts *f, uint32_t value)
{
	uint32_t function = facts_function_at(f, value), start = block_of(f, function, value);
	struct facts_run blocks = facts_blocks_of(f, function);
	if (f->values[value].kind != FACTS_LOAD || start == FACTS_NONE || !is_empty(f, function, start))
		return false;
	bool *seen = rd_xcalloc(blocks.end - blocks.first, sizeof *seen), found = false;
	uint32_t *stack = rd_xcalloc(blocks.end - blocks.first + 1, sizeof *stack), count = 0;
	stack[count++] = start;
	while (count != 0 && !found) {
		struct facts_run next = facts_successors_of(f, stack[--count]);
		for (uint32_t i = next.first; i < next.end && !found; i++) {
			uint32_t b = f->successors[i].block;
			found = b == start;
			if (b < blocks.first || b >= blocks.end || seen[b - blocks.first] ||
			    !is_empty(f, function, b))
				continue;
			seen[b - blocks.first] = true;
			stack[count++] = b;
		}
	}
	free(seen);
	free(stack);
	return found;
}

static bool is_in_library(const struct facts *f, const struct candidate_access *access)
{
	return f->functions[facts_function_at(f, access->value)].flags & FACTS_FUNCTION_LIBRARY;
}

const char *candidate_unguarded(const struct candidates *c, const struct candidate *it)
{
	for (int i = 0; i < 2; i++)
		if (spins(c->facts, it->accesses[i].value))
			return "an empty loop waits for it";
	if (it->accesses[0].site == 0 || it->accesses[1].site == 0)
		return "an access of the same bytes in front of it stands for it";
	if (is_in_library(c->facts, &it->accesses[0]) || is_in_library(c->facts, &it->accesses[1]))
		return "it is in a shared library or plug-in, and only the program has guards";
	return NULL;
}
