// SPDX-License-Identifier: Apache-2.0
/*
 * Names the places to which pointers lead, as in the source.  A place is an offset in a heap object
 * or a stack, and the name is derived from accesses to the bytes there.  If an access used a
 * pointer to a struct, the name is `struct conn.refs` or `struct conn[].refs`.  Otherwise it
 * contains the variable that received the allocation, as in `*counter (malloc at f.c:12)`.  If a
 * thread never accesses one of its stack variables by name, this is the best name available.
 *
 * Debug information describes the source, and a cast may make it wrong.  So a struct that does not
 * fit into the object at that place is ignored.  If two structs fit, the larger one is used,
 * because it contains the other.
 */
#include "model/model.h"

#include "base/error.h"
#include "base/file.h"
#include "base/name.h"

#include <string.h>

/* A struct through which an access reached the place. */
struct holder {
	const char *type;
	uint64_t size;
	uint64_t start;	 /* offset of the struct in the object */
	uint64_t offset; /* offset of the place in the struct */
	/* True if the place is in an array of such structs.  Then `start` is the offset of the
	 * first element of the array. */
	bool indexed;
};

/* Returns the last member of the type, if that is a flexible array. */
static const struct trace_member *open_member(const struct trace_sites *sites, const char *type)
{
	size_t first, count = trace_sites_members(sites, type, &first);
	const struct trace_member *last = count ? &sites->members[first + count - 1] : NULL;

	return last && !last->member_size ? last : NULL;
}

static bool is_indexed(const struct trace_sites *sites, const struct holder *h)
{
	struct rd_buf path = RD_BUF_INIT;

	model_name_member(sites, h->type, h->size, h->offset, &path);
	bool indexed = open_member(sites, h->type) || strchr(path.data, '[');
	rd_buf_release(&path);
	return indexed;
}

static bool find_holder(const struct model *m, const struct model_access *a, uint64_t offset,
			struct holder *out)
{
	const struct model_object *o = &m->objects[a->object];
	const struct trace_site *site = trace_sites_find(m->sites, a->site);
	size_t first;

	if (!site || !*site->holder || !trace_sites_members(m->sites, site->holder, &first) ||
	    offset < a->offset || a->offset < site->holder_offset)
		return false;
	*out = (struct holder){.type = site->holder,
			       .size = m->sites->members[first].size,
			       .start = a->offset - site->holder_offset,
			       .offset = site->holder_offset + (offset - a->offset)};
	if (!out->size || out->size > o->size)
		return false;
	out->indexed = is_indexed(m->sites, out);
	if (!out->indexed && out->start > o->size - out->size)
		return false;
	if (out->offset >= out->size && !open_member(m->sites, out->type)) {
		/* The access may copy several elements.  In that case the place is in a later
		 * one. */
		out->start += out->offset / out->size * out->size;
		out->offset %= out->size;
	}
	return true;
}

static bool is_array(const struct model *m, const struct model_object *o, const struct holder *h)
{
	return o->kind == MODEL_HEAP && o->size > h->size && o->size % h->size == 0 &&
	       (h->indexed || h->start % h->size == 0) && !open_member(m->sites, h->type);
}

static void name_holder(const struct model *m, const struct model_object *o, const struct holder *h,
			struct rd_buf *out)
{
	RD_ASSERT(h->size > 0);
	const struct trace_member *open = open_member(m->sites, h->type);
	struct rd_buf path = RD_BUF_INIT;

	rd_buf_addf(out, "%s%s", h->type, is_array(m, o, h) ? "[]" : "");
	if (open && h->offset >= open->offset)
		rd_buf_addf(&path, ".%s[]", open->name);
	else
		model_name_member(m->sites, h->type, h->size, h->offset, &path);
	rd_name_normal(out, path.data);
	rd_buf_release(&path);
}

/* Returns true if `h` is better than `than`, because it is larger or, if both have the same size,
 * its type comes first in the alphabet.  So the result does not depend on the order of the
 * accesses. */
static bool is_better(const struct holder *h, const struct holder *than)
{
	return h->size != than->size ? h->size > than->size : strcmp(h->type, than->type) < 0;
}

/* Returns the source's name for the place.  If there are several, returns the first in the
 * alphabet.  Stores the size of the largest access in *bytes. */
static const char *find_what(const struct model *m, const struct model_access *const *accesses, size_t count,
			     uint64_t *bytes)
{
	const char *what = NULL;

	for (size_t i = 0; i < count; i++) {
		const struct trace_site *site = trace_sites_find(m->sites, accesses[i]->site);
		if (!site || site->kind == TRACE_SITE_CALL)
			continue;
		uint64_t size = site->size ? site->size : accesses[i]->size;
		*bytes = size > *bytes ? size : *bytes;
		if (*site->what && (!what || strcmp(site->what, what) < 0))
			what = site->what;
	}
	return what;
}

static bool name_allocation(const struct model *m, const struct model_object *o, const char *what,
			    uint64_t bytes, struct rd_buf *out)
{
	const struct trace_site *made = trace_sites_find(m->sites, m->stacks[o->stack].site);

	if (!made || made->file == TRACE_NO_FILE || (!what && !*made->result))
		return false;
	if (!*made->result)
		rd_buf_adds(out, what);
	else if (!bytes || o->size == bytes)
		rd_buf_addf(out, "*%s", made->result);
	else
		rd_buf_addf(out, "%s[]", made->result);
	rd_buf_addf(out, " (%s at %s:%u)", *made->what ? made->what : "allocated",
		    rd_base_name(trace_sites_file(m->sites, made->file)), made->line);
	return true;
}

static bool name_on_stack(const struct model *m, const struct model_object *o, const char *what,
			  struct rd_buf *out)
{
	rd_buf_addf(out, "%s on the stack of %s", what ? what : "", m->threads[o->thread].name);
	return true;
}

bool model_name_pointed(const struct model *m, uint32_t object, uint64_t offset,
			const struct model_access *const *accesses, size_t count, struct rd_buf *out)
{
	const struct model_object *o = object != MODEL_NONE ? &m->objects[object] : NULL;
	struct holder best = {0}, h;
	uint64_t bytes = 0;

	if (!m->sites || !o || (o->kind != MODEL_HEAP && (o->kind != MODEL_STACK || o->thread == MODEL_NONE)))
		return false;
	for (size_t i = 0; i < count; i++)
		if (find_holder(m, accesses[i], offset, &h) && (!best.type || is_better(&h, &best)))
			best = h;
	const char *what = find_what(m, accesses, count, &bytes);
	if (best.type)
		name_holder(m, o, &best, out);
	if (o->kind == MODEL_HEAP)
		return best.type || name_allocation(m, o, what, bytes, out);
	return (best.type || what) && name_on_stack(m, o, best.type ? NULL : what, out);
}
