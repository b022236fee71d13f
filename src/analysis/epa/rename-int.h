/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Maps the objects of a run to those of the golden run, the run without a fault with which it is
 * compared.  A thread may create more or fewer objects at a site than in the golden run.  From
 * some object on, the ordinals of that thread and site are then shifted by a constant.
 */
#ifndef EPA_RENAME_INT_H
#define EPA_RENAME_INT_H

#include "epa/name.h"

struct epa_rename {
	uint64_t from;	/* the first ordinal of the run to which the shift applies */
	uint64_t shift; /* the number by which these ordinals exceed those of the golden objects */
};

struct epa_renames {
	struct rd_pmap heads; /* maps (kind, thread) and site to an index in lists */
	struct epa_rename_list {
		struct epa_rename *list; /* in ascending order of `from` */
		size_t count, capacity;
	} * lists;
	size_t count, capacity;
};
void epa_renames_release(struct epa_renames *r);

/* Notes that both runs made this object at the same record.  The two names may differ only in the
 * ordinal; other pairs are ignored. */
void epa_renames_match(struct epa_renames *r, struct epa_name run, struct epa_name golden);

/* Returns the golden name of an object of the run. */
struct epa_name epa_renames_apply(const struct epa_renames *r, struct epa_name run);

#endif
