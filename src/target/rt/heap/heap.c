// SPDX-License-Identifier: Apache-2.0
/*
 * Keeps freed memory in quarantine, so that it is not reused for a while.  Accesses to this memory,
 * and attempts to free it again, are reported.  So are accesses outside blocks and variables:
 *
 *  - to the word before a block, where libc keeps the block's size.  A program that runs over the end
 *    of a block reaches the word of the next block before it reaches that block's memory.
 *  - to the *slack* of a block, that is, the bytes that libc has added to the requested size.  Once the
 *    program has asked for the usable size, a block has no slack.  Programs that copy whole words or
 *    structures may access slack together with the last bytes of the block.  So an access counts only if
 *    it begins in the slack, or if it is a write whose size the program computed.
 *  - to memory outside a variable or array, which instrumented code detects (instr/full/bounds.c).
 *
 * In: the blocks that the program allocates and frees, and each of its accesses in the flavour `led`.
 * Out: sets `fault` of raddle/steer.h and ends the process with SIGABRT, before the bad access happens.
 *
 * Freed blocks are passed on to the allocator, the oldest first, only when there are more than
 * BLOCKS of them or when they contain more than BYTES in total.  Until then, their memory cannot be
 * reused.  Memory is marked by one byte for each GRANULE.  The bytes of a page are in a hash table
 * with open addressing.  Once this table is a quarter full, the sizes and the slack of blocks in further
 * pages are not marked; once it is half full, blocks are freed at once.
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

/* Slack of so many bytes or more is not marked.  libc adds less, even to a block with its own mapping. */
#define MOST_SLACK (2 * PAGE)

/* The mark of a granule. */
enum {
	USED = 31, /* these bits: 0 without slack, else 1 + the number of bytes before the slack */
	SIZE = 64, /* the second half contains the size of the block that begins after the granule */
	FREED = 128,
};

struct page {
	uintptr_t number; /* the page number; 0 if the entry is unused */
	uint8_t marks[PAGE / GRANULE];
};

_Static_assert((PAGES & (PAGES - 1)) == 0 && GRANULE < USED, "positions wrap, marks are distinct");

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
	uintptr_t lowest, end; /* all marks except FREED are in this range */
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

/* Returns the entry of a page, and adds it to the table if necessary.  A page without marks stays in the
 * table, since removing it would break the search. */
static struct page *page_for(uintptr_t address)
{
	struct page *p = page_at(address / PAGE);

	heap()->page_count += !p->number;
	p->number = address / PAGE;
	return p;
}

/* Returns the mark of the granule at this address, to change it. */
static uint8_t *mark_for(uintptr_t address)
{
	return &page_for(address)->marks[address % PAGE / GRANULE];
}

static uint8_t mark_at(uintptr_t address)
{
	const struct page *p = page_at(address / PAGE);

	return p->number ? p->marks[address % PAGE / GRANULE] : 0;
}

static bool is_freed(uintptr_t address)
{
	return mark_at(address) & FREED;
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

/* ---- sizes of blocks, and slack ---- */

/* Returns the granule whose second half contains the size of the block at p. */
static uintptr_t size_of(uintptr_t p)
{
	RT_ASSERT(p % GRANULE == 0);
	return p - GRANULE;
}

static uintptr_t granule_of(uintptr_t address)
{
	return address & ~(uintptr_t)(GRANULE - 1);
}

static bool has_room_for_marks(uintptr_t address)
{
	return page_at(address / PAGE)->number || heap()->page_count < PAGES / 4;
}

static void mark_slack(uintptr_t slack, uintptr_t end)
{
	/* from the end, because that is where forget_slack() begins */
	for (uintptr_t at = granule_of(end - 1); at >= granule_of(slack) && has_room_for_marks(at);
	     at -= GRANULE)
		*mark_for(at) |= at < slack ? slack - at + 1 : 1;
}

/* The granules with slack are the last ones of the block, so this stops at the first one without. */
static void forget_slack(uintptr_t p, uint64_t usable)
{
	for (uintptr_t at = granule_of(p + usable - 1); at >= p && mark_at(at) & USED; at -= GRANULE)
		*mark_for(at) &= ~USED;
}

static void allocates(uintptr_t p, uint64_t size)
{
	struct heap *h = heap();
	uint64_t signals, usable = rt_usable_size((void *)p);

	take(&signals);
	if (has_room_for_marks(size_of(p)))
		*mark_for(size_of(p)) |= SIZE;
	if (usable - size < MOST_SLACK)
		mark_slack(p + size, p + usable);
	h->lowest = h->lowest && h->lowest < size_of(p) ? h->lowest : size_of(p);
	h->end = h->end > p + usable ? h->end : p + usable;
	give(&signals);
}

static void forget_size(uintptr_t p)
{
	if (mark_at(size_of(p)) & SIZE)
		*mark_for(size_of(p)) &= ~SIZE;
}

static void leaves(uintptr_t p)
{
	uint64_t signals;

	if (!p)
		return;
	take(&signals);
	forget_size(p);
	forget_slack(p, rt_usable_size((void *)p));
	give(&signals);
}

static void sized(uintptr_t p, uint64_t usable)
{
	uint64_t signals;

	take(&signals);
	forget_slack(p, usable);
	give(&signals);
}

/* ---- accesses ---- */

struct range {
	uintptr_t address, end;
	/* true if the access must not touch any slack, even if it begins before the slack */
	bool strict;
};

/* Returns true if the access leaves the block to which the granule belongs. */
static bool overruns(const struct range *r, uintptr_t granule, uint8_t mark)
{
	uintptr_t slack = granule + (mark & USED) - 1;

	if (mark & SIZE && r->address < granule + GRANULE && r->end > granule + GRANULE / 2)
		return true;
	return mark & USED && r->end > slack && r->address < granule + GRANULE &&
	       (r->strict || r->address >= slack);
}

static bool is_among_marks(uintptr_t address, uintptr_t end)
{
	return address < heap()->end && end > heap()->lowest;
}

static void examine(struct rt_thread *t, const struct range *r, uint32_t site)
{
	for (uintptr_t at = granule_of(r->address); at < r->end; at += GRANULE) {
		uint8_t mark = mark_at(at);

		if (RT_LIKELY(!mark))
			continue;
		if (mark & FREED)
			tell(t, RADDLE_MISUSE_AFTER_FREE, at < r->address ? r->address : at, site);
		if (overruns(r, at, mark))
			tell(t, RADDLE_MISUSE_OVERRUN, r->address, site);
	}
}

static void touches(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t how)
{
	const struct range r = {address, address + size, how & RT_ACCESS_COMPUTED && how & RT_ACCESS_WRITE};

	if ((heap()->count || is_among_marks(r.address, r.end)) && !t->internal)
		examine(t, &r, site);
}

static void accesses(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t how)
{
	if (how & RT_ACCESS_ATOMIC)
		touches(t, address, size, site, how);
}

static void copies(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site)
{
	touches(t, address, size, site, RT_ACCESS_WRITE | RT_ACCESS_COMPUTED);
}

static void strays(struct rt_thread *t, uintptr_t address, uint32_t site)
{
	if (!t->internal)
		tell(t, RADDLE_MISUSE_OUTSIDE, address, site);
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
	for (uint64_t i = 0; i < b.size; i += GRANULE)
		*mark_for(b.start + i) &= ~FREED;
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
	forget_slack(start, size);
	for (uint64_t i = 0; i < size; i += GRANULE)
		*mark_for(start + i) |= FREED;
}

static void frees(struct rt_thread *t, void *p, bool *kept)
{
	uint64_t size = rt_usable_size(p), signals;

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
		      .copies = copies,
		      .strays = strays,
		      .allocates = allocates,
		      .leaves = leaves,
		      .sized = sized,
		      .handles = handles,
		      .op_enter = op_enter},
};
