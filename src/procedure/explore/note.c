// SPDX-License-Identifier: Apache-2.0
/*
 * Converts notes to bytes and back.  A note is written as its numbers, followed by its strings and
 * arrays, each preceded by its length.
 */
#include "explore/note.h"

#include <string.h>

static void put(struct rd_buf *out, const void *data, uint32_t length)
{
	rd_buf_add(out, &length, sizeof length);
	if (length)
		rd_buf_add(out, data, length);
}

static void put_text(struct rd_buf *out, const char *text)
{
	put(out, text, text ? (uint32_t)strlen(text) + 1 : 0);
}

void note_put(const struct note *n, struct rd_buf *out)
{
	put(out, n, sizeof *n);
	put_text(out, n->failure.fault);
	put_text(out, n->failure.end_text);
	put_text(out, n->why);
	put_text(out, n->failure.place);
	put_text(out, n->failure.thread);
	put_text(out, n->failure.test);
	put_text(out, n->made);
	put(out, n->races, n->race_count * (uint32_t)sizeof *n->races);
	put(out, n->threads, n->thread_count * (uint32_t)sizeof *n->threads);
	put(out, n->pairs, n->pair_count * (uint32_t)sizeof *n->pairs);
}

/* Returns the next piece and advances *at.  Returns NULL if the piece is empty or incomplete; if it
 * is incomplete, *at becomes NULL. */
static const char *get(const char **at, const char *end, uint32_t *length)
{
	const char *data;

	if ((size_t)(end - *at) < sizeof *length) {
		*at = NULL;
		return NULL;
	}
	memcpy(length, *at, sizeof *length);
	data = *at + sizeof *length;
	if ((size_t)(end - data) < *length) {
		*at = NULL;
		return NULL;
	}
	*at = data + *length;
	return *length ? data : NULL;
}

static const char *get_text(const char **at, const char *end, struct rd_arena *arena)
{
	uint32_t length;
	const char *data = *at ? get(at, end, &length) : NULL;

	return data ? rd_arena_strndup(arena, data, length - 1) : NULL;
}

static void *get_array(const char **at, const char *end, size_t size, uint32_t *count, struct rd_arena *arena)
{
	uint32_t length = 0;
	const char *data = *at ? get(at, end, &length) : NULL;
	void *copy = rd_arena_alloc(arena, length + 1);

	*count = data ? length / (uint32_t)size : 0;
	if (data)
		memcpy(copy, data, length);
	return copy;
}

bool note_get(struct note *n, const char **at, const char *end, struct rd_arena *arena)
{
	uint32_t length = 0;
	const char *data = get(at, end, &length);

	if (!data || length != sizeof *n)
		return false;
	memcpy(n, data, sizeof *n);
	n->failure.loops = NULL;
	n->failure.fault = get_text(at, end, arena);
	n->failure.end_text = get_text(at, end, arena);
	n->why = get_text(at, end, arena);
	n->failure.place = get_text(at, end, arena);
	n->failure.thread = get_text(at, end, arena);
	n->failure.test = get_text(at, end, arena);
	n->made = get_text(at, end, arena);
	n->races = get_array(at, end, sizeof *n->races, &n->race_count, arena);
	n->threads = get_array(at, end, sizeof *n->threads, &n->thread_count, arena);
	n->pairs = get_array(at, end, sizeof *n->pairs, &n->pair_count, arena);
	return *at != NULL;
}
