// SPDX-License-Identifier: Apache-2.0
/*
 * Pages that nobody may touch, between the program's variables and those of the runtime.
 *
 * The runtime is linked into the program.  What it keeps in variables lies in a section of its own, which
 * linkers put behind .bss (the Makefile renames it), and this file comes first in the archive, so its pages
 * come first in that section.  An overrun of a program's array that would leave its memory without us ends
 * here: it neither changes the runtime nor goes on unnoticed.
 */
#include "rt/core/rt.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SIZE (1u << 20)
#define LARGEST_PAGE (1u << 16)

__attribute__((visibility("hidden"), aligned(LARGEST_PAGE))) char __raddle_away[SIZE];

void rt_keep_away(void)
{
	syscall(SYS_mprotect, __raddle_away, sizeof __raddle_away, PROT_NONE);
}
