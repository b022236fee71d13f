// SPDX-License-Identifier: Apache-2.0
/*
 * Stores a golden run in a file.
 *
 * Each thread fills a block of words.  Full blocks are appended to one file, and the thread keeps
 * their positions.  A record never crosses the end of a block.
 */
#include "epa/reference.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCK_BYTES (EPA_BLOCK_WORDS * sizeof(uint64_t))

/* A file that is larger than this number of bytes is read instead of mapped, because it would not
 * stay in memory.  The limit was set by hand. */
#define MAP_MAX (64u << 20)

struct epa_reference {
	struct epa_source *source;
	struct epa_names names;
	struct epa_reference_thread *threads;
	size_t thread_count, thread_capacity;
	struct rd_umap by_name; /* maps the number of a thread's name to an index in threads */
	/* Maps (site, kind) to (piece << 16 | index of the op in that piece of the layout). */
	struct rd_umap ops;
	uint64_t records;
	uint64_t file_blocks;
	const uint64_t *map; /* mapping of the file; NULL if the file is read */
	int fd;
	bool exited; /* the process exited by itself */
};

static int write_block(struct epa_reference *ref, struct epa_reference_thread *t)
{
	const char *p = (const char *)t->words;
	size_t left = t->used * sizeof *t->words;
	off_t at = (off_t)(ref->file_blocks * BLOCK_BYTES);
	if (!left)
		return RD_OK;
	while (left > 0) {
		ssize_t n = pwrite(ref->fd, p, left, at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return rd_fail_errno("cannot write the temporary file of the golden run");
		p += n;
		at += n;
		left -= (size_t)n;
	}
	RD_GROW(t->blocks, t->block_capacity, t->block_count + 1);
	t->blocks[t->block_count++] = ref->file_blocks++ << 16 | t->used;
	t->used = 0;
	return RD_OK;
}

static struct epa_reference_thread *thread_of(struct epa_reference *ref, uint32_t name)
{
	bool is_new;
	uint64_t *index = rd_umap_put(&ref->by_name, name, &is_new);
	if (is_new) {
		*index = ref->thread_count;
		RD_GROW(ref->threads, ref->thread_capacity, ref->thread_count + 1);
		ref->threads[ref->thread_count++] =
			(struct epa_reference_thread){.name = name, .words = rd_xmalloc(BLOCK_BYTES)};
	}
	return &ref->threads[*index];
}

static bool ends_thread(const struct epa_record *r)
{
	return r->kind == TRACE_FULL_EVENT && raddle_role(r->event) == RADDLE_ROLE_END;
}

static int add_record(struct epa_reference *ref, struct epa_reference_thread *t, const struct epa_record *r)
{
	int err = t->used + EPA_WORDS > EPA_BLOCK_WORDS ? write_block(ref, t) : RD_OK;
	if (err)
		return err;
	t->used += epa_record_pack(r, t->words + t->used);
	t->records++;
	ref->records++;
	if (ends_thread(r))
		t->ended = true;
	ref->exited |= r->event == RADDLE_EXIT;
	if (r->event == RADDLE_THREAD_CREATE && r->count == 2 && r->slots[1].where == 0)
		t->created++;
	return RD_OK;
}

static int fill(struct epa_reference *ref, struct epa_walk *walk)
{
	struct epa_sanitizer *s = epa_sanitizer_new(walk, &ref->names);
	struct epa_record r;
	int err = RD_OK;
	while (!err && epa_sanitizer_next(s, &r) > 0)
		err = add_record(ref, thread_of(ref, epa_objects_thread(epa_sanitizer_objects(s), r.place)),
				 &r);
	for (size_t i = 0; i < ref->thread_count; i++) {
		if (!err)
			err = write_block(ref, &ref->threads[i]);
		free(ref->threads[i].words);
		ref->threads[i].words = NULL;
	}
	epa_sanitizer_free(s);
	if (!err)
		err = epa_walk_error(walk);
	if (!err && !epa_walk_is_whole(walk))
		err = rd_fail(RD_EUSAGE,
			      "%s: the golden run was not recorded to its end, or its trace is cut off",
			      epa_source_name(ref->source));
	return err;
}

bool epa_reference_was_killed(const struct epa_reference *ref)
{
	for (size_t i = 0; i < ref->thread_count && !ref->exited; i++)
		if (!ref->threads[i].ended)
			return true;
	return false;
}

/* Fills ref->ops from the layout. */
static void index_ops(struct epa_reference *ref)
{
	const struct trace_layout *layout = epa_source_layout(ref->source);
	for (size_t i = 0; i < trace_layout_count(layout); i++) {
		const struct trace_piece *piece = trace_layout_at(layout, i);
		for (uint32_t k = 0; k < piece->record_count; k++) {
			uint64_t key = (uint64_t)piece->plain[k].site << 8 | piece->plain[k].kind;
			*rd_umap_put(&ref->ops, key, NULL) = (uint64_t)i << 16 | k;
		}
	}
}

void epa_reference_unpack(const struct epa_reference *ref, struct epa_record *r, const uint64_t *words)
{
	const uint64_t *op;
	epa_record_unpack(r, words);
	op = rd_umap_get(&ref->ops, (uint64_t)r->site << 8 | r->kind);
	r->op = op ? &trace_layout_at(epa_source_layout(ref->source), *op >> 16)->plain[*op & 0xffff] : NULL;
}

int epa_reference_open(struct epa_reference **out, struct epa_source *golden)
{
	struct epa_reference *ref = rd_xcalloc(1, sizeof *ref);
	struct epa_walk *walk = NULL;
	int err = RD_OK;
	ref->source = golden;
	epa_names_init(&ref->names, NULL);
	ref->fd = rd_temporary_file();
	if (ref->fd < 0)
		err = ref->fd;
	if (!err)
		err = epa_walk_open(&walk, golden);
	if (!err)
		err = fill(ref, walk);
	epa_walk_close(walk);
	if (!err)
		index_ops(ref);
	if (err)
		epa_reference_close(ref);
	else
		*out = ref;
	return err;
}

void epa_reference_close(struct epa_reference *ref)
{
	if (!ref)
		return;
	if (ref->map)
		munmap((void *)(uintptr_t)ref->map, ref->file_blocks * BLOCK_BYTES);
	if (ref->fd >= 0)
		close(ref->fd);
	for (size_t i = 0; i < ref->thread_count; i++)
		RD_FREE(ref->threads[i].blocks, ref->threads[i].words);
	free(ref->threads);
	RD_UMAP_RELEASE(&ref->by_name, &ref->ops);
	epa_names_release(&ref->names);
	free(ref);
}

void epa_reference_map(struct epa_reference *ref)
{
	size_t size = ref->file_blocks * BLOCK_BYTES;
	void *map = size && size <= MAP_MAX && !ftruncate(ref->fd, (off_t)size)
			    ? mmap(NULL, size, PROT_READ, MAP_SHARED, ref->fd, 0)
			    : MAP_FAILED;
	if (map != MAP_FAILED)
		ref->map = map;
}

const struct epa_source *epa_reference_source(const struct epa_reference *ref)
{
	return ref->source;
}

const struct epa_names *epa_reference_names(const struct epa_reference *ref)
{
	return &ref->names;
}

uint64_t epa_reference_records(const struct epa_reference *ref)
{
	return ref->records;
}

size_t epa_reference_threads(const struct epa_reference *ref)
{
	return ref->thread_count;
}

const struct epa_reference_thread *epa_reference_thread(const struct epa_reference *ref, size_t index)
{
	RD_ASSERT(index < ref->thread_count);
	return &ref->threads[index];
}

size_t epa_reference_find(const struct epa_reference *ref, uint32_t name)
{
	const uint64_t *index = rd_umap_get(&ref->by_name, name);
	return index ? (size_t)*index : SIZE_MAX;
}

/* --- cursors --- */

void epa_cursor_open(struct epa_cursor *c, const struct epa_reference *ref, size_t thread)
{
	RD_ASSERT(thread < epa_reference_threads(ref));
	*c = (struct epa_cursor){.reference = ref, .thread = &ref->threads[thread]};
}

void epa_cursor_close(struct epa_cursor *c)
{
	free(c->own);
	*c = (struct epa_cursor){0};
}

void epa_cursor_copy(struct epa_cursor *to, const struct epa_cursor *from)
{
	uint64_t *own = to->own;
	*to = *from;
	to->own = own;
	if (!from->used || from->words != from->own)
		return;
	if (!own)
		to->own = rd_xmalloc(BLOCK_BYTES);
	memcpy(to->own, from->own, from->used * sizeof *own);
	to->words = to->own;
}

/* Reads the block at position `at` of the file into c->own. */
static bool read_block(struct epa_cursor *c, off_t at, size_t bytes)
{
	size_t done = 0;
	if (!c->own)
		c->own = rd_xmalloc(BLOCK_BYTES);
	c->words = c->own;
	while (done < bytes) {
		ssize_t n = pread(c->reference->fd, (char *)c->own + done, bytes - done, at + (off_t)done);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			c->err = rd_fail_errno("cannot read the temporary file of the golden run");
			c->at = c->used = 0;
			return false;
		}
		done += (size_t)n;
	}
	return true;
}

bool epa_cursor_load(struct epa_cursor *c)
{
	uint64_t block, words;
	if (c->err || !c->thread || c->block == c->thread->block_count)
		return false;
	block = c->thread->blocks[c->block] >> 16;
	words = c->thread->blocks[c->block] & 0xffff;
	if (c->reference->map)
		c->words = c->reference->map + block * EPA_BLOCK_WORDS;
	else if (!read_block(c, (off_t)(block * BLOCK_BYTES), words * sizeof *c->words))
		return false;
	c->block++;
	c->at = 0;
	c->used = words;
	return true;
}
