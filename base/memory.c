// SPDX-License-Identifier: Apache-2.0
/* Memory in use, as the allocator counts it. */
#include "base/memory.h"

#include <malloc.h>
#include <unistd.h>

uint64_t rd_memory_used(void)
{
	struct mallinfo2 m = mallinfo2();

	return m.uordblks + m.hblkhd;
}

uint64_t rd_memory_total(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);

	return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : 0;
}
