// SPDX-License-Identifier: Apache-2.0
/*
 * Implements the shadow memory (reversible/shadow.h).  It processes touches in the order of the
 * run, and finds pairs of segments whose order is not fixed.
 *
 * A cell represents four bytes, and is split into four cells if its bytes are touched differently.
 * It stores two numbers: the segment of the last write, and either the segment of the last read or
 * a set of such segments.  Sets are shared, so data that many threads read in the same way, such as
 * a table, needs few sets.  Segments are numbered by the operations that begin them.
 */
#include "reversible/shadow.h"

#include "base/alloc.h"
#include "base/error.h"
#include "reversible/released-int.h"

#include <stdlib.h>
#include <string.h>

/* The number of bytes of memory that a page covers.  It was set by hand: programs touch memory in
 * small pieces, and a page takes 1 KiB of cells. */
#define PAGE 512
#define CELLS (PAGE / 4)
#define CACHE 256 /* number of pages in a direct-mapped cache of lookups */
/* The largest release, in bytes, that is marked at once.  Larger ones are marked when they are
 * used. */
#define EAGER (64u << 10)
#define PAIRS_MAX 400000  /* largest number of kept pairs; set by hand, to limit memory and time */
#define FLAG 0x80000000u  /* set in `write` if the cell is split, and in `read` if that is a set */
#define FRESH 0x7fffffffu /* value of `write` if the cell was never written */

struct rev_cell {
	uint32_t write, read;
};

struct rev_page {
	uint64_t number;
	struct rev_cell cells[CELLS];
};

struct rev_set_node {
	uint32_t segment, rest;
};

struct quarters {
	struct rev_cell of[4];
};

struct rev_shadow {
	const struct rev_run *run;
	struct rd_umap index; /* maps the number of a page to its index */
	struct rev_page **pages;
	size_t page_count, page_capacity;
	struct rev_page *cache[CACHE];
	struct rev_set_node *nodes; /* nodes of sets; node 0 is the empty set */
	size_t node_count, node_capacity;
	struct rd_umap sets; /* maps (segment, rest of the set) to a node */
	struct quarters *quarters;
	size_t quarter_count, quarter_capacity;
	/* The index of the first unused quarters, or 0 if there are none.  `write` of their first
	 * cell contains the index of the next unused quarters. */
	uint32_t free_quarters;
	struct rev_released released; /* released blocks, needed by pages that are created later */
	struct rev_pair *pairs;
	size_t pair_count, pair_capacity;
	struct rd_umap known; /* maps a pair of segments to 1 + the index of the pair */
	uint64_t conflicts, ordered;
	bool overflow;
	rev_conflict_fn *listener;
	void *context;
	/* The touch that is being processed. */
	const struct rev_touch *touch;
	uint32_t segment; /* the number that is stored for the segment of `touch` */
};

struct rev_shadow *rev_shadow_new(const struct rev_run *run)
{
	struct rev_shadow *s = rd_xcalloc(1, sizeof *s);

	s->run = run;
	rev_released_init(&s->released);
	RD_GROW(s->nodes, s->node_capacity, 1);
	s->nodes[s->node_count++] = (struct rev_set_node){0};
	RD_GROW(s->quarters, s->quarter_capacity, 1);
	s->quarters[s->quarter_count++] = (struct quarters){0};
	return s;
}

void rev_shadow_free(struct rev_shadow *s)
{
	if (!s)
		return;
	RD_FREE_EACH(s->pages, s->page_count);
	RD_FREE(s->pages, s->nodes, s->quarters, s->pairs);
	rev_released_free(&s->released);
	RD_UMAP_RELEASE(&s->index, &s->sets, &s->known);
	free(s);
}

/* ---- segments ---- */

/* Returns the number that represents segment n of a thread.  It is never 0. */
static uint32_t number_of(const struct rev_run *run, uint32_t thread, uint32_t n)
{
	RD_ASSERT(thread < run->thread_count);
	return n ? run->threads[thread].ops[n - 1] + 1 : (uint32_t)run->op_count + 1 + thread;
}

static uint32_t thread_of(const struct rev_run *run, uint32_t segment)
{
	return segment <= run->op_count ? run->ops[segment - 1].thread
					: segment - (uint32_t)run->op_count - 1;
}

static uint32_t n_of(const struct rev_run *run, uint32_t segment)
{
	return segment <= run->op_count ? run->ops[segment - 1].n : 0;
}

/* ---- pairs ---- */

static void keep_pair(struct rev_shadow *s, const struct rev_pair *pair)
{
	RD_ASSERT(pair->t != pair->u);
	uint64_t key =
		(uint64_t)number_of(s->run, pair->t, pair->s) << 32 | number_of(s->run, pair->u, pair->r);
	uint64_t *known = rd_umap_get(&s->known, key);

	if (known) {
		s->pairs[*known - 1].count++;
		return;
	}
	if (s->pair_count == PAIRS_MAX) {
		s->overflow = true;
		return;
	}
	RD_GROW(s->pairs, s->pair_capacity, s->pair_count + 1);
	s->pairs[s->pair_count] = *pair;
	s->pairs[s->pair_count++].count = 1;
	*rd_umap_put(&s->known, key, NULL) = s->pair_count;
}

void rev_shadow_add(struct rev_shadow *s, const struct rev_pair *pair)
{
	bool has = rev_order_has(s->run, pair->t, pair->s, pair->u, pair->r);

	s->conflicts++;
	s->ordered += has;
	if (s->listener)
		s->listener(s->context, pair->address, has);
	if (!has)
		keep_pair(s, pair);
}

/* Checks whether an access is ordered after an earlier one.  Only the segment of the earlier access
 * is known here.  The access itself is found later, if the pair is reported. */
static void check(struct rev_shadow *s, uint32_t before, uint64_t address, bool wrote)
{
	const struct rev_touch *now = s->touch;
	uint32_t t;

	if (before == 0 || before == FRESH || before == s->segment)
		return;
	t = thread_of(s->run, before);
	if (t == now->u)
		return;
	rev_shadow_add(s, &(struct rev_pair){.t = t,
					     .s = n_of(s->run, before),
					     .u = now->u,
					     .r = now->r,
					     .first = wrote ? REV_WRITE : REV_READ,
					     .second = now->access,
					     .ops = now->ops,
					     .address = address});
}

static bool is_write(uint8_t access)
{
	return access != REV_READ && access != REV_ATOMIC_READ;
}

/* ---- sets of reads ---- */

static uint32_t with(struct rev_shadow *s, uint32_t rest, uint32_t segment)
{
	bool is_new;
	uint64_t *at = rd_umap_put(&s->sets, (uint64_t)segment << 32 | rest, &is_new);

	if (is_new) {
		*at = s->node_count;
		RD_GROW(s->nodes, s->node_capacity, s->node_count + 1);
		s->nodes[s->node_count++] = (struct rev_set_node){segment, rest};
	}
	return (uint32_t)*at;
}

/* Returns true if a read in segment `before` need not be kept, because the current read comes after
 * it in every order. */
static bool covers(const struct rev_shadow *s, uint32_t before)
{
	return thread_of(s->run, before) == s->touch->u ||
	       rev_order_has(s->run, thread_of(s->run, before), n_of(s->run, before), s->touch->u,
			     s->touch->r);
}

static uint32_t without_covered(struct rev_shadow *s, uint32_t node)
{
	struct rev_set_node n = s->nodes[node];
	uint32_t rest;

	if (!node)
		return 0;
	rest = without_covered(s, n.rest);
	if (covers(s, n.segment))
		return rest;
	return rest == n.rest ? node : with(s, rest, n.segment);
}

static void add_read(struct rev_shadow *s, struct rev_cell *c)
{
	if (c->read & FLAG) {
		uint32_t node = c->read & ~FLAG;

		if (s->nodes[node].segment != s->segment)
			node = with(s, without_covered(s, node), s->segment);
		c->read = FLAG | node;
	} else if (!c->read || covers(s, c->read)) {
		c->read = s->segment;
	} else {
		c->read = FLAG | with(s, with(s, 0, c->read), s->segment);
	}
}

static void check_reads(struct rev_shadow *s, const struct rev_cell *c, uint64_t address)
{
	if (!(c->read & FLAG)) {
		check(s, c->read, address, false);
		return;
	}
	for (uint32_t node = c->read & ~FLAG; node; node = s->nodes[node].rest)
		check(s, s->nodes[node].segment, address, false);
}

/* ---- cells ---- */

/* Treats memory in a large released block as if the release had written it. */
static void mark_released(struct rev_shadow *s, struct rev_page *page)
{
	for (size_t i = 0; s->released.any && i < CELLS; i++) {
		const struct rev_touch *t = rev_released_find(&s->released, page->number * PAGE + i * 4);

		if (t)
			page->cells[i].write = number_of(s->run, t->u, t->r);
	}
}

static struct rev_page *find_page(struct rev_shadow *s, uint64_t address, bool make)
{
	uint64_t number = address / PAGE, *at;
	struct rev_page **cached = &s->cache[number % CACHE];
	bool is_new;

	if (*cached && (*cached)->number == number)
		return *cached;
	at = make ? rd_umap_put(&s->index, number, &is_new) : rd_umap_get(&s->index, number);
	if (!at)
		return NULL;
	if (make && is_new) {
		struct rev_page *page = rd_xcalloc(1, sizeof *page);

		page->number = number;
		mark_released(s, page);
		*at = s->page_count;
		RD_GROW(s->pages, s->page_capacity, s->page_count + 1);
		s->pages[s->page_count++] = page;
	}
	return *cached = s->pages[*at];
}

static uint32_t new_quarters(struct rev_shadow *s, const struct rev_cell *c)
{
	uint32_t at = s->free_quarters;

	if (at) {
		s->free_quarters = s->quarters[at].of[0].write;
	} else {
		RD_GROW(s->quarters, s->quarter_capacity, s->quarter_count + 1);
		at = (uint32_t)s->quarter_count++;
	}
	for (int i = 0; i < 4; i++)
		s->quarters[at].of[i] = *c;
	return at;
}

/* Merges the quarters of a cell if all its bytes have the same state again. */
static void merge(struct rev_shadow *s, struct rev_cell *c)
{
	uint32_t at = c->write & ~FLAG;
	struct quarters *q = &s->quarters[at];

	for (int i = 1; i < 4; i++)
		if (q->of[i].write != q->of[0].write || q->of[i].read != q->of[0].read)
			return;
	*c = q->of[0];
	q->of[0].write = s->free_quarters;
	s->free_quarters = at;
}

typedef void cell_fn(struct rev_shadow *s, struct rev_cell *c, uint64_t address);

static void touch_cell(struct rev_shadow *s, struct rev_cell *c, uint64_t address)
{
	if (c->write == s->segment && (c->read == 0 || c->read == s->segment))
		return;
	if (is_write(s->touch->access)) {
		check(s, c->write, address, true);
		check_reads(s, c, address);
		c->write = s->segment;
		c->read = 0;
	} else if (c->read != s->segment) {
		check(s, c->write, address, true);
		add_read(s, c);
	}
}

static void end_cell(struct rev_shadow *s, struct rev_cell *c, uint64_t address)
{
	check(s, c->write, address, true);
	check_reads(s, c, address);
	*c = (struct rev_cell){0};
}

static void clear_cell(struct rev_shadow *s, struct rev_cell *c, uint64_t address)
{
	(void)s;
	(void)address;
	*c = (struct rev_cell){0};
}

static void freshen_cell(struct rev_shadow *s, struct rev_cell *c, uint64_t address)
{
	(void)s;
	(void)address;
	*c = (struct rev_cell){.write = FRESH};
}

/* Applies a function to the bytes `from` to `to` of a cell. */
static void on_cell(struct rev_shadow *s, struct rev_cell *c, uint64_t address, unsigned from, unsigned to,
		    cell_fn *fn)
{
	RD_ASSERT(from < to && to <= 4);
	if (!(c->write & FLAG)) {
		if (from == 0 && to == 4) {
			fn(s, c, address);
			return;
		}
		*c = (struct rev_cell){.write = FLAG | new_quarters(s, c)};
	}
	for (unsigned i = from; i < to; i++) {
		struct rev_cell copy = s->quarters[c->write & ~FLAG].of[i];

		fn(s, &copy, address + i);
		s->quarters[c->write & ~FLAG].of[i] = copy;
	}
	if (from == 0 && to == 4)
		merge(s, c);
}

/* Calls fn for each cell of the range.  Missing pages are created if `make` is set, else
 * skipped. */
static void on_range(struct rev_shadow *s, uint64_t address, uint64_t size, bool make, cell_fn *fn)
{
	uint64_t end = address + size < address ? UINT64_MAX : address + size;

	while (address < end) {
		struct rev_page *page = find_page(s, address, make);
		uint64_t stop = (address / PAGE + 1) * PAGE;

		stop = stop > end || stop == 0 ? end : stop;
		while (page && address < stop) {
			unsigned from = address % 4, to = stop - (address - from) < 4 ? stop % 4 : 4;

			on_cell(s, &page->cells[address % PAGE / 4], address - from, from, to, fn);
			address += to - from;
		}
		address = stop;
	}
}

/* ---- touches ---- */

static void begin(struct rev_shadow *s, const struct rev_touch *t)
{
	uint32_t n = t->r;

	/* As the first event of a pair, an operation belongs to the segment that it ends. */
	if (t->ops & 2 && !(t->ops & 4) && n)
		n--;
	s->touch = t;
	s->segment = number_of(s->run, t->u, n);
}

void rev_shadow_touch(struct rev_shadow *s, const struct rev_touch *t)
{
	begin(s, t);
	on_range(s, t->address, t->size, true, touch_cell);
}

/* Calls fn for the existing pages of a large range, in which few bytes have been touched. */
static void on_known(struct rev_shadow *s, uint64_t address, uint64_t size, cell_fn *fn)
{
	size = size <= UINT64_MAX - address ? size : UINT64_MAX - address;
	uint64_t first = address / PAGE, last = size ? (address + size - 1) / PAGE : first;

	if (last - first <= s->page_count) {
		on_range(s, address, size, false, fn);
		return;
	}
	for (size_t i = 0; i < s->page_count; i++) {
		uint64_t from = s->pages[i]->number * PAGE, to = from + PAGE;

		if (s->pages[i]->number < first || s->pages[i]->number > last)
			continue;
		from = from < address ? address : from;
		to = to > address + size ? address + size : to;
		on_range(s, from, to - from, false, fn);
	}
}

void rev_shadow_end(struct rev_shadow *s, const struct rev_touch *t, bool fresh)
{
	begin(s, t);
	on_known(s, t->address, t->size, end_cell);
	if (fresh)
		rev_shadow_clear(s, t->address, t->size, true);
}

void rev_shadow_release(struct rev_shadow *s, const struct rev_touch *t)
{
	begin(s, t);
	if (t->size <= EAGER) {
		on_range(s, t->address, t->size, true, touch_cell);
		return;
	}
	on_known(s, t->address, t->size, touch_cell);
	rev_released_add(&s->released, t);
}

void rev_shadow_clear(struct rev_shadow *s, uint64_t address, uint64_t size, bool fresh)
{
	rev_released_clear(&s->released, address, size);
	if (fresh)
		on_range(s, address, size, true, freshen_cell);
	else
		on_known(s, address, size, clear_cell);
}

/* Returns the cell of a byte, or NULL if there is none.  Stores the address of the first byte after
 * it in *next. */
static struct rev_cell *cell_at(struct rev_shadow *s, uint64_t address, uint64_t *next)
{
	struct rev_page *page = find_page(s, address, false);
	struct rev_cell *c = page ? &page->cells[address % PAGE / 4] : NULL;

	*next = c && c->write & FLAG ? address + 1 : address / 4 * 4 + 4;
	return c && c->write & FLAG ? &s->quarters[c->write & ~FLAG].of[address % 4] : c;
}

void rev_shadow_fill(struct rev_shadow *s, uint64_t address)
{
	struct rev_cell *c;
	uint64_t next;

	for (; (c = cell_at(s, address, &next)) && c->write == FRESH; address = next)
		c->write = 0;
}

bool rev_shadow_is_fresh(struct rev_shadow *s, uint64_t address, uint64_t size)
{
	uint64_t end = address + size, next;

	while (address < end) {
		const struct rev_cell *c = cell_at(s, address, &next);

		if (c && c->write == FRESH)
			return true;
		address = next <= address ? end : next; /* stops at the end of the address space */
	}
	return false;
}

void rev_shadow_listen(struct rev_shadow *s, rev_conflict_fn *fn, void *context)
{
	s->listener = fn;
	s->context = context;
}

const struct rev_pair *rev_shadow_pairs(const struct rev_shadow *s, size_t *count)
{
	*count = s->pair_count;
	return s->pairs;
}

void rev_shadow_counts(const struct rev_shadow *s, uint64_t *conflicts, uint64_t *ordered, bool *overflow)
{
	*conflicts = s->conflicts;
	*ordered = s->ordered;
	*overflow = s->overflow;
}
