/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the canonical names of threads (from the tree of creations), of objects, and of places
 * within objects. */
#include "model/model-int.h"

#include "base/error.h"
#include "base/alloc.h"
#include "base/file.h"
#include "base/name.h"

#include <stdlib.h>
#include <string.h>

/* The largest number of nested member names.  Set by hand, because a damaged type table may nest
 * types without end. */
#define NESTING_MAX 8

/*
 * Names the threads whose parent has a name, until no such thread is left.  The remaining threads
 * become roots, because their parent is unknown or damage has created a cycle.  Parents mostly have
 * smaller numbers, so one or two rounds are enough.
 */
void model_name_threads(struct model *m)
{
	unsigned roots = 0;
	size_t named = 0;
	for (size_t i = 0; i < m->thread_count; i++) {
		struct model_thread *t = &m->threads[i];
		if (t->parent == MODEL_NONE) {
			t->name = rd_thread_name(NULL, roots++);
			named++;
		}
	}
	while (named < m->thread_count) {
		size_t before = named;
		for (size_t i = 0; i < m->thread_count; i++) {
			struct model_thread *t = &m->threads[i];
			if (!t->name && m->threads[t->parent].name &&
			    strlen(m->threads[t->parent].name) < 4096) {
				t->name = rd_thread_name(m->threads[t->parent].name, t->index);
				named++;
			}
		}
		for (size_t i = 0; i < m->thread_count && named == before; i++) {
			if (!m->threads[i].name) {
				m->threads[i].name = rd_thread_name(NULL, roots++);
				named++;
			}
		}
	}
}

/* Removes the first dimension of an array type.  For example, "int[10][4]" becomes "int[4]", and
 * *size becomes a tenth of its value. */
static bool strip_array(char *type, uint64_t *size)
{
	char *open = strchr(type, '[');
	char *close = open ? strchr(open, ']') : NULL;
	uint64_t count = open ? strtoull(open + 1, NULL, 10) : 0;
	if (!close || count == 0 || *size < count)
		return false;
	*size /= count;
	memmove(open, close + 1, strlen(close + 1) + 1);
	for (size_t n = strlen(type); n > 0 && type[n - 1] == ' '; n--)
		type[n - 1] = '\0';
	return true;
}

/* Returns true if the type is opaque, which means that names do not contain its members. */
static bool is_opaque(const char *type)
{
	static const char *const prefixes[] = {"pthread_", "sem_t", "mtx_t", "cnd_t", "once_flag", "std::"};
	for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
		if (strncmp(type, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	}
	return false;
}

void model_name_member(const struct trace_sites *sites, const char *type_name, uint64_t size, uint64_t offset,
		       struct rd_buf *out)
{
	char *type = rd_xstrdup(type_name);
	bool found = true;
	for (unsigned depth = 0; depth < NESTING_MAX && found; depth++) {
		found = false;
		if (strip_array(type, &size)) {
			rd_buf_addf(out, "[%llu]", (unsigned long long)(offset / size));
			offset %= size;
			found = true;
			continue;
		}
		size_t first = 0, count = is_opaque(type) ? 0 : trace_sites_members(sites, type, &first);
		for (size_t i = first; i < first + count && !found; i++) {
			const struct trace_member *member = &sites->members[i];
			if (offset - member->offset >= member->member_size)
				continue;
			if (*member->name) /* base classes and anonymous members have no name */
				rd_buf_addf(out, ".%s", member->name);
			offset -= member->offset;
			size = member->member_size;
			free(type);
			type = rd_xstrdup(member->member_type);
			found = true;
		}
	}
	if (offset > 0)
		rd_buf_addf(out, "+%llu", (unsigned long long)offset);
	free(type);
}

void model_name_maker(const struct trace_sites *sites, const char *thread, uint32_t site, uint64_t number,
		      struct rd_buf *out)
{
	const struct trace_site *at = trace_sites_find(sites, site);
	struct rd_maker maker = {.thread = thread, .site = site, .number = number};
	if (at && at->file != TRACE_NO_FILE) {
		maker.file = trace_sites_file(sites, at->file);
		maker.line = at->line;
	}
	rd_name_maker(out, &maker);
}

static void name_global(const struct model *m, const struct model_object *o, struct rd_buf *out)
{
	RD_ASSERT(o->kind == MODEL_GLOBAL);
	const struct trace_placed *p = &m->sites->placed[o->info];
	const struct trace_global *g = trace_sites_global(m->sites, p->linkage);
	rd_buf_adds(out, g && *g->name ? g->name : p->linkage);
}

void model_name_object(const struct model *m, uint32_t object, struct rd_buf *out)
{
	if (object == MODEL_NONE) {
		rd_buf_adds(out, RD_UNKNOWN);
		return;
	}
	RD_ASSERT(object < m->object_count);
	const struct model_object *o = &m->objects[object];
	switch ((enum model_object_kind)o->kind) {
	case MODEL_HEAP:
		rd_buf_adds(out, o->alloc == RADDLE_ALLOC_MMAP ? "mmap " : "heap ");
		model_name_maker(m->sites, m->threads[o->thread].name, m->stacks[o->stack].site, o->ordinal,
				 out);
		break;
	case MODEL_STACK: rd_buf_addf(out, "stack %s", m->threads[o->thread].name); break;
	case MODEL_GLOBAL: name_global(m, o, out); break;
	case MODEL_MODULE: rd_buf_adds(out, rd_base_name(m->modules[o->info].path)); break;
	case MODEL_PAGE: rd_buf_addf(out, "memory 0x%llx", (unsigned long long)o->base); break;
	}
}

static void name_descriptor(uint64_t address, struct rd_buf *out)
{
	rd_buf_addf(out, "fd %llu",
		    (unsigned long long)((address - RADDLE_DESCRIPTORS) / RADDLE_DESCRIPTOR_BYTES));
}

static void name_channel(uint64_t address, struct rd_buf *out)
{
	rd_buf_addf(out, "channel %llu",
		    (unsigned long long)((address - RADDLE_CHANNELS) / RADDLE_CHANNEL_BYTES));
}

/* Names a place on a stack by its distance from the oldest frame, which is the same in every
 * run. */
static void name_on_stack(const struct model *m, const struct model_object *o, uint64_t offset,
			  struct rd_buf *out)
{
	uint64_t frames = m->threads[o->thread].frames, address = o->base + offset;
	bool above = address >= frames;
	rd_buf_addf(out, "%c0x%llx", above ? '+' : '-',
		    (unsigned long long)(above ? address - frames : frames - address));
}

void model_name_place(const struct model *m, uint32_t object, uint64_t offset, struct rd_buf *out)
{
	RD_ASSERT(object < m->object_count);
	if (object != MODEL_NONE && model_is_descriptors(m, object)) {
		name_descriptor(m->objects[object].base + offset, out);
		return;
	}
	if (object != MODEL_NONE && model_is_channels(m, object)) {
		name_channel(m->objects[object].base + offset, out);
		return;
	}
	model_name_object(m, object, out);
	if (object == MODEL_NONE)
		return;
	const struct model_object *o = &m->objects[object];
	if (o->kind == MODEL_GLOBAL) {
		const struct trace_global *g =
			trace_sites_global(m->sites, m->sites->placed[o->info].linkage);
		model_name_member(m->sites, g ? g->type : "", o->size, offset, out);
	} else if (o->kind == MODEL_STACK) {
		name_on_stack(m, o, offset, out);
	} else if (o->kind == MODEL_HEAP) {
		if (offset > 0)
			rd_buf_addf(out, "+%llu", (unsigned long long)offset);
	} else {
		rd_buf_addf(out, "+0x%llx", (unsigned long long)offset);
	}
}

void model_name_address(const struct model *m, uint64_t address, uint64_t q, struct rd_buf *out)
{
	uint32_t object = model_find(m, address, q);
	if (object == MODEL_NONE && !m->ordered && raddle_is_descriptor(address))
		name_descriptor(address, out);
	else if (object == MODEL_NONE)
		rd_buf_addf(out, "0x%llx", (unsigned long long)address);
	else
		model_name_place(m, object, address - m->objects[object].base, out);
}

void model_name_sync(const struct model *m, uint32_t sync, struct rd_buf *out)
{
	RD_ASSERT(sync < m->sync_count);
	const struct model_sync *s = &m->syncs[sync];
	model_name_place(m, s->object, s->offset, out);
}
