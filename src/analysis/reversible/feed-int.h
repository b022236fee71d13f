/* SPDX-License-Identifier: Apache-2.0 */
/* Translates the records of a run into accesses to memory, segment by segment. */
#ifndef REVERSIBLE_FEED_INT_H
#define REVERSIBLE_FEED_INT_H

#include "reversible/shadow.h"
#include "trace/full.h"

/* The current segment of each thread, and the sizes of allocations. */
struct rev_feed {
	const struct rev_run *run;
	const struct trace_sites *sites;
	uint32_t *segment; /* the number of the current segment of each thread */
	struct rd_umap sizes;
	uint64_t accesses;
	bool shortened; /* some access was so large that only its first bytes were considered */
};

void rev_feed_init(struct rev_feed *f, const struct rev_run *run, const struct trace_sites *sites);
void rev_feed_release(struct rev_feed *f);

/* The effect of a record on memory. */
enum rev_effect {
	REV_TOUCH, /* an access, for rev_shadow_touch() */
	REV_ENDS,  /* the end of a lifetime, for rev_shadow_end() */
	REV_CLEAR, /* the beginning of a lifetime, for rev_shadow_clear() */
	REV_FREES, /* a release of memory, for rev_shadow_release() */
};
#define REV_EFFECTS 3 /* largest number of effects of one record */
struct rev_effects {
	size_t count;
	struct {
		enum rev_effect effect;
		struct rev_touch touch;
	} list[REV_EFFECTS];
};

/* Processes the next record of the run.  `thread` is an index of rev_run.threads, and `call` is the
 * function that the thread called last.  A record that is an operation begins a new segment. */
void rev_feed_record(struct rev_feed *f, uint32_t thread, const struct trace_record *r, const char *call,
		     struct rev_effects *e);

/* The addresses that represent hidden states of libraries (rev_hidden_state()). */
#define REV_HIDDEN(state) ((uint64_t)(state)*8)

#endif
