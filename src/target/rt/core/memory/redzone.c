// SPDX-License-Identifier: Apache-2.0
/*
 * Reserves inaccessible memory, called red zones, on both sides of the runtime's variables.
 *
 * The runtime is linked into the program.  Its variables lie in a section of their own, which
 * linkers put after .bss (the Makefile renames it).  This file is the first in the archive, so its
 * memory is the first in that section.  If the program overruns an array beyond its own variables,
 * the access hits this red zone and crashes.  It cannot change the runtime's variables.  Without
 * address randomisation, the heap begins right after these variables, so a second red zone
 * separates it from them.
 *
 * Each red zone is larger than the memory between the two zones.  So if a single bit of a pointer
 * flips, a pointer to the program's variables or heap never becomes a pointer to the runtime's
 * variables.
 */
#include "rt/core/rt.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Bytes, chosen by hand: larger than all variables of the runtime together. */
#define ZONE_BYTES (16u << 20)
#define LARGEST_PAGE (1u << 16) /* bytes: the largest page size of Linux, 64 KiB */

__attribute__((visibility("hidden"), aligned(LARGEST_PAGE))) char __raddle_away[ZONE_BYTES];

void rt_protect_redzones(void)
{
	uintptr_t end = (uintptr_t)sbrk(0), first = (end + rt.page - 1) & -rt.page;

	syscall(SYS_mprotect, __raddle_away, sizeof __raddle_away, PROT_NONE);
	if (sbrk(ZONE_BYTES) != (void *)-1)
		syscall(SYS_mprotect, first, (end + ZONE_BYTES - first) & -rt.page, PROT_NONE);
}
