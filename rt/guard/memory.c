// SPDX-License-Identifier: Apache-2.0
/*
 * Memory that is given back: what comes to lie there next is another thing.
 */
#include "rt/guard/real.h"

#include <malloc.h>

void *__raddle_interpose_memory(void);
__attribute__((visibility("default"))) void *__raddle_interpose_memory(void)
{
	return (void *)__raddle_interpose_memory;
}

/* Out of the way of those that free memory while nothing is tracked. */
__attribute__((noinline, cold)) static void free_slowly(void *memory)
{
	if (guard_tracks() && memory)
		guard_note_gone(memory, malloc_usable_size(memory));
	guard_resolve();
	REAL(free)(memory);
}

INTERPOSE(void, free, (void *memory))
{
	if (guard_tracks() || !guard_is_resolved())
		free_slowly(memory);
	else
		REAL(free)(memory);
}

INTERPOSE(void *, realloc, (void *memory, size_t size))
{
	if (guard_tracks() && memory)
		guard_note_gone(memory, malloc_usable_size(memory));
	guard_resolve();
	return REAL(realloc)(memory, size);
}

INTERPOSE(int, munmap, (void *memory, size_t size))
{
	if (guard_tracks())
		guard_note_gone(memory, size);
	return REAL(munmap)(memory, size);
}

GUARD_OWN(free)
