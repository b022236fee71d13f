// SPDX-License-Identifier: Apache-2.0
/*
 * Reads what a tracked program left in shared memory (sketch/track-int.h).  The program may have
 * written anything, so each number is read once and checked before it is used.
 */
#include "sketch/track-int.h"

#include "base/alloc.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

/* Limits for the numbers that a program left, as in plan.c: threads, and bytes of a value. */
enum { THREADS_MAX = 1 << 20, WORD = 8 };

static bool is_good(const struct track_raw *e, uint32_t gates)
{
	return (e->gate < gates || e->gate == RADDLE_TRACK_HARDWARE) && e->thread < THREADS_MAX &&
	       e->size <= WORD && e->what < RADDLE_TRACK_WHATS && e->state <= RADDLE_TRACK_DONE &&
	       e->state != RADDLE_TRACK_VOID;
}

static void take_text(char *to, const char *from)
{
	memcpy(to, from, RADDLE_TRACK_TEXT);
	to[RADDLE_TRACK_TEXT - 1] = '\0';
}

static void take_failure(struct track_left *left, const struct raddle_track_failure *f)
{
	left->failed = atomic_load_explicit(&f->ready, memory_order_relaxed) == 2;
	left->signal = f->signal;
	left->thread = f->thread < THREADS_MAX ? f->thread : 0;
	left->line = f->line;
	left->address = f->address;
	memcpy(left->places, f->places, sizeof left->places);
	take_text(left->text, f->text);
	take_text(left->file, f->file);
	take_text(left->function, f->function);
}

void track_read(struct track_left *left, const void *memory, size_t size, uint32_t gates)
{
	const struct raddle_track *s = memory;
	const struct raddle_track_event *events;
	*left = (struct track_left){0};
	if (size < RADDLE_TRACK_SIZE(1))
		return;
	uint64_t slots = (size - RADDLE_TRACK_EVENTS_AT) / sizeof *events;
	uint64_t count = s->event_count, head = atomic_load(&s->head);
	events = (const void *)((const char *)memory + RADDLE_TRACK_EVENTS_AT);
	left->started = atomic_load_explicit(&s->pid, memory_order_relaxed) != 0;
	left->watched = atomic_load_explicit(&s->watched, memory_order_relaxed);
	left->hits = atomic_load_explicit(&s->hits, memory_order_relaxed);
	left->spent = atomic_load_explicit(&s->spent, memory_order_relaxed);
	left->no_hardware = atomic_load_explicit(&s->no_watch, memory_order_relaxed) != 0;
	take_failure(left, &s->failure);
	if (count == 0 || count > slots)
		return;
	left->seen = head;
	left->items = rd_xcalloc((head < count ? head : count) + 1, sizeof *left->items);
	for (uint64_t n = head > count ? head - count : 0; n < head; n++) {
		const struct raddle_track_event *e = &events[n % count];
		struct track_raw raw = {n,	   e->address, e->value, e->more,  e->gate,
					e->thread, e->size,    e->what,	 e->state, e->unsure != 0};
		if (atomic_load_explicit(&e->stamp, memory_order_relaxed) == n + 1 && is_good(&raw, gates))
			left->items[left->count++] = raw;
	}
	RD_ASSERT(left->count <= count);
}

void track_left_release(struct track_left *left)
{
	free(left->items);
	*left = (struct track_left){0};
}
