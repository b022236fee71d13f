// SPDX-License-Identifier: Apache-2.0
/*
 * Synchronisation objects of the detector.  A release adds the clock of the thread to the clock of
 * the object; an acquisition adds the clock of the object to the clock of the thread.
 *
 * An object is anything with an address: a lock, a condition variable, a semaphore, a once control,
 * a barrier or an atomic variable.  It is created at its first release and dropped when its memory
 * becomes something else.  It is found through the chunk of its address (rt/detect/shadow.h).  The
 * object and the list that contains it are protected by a lock from an array, which is chosen by
 * the address and called its stripe.
 *
 * Most acquisitions do not change the thread's clock.  If `whole` is set, the object's clock is
 * exactly the clock that its last releaser, the thread in `lane`, had in `epoch`.  So a thread that
 * knows this epoch knows the whole clock.  `master` is a lane whose thread knows the whole clock.
 * When that thread releases the object, it replaces the object's clock instead of adding to it.  If
 * the thread's clock has not changed since its last release, only the thread's own epoch is
 * updated.
 */
#include "rt/common/bug.h"
#include "rt/common/hash.h"
#include "rt/detect/watch.h"

struct barrier {
	uint64_t id; /* a number that no other barrier has */
	uint32_t count, inside, entered, current;
	/* True if more threads than `count` were inside at the same time, so that rounds cannot be
	 * told apart. */
	bool loose;
	struct {
		struct rt_clock clock;
		uint32_t left; /* the number of threads that entered and have not left yet */
	} round[2];
};

struct rt_object {
	struct rt_object *next;
	uintptr_t address;
	struct rt_clock clock;
	/* The joined clocks of the readers that released the lock.  Later writers acquire them. */
	struct rt_clock readers;
	uint64_t epoch, version; /* the epoch and version of the last releaser, if `whole` */
	uint32_t lane, master;
	bool whole;
	struct barrier *barrier;
};

static struct rt_arena *arena(void)
{
	return &rt_detect()->arena;
}

static _Atomic uint32_t *stripe_of(uintptr_t address)
{
	uint64_t hash = rt_hash(address >> 3);

	return &rt_detect()->stripes[hash >> 32 & (RT_STRIPES - 1)].lock;
}

static struct rt_object **list_of(const struct rt_chunk *chunk, uintptr_t address)
{
	struct rt_object **lists = atomic_load_explicit(&chunk->objects, memory_order_acquire);

	return lists ? &lists[address / 8 % RT_CHUNK_OBJECTS] : NULL;
}

static struct rt_object *find(struct rt_watch *w, uintptr_t address)
{
	struct rt_chunk *chunk = rt_watch_chunk(w, address);
	struct rt_object **list = chunk ? list_of(chunk, address) : NULL, *o;

	for (o = list ? *list : NULL; o && o->address != address; o = o->next)
		;
	return o;
}

static bool make_lists(struct rt_chunk *chunk)
{
	struct rt_object **old = NULL, **lists = rt_arena_keep(arena(), RT_CHUNK_OBJECTS * sizeof *lists);

	if (lists)
		atomic_compare_exchange_strong(&chunk->objects, &old, lists);
	return lists || old;
}

static struct rt_object *make(struct rt_watch *w, uintptr_t address)
{
	struct rt_object *o = find(w, address), **list;
	struct rt_chunk *chunk;

	if (o)
		return o;
	chunk = rt_watch_chunk(w, address);
	if (!chunk || (!list_of(chunk, address) && !make_lists(chunk)))
		return NULL;
	o = rt_arena_get(arena(), sizeof *o);
	if (!o)
		return NULL;
	list = list_of(chunk, address);
	o->address = address;
	o->lane = o->master = RT_LANE_NONE;
	o->next = *list;
	*list = o;
	return o;
}

static void remove_object(struct rt_object **at)
{
	struct rt_object *o = *at;

	*at = o->next;
	rt_clock_release(arena(), &o->clock);
	rt_clock_release(arena(), &o->readers);
	if (o->barrier) {
		rt_clock_release(arena(), &o->barrier->round[0].clock);
		rt_clock_release(arena(), &o->barrier->round[1].clock);
		rt_arena_put(arena(), o->barrier, sizeof *o->barrier);
	}
	rt_arena_put(arena(), o, sizeof *o);
}

/* Begins an operation on an object: enters the detector and locks the stripe.  Returns false if
 * that failed.  In that case the lost happens-before edge is forgiven (rt/detect/watch.h), unless
 * the detector has stopped. */
static bool begin(struct rt_thread *t, uintptr_t address)
{
	struct rt_watch *w = rt_watch(t);

	if (!rt_detect() || atomic_load_explicit(&rt_detect()->dead, memory_order_relaxed))
		return false;
	if (!w || !rt_watch_enter(w)) {
		rt_watch_forgive();
		return false;
	}
	rt_watch_flush(w);
	if (rt_spin(stripe_of(address)))
		return true;
	rt_watch_leave(w);
	rt_watch_forgive();
	return false;
}

static void end(struct rt_thread *t, uintptr_t address)
{
	RT_ASSERT(rt_watch(t) && rt_watch(t)->busy);
	rt_spin_leave(stripe_of(address));
	rt_watch_leave(rt_watch(t));
}

/* Adds a clock to the clock of the thread. */
static void learn(struct rt_watch *w, const struct rt_clock *clock)
{
	enum rt_joined joined = rt_clock_join(arena(), &w->clock, clock);

	if (joined == RT_JOINED_NEWS)
		w->version++;
	else if (joined == RT_JOINED_FAILED)
		rt_watch_over();
}

static void tell(const struct rt_watch *w, struct rt_clock *clock)
{
	if (rt_clock_join(arena(), clock, &w->clock) == RT_JOINED_FAILED)
		rt_watch_over();
}

static bool knows_all(const struct rt_watch *w, const struct rt_object *o)
{
	return (o->master == w->lane && w->lane != RT_LANE_NONE) ||
	       (o->whole && rt_clock_at(&w->clock, o->lane) >= o->epoch);
}

static void learn_object(struct rt_watch *w, struct rt_object *o)
{
	if (!knows_all(w, o))
		learn(w, &o->clock);
	o->master = w->lane;
}

static void publish_object(struct rt_watch *w, struct rt_object *o)
{
	if (!knows_all(w, o) && o->clock.count) {
		tell(w, &o->clock);
		o->whole = false;
		o->master = RT_LANE_NONE;
		return;
	}
	if (o->whole && o->lane == w->lane && o->version == w->version)
		o->clock.at[w->lane] = w->epoch;
	else if (!rt_clock_copy(arena(), &o->clock, &w->clock))
		rt_watch_over();
	o->whole = w->lane != RT_LANE_NONE;
	o->lane = o->master = w->lane;
	o->epoch = w->epoch;
	o->version = w->version;
}

static void add_readers(struct rt_object *o)
{
	if (rt_clock_join(arena(), &o->clock, &o->readers) == RT_JOINED_FAILED)
		rt_watch_over();
	rt_clock_release(arena(), &o->readers);
	o->whole = false;
	o->master = RT_LANE_NONE;
}

static void learn_at(struct rt_thread *t, uintptr_t object, bool writes)
{
	struct rt_object *o;

	if (!begin(t, object))
		return;
	o = find(rt_watch(t), object);
	if (o && writes && o->readers.count)
		add_readers(o);
	if (o)
		learn_object(rt_watch(t), o);
	end(t, object);
}

/* A writer is ordered after the readers that released the lock before, and so is every later
 * thread. */
void rt_detect_acquire(struct rt_thread *t, uintptr_t object)
{
	learn_at(t, object, true);
}

void rt_detect_acquire_read(struct rt_thread *t, uintptr_t object)
{
	learn_at(t, object, false);
}

static void publish_at(struct rt_thread *t, uintptr_t object, bool writes)
{
	struct rt_object *o;

	if (!begin(t, object))
		return;
	o = make(rt_watch(t), object);
	if (!o)
		rt_watch_over();
	else if (writes)
		publish_object(rt_watch(t), o);
	else
		tell(rt_watch(t), &o->readers);
	rt_watch_tick(rt_watch(t));
	end(t, object);
}

void rt_detect_release(struct rt_thread *t, uintptr_t object)
{
	publish_at(t, object, true);
}

void rt_detect_release_read(struct rt_thread *t, uintptr_t object)
{
	publish_at(t, object, false);
}

/* Called after a relaxed read.  Adds the clock of the object to the thread's clock `found`, which
 * the thread acquires at its next fence. */
static void note_found(struct rt_thread *t, uintptr_t address)
{
	const struct rt_object *o;

	if (!begin(t, address))
		return;
	o = find(rt_watch(t), address);
	if (o && rt_clock_join(arena(), &rt_watch(t)->found, &o->clock) == RT_JOINED_FAILED)
		rt_watch_over();
	end(t, address);
}

void rt_detect_atomic(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, uint32_t access)
{
	bool fenced = rt_watch(t) && rt_watch(t)->fenced;

	if (access & RT_ACCESS_ACQUIRES_NOT)
		note_found(t, address);
	else
		rt_detect_acquire_read(t, address);
	rt_detect_access(t, address, size, site, RT_ACCESS_ATOMIC | (access & RT_ACCESS_WRITE));
	if (access & RT_ACCESS_WRITE && (!(access & RT_ACCESS_RELEASES_NOT) || fenced))
		rt_detect_release(t, address);
}

void rt_detect_fence(struct rt_thread *t)
{
	struct rt_watch *w = rt_watch(t);

	if (!rt_detect() || atomic_load_explicit(&rt_detect()->dead, memory_order_relaxed))
		return;
	if (w)
		w->fenced = true;
	if (!w || !rt_watch_enter(w)) {
		rt_watch_forgive();
		return;
	}
	rt_watch_flush(w);
	learn(w, &w->found);
	w->found.count = 0;
	rt_watch_leave(w);
}

/* Barriers. */

static void loosen(struct rt_object *o)
{
	struct barrier *b = o->barrier;

	b->loose = true;
	for (int i = 0; i < 2; i++) {
		if (rt_clock_join(arena(), &o->clock, &b->round[i].clock) == RT_JOINED_FAILED)
			rt_watch_over();
		rt_clock_release(arena(), &b->round[i].clock);
	}
	o->whole = false;
	o->master = RT_LANE_NONE;
}

static struct barrier *barrier_of(struct rt_object *o, uint32_t count)
{
	if (!o->barrier) {
		o->barrier = rt_arena_get(arena(), sizeof *o->barrier);
		if (!o->barrier)
			return NULL;
		o->barrier->id = atomic_fetch_add(&rt_detect()->barriers, 1) + 1;
		o->barrier->count = count;
	}
	return o->barrier;
}

void rt_detect_barrier_init(struct rt_thread *t, uintptr_t object, uint32_t count)
{
	struct rt_object *o;

	rt_detect_fresh(t, object);
	if (!begin(t, object))
		return;
	o = make(rt_watch(t), object);
	if (!o || !barrier_of(o, count))
		rt_watch_over();
	end(t, object);
}

/* Returns the round that a thread enters.  Rounds use the two clocks in turn.  The clock is cleared
 * for a new round, unless some threads have not left the earlier round that used it. */
static uint32_t enter_round(struct barrier *b)
{
	RT_ASSERT(b->count > 0 && b->entered <= b->count);
	if (b->entered == b->count) {
		b->entered = 0;
		b->current ^= 1;
		if (!b->round[b->current].left)
			b->round[b->current].clock.count = 0;
	}
	b->entered++;
	b->round[b->current].left++;
	return b->current;
}

/* `o` is NULL if there was no memory for the object. */
static void enter_barrier(struct rt_watch *w, struct rt_object *o)
{
	struct barrier *b = o ? barrier_of(o, 0) : NULL;

	if (!b) {
		rt_watch_over();
		return;
	}
	w->barrier = b->id;
	if (++b->inside > b->count && !b->loose)
		loosen(o);
	if (b->loose) {
		tell(w, &o->clock);
	} else {
		w->round = enter_round(b);
		tell(w, &b->round[w->round].clock);
	}
	rt_watch_tick(w);
}

void rt_detect_barrier_enter(struct rt_thread *t, uintptr_t object)
{
	if (!begin(t, object))
		return;
	enter_barrier(rt_watch(t), make(rt_watch(t), object));
	end(t, object);
}

/* Threads that left the barrier earlier may have destroyed it and reused its memory.  Then `o` is
 * NULL or belongs to another barrier. */
static void leave_barrier(struct rt_watch *w, struct rt_object *o)
{
	struct barrier *b = o ? o->barrier : NULL;

	if (!b || b->id != w->barrier) {
		rt_watch_forgive();
		return;
	}
	b->inside -= b->inside > 0;
	if (b->round[w->round].left)
		b->round[w->round].left--;
	learn(w, b->loose ? &o->clock : &b->round[w->round].clock);
}

void rt_detect_barrier_exit(struct rt_thread *t, uintptr_t object)
{
	if (!begin(t, object))
		return;
	leave_barrier(rt_watch(t), find(rt_watch(t), object));
	end(t, object);
}

/* Objects whose memory becomes something else. */

void rt_detect_fresh(struct rt_thread *t, uintptr_t object)
{
	struct rt_chunk *chunk;
	struct rt_object **at;

	if (!begin(t, object))
		return;
	chunk = rt_watch_chunk(rt_watch(t), object);
	at = chunk ? list_of(chunk, object) : NULL;
	while (at && *at && (*at)->address != object)
		at = &(*at)->next;
	if (at && *at)
		remove_object(at);
	end(t, object);
}

static void forget_list(struct rt_object **list, uintptr_t first, uintptr_t last)
{
	_Atomic uint32_t *stripe = stripe_of(first);

	if (!*list || !rt_spin(stripe))
		return;
	for (struct rt_object **at = list; *at;) {
		if ((*at)->address >= first && (*at)->address <= last)
			remove_object(at);
		else
			at = &(*at)->next;
	}
	rt_spin_leave(stripe);
}

void rt_objects_forget(struct rt_chunk *chunk, uintptr_t address, uint64_t size)
{
	uintptr_t last = address + size - 1;

	if (!atomic_load_explicit(&chunk->objects, memory_order_relaxed))
		return;
	for (uintptr_t a = address; a <= last; a = (a | 7) + 1)
		forget_list(list_of(chunk, a), a, (a | 7) < last ? (a | 7) : last);
}
