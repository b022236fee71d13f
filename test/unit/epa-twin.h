/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares each run twice.  The usual comparison skips equal records without decoding them.  The
 * slow one decodes every record, from a mapped reference.  Both comparisons must have the same
 * result.
 */
#ifndef TEST_UNIT_EPA_TWIN_H
#define TEST_UNIT_EPA_TWIN_H

#include "base/error.h"
#include "epa/compare.h"

#include <string.h>

/* Compares two records slot by slot. */
static inline bool epa_record_same(const struct epa_record *a, const struct epa_record *b)
{
	if (a->site != b->site || a->kind != b->kind || a->event != b->event || a->count != b->count ||
	    a->unfinished != b->unfinished)
		return false;
	for (unsigned i = 0; i < a->count; i++)
		if (!epa_name_same(a->slots[i], b->slots[i]))
			return false;
	return true;
}

static inline bool twin_same_record(bool has, const struct epa_record *a, const struct epa_record *b)
{
	return !has || (epa_record_same(a, b) && a->depth == b->depth && a->address == b->address &&
			a->value == b->value);
}

static inline bool twin_same_first(const struct epa_deviation *a, const struct epa_deviation *b)
{
	size_t shown = a->depth < EPA_STACK_MAX ? a->depth : EPA_STACK_MAX;
	return a->kind == b->kind && a->number == b->number && a->has_golden == b->has_golden &&
	       a->has_run == b->has_run && a->slot == b->slot && a->previous_site == b->previous_site &&
	       a->depth == b->depth && !strcmp(a->thread ? a->thread : "", b->thread ? b->thread : "") &&
	       !memcmp(a->stack, b->stack, shown * sizeof *a->stack) &&
	       twin_same_record(a->has_run, &a->run, &b->run) &&
	       (!a->has_golden || epa_record_same(&a->golden, &b->golden));
}

static inline bool twin_same_spread(const struct epa_propagation *a, const struct epa_propagation *b)
{
	return a->node_count == b->node_count && a->edge_count == b->edge_count &&
	       a->mask_count == b->mask_count && a->corrupted == b->corrupted &&
	       !memcmp(a->counts, b->counts, sizeof a->counts);
}

/* Does what epa_compare() does, and asserts that the slow comparison agrees. */
static inline int twin_compare(struct epa_reference *ref, struct epa_source *run,
			       const struct epa_compare_options *options, struct epa_comparison *out)
{
	struct epa_compare_options slowly = *options;
	struct epa_comparison slow;
	int err = epa_compare(ref, run, options, out), other;
	slowly.slow = true;
	epa_reference_map(ref);
	other = epa_compare(ref, run, &slowly, &slow);
	RD_ASSERT(err == other);
	if (err)
		return err;
	RD_ASSERT(out->deviated == slow.deviated && out->records == slow.records &&
		  out->thread_count == slow.thread_count);
	RD_ASSERT(!out->deviated || twin_same_first(&out->first, &slow.first));
	RD_ASSERT(twin_same_spread(&out->propagation, &slow.propagation));
	epa_comparison_release(&slow);
	return err;
}

#endif
