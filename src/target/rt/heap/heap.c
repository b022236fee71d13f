// SPDX-License-Identifier: Apache-2.0
/*
 * Keeps freed memory in quarantine, so that it is not reused for a while.  Accesses to this memory,
 * and attempts to free it again, are reported.  So are accesses to the word before a block, where
 * libc keeps the block's size: a program that runs over the end of a block reaches this word of the
 * next block before it reaches that block's memory.
 *
 * In: the blocks that the program frees, and each of its accesses in the flavour `led`.  Out: sets
 * `fault` of raddle/steer.h and ends the process with SIGABRT, before the bad access happens.
 *
 * Freed blocks are passed on to the allocator, the oldest first, only when there are more than
 * BLOCKS of them or when they contain more than BYTES in total.  Until then, their memory cannot be
 * reused.  For each GRANULE, one bit marks freed memory, and another one the size of a block.  The
 * bits of a page are in a hash table with open addressing.  Once this table is a quarter full, the
 * sizes in further pages are not marked; once it is half full, blocks are freed at once.
 *
 * While a replay follows its plan, only one thread runs at a time, but after the end of the plan
 * several may run.  So there is a lock, and signals are blocked while it is held.
 */
#include "raddle/steer.h"
#include "rt/common/bug.h"
#include "rt/common/hash.h"
#include "rt/core/layer.h"
#include "rt/core/real.h"

#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The maximum number of blocks and bytes in quarantine.  Chosen by hand: all blocks that a short
 * run frees fit, and memory stays bounded. */
#define BLOCKS 65536
#define BYTES (64u << 20)
/* The number of entries, a power of two: four times the number of pages in BYTES. */
#define PAGES 65536
#define PAGE 4096u
#define GRANULE 16u /* bytes: the alignment of malloc() */
/* Fills the memory of a freed block, so that a read returns the same value in each run. */
#define FILL 0xdb
/* maximum number of bytes of a block that are filled; more would take too long */
#define FILLED (1u << 20)

struct page {
	uintptr_t number; /* the page number; 0 if the entry is unused */
	uint64_t freed[PAGE / GRANULE / 64];
	/* the second half of the granule contains the size of the block that begins after it */
	uint64_t sizes[PAGE / GRANULE / 64];
};

_Static_assert((PAGES & (PAGES - 1)) == 0 && PAGE % (64 * GRANULE) == 0, "positions wrap, bits fill words");

struct block {
	uintptr_t start;
	uint64_t size;
	uint32_t slot, site; /* the slot of the thread that freed it, and the site */
};

struct heap {
	struct raddle_steer *steer;
	struct page *pages;
	struct block *blocks; /* a ring of BLOCKS entries */
	uint64_t first, count, bytes, page_count;
	uintptr_t lowest, end; /* all marked sizes are in this range */
	_Atomic uint32_t lock;
};

static struct heap *heap(void)
{
	return rt.layer[RT_LAYER_HEAP];
}

static void take(uint64_t *signals)
{
	rt_defer_signals(signals);
	while (atomic_exchange_explicit(&heap()->lock, 1, memory_order_acquire))
		syscall(SYS_sched_yield);
}

static void give(const uint64_t *signals)
{
	RT_ASSERT(atomic_load_explicit(&heap()->lock, memory_order_relaxed));
	atomic_store_explicit(&heap()->lock, 0, memory_order_release);
	rt_allow_signals(signals);
}

/* ---- pages ---- */

/* Returns the entry of the page with this number, or the unused entry where it belongs. */
static struct page *page_at(uintptr_t number)
{
	uint64_t at = rt_hash(number) >> 48;

	while (heap()->pages[at % PAGES].number && heap()->pages[at % PAGES].number != number)
		at++;
	return &heap()->pages[at % PAGES];
}

static uint64_t granules_of(uint64_t size)
{
	return (size + GRANULE - 1) / GRANULE;
}

static void set_bit(uint64_t *bits, uintptr_t address, bool value)
{
	uint32_t bit = address % PAGE / GRANULE;

	if (value)
		bits[bit / 64] |= 1ull << bit % 64;
	else
		bits[bit / 64] &= ~(1ull << bit % 64);
}

static bool has_bit(const uint64_t *bits, uintptr_t address)
{
	uint32_t bit = address % PAGE / GRANULE;

	return bits[bit / 64] >> bit % 64 & 1;
}

/* Returns the entry of a page, and adds it to the table if necessary.  A page without bits stays in
 * the table, since removing it would break the search. */
static struct page *page_for(uintptr_t address)
{
	struct page *p = page_at(address / PAGE);

	heap()->page_count += !p->number;
	p->number = address / PAGE;
	return p;
}

static void mark(uintptr_t start, uint64_t size, bool freed)
{
	for (uint64_t i = 0; i < granules_of(size); i++)
		set_bit(page_for(start + i * GRANULE)->freed, start + i * GRANULE, freed);
}

static bool is_freed(uintptr_t address)
{
	const struct page *p = page_at(address / PAGE);

	return p->number && has_bit(p->freed, address);
}

/* ---- faults ---- */

static const struct block *block_at(uintptr_t address)
{
	for (uint64_t i = heap()->count; i-- > 0;) {
		const struct block *b = &heap()->blocks[(heap()->first + i) % BLOCKS];
		if (address >= b->start && address < b->start + b->size)
			return b;
	}
	return NULL;
}

static _Noreturn void tell(const struct rt_thread *t, uint32_t kind, uintptr_t address, uint32_t site)
{
	struct raddle_steer_misuse *f = &heap()->steer->fault;
	const struct block *b = block_at(address);

	f->slot = t->number;
	f->site = site;
	f->address = address;
	f->freed_slot = b ? b->slot : RADDLE_STEER_NONE;
	f->freed_site = b ? b->site : 0;
	atomic_store(&f->kind, kind);
	rt_end_process();
}

/* ---- sizes of blocks ---- */

/* Returns the granule whose second half contains the size of the block at p. */
static uintptr_t size_of(uintptr_t p)
{
	RT_ASSERT(p % GRANULE == 0);
	return p - GRANULE;
}

static void allocates(uintptr_t p)
{
	struct heap *h = heap();
	uint64_t signals;

	take(&signals);
	if (page_at(size_of(p) / PAGE)->number || h->page_count < PAGES / 4) {
		set_bit(page_for(size_of(p))->sizes, size_of(p), true);
		h->lowest = h->lowest && h->lowest < size_of(p) ? h->lowest : size_of(p);
		h->end = h->end > p ? h->end : p;
	}
	give(&signals);
}

static void forget_size(uintptr_t p)
{
	struct page *page = page_at(size_of(p) / PAGE);

	if (page->number)
		set_bit(page->sizes, size_of(p), false);
}

static void leaves(uintptr_t p)
{
	uint64_t signals;

	if (!p)
		return;
	take(&signals);
	forget_size(p);
	give(&signals);
}

/* Returns true if the second half of this granule contains the size of a block, and the access
 * touches that half. */
static bool is_size(uintptr_t granule, uintptr_t address, uint64_t size)
{
	const struct page *p = page_at(granule / PAGE);

	return p->number && has_bit(p->sizes, granule) && address < granule + GRANULE &&
	       address + size > granule + GRANULE / 2;
}

/* ---- accesses ---- */

static bool is_among_sizes(uintptr_t address, uint64_t size)
{
	return address < heap()->end && address + size > heap()->lowest;
}

static void touches(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t how)
{
	bool sizes = is_among_sizes(address, size);

	(void)how;
	if ((!heap()->count && !sizes) || t->internal)
		return;
	for (uintptr_t at = address & ~(uintptr_t)(GRANULE - 1); at < address + size; at += GRANULE) {
		if (is_freed(at))
			tell(t, RADDLE_MISUSE_AFTER_FREE, at < address ? address : at, site);
		if (sizes && is_size(at, address, size))
			tell(t, RADDLE_MISUSE_OVERRUN, address, site);
	}
}

static void accesses(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t how)
{
	if (how & RT_ACCESS_ATOMIC)
		touches(t, address, size, site, how);
}

/* A lock in freed memory must not be used either. */
static void handles(struct rt_thread *t, uint32_t kind, uintptr_t object)
{
	(void)kind;
	if (heap()->count && !t->internal && is_freed(object))
		tell(t, RADDLE_MISUSE_AFTER_FREE, object, rt_call_site(t));
}

static void op_enter(struct rt_op *op)
{
	handles(op->t, op->kind, op->object);
}

/* ---- freeing ---- */

/* Returns the oldest block to the allocator. */
static void let_go(void)
{
	struct heap *h = heap();
	struct block b = h->blocks[h->first];

	RT_ASSERT(h->count > 0 && h->bytes >= b.size);
	h->first = (h->first + 1) % BLOCKS;
	h->count--;
	h->bytes -= b.size;
	mark(b.start, b.size, false);
	forget_size(b.start);
	REAL(free)((void *)b.start);
}

static bool has_room(uint64_t size)
{
	return heap()->page_count + size / PAGE + 2 < PAGES / 2;
}

static void keep(const struct rt_thread *t, uintptr_t start, uint64_t size)
{
	struct heap *h = heap();

	while (h->count == BLOCKS || (h->count && h->bytes + size > BYTES))
		let_go();
	RT_ASSERT(h->count < BLOCKS && h->bytes + size <= BYTES);
	h->blocks[(h->first + h->count++) % BLOCKS] = (struct block){start, size, t->number, rt_call_site(t)};
	h->bytes += size;
	mark(start, size, true);
}

static void frees(struct rt_thread *t, void *p, bool *kept)
{
	uint64_t size = malloc_usable_size(p), signals;

	if (heap()->count && is_freed((uintptr_t)p))
		tell(t, RADDLE_MISUSE_DOUBLE_FREE, (uintptr_t)p, rt_call_site(t));
	if (size > BYTES || !has_room(size))
		return;
	__builtin_memset(p, FILL, size < FILLED ? size : FILLED);
	take(&signals);
	keep(t, (uintptr_t)p, size);
	give(&signals);
	*kept = true;
}

/* ---- the table ---- */

static bool setup(void)
{
	struct raddle_steer *s = rt_steer_memory();
	char *memory;

	if (!s || !(s->flags & RADDLE_STEER_HEAP))
		return false;
	memory = rt_map(sizeof(struct heap) + PAGES * sizeof(struct page) + BLOCKS * sizeof(struct block));
	if (!memory)
		return false;
	rt.layer[RT_LAYER_HEAP] = memory;
	heap()->steer = s;
	heap()->pages = (struct page *)(memory + sizeof(struct heap));
	heap()->blocks = (struct block *)(heap()->pages + PAGES);
	return true;
}

const struct rt_layer rt_layer_heap = {
	.number = RT_LAYER_HEAP,
	.listens = true,
	.setup = setup,
	.callbacks = {.access = accesses,
		      .touches = touches,
		      .stops = touches,
		      .frees = frees,
		      .allocates = allocates,
		      .leaves = leaves,
		      .handles = handles,
		      .op_enter = op_enter},
};
