// SPDX-License-Identifier: Apache-2.0
/*
 * Memory without access on both sides of the runtime's variables (red zones).
 *
 * The runtime is linked into the program.  What it keeps in variables lies in a section of its own,
 * which linkers put after .bss (the Makefile renames it), and this file comes first in the archive,
 * so its memory comes first in that section.  If the program overruns an array and would leave its
 * memory without Raddle, the overrun ends here: it neither changes the runtime nor continues
 * unnoticed.  Without address randomisation the heap begins right after these variables; it gets
 * the same distance.
 *
 * The distance is larger than all that lies in between, so that no single bit of a pointer leads from the
 * program's variables or its heap to the runtime's variables.
 */
#include "rt/core/rt.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ZONE_BYTES (16u << 20)	/* a judgement: larger than the runtime's variables */
#define LARGEST_PAGE (1u << 16) /* bytes; of the processors that Linux supports, some have 64 KiB */

__attribute__((visibility("hidden"), aligned(LARGEST_PAGE))) char __raddle_away[ZONE_BYTES];

void rt_protect_redzones(void)
{
	uintptr_t end = (uintptr_t)sbrk(0), first = (end + rt.page - 1) & -rt.page;

	syscall(SYS_mprotect, __raddle_away, sizeof __raddle_away, PROT_NONE);
	if (sbrk(ZONE_BYTES) != (void *)-1)
		syscall(SYS_mprotect, first, (end + ZONE_BYTES - first) & -rt.page, PROT_NONE);
}
