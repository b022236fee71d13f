// SPDX-License-Identifier: Apache-2.0
/* Finds out how long the recorded run took.  In: findings with schedules that were predicted from
 * that run.  Out: nanoseconds. */
#include "classify/recorded.h"

#include "base/alloc.h"
#include "base/file.h"
#include "finding/schedule.h"
#include "trace/meta.h"

#include <stdlib.h>

int64_t classify_recorded_ns(const struct finding_set *set)
{
	int64_t ns = 0;

	for (size_t i = 0; i < set->count && !ns; i++) {
		const struct schedule *s = set->items[i]->schedule;
		char *path = s && s->trace ? rd_xasprintf("%s/meta.json", s->trace) : NULL;
		struct trace_meta meta = {0};

		if (path && rd_file_exists(path) && !trace_meta_read(&meta, path)) {
			ns = meta.end_ns > meta.start_ns ? (int64_t)(meta.end_ns - meta.start_ns) : 0;
			trace_meta_release(&meta);
		}
		free(path);
	}
	return ns;
}
