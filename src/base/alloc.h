/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory.  The rd_x functions never return NULL: without memory the context ends in which
 * they were called (context.h), or else the process, with one message and status 2.
 */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stddef.h>

void *rd_xmalloc(size_t size);
void *rd_xcalloc(size_t count, size_t size);
void *rd_xrealloc(void *p, size_t size);
char *rd_xstrdup(const char *s);
char *rd_xstrndup(const char *s, size_t n); /* s may be NULL where n is 0, here and below */
char *rd_xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Frees several blocks.  All pointers are read first, so that one may lie in another that is named behind it.
 */
void rd_free_all(size_t count, void *const *blocks);
#define RD_FREE(...) rd_free_all(sizeof((void *[]){__VA_ARGS__}) / sizeof(void *), (void *[]){__VA_ARGS__})

/* Frees a block of each element: RD_FREE_EACH(items, count, .name); an array of pointers has no member to
 * name. */
#define RD_FREE_EACH(array, count, ...)                                                                      \
	do {                                                                                                 \
		for (size_t rd_i = 0; rd_i < (count); rd_i++)                                                \
			free((array)[rd_i] __VA_ARGS__);                                                     \
	} while (0)

/* Makes room for at least `need` elements in *array; *capacity counts elements
 * and grows by half.  RD_GROW(array, capacity, need) is the usual spelling. */
void rd_grow(void **array, size_t *capacity, size_t need, size_t element);
#define RD_GROW(array, capacity, need) rd_grow((void **)&(array), &(capacity), (need), sizeof *(array))

/* An arena: many small objects that die together. */
struct rd_arena;
struct rd_arena *rd_arena_new(void);
void rd_arena_free(struct rd_arena *arena);
void *rd_arena_alloc(struct rd_arena *arena, size_t size); /* zeroed, 16-byte aligned */
char *rd_arena_strndup(struct rd_arena *arena, const char *s, size_t n);

#endif
