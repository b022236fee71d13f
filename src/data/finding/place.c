// SPDX-License-Identifier: Apache-2.0
/* Finds the places and frames of sites in a site table: the file, line and function at which a
 * person finds the site. */
#include "finding/place.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>

static const char *known(const char *text)
{
	return text && *text ? text : NULL;
}

struct schedule_place schedule_place_of(struct schedule *s, const struct trace_sites *sites, uint32_t site)
{
	struct trace_frame f = trace_sites_frame(sites, site);
	const char *file = known(f.file), *function = known(f.function);

	return (struct schedule_place){.file = s ? schedule_text(s, file) : file,
				       .function = s ? schedule_text(s, function) : function,
				       .line = f.line,
				       .column = f.column};
}

size_t finding_put_frames(struct finding_set *set, const struct trace_sites *sites, uint32_t site,
			  struct finding_frame *to)
{
	size_t count = trace_sites_frames(sites, site, NULL, 0);
	struct trace_frame *frames;

	RD_ASSERT(count > 0);
	if (!to)
		return count;
	frames = rd_xcalloc(count, sizeof *frames);
	trace_sites_frames(sites, site, frames, count);
	for (size_t i = 0; i < count; i++)
		to[i] = (struct finding_frame){.function = finding_text(set, known(frames[i].function)),
					       .file = finding_text(set, known(frames[i].file)),
					       .line = frames[i].line,
					       .column = frames[i].column};
	free(frames);
	return count;
}

struct finding_stack finding_stack_at(struct finding_set *set, const struct trace_sites *sites, uint32_t site)
{
	struct finding_stack s = {.count = finding_put_frames(set, sites, site, NULL)};

	s.frames = finding_array(set, s.count, sizeof *s.frames);
	finding_put_frames(set, sites, site, s.frames);
	return s;
}

struct finding_stack finding_stack_of(struct finding_set *set, const struct schedule_place *place)
{
	struct finding_stack s = {.count = place->file != NULL};

	if (!s.count)
		return s;
	s.frames = finding_array(set, 1, sizeof *s.frames);
	s.frames[0] = (struct finding_frame){.function = finding_text(set, place->function),
					     .file = finding_text(set, place->file),
					     .line = place->line,
					     .column = place->column};
	return s;
}
