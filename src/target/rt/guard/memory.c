// SPDX-License-Identifier: Apache-2.0
/*
 * Interposed functions that free memory.  Whatever is later allocated at the same address is
 * another object, so tracking of accesses to the freed memory ends.
 */
#include "rt/guard/real.h"

#include <malloc.h>

void *__raddle_interpose_memory(void);
__attribute__((visibility("default"))) void *__raddle_interpose_memory(void)
{
	return (void *)__raddle_interpose_memory;
}

/* A separate function, which keeps the common path short while nothing is tracked. */
__attribute__((cold)) void guard_free_slowly(void *memory)
{
	if (guard_tracks() && memory)
		guard_note_gone(memory, malloc_usable_size(memory));
	guard_resolve();
	REAL(free)(memory);
}

/* Programs and their libraries free memory all the time.  So free() calls a function through a
 * pointer, which is changed when tracking begins and ends.  This saves a test at each call. */
void guard_free_track(bool tracking)
{
	guard.free = tracking || !guard_is_resolved() ? guard_free_slowly : REAL(free);
}

INTERPOSE(void, free, (void *memory))
{
	guard.free(memory);
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
