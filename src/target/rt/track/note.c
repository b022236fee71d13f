// SPDX-License-Identifier: Apache-2.0
/*
 * Writes events.  An access draws its number while it holds a lock for its address, and keeps the
 * lock until the access is done.  So accesses to one address are numbered in the order in which
 * they happen, as long as all of them have open gates.
 */
#include "rt/common/hash.h"
#include "rt/track/track.h"

#include <errno.h>
#include <malloc.h>
#include <sched.h>
#include <time.h>

enum {
	SPINS = 64, /* attempts to take the lock of an address before the thread yields */
	/* The number of yields after which the thread continues without the lock.  Its event is
	 * then unsure. */
	YIELDS = 256,
	ONE_IN = 8, /* one event in eight is delayed, if delays are requested */
	/* the maximum delay, which is longer than a context switch and shorter than a time slice */
	LONGEST_NS = 1000000,
};

#define SLOW __attribute__((preserve_most, visibility("default")))
SLOW uint64_t __raddle_track_begin(const void *address, uint32_t gate, uint32_t how, uint64_t value);
SLOW void __raddle_track_end(uint64_t token, uint64_t value);
SLOW void __raddle_track_pass(uint32_t gate, uint64_t value);

/* Closes a gate that has used up its events.  Once all gates of a function are closed, its next
 * call runs the copy without gates. */
static void shut(uint32_t gate)
{
	uint32_t group = track.groups[gate];

	__raddle_track_flags[gate] = RADDLE_TRACK_BESIDE;
	atomic_fetch_add(&track.shared->spent, 1);
	for (uint32_t i = 0; i < track.gate_count; i++)
		if (track.groups[i] == group && __raddle_track_flags[i] & RADDLE_TRACK_OPEN)
			return;
	for (uint32_t i = 0; i < track.gate_count; i++)
		if (track.groups[i] == group)
			__raddle_track_flags[i] = 0;
}

/* Returns true if the gate may have another event. */
static bool may_note(uint32_t gate)
{
	uint32_t n;

	if (!track.shared || !track.budget)
		return track.shared != NULL;
	n = atomic_fetch_add_explicit(&track.counts[gate], 1, memory_order_relaxed);
	if (n == track.budget)
		shut(gate);
	return n < track.budget;
}

static void give_back(void)
{
	if (track_local.stripe)
		atomic_store_explicit(&track.stripes[track_local.stripe - 1], 0, memory_order_release);
	track_local.stripe = 0;
}

/* Takes the lock of the address.  Returns false if that takes too long. */
static bool take(const void *address)
{
	uint32_t stripe = (uint32_t)(((uintptr_t)address >> 3) * 0x9e3779b1u >> 8) % TRACK_STRIPES;

	give_back();
	for (int i = 0; i < SPINS + YIELDS; i++) {
		uint32_t free_now = 0;

		if (atomic_compare_exchange_weak_explicit(&track.stripes[stripe], &free_now, 1,
							  memory_order_acquire, memory_order_relaxed)) {
			track_local.stripe = stripe + 1;
			return true;
		}
		if (i >= SPINS)
			sched_yield();
	}
	return false;
}

/* Now and then delays a thread, so that other threads run first. */
static void perturb(void)
{
	struct timespec t = {0, 0};

	if (!track_local.random)
		track_local.random = (track.shared->perturb ^ rt_hash(track_thread() + 1)) | 1;
	track_local.random ^= track_local.random << 13;
	track_local.random ^= track_local.random >> 7;
	track_local.random ^= track_local.random << 17;
	if ((track_local.random >> 20) % ONE_IN)
		return;
	t.tv_nsec = (long)((track_local.random >> 24) % LONGEST_NS);
	if (track_local.random >> 50 & 1)
		nanosleep(&t, NULL);
	else
		sched_yield();
}

struct raddle_track_event *track_event(uint32_t gate, uint64_t *token)
{
	uint64_t n = atomic_fetch_add(&track.shared->head, 1);
	struct raddle_track_event *e = &track.events[n % track.event_count];

	atomic_store_explicit(&e->stamp, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	e->gate = gate;
	e->thread = track_thread();
	e->unsure = 0;
	e->more = 0;
	*token = n + 1;
	return e;
}

void track_complete(struct raddle_track_event *e, uint64_t token)
{
	atomic_store_explicit(&e->stamp, token, memory_order_release);
}

static uint64_t read_memory(const void *address, uint32_t size)
{
	uint64_t value = 0;

	if (size == 8)
		value = *(const volatile uint64_t *)address;
	else if (size == 4)
		value = *(const volatile uint32_t *)address;
	else if (size == 2)
		value = *(const volatile uint16_t *)address;
	else if (size == 1)
		value = *(const volatile uint8_t *)address;
	return value;
}

static bool is_access(uint32_t what)
{
	return what == RADDLE_TRACK_READ || what == RADDLE_TRACK_WRITE || what == RADDLE_TRACK_UPDATE;
}

static uint64_t begin(const void *address, uint32_t gate, uint32_t how, uint64_t value)
{
	uint32_t what = how >> 8, flags = __raddle_track_flags[gate];
	struct raddle_track_event *e;
	bool sure = true;
	uint64_t token;

	if (track.shared->perturb)
		perturb();
	if (is_access(what)) {
		if (track.shared->watch && flags & RADDLE_TRACK_SLICE)
			track_watch(address, how & 255);
		sure = take(address);
	}
	e = track_event(gate, &token);
	e->address = (uintptr_t)address;
	e->value = value;
	e->size = (uint8_t)how;
	e->what = (uint8_t)what;
	e->state = RADDLE_TRACK_BEGUN;
	e->unsure = !sure;
	/* The size is looked up only if malloc() may have returned the address. */
	if (what == RADDLE_TRACK_FREE && address && !((uintptr_t)address & 15))
		e->more = malloc_usable_size((void *)address);
	track_complete(e, token);
	return token;
}

/* Writes a second event for an operation that may have waited, since the operation takes effect
 * when it returns. */
static void came_through(const struct raddle_track_event *asked, uint64_t value)
{
	uint64_t token;
	struct raddle_track_event *e = track_event(asked->gate, &token);

	e->address = asked->address;
	e->value = value;
	e->size = asked->size;
	e->what = asked->what;
	e->state = RADDLE_TRACK_DONE;
	track_complete(e, token);
}

static void end(uint64_t token, uint64_t value)
{
	struct raddle_track_event *e = &track.events[(token - 1) % track.event_count];

	if (atomic_load_explicit(&e->stamp, memory_order_relaxed) == token) {
		if (e->what == RADDLE_TRACK_ACQUIRE) {
			e->state = RADDLE_TRACK_VOID;
			came_through(e, value);
		} else {
			if (e->what == RADDLE_TRACK_UPDATE)
				e->more = read_memory((void *)(uintptr_t)e->address, e->size);
			e->value = value;
			e->state = RADDLE_TRACK_DONE;
		}
	}
	give_back();
}

SLOW uint64_t __raddle_track_begin(const void *address, uint32_t gate, uint32_t how, uint64_t value)
{
	int saved = errno;
	uint64_t token = may_note(gate) ? begin(address, gate, how, value) : 0;

	errno = saved;
	return token;
}

SLOW void __raddle_track_end(uint64_t token, uint64_t value)
{
	int saved = errno;

	if (track.shared)
		end(token, value);
	errno = saved;
}

SLOW void __raddle_track_pass(uint32_t gate, uint64_t value)
{
	struct raddle_track_event *e;
	uint64_t token;

	if (!may_note(gate))
		return;
	e = track_event(gate, &token);
	e->address = 0;
	e->value = value;
	e->size = 8;
	e->what = RADDLE_TRACK_POINT;
	e->state = RADDLE_TRACK_DONE;
	track_complete(e, token);
}
