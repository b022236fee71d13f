// SPDX-License-Identifier: Apache-2.0
/* Unit tests of the call stacks of a model.  Random stacks are compared with a list of all earlier
 * ones.  Equal stacks must have equal numbers. */
#include "model/model-int.h"

#include "base/alloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { STREAMS = 3, DEPTH = 12, STEPS = 4000 };

struct known {
	uint32_t sites[DEPTH], number;
	size_t depth;
};

/* Makes the next stack of a stream, which keeps some callers of the previous one. */
static void change(uint32_t *sites, size_t *depth)
{
	size_t keep = *depth ? (size_t)rand() % (*depth + 1) : 0, more = (size_t)rand() % 4;

	if (keep + more > DEPTH)
		more = DEPTH - keep;
	for (size_t i = 0; i < more; i++)
		sites[keep + i] = 1 + (uint32_t)rand() % 3;
	*depth = keep + more;
}

/* Checks that a node and its parents are the stack. */
static void check_node(const struct model *m, uint32_t node, const uint32_t *sites, size_t depth)
{
	while (depth > 0) {
		assert_true(node > 0 && node < m->stack_count);
		assert_int_equal(m->stacks[node].site, sites[--depth]);
		assert_true(m->stacks[node].parent < node);
		node = m->stacks[node].parent;
	}
	assert_int_equal(node, 0);
}

static void stacks_are_numbers(void **state)
{
	static struct known known[STEPS];
	uint32_t sites[STREAMS][DEPTH];
	struct trace_decoder decoders[STREAMS] = {0};
	struct model_path paths[STREAMS] = {0};
	struct model m = {.private = rd_xcalloc(1, sizeof(struct model_private))};
	size_t count = 0;

	(void)state;
	srand(19);
	RD_GROW(m.stacks, m.private->stack_capacity, 1);
	m.stacks[m.stack_count++] = (struct model_stack){0};
	for (int step = 0; step < STEPS; step++) {
		size_t s = (size_t)rand() % STREAMS, i;
		struct trace_decoder *d = &decoders[s];
		uint32_t number;

		d->stack = sites[s];
		if (rand() % 3) { /* otherwise it stays as it was */
			change(sites[s], &d->depth);
			d->stack_version++;
		}
		number = model_stack_intern(&m, &paths[s], d);
		check_node(&m, number, sites[s], d->depth);
		for (i = 0; i < count; i++)
			if (known[i].depth == d->depth &&
			    !memcmp(known[i].sites, sites[s], d->depth * sizeof *sites[s]))
				break;
		if (i == count) {
			known[count] = (struct known){.number = number, .depth = d->depth};
			memcpy(known[count++].sites, sites[s], d->depth * sizeof *sites[s]);
		}
		assert_int_equal(known[i].number, number);
	}
	assert_true(count > 100);
	for (size_t s = 0; s < STREAMS; s++)
		model_path_release(&paths[s]);
	rd_umap_release(&m.private->stack_of);
	free(m.private);
	free(m.stacks);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_are_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
