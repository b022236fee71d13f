/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Memory allocation.  The functions whose names begin with rd_x never return NULL.  When memory
 * runs out, they end the enclosing context (context.h).  If there is no context, they print a
 * message and end the process with status 2.
 */
#ifndef BASE_ALLOC_H
#define BASE_ALLOC_H

#include <stddef.h>

/* Ends the context or the process, as described above. */
_Noreturn void rd_out_of_memory(void);

void *rd_xmalloc(size_t size);
void *rd_xcalloc(size_t count, size_t size);
void *rd_xrealloc(void *p, size_t size);
char *rd_xstrdup(const char *s);
char *rd_xstrndup(const char *s, size_t n); /* s may be NULL if n is 0, here and below */
char *rd_xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Frees several blocks.  All pointers are read first, so an argument may be stored in a block that
 * an earlier argument frees. */
void rd_free_all(size_t count, void *const *blocks);
#define RD_FREE(...) rd_free_all(sizeof((void *[]){__VA_ARGS__}) / sizeof(void *), (void *[]){__VA_ARGS__})

/* Frees one block per element: RD_FREE_EACH(items, count, .name) frees the `name` of each item.
 * For an array of pointers, omit the last argument. */
#define RD_FREE_EACH(array, count, ...)                                                                      \
	do {                                                                                                 \
		for (size_t rd_i = 0; rd_i < (count); rd_i++)                                                \
			free((array)[rd_i] __VA_ARGS__);                                                     \
	} while (0)

/* Makes room for at least `need` elements in *array.  *capacity is the number of elements for
 * which there is room.  It grows by half.  Callers usually use the macro RD_GROW(array, capacity,
 * need). */
void rd_grow(void **array, size_t *capacity, size_t need, size_t element);
#define RD_GROW(array, capacity, need) rd_grow((void **)&(array), &(capacity), (need), sizeof *(array))

/* An arena holds many small objects that are freed together. */
struct rd_arena;
struct rd_arena *rd_arena_new(void);
void rd_arena_free(struct rd_arena *arena);
void *rd_arena_alloc(struct rd_arena *arena, size_t size); /* zeroed, 16-byte aligned */
char *rd_arena_strndup(struct rd_arena *arena, const char *s, size_t n);
/* Copies all bytes, whatever they are, and appends a NUL. */
char *rd_arena_copy(struct rd_arena *arena, const void *bytes, size_t n);

#endif
