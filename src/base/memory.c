// SPDX-License-Identifier: Apache-2.0
/* Memory in use according to the allocator, the machine's memory, and pages that can be dropped. */
#include "base/memory.h"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
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

/* Drops the read-only segments of an object.  Their content equals that of the file, except for
 * text relocations, which Raddle does not have. */
static int drop_object(struct dl_phdr_info *object, size_t size, void *page)
{
	uintptr_t mask = *(const uintptr_t *)page - 1;

	(void)size;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		uintptr_t first = object->dlpi_addr + segment->p_vaddr, end = first + segment->p_filesz;
		if (segment->p_type != PT_LOAD || segment->p_flags & PF_W)
			continue;
		first = (first + mask) & ~mask;
		end &= ~mask;
		if (first < end)
			madvise((void *)first, end - first, MADV_DONTNEED);
	}
	return 0;
}

void rd_memory_drop_code(void)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	dl_iterate_phdr(drop_object, &page);
}
