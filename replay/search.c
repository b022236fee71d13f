// SPDX-License-Identifier: Apache-2.0
/* Exhaustive search by choices (replay/search.h), depth first. */
#include "replay/search.h"

#include "base/alloc.h"
#include "replay/replay.h"

#include <stdlib.h>
#include <string.h>

void replay_search_took(struct replay_search *s, const struct replay_memory *m)
{
	RD_GROW(s->choices, s->capacity, m->made_count + 1);
	memcpy(s->choices, m->made, m->made_count * sizeof *s->choices);
	s->count = m->made_count;
}

static bool is_new(struct replay_search *s, uint64_t state)
{
	uint64_t *seen = rd_umap_put(&s->states, state, NULL);
	bool fresh = *seen == 0;

	*seen = 1;
	return fresh;
}

bool replay_search_next(struct replay_search *s)
{
	size_t end = s->planned;

	s->runs++;
	while (end < s->count && is_new(s, s->choices[end].state))
		end++;
	while (end > 0 && s->choices[end - 1].taken + 1 >= s->choices[end - 1].from)
		end--;
	if (end == 0)
		return false;
	s->choices[end - 1].taken++;
	s->planned = end;
	return true;
}

void replay_search_release(struct replay_search *s)
{
	free(s->choices);
	rd_umap_release(&s->states);
	*s = (struct replay_search){0};
}
