// SPDX-License-Identifier: Apache-2.0
/* How long the recorded run of findings took.  In: findings with schedules.  Out: milliseconds. */
#include "classify/recorded.h"

#include "base/alloc.h"
#include "base/file.h"
#include "finding/schedule.h"
#include "trace/meta.h"

#include <stdlib.h>

uint64_t classify_recorded_ms(const struct finding_set *set)
{
	uint64_t ms = 0;

	for (size_t i = 0; i < set->count && !ms; i++) {
		const struct schedule *s = set->items[i]->schedule;
		char *path = s && s->trace ? rd_xasprintf("%s/meta.json", s->trace) : NULL;
		struct trace_meta meta = {0};

		if (path && rd_file_exists(path) && !trace_meta_read(&meta, path)) {
			ms = meta.end_ns > meta.start_ns ? (meta.end_ns - meta.start_ns) / 1000000 + 1 : 0;
			trace_meta_release(&meta);
		}
		free(path);
	}
	return ms;
}
