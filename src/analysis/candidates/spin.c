// SPDX-License-Identifier: Apache-2.0
/*
 * Finds empty loops that wait for a variable, such as `while (!done) {}`.  The accesses in such
 * loops are reported without guards, because a guard would be the only work in the loop, and the
 * variable is certainly shared.
 *
 * A loop is empty if some path from the load back to itself writes nothing and calls only
 * sched_yield() and compiler intrinsics.  It waits if it loads from the same address in every
 * iteration and uses the value only to decide whether to continue.  A loop that sums an array or
 * walks a list is therefore not a waiting loop.
 */
#include "candidates/candidates.h"

#include "base/alloc.h"
#include "base/error.h"

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

/* The state of a search for an empty cycle through the block of a load. */
struct empty_cycle {
	const struct facts *f;
	struct facts_run blocks; /* the blocks of the function */
	bool *on;		 /* for each block, true if it is on the cycle */
};

/* Marks the empty blocks on paths that lead back to `start`.  Returns false if there is no such
 * path. */
static bool find_cycle(struct empty_cycle *c, uint32_t function, uint32_t start)
{
	const struct facts *f = c->f;
	bool found = false, changed = true;
	c->on[start - c->blocks.first] = true;
	while (changed) {
		changed = false;
		for (uint32_t b = c->blocks.first; b < c->blocks.end; b++) {
			struct facts_run next = facts_successors_of(f, b);
			bool leads = false;
			for (uint32_t i = next.first; i < next.end; i++) {
				uint32_t to = f->successors[i].block;
				leads |= to >= c->blocks.first && to < c->blocks.end &&
					 c->on[to - c->blocks.first];
			}
			found |= leads && b == start;
			if (!leads || c->on[b - c->blocks.first] || !is_empty(f, function, b))
				continue;
			c->on[b - c->blocks.first] = changed = true;
		}
	}
	return found;
}

/* The largest number of instructions of a cycle that are followed.  A longer cycle counts as work.
 * Set by hand. */
enum { STEPS_MAX = 256 };

/* Returns true if `value` is computed from `source` by instructions on the cycle.  If `source` is
 * FACTS_NONE, returns true if `value` is computed from a value of the previous iteration. */
static bool is_made_of(const struct empty_cycle *c, uint32_t function, uint32_t value, uint32_t source)
{
	const struct facts *f = c->f;
	uint32_t work[STEPS_MAX], count = 1, done = 0;
	work[0] = value;
	for (; done < count; done++) {
		struct facts_run run = facts_operands_of(f, work[done]);
		for (uint32_t i = run.first; i < run.end; i++) {
			uint32_t from = f->operands[i].operand, k = 0;
			uint32_t block = from & FACTS_CONSTANT ? FACTS_NONE : block_of(f, function, from);
			if (block == FACTS_NONE || !c->on[block - c->blocks.first])
				continue;
			if (from == source || (source == FACTS_NONE && f->values[from].kind == FACTS_PHI))
				return true;
			while (k < count && work[k] != from)
				k++;
			if (k == STEPS_MAX)
				return true; /* the cycle is too long to be a waiting loop */
			if (k == count && f->values[from].kind != FACTS_PHI)
				work[count++] = from;
		}
	}
	return false;
}

/* Returns true if a later iteration uses the value that the load has read.  If so, the loop does
 * work and does not just wait. */
static bool is_used_later(const struct empty_cycle *c, uint32_t function, uint32_t load)
{
	for (uint32_t b = c->blocks.first; b < c->blocks.end; b++) {
		struct facts_run values = facts_block_values(c->f, function, b);
		for (uint32_t v = values.first; c->on[b - c->blocks.first] && v < values.end; v++)
			if (c->f->values[v].kind == FACTS_PHI && is_made_of(c, function, v, load))
				return true;
	}
	return false;
}

static bool spins(const struct facts *f, uint32_t value)
{
	RD_ASSERT(value < f->value_count);
	uint32_t function = facts_function_at(f, value), start = block_of(f, function, value);
	if (f->values[value].kind != FACTS_LOAD || start == FACTS_NONE || !is_empty(f, function, start))
		return false;
	struct empty_cycle c = {.f = f, .blocks = facts_blocks_of(f, function)};
	c.on = rd_xcalloc(c.blocks.end - c.blocks.first + 1, sizeof *c.on);
	bool waits = find_cycle(&c, function, start) && !is_made_of(&c, function, value, FACTS_NONE) &&
		     !is_used_later(&c, function, value);
	free(c.on);
	return waits;
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
		return "an earlier access of the same bytes represents it";
	if (is_in_library(c->facts, &it->accesses[0]) || is_in_library(c->facts, &it->accesses[1]))
		return "it is in a shared library or plug-in, and only the program has guards";
	return NULL;
}
