// SPDX-License-Identifier: Apache-2.0
/*
 * Shadow memory, which stores the expressions of the program's bytes.
 *
 * Each expression is stored with the value of its byte.  If memory has another value when the
 * expression is needed, code without instrumentation has overwritten the byte, and the byte is
 * concrete.  So there does not have to be a model of every function that writes to memory.
 */
#include "rt/common/hash.h"
#include "rt/shadow/shadow.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE (1ull << RADDLE_SHADOW_PAGE_SHIFT)
#define SLOTS (RT_SHADOW_PAGES * 2)
_Static_assert(sizeof rt_shadow.pages / sizeof rt_shadow.pages[0] == SLOTS, "all slots are searched");
_Static_assert(SLOTS > RT_SHADOW_PAGES, "a search among the slots ends at a free one");

struct rt_shadow_page {
	uintptr_t number;
	uint32_t refs[PAGE];
	uint8_t bytes[PAGE];
};

static uint8_t *mark_of(uintptr_t a)
{
	return (uint8_t *)RADDLE_SHADOW_PAGES + (a >> RADDLE_SHADOW_PAGE_SHIFT);
}

bool rt_memory_setup(void)
{
	long size = 1l << (RADDLE_SHADOW_ADDRESS_BITS - RADDLE_SHADOW_PAGE_SHIFT);
	long p = syscall(SYS_mmap, RADDLE_SHADOW_PAGES, size, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0l);

	if (p != (long)RADDLE_SHADOW_PAGES)
		return false;
	syscall(SYS_madvise, p, size, MADV_DONTDUMP);
	syscall(SYS_madvise, p, size, MADV_NOHUGEPAGE);
	return true;
}

/* Returns the shadow page of an address, or NULL if there is none.  If `make` is set, a missing
 * page is made, and NULL means that there is no room. */
static struct rt_shadow_page *page_of(uintptr_t a, bool make)
{
	uintptr_t number = a >> RADDLE_SHADOW_PAGE_SHIFT;
	uint32_t i = (uint32_t)(rt_hash(number) >> 40) % SLOTS;

	for (; rt_shadow.pages[i]; i = (i + 1) % SLOTS)
		if (rt_shadow.pages[i]->number == number)
			return rt_shadow.pages[i];
	if (!make)
		return NULL;
	if (rt_shadow.page_count >= RT_SHADOW_PAGES ||
	    !(rt_shadow.pages[i] = rt_map(sizeof(struct rt_shadow_page)))) {
		rt_path_lose(RADDLE_LOST_NODES);
		return NULL;
	}
	rt_shadow.pages[i]->number = number;
	rt_shadow.page_count++;
	*mark_of(a) = 1;
	if (a >= PAGE) /* an access may begin in the page before and end in this one */
		*mark_of(a - PAGE) = 1;
	return rt_shadow.pages[i];
}

uint32_t rt_memory_byte(uintptr_t a)
{
	struct rt_shadow_page *p = *mark_of(a) ? page_of(a, false) : NULL;
	uint32_t offset = a & (PAGE - 1);

	if (!p || !p->refs[offset])
		return 0;
	if (*(const volatile uint8_t *)a != p->bytes[offset])
		p->refs[offset] = 0;
	return p->refs[offset];
}

void rt_memory_set_byte(uintptr_t a, uint32_t e)
{
	struct rt_shadow_page *p = e || *mark_of(a) ? page_of(a, e != 0) : NULL;
	uint32_t offset = a & (PAGE - 1);

	if (!p)
		return;
	p->refs[offset] = e;
	if (e)
		p->bytes[offset] = *(const volatile uint8_t *)a;
}

/* Returns the expression of a byte.  For a concrete byte, the expression is a constant. */
static uint32_t byte_at(uintptr_t a)
{
	uint32_t e = rt_memory_byte(a);

	return e ? e : rt_expr_const(*(const volatile uint8_t *)a, 8);
}

uint32_t rt_memory_load(uintptr_t a, uint32_t size)
{
	uint32_t e = 0, i;

	for (i = 0; i < size && !rt_memory_byte(a + i); i++)
		;
	if (i == size)
		return 0;
	for (i = size; i-- > 0;)
		e = i == size - 1 ? byte_at(a + i) : rt_expr_concat(e, byte_at(a + i));
	return e;
}

void rt_memory_store(uintptr_t a, uint32_t size, uint32_t e)
{
	uint64_t k;

	for (uint32_t i = 0; i < size; i++) {
		uint32_t part = e ? rt_expr_extract(e, i * 8, 8) : 0;

		rt_memory_set_byte(a + i, part && rt_expr_is_const(part, &k) ? 0 : part);
	}
}

/* Returns the first address from `a` on whose page may have expressions, or `end` if there is none
 * before it. */
static uintptr_t next_marked(uintptr_t a, uintptr_t end)
{
	while (a < end && !*mark_of(a))
		a = (a | (PAGE - 1)) + 1;
	return a < end ? a : end;
}

bool rt_memory_any(uintptr_t a, uint64_t size)
{
	return next_marked(a, a + size) < a + size;
}

void rt_memory_clear(uintptr_t a, uint64_t size)
{
	uintptr_t end = a + size;

	for (a = next_marked(a, end); a < end; a = next_marked(a, end)) {
		uintptr_t stop = (a | (PAGE - 1)) + 1 < end ? (a | (PAGE - 1)) + 1 : end;
		struct rt_shadow_page *p = page_of(a, false);

		if (p)
			__builtin_memset(&p->refs[a & (PAGE - 1)], 0, (stop - a) * sizeof *p->refs);
		a = stop;
	}
}

/* Copies the expression of a byte.  The byte itself was already copied, and its source may have
 * been overwritten. */
static void copy_byte(uintptr_t to, uintptr_t from)
{
	struct rt_shadow_page *p = *mark_of(from) ? page_of(from, false) : NULL;
	uint32_t offset = from & (PAGE - 1), e = p ? p->refs[offset] : 0;

	rt_memory_set_byte(to, e && *(const volatile uint8_t *)to == p->bytes[offset] ? e : 0);
}

void rt_memory_copy(uintptr_t to, uintptr_t from, uint64_t size)
{
	if (!rt_memory_any(from, size) && !rt_memory_any(to, size))
		return;
	for (uint64_t i = 0; i < size; i++)
		if (to <= from)
			copy_byte(to + i, from + i);
		else
			copy_byte(to + size - 1 - i, from + size - 1 - i);
}
