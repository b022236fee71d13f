// SPDX-License-Identifier: Apache-2.0
/*
 * Names that only accesses tell.  Frames have no events, and thread-local variables lie in memory that
 * nothing is known about; but an access by name says what lies there.  In: a model with histories, a place
 * and a time.  Out: the site of the access that tells, and whose variable it is.
 *
 * One address of a stack is another variable in every call, so of the owner's accesses the last one up to
 * the time counts, or else the first one after it.
 */
#include "model/model.h"

#include "base/name.h"

static bool covers(const struct model_access *a, uint32_t object, uint64_t offset)
{
	return a->object == object && a->offset <= offset && offset - a->offset < a->size;
}

static const struct trace_site *named_site(const struct model *m, const struct model_access *a, uint8_t flag)
{
	const struct trace_site *site = trace_sites_find(m->sites, a->site);

	return site && site->flags & flag && site->kind != TRACE_SITE_CALL && *site->what ? site : NULL;
}

/* Only the thread that has the variable can call it by name. */
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
			*out = (struct model_variable){.site = site, .thread = i, .is_thread_local = true};
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
	const struct trace_site *best = NULL;

	for (size_t k = 0, op = 0; k < h->access_count; k++) {
		while (op + 1 < h->operation_count && h->operations[op + 1].access <= k)
			op++;
		if (best && h->operation_count && h->operations[op].q > q)
			break;
		if (!covers(&h->accesses[k], object, offset))
			continue;
		const struct trace_site *site = named_site(m, &h->accesses[k], TRACE_SITE_STACK);
		best = site ? site : best;
	}
	*out = (struct model_variable){.site = best, .thread = owner};
	return best;
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

void model_name_variable(const struct model_variable *v, struct rd_buf *out)
{
	if (!v->is_thread_local)
		rd_buf_addf(out, "%s.", v->site->function);
	rd_buf_adds(out, v->site->what);
}
