// SPDX-License-Identifier: Apache-2.0
/* The schedules of failing runs as files.  In: sketches.  Out: a file for each sketch with a
 * schedule, and its path. */
#include "sketch/schedules.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <stdlib.h>
#include <string.h>

int sketch_write_schedules(struct sketch_set *set, const char *directory)
{
	int err = RD_OK;

	for (size_t i = 0; i < set->count && !err; i++) {
		struct sketch *s = &set->items[i];
		char *path;

		if (!s->schedule)
			continue;
		err = rd_mkdirs(directory);
		path = rd_xasprintf("%s/%zu.schedule", directory, i + 1);
		if (!err)
			err = rd_file_write(path, s->schedule, strlen(s->schedule));
		if (!err)
			s->schedule_path = rd_arena_strndup(s->arena, path, strlen(path));
		free(path);
	}
	return err;
}
