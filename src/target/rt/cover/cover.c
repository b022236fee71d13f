// SPDX-License-Identifier: Apache-2.0
/*
 * Records which conflicting accesses directly followed each other.
 *
 * In: each access in the flavour `led`, atomic operations, and locks that were taken.  Out: `pairs`
 * of raddle/steer.h.  A pair consists of the site of an access and the site of the next access to
 * the same eight bytes by another thread, if at least one of the two is a write.  Taking a lock is
 * treated as a write at the place of the call, or as a read if the lock is taken for reading.  A
 * call that frees memory is treated as a write to that memory.
 *
 * For each word of eight bytes, the table keeps the last write and the last reads after it.  A word
 * may displace another word with the same hash, so a pair may be missed, but none is invented.
 * Accesses that a thread made while it was the only thread are dropped, since no schedule can
 * change their order with accesses of other threads.  Accesses to memory that has become another
 * object, and to the stack of an earlier thread, are also dropped.
 *
 * Threads take turns when this layer is used, but not after the end of the plan.  So there is a
 * lock; a thread that does not get it immediately, for instance a signal handler, skips the access.
 */
#include "raddle/event.h"
#include "raddle/steer.h"
#include "rt/common/bug.h"
#include "rt/common/hash.h"
#include "rt/core/layer.h"
#include "rt/core/one.h"

#define WORDS 8192 /* the number of entries of the table; like INDEX, a power of two */
#define INDEX (2 * RADDLE_STEER_PAIRS)
/* The number of reads of a word that are kept since its last write.  Chosen by hand.  If more
 * threads read the word, their reads displace earlier ones. */
#define READS 3
#define WIDE 64 /* the maximum number of words of an access that are examined */

_Static_assert((WORDS & (WORDS - 1)) == 0 && (INDEX & (INDEX - 1)) == 0, "positions are the lower bits");
_Static_assert(INDEX > RADDLE_STEER_PAIRS, "a search in the index ends at a free place");

struct seen {
	uint32_t thread; /* the number of the thread plus 1; 0 if there was no access */
	uint32_t site;
};

struct word {
	uintptr_t address; /* the address divided by 8 */
	uint64_t stamp;	   /* the value of `now` at its last access */
	struct seen write, reads[READS];
};

struct cover_state {
	struct raddle_steer *steer;
	struct word *words;
	/* A hash table of known pairs, with open addressing; unused entries are 0. */
	uint64_t *index;
	uint64_t now;	    /* counts threads that began, and periods with only one thread */
	uint64_t floor;	    /* words with an older stamp are forgotten */
	uint64_t used;	    /* the number of accesses since `floor` was set */
	uint32_t next_read; /* the position of the read that is displaced next */
	_Atomic uint32_t lock;
};

/* The layer's state of a thread. */
struct own {
	uint64_t began;
};

static struct cover_state *cover(void)
{
	return rt.layer[RT_LAYER_COVER];
}

static bool take(void)
{
	return rt_try(&cover()->lock, 1);
}

static void give(void)
{
	atomic_store_explicit(&cover()->lock, 0, memory_order_release);
}

/* ---- pairs ---- */

/* Notes where the run is, so that other runs can branch off here. */
static void mark(struct raddle_steer *s, struct raddle_steer_decision *to)
{
	uint32_t passed = s->passed < RADDLE_SLOTS ? s->passed : 0;
	const struct raddle_slot *at = &raddle_steer_slots(s)[passed];

	*to = (struct raddle_steer_decision){.thread = passed,
					     .next = atomic_load(&s->running),
					     .n = at->point_n,
					     .point = at->point,
					     .count = at->point_count,
					     .made = atomic_load(&s->made_count)};
}

static void note(uint32_t before, uint32_t site)
{
	struct cover_state *c = cover();
	uint64_t pair = (uint64_t)before << 32 | site, at = rt_hash(pair) >> 32;
	uint32_t count = atomic_load(&c->steer->pair_count);

	for (; c->index[at % INDEX]; at++)
		if (c->index[at % INDEX] == pair)
			return;
	if (count == RADDLE_STEER_PAIRS)
		return;
	RT_ASSERT(count < RADDLE_STEER_PAIRS && before && site);
	c->index[at % INDEX] = pair;
	c->steer->pairs[count] = pair;
	mark(c->steer, &c->steer->marks[count]);
	atomic_store(&c->steer->pair_count, count + 1);
}

static void note_after(const struct seen *before, const struct seen *now)
{
	if (before->thread && before->thread != now->thread && before->site)
		note(before->site, now->site);
}

/* ---- words ---- */

static struct word *word_at(uintptr_t address)
{
	return &cover()->words[(address ^ address >> 13) % WORDS];
}

static bool is_on_stack(const struct rt_thread *t, uintptr_t address)
{
	return address >= t->stack_low && address < t->stack_high;
}

/* Returns the entry of a word.  The entry is cleared if it belonged to another word, or if its
 * accesses are forgotten. */
static struct word *open_word(const struct rt_thread *t, uintptr_t address)
{
	const struct own *own = t->layer[RT_LAYER_COVER];
	struct word *w = word_at(address);

	if (w->address != address || w->stamp < cover()->floor ||
	    (own && w->stamp < own->began && is_on_stack(t, address * 8)))
		*w = (struct word){.address = address};
	w->stamp = cover()->now;
	return w;
}

static inline void read_word(struct word *w, const struct seen *now)
{
	uint32_t at = 0;

	note_after(&w->write, now);
	while (at < READS && w->reads[at].thread && w->reads[at].thread != now->thread)
		at++;
	if (at == READS)
		at = cover()->next_read++ % READS;
	w->reads[at] = *now;
}

static inline void write_word(struct word *w, const struct seen *now)
{
	for (uint32_t i = 0; i < READS; i++) {
		note_after(&w->reads[i], now);
		w->reads[i] = (struct seen){0};
	}
	note_after(&w->write, now);
	w->write = *now;
}

static bool is_alone(void)
{
	return atomic_load_explicit(&rt.others, memory_order_relaxed) == 0;
}

static void begin_anew(void)
{
	if (cover()->used && take()) {
		cover()->floor = ++cover()->now;
		cover()->used = 0;
		give();
	}
}

static inline __attribute__((always_inline)) void look(const struct rt_thread *t, uintptr_t address,
						       uint64_t size, uint32_t site, bool write)
{
	struct seen now = {t->number + 1, site};
	uint64_t count = (address % 8 + size + 7) / 8;

	if (t->internal || !site)
		return;
	if (is_alone()) {
		begin_anew();
		return;
	}
	if (!take())
		return;
	cover()->used++;
	for (uint64_t i = 0; i < count && i < WIDE; i++) {
		struct word *w = open_word(t, address / 8 + i);
		if (write)
			write_word(w, &now);
		else
			read_word(w, &now);
	}
	give();
}

static void forget(struct rt_thread *t, uintptr_t address, uint64_t size)
{
	uintptr_t first = address / 8, count = (address % 8 + size + 7) / 8;

	(void)t;
	if (!cover()->used || !take())
		return;
	for (uintptr_t i = 0; i < count && count <= WORDS; i++)
		if (word_at(first + i)->address == first + i)
			word_at(first + i)->address = 0;
	for (uint32_t i = 0; i < WORDS && count > WORDS; i++)
		if (cover()->words[i].address - first < count)
			cover()->words[i].address = 0;
	give();
}

/* ---- the table ---- */

static void touches(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t how)
{
	look(t, address, size, site, how & RT_ACCESS_WRITE);
}

static void acquired(struct rt_thread *t, uint32_t kind, uintptr_t object, uint64_t result)
{
	if (result == 0 && raddle_is_lock(kind))
		look(t, object, 1, rt_call_site(t), raddle_role(kind) != RADDLE_ROLE_SHARE);
}

/* A thread that frees memory conflicts with every thread that uses it. */
static void frees(struct rt_thread *t, void *p, bool *kept)
{
	(void)kept;
	look(t, (uintptr_t)p, rt_usable_size(p), rt_call_site(t), true);
}

static void begins(struct rt_thread *t)
{
	struct own *own = t->layer[RT_LAYER_COVER];

	if (!own || !take())
		return;
	own->began = ++cover()->now;
	give();
}

static bool setup(void)
{
	struct raddle_steer *s = rt_steer_memory();
	char *memory;

	if (!s || !(s->flags & RADDLE_STEER_COVER))
		return false;
	memory = rt_map(sizeof(struct cover_state) + WORDS * sizeof(struct word) + INDEX * sizeof(uint64_t));
	if (!memory)
		return false;
	rt.layer[RT_LAYER_COVER] = memory;
	cover()->steer = s;
	cover()->words = (struct word *)(memory + sizeof(struct cover_state));
	cover()->index = (uint64_t *)(cover()->words + WORDS);
	return true;
}

const struct rt_layer rt_layer_cover = {
	.number = RT_LAYER_COVER,
	.listens = true,
	.thread_size = sizeof(struct own),
	.setup = setup,
	.begins = begins,
	.callbacks = {.touches = touches,
		      .stops = touches,
		      .atomic = touches,
		      .acquired = acquired,
		      .frees = frees,
		      .forget = forget},
};
