// SPDX-License-Identifier: Apache-2.0
/*
 * Finds variables whose names are known only from accesses.  The trace has no events for stack
 * frames, and thread-local variables lie in memory of unknown origin.  But an access by name shows
 * which variable lies there.  For a place and a time, this file finds the site of such an access,
 * and the thread that owns the variable.  The model must have histories.
 *
 * An address on a stack belongs to another variable in every call.  So the owner's last access up
 * to that time is used or, if there is none, its first access after that time.
 */
#include "model/model.h"

#include "base/name.h"

#include <string.h>

static bool covers(const struct model_access *a, uint32_t object, uint64_t offset)
{
	return a->object == object && a->offset <= offset && offset - a->offset < a->size;
}

static const struct trace_site *named_site(const struct model *m, const struct model_access *a, uint8_t flag)
{
	const struct trace_site *site = trace_sites_find(m->sites, a->site);

	return site && site->flags & flag && site->kind != TRACE_SITE_CALL && *site->what ? site : NULL;
}

/* Finds a thread-local variable.  Only the thread that owns it can access it by name. */
static bool find_thread_local(const struct model *m, uint32_t object, uint64_t offset,
			      struct model_variable *out)
{
	for (uint32_t i = 0; i < m->thread_count; i++) {
		const struct model_history *h = &m->histories[i];
		for (size_t k = 0; k < h->access_count; k++) {
			if (!covers(&h->accesses[k], object, offset))
				continue;
			const struct trace_site *site = named_site(m, &h->accesses[k], TRACE_SITE_TLS);
			if (!site)
				continue;
			*out = (struct model_variable){.site = site,
						       .thread = i,
						       .offset = offset - h->accesses[k].offset,
						       .is_thread_local = true};
			return true;
		}
	}
	return false;
}

static bool find_local(const struct model *m, uint32_t object, uint64_t offset, uint64_t q,
		       struct model_variable *out)
{
	uint32_t owner = m->objects[object].thread;
	const struct model_history *h = &m->histories[owner];
	struct model_variable best = {.thread = owner};

	for (size_t k = 0, op = 0; k < h->access_count; k++) {
		while (op + 1 < h->operation_count && h->operations[op + 1].access <= k)
			op++;
		if (best.site && h->operation_count && h->operations[op].q > q)
			break;
		if (!covers(&h->accesses[k], object, offset))
			continue;
		const struct trace_site *site = named_site(m, &h->accesses[k], TRACE_SITE_STACK);
		if (site) {
			best.site = site;
			best.offset = offset - h->accesses[k].offset;
		}
	}
	*out = best;
	return best.site;
}

bool model_find_variable(const struct model *m, uint32_t object, uint64_t offset, uint64_t q,
			 struct model_variable *out)
{
	uint8_t kind = object == MODEL_NONE ? MODEL_HEAP : m->objects[object].kind;

	if (!m->histories || (kind != MODEL_STACK && kind != MODEL_PAGE) || model_is_descriptors(m, object))
		return false;
	return find_thread_local(m, object, offset, out) ||
	       (kind == MODEL_STACK && m->objects[object].thread != MODEL_NONE &&
		find_local(m, object, offset, q, out));
}

/* Appends the member.  If the access covers the whole variable, the variable's type names the
 * member. */
static void add_member(const struct model *m, const struct model_variable *v, struct rd_buf *out)
{
	const char *type = v->site->type;
	struct rd_buf path = RD_BUF_INIT;
	size_t first;

	if (strchr(type, '['))
		rd_buf_adds(&path, "[]");
	else if (trace_sites_members(m->sites, type, &first))
		model_name_member(m->sites, type, m->sites->members[first].size, v->offset, &path);
	rd_name_normal(out, path.data);
	rd_buf_release(&path);
}

void model_name_variable(const struct model *m, const struct model_variable *v, struct rd_buf *out)
{
	if (!v->is_thread_local)
		rd_buf_addf(out, "%s.", v->site->function);
	rd_buf_adds(out, v->site->what);
	add_member(m, v, out);
}
