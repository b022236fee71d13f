/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Keeps the table of synchronisation objects, such as locks and condition variables.  Such an
 * object is identified by its place (object and offset) and its class.  If it is initialised again
 * in the same place of the same object, it stays the same synchronisation object.
 */
#include "model/model-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

/* An operation on a lock is treated as an access to the lock's memory, at the site of the call.
 * So an operation whose call is unknown has no effect here.  sem_open() and sem_close() may also
 * cause SEM_INIT and SEM_DESTROY events. */
enum raddle_handling model_handling(const struct model *m, const struct trace_event *e,
				    const struct trace_decoder *d)
{
	enum raddle_handling handling = raddle_handling(e->kind);
	const struct trace_site *site;

	if (handling == RADDLE_HANDLES_NOT || d->depth == 0)
		return RADDLE_HANDLES_NOT;
	site = trace_sites_find(m->sites, d->stack[d->depth - 1]);
	if (!site || site->kind != TRACE_SITE_CALL)
		return RADDLE_HANDLES_NOT;
	if (e->kind == RADDLE_SEM_INIT && strcmp(site->what, "sem_init") != 0)
		return RADDLE_HANDLES_NOT;
	if (e->kind == RADDLE_SEM_DESTROY && strcmp(site->what, "sem_destroy") != 0)
		return RADDLE_HANDLES_NOT;
	return handling;
}

static uint64_t kind_key(const struct model_sync *s)
{
	return (uint64_t)s->object << 32 | s->class;
}

static struct model_sync place_of(const struct model *m, uint32_t object, enum raddle_class class,
				  uint64_t address)
{
	uint64_t offset = object == MODEL_NONE ? address : address - m->objects[object].base;
	return (struct model_sync){.object = object, .offset = offset, .class = class, .owner = MODEL_NONE};
}

uint32_t model_sync(const struct model *m, enum raddle_class class, uint64_t address, uint64_t q)
{
	struct model_sync s = place_of(m, model_find(m, address, q), class, address);
	const uint64_t *index = rd_pmap_get(&m->private->sync_of, kind_key(&s), s.offset);
	return index ? (uint32_t)*index : MODEL_NONE;
}

uint32_t model_sync_intern(struct model *m, struct model_cache *cache, enum raddle_class class,
			   const uint64_t place[2])
{
	uint32_t object = model_find_or_page(m, cache, place[0], place[1]);
	struct model_sync s = place_of(m, object, class, place[0]);
	bool is_new;
	uint64_t *index = rd_pmap_put(&m->private->sync_of, kind_key(&s), s.offset, &is_new);
	if (is_new) {
		*index = m->sync_count;
		RD_GROW(m->syncs, m->private->sync_capacity, m->sync_count + 1);
		m->syncs[m->sync_count++] = s;
	}
	return (uint32_t)*index;
}
