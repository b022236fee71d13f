/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which golden object an object of the run is, when a thread made more or fewer objects at a site than
 * the golden run: from some ordinal on, all ordinals of that thread and site are off by the same number.
 */
#ifndef EPA_RENAME_H
#define EPA_RENAME_H

#include "epa/name.h"

struct epa_rename {
	uint64_t from;	/* ordinals from here on ... */
	uint64_t shift; /* ... are those of golden objects less this */
};

struct epa_renames {
	struct rd_pmap heads; /* (kind, thread), site to index of lists */
	struct epa_rename_list {
		struct epa_rename *list; /* ascending */
		size_t count, capacity;
	} * lists;
	size_t count, capacity;
};
void epa_renames_release(struct epa_renames *r);

/* Both made this object at the same time.  The names must differ in the ordinal only; others are ignored. */
void epa_renames_match(struct epa_renames *r, struct epa_name run, struct epa_name golden);

/* The golden name of what the run calls so. */
struct epa_name epa_renames_apply(const struct epa_renames *r, struct epa_name run);

#endif
