// SPDX-License-Identifier: Apache-2.0
/* Keeps the shifts of ordinals (epa/rename-int.h).  There is a list for each kind, thread and site,
 * which is searched from its end. */
#include "epa/rename-int.h"

#include "base/alloc.h"

#include <stdlib.h>

#define LIST_MAX 4096 /* largest number of shifts for one site; set by hand, to limit memory */
#define ORDINAL EPA_NAME_ORDINALS

void epa_renames_release(struct epa_renames *r)
{
	RD_FREE_EACH(r->lists, r->count, .list);
	free(r->lists);
	rd_pmap_release(&r->heads);
	*r = (struct epa_renames){0};
}

static bool is_made(struct epa_name n)
{
	enum epa_kind kind = epa_name_kind(n);
	return kind == EPA_STACK || kind == EPA_HEAP || kind == EPA_MAP;
}

static struct epa_rename_list *list_of(const struct epa_renames *r, struct epa_name n)
{
	const uint64_t *index = rd_pmap_get(&r->heads, n.who & ~ORDINAL, epa_name_base(n).where);
	return index ? &r->lists[*index] : NULL;
}

struct epa_name epa_renames_apply(const struct epa_renames *r, struct epa_name n)
{
	const struct epa_rename_list *list = r->count && is_made(n) ? list_of(r, n) : NULL;
	uint64_t ordinal = n.who & ORDINAL;
	for (size_t i = list ? list->count : 0; i-- > 0;) {
		if (list->list[i].from > ordinal)
			continue;
		n.who = (n.who & ~ORDINAL) | ((ordinal - list->list[i].shift) & ORDINAL);
		break;
	}
	return n;
}

void epa_renames_match(struct epa_renames *r, struct epa_name run, struct epa_name golden)
{
	struct epa_rename_list *list;
	bool is_new;
	if (!is_made(run) || (run.who & ~ORDINAL) != (golden.who & ~ORDINAL) || run.where != golden.where ||
	    epa_name_offset(run) != 0 || epa_name_same(epa_renames_apply(r, run), golden))
		return;
	uint64_t *index = rd_pmap_put(&r->heads, run.who & ~ORDINAL, run.where, &is_new);
	if (is_new) {
		*index = r->count;
		RD_GROW(r->lists, r->capacity, r->count + 1);
		r->lists[r->count++] = (struct epa_rename_list){0};
	}
	list = &r->lists[*index];
	while (list->count && list->list[list->count - 1].from >= (run.who & ORDINAL))
		list->count--;
	if (list->count == LIST_MAX)
		return;
	RD_GROW(list->list, list->capacity, list->count + 1);
	list->list[list->count++] = (struct epa_rename){run.who & ORDINAL, (run.who - golden.who) & ORDINAL};
}
