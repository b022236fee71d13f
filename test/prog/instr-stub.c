/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A stand-in for the runtime, for tests of the instrumenter alone.  It prints each
 * event on file descriptor 3, if that is open: kind, site, size, and the site of each
 * call on the shadow stack. stub_segment() represents a synchronisation operation.
 * If STUB_SET is set in the environment, it prints each byte of a global variable
 * that an event touches instead: segment, direction, and the distance from the first
 * byte.
 */
#include "raddle/abi.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static uint32_t stack[1 << 16];
static struct raddle_self state = {.stack_top = stack};
__thread struct raddle_self *__raddle_self = &state;

extern char __data_start[], _end[]; /* global variables are between these two */

static unsigned segment;
static int set_mode = -1;

void stub_segment(void);
void stub_segment(void)
{
	segment++;
	dprintf(3, "segment\n");
}

static void event(const char *kind, uint32_t site, const void *p, uint64_t size)
{
	int saved = errno;
	if (set_mode < 0)
		set_mode = getenv("STUB_SET") != NULL;
	bool global = (const char *)p >= __data_start && (const char *)p < _end;
	for (uint64_t i = 0; set_mode && global && i < size; i++)
		dprintf(3, "%u %c %ld\n", segment, kind[strlen(kind) - 1],
			(long)((const char *)p + i - __data_start));
	if (set_mode) {
		errno = saved;
		return;
	}
	dprintf(3, "%s %u %llu", kind, site & 0xffff, (unsigned long long)size);
	for (uint32_t *s = stack; s < state.stack_top; s++)
		dprintf(3, " %u", *s & 0xffff);
	dprintf(3, "\n");
	errno = saved;
}

RADDLE_COLD void __raddle_first_read(struct raddle_self *self, uintptr_t a, uint32_t site, uint32_t size)
{
	(void)self;
	event("r", site, (void *)a, size);
}

RADDLE_COLD void __raddle_first_write(struct raddle_self *self, uintptr_t a, uint32_t site, uint32_t size)
{
	(void)self;
	event("w", site, (void *)a, size);
}

RADDLE_COLD void __raddle_first_update(struct raddle_self *self, uintptr_t a, uint64_t sites, uint32_t size)
{
	__raddle_first_read(self, a, (uint32_t)sites, size);
	__raddle_first_write(self, a, (uint32_t)(sites >> 32), size);
}

RADDLE_COLD void __raddle_first_two_reads(struct raddle_self *self, uintptr_t a, uint64_t sites,
					  uint32_t size)
{
	__raddle_first_read(self, a, (uint32_t)sites, size);
	__raddle_first_read(self, a + size, (uint32_t)(sites >> 32), size);
}

RADDLE_COLD void __raddle_first_two_writes(struct raddle_self *self, uintptr_t a, uint64_t sites,
					   uint32_t size)
{
	__raddle_first_write(self, a, (uint32_t)sites, size);
	__raddle_first_write(self, a + size, (uint32_t)(sites >> 32), size);
}

RADDLE_COLD void __raddle_first_two_updates(struct raddle_self *self, uintptr_t a, uint64_t first,
					    uint64_t second, uint32_t size)
{
	__raddle_first_update(self, a, first, size);
	__raddle_first_update(self, a + size, second, size);
}

void __raddle_read_stride(struct raddle_self *self, const void *p, uint32_t site, uint64_t count, int64_t by)
{
	for (uint64_t i = 0; i < count; i++)
		__raddle_first_read(self, (uintptr_t)p + i * (uint64_t)(by >> 8), site, by & 255);
}

void __raddle_write_stride(struct raddle_self *self, const void *p, uint32_t site, uint64_t count, int64_t by)
{
	for (uint64_t i = 0; i < count; i++)
		__raddle_first_write(self, (uintptr_t)p + i * (uint64_t)(by >> 8), site, by & 255);
}

void __raddle_round(void)
{
}

void __raddle_progress(void)
{
}

void __raddle_read_always(struct raddle_self *self, const void *p, uint32_t site, uint32_t size)
{
	(void)self;
	event("lr", site, p, size);
}

void __raddle_read_range(struct raddle_self *self, const void *p, uint32_t site, uint64_t size)
{
	(void)self;
	event("rr", site, p, size);
}

void __raddle_write_range(struct raddle_self *self, const void *p, uint32_t site, uint64_t size)
{
	(void)self;
	event("rw", site, p, size);
}

void __raddle_atomic_begin(struct raddle_self *self, const volatile void *p, uint64_t what)
{
	(void)self;
	(void)p;
	(void)what;
}

void __raddle_atomic_end(struct raddle_self *self, const volatile void *p, uint32_t site, uint32_t stored)
{
	(void)self;
	(void)p;
	segment++;
	event("a", site, NULL, stored);
}

void __raddle_fence(struct raddle_self *self, uint32_t site)
{
	(void)self;
	segment++;
	event("f", site, NULL, 0);
}
