// SPDX-License-Identifier: Apache-2.0
/*
 * Allocation that cannot fail, growing arrays and arenas.  Callers bound the sizes; an overflow of
 * a product is treated as running out of memory.  An arena is a list of blocks, newest first.  New
 * objects go into the newest block only.
 */
#include "base/alloc.h"

#include "base/context.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Both are in bytes.  The block size was chosen by hand: it is so large that malloc() is called
 * rarely, and so small that a nearly empty arena wastes little.  The alignment is that of malloc()
 * on 64-bit machines. */
enum { ARENA_BLOCK = 64 * 1024, ARENA_ALIGN = 16 };

struct block {
	struct block *next;
	size_t used, size;
	_Alignas(ARENA_ALIGN) char data[];
};

struct rd_arena {
	struct block *blocks;
};

/* Ends the innermost context that has a boundary, or else the process.  The message must not
 * allocate.  The process ends with _exit() because atexit handlers may allocate. */
_Noreturn void rd_out_of_memory(void)
{
	static const char message[] = "raddle: out of memory\n";

	rd_context_no_memory();
	if (write(STDERR_FILENO, message, sizeof message - 1) < 0)
		_exit(2);
	_exit(2);
}

static void *checked(void *p)
{
	if (!p)
		rd_out_of_memory();
	return p;
}

void *rd_xmalloc(size_t size)
{
	rd_context_count(size);
	return checked(malloc(size ? size : 1));
}

void *rd_xcalloc(size_t count, size_t size)
{
	if (!count || !size)
		count = size = 1;
	rd_context_count(count > SIZE_MAX / size ? SIZE_MAX : count * size);
	return checked(calloc(count, size));
}

void *rd_xrealloc(void *p, size_t size)
{
	rd_context_count(size);
	return checked(realloc(p, size ? size : 1));
}

char *rd_xstrdup(const char *s)
{
	RD_ASSERT(s != NULL);
	return rd_xstrndup(s, strlen(s));
}

char *rd_xstrndup(const char *s, size_t n)
{
	rd_context_count(n);
	return checked(strndup(n ? s : "", n));
}

char *rd_xasprintf(const char *format, ...)
{
	RD_ASSERT(format != NULL);
	va_list ap;
	char *s;
	int n;

	/* The length is determined first, so that rd_xmalloc() can allocate the whole text.
	 * Allocating may end the context, and nothing must leak then. */
	va_start(ap, format);
	n = vsnprintf(NULL, 0, format, ap);
	va_end(ap);
	if (n < 0)
		rd_out_of_memory();
	s = rd_xmalloc((size_t)n + 1);
	va_start(ap, format);
	vsnprintf(s, (size_t)n + 1, format, ap);
	va_end(ap);
	return s;
}

void rd_free_all(size_t count, void *const *blocks)
{
	for (size_t i = 0; i < count; i++)
		free(blocks[i]);
}

void rd_grow(void **array, size_t *capacity, size_t need, size_t element)
{
	RD_ASSERT(element > 0);
	size_t bytes, to;
	void *p;

	if (need <= *capacity)
		return;
	to = *capacity + *capacity / 2;
	if (to < need)
		to = need;
	if (to < 8)
		to = 8;
	if (__builtin_mul_overflow(to, element, &bytes))
		rd_out_of_memory();
	/* *array has the type T *, so reading it as void * would break strict aliasing. */
	memcpy(&p, array, sizeof p);
	p = rd_xrealloc(p, bytes);
	memcpy(array, &p, sizeof p);
	*capacity = to;
}

struct rd_arena *rd_arena_new(void)
{
	return rd_xcalloc(1, sizeof(struct rd_arena));
}

void rd_arena_free(struct rd_arena *arena)
{
	struct block *b, *next;

	if (!arena)
		return;
	for (b = arena->blocks; b; b = next) {
		next = b->next;
		free(b);
	}
	free(arena);
}

/* Blocks come from calloc and are never reused, so all allocations are zeroed. */
static struct block *new_block(struct rd_arena *arena, size_t size)
{
	struct block *b;

	if (size > SIZE_MAX - sizeof *b)
		rd_out_of_memory();
	b = rd_xcalloc(1, sizeof *b + size);
	b->size = size;
	b->next = arena->blocks;
	arena->blocks = b;
	return b;
}

void *rd_arena_alloc(struct rd_arena *arena, size_t size)
{
	RD_ASSERT(arena != NULL);
	struct block *b = arena->blocks;
	size_t rounded = (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);
	void *p;

	if (rounded < size)
		rd_out_of_memory();
	if (!b || b->size - b->used < rounded)
		b = new_block(arena, rounded > ARENA_BLOCK ? rounded : ARENA_BLOCK);
	p = b->data + b->used;
	b->used += rounded;
	return p;
}

char *rd_arena_copy(struct rd_arena *arena, const void *bytes, size_t n)
{
	char *copy = rd_arena_alloc(arena, n + 1);

	if (n)
		memcpy(copy, bytes, n);
	return copy;
}

char *rd_arena_strndup(struct rd_arena *arena, const char *s, size_t n)
{
	return rd_arena_copy(arena, s, n ? strnlen(s, n) : 0);
}
