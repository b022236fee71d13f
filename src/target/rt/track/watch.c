// SPDX-License-Identifier: Apache-2.0
/*
 * Sets watchpoints (rt/common/watchpoint.h) on locations that statements of the slice access.
 * `turn` determines how many locations are skipped first; the next few locations get a watchpoint.
 * From then on, every access to these locations is an event, even in code without gates, such as
 * libraries or assembly.  The system may refuse watchpoints, and gates work without them.  Hits are
 * expensive, so each location has a budget.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "rt/common/watchpoint.h"
#include "rt/track/track.h"

#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

enum {
	MARK = 0x52616474, /* "Radt": distinguishes these watchpoints from others */
	HITS_MAX = 64,	   /* the maximum number of hits of a location: its budget */
	/* Bytes: memory that is nearer to the current frame is treated as local variables. */
	STACK_NEAR = 8 << 20,
};

/* Reads the value through the kernel, whose accesses do not trap. */
static uint64_t look_at(uint64_t address, uint64_t length)
{
	uint64_t value = 0;
	struct iovec to = {&value, length}, from = {(void *)(uintptr_t)address, length};

	syscall(SYS_process_vm_readv, syscall(SYS_getpid), &to, 1L, &from, 1L, 0L);
	return value;
}

static void note_hit(struct track_slot *s, const ucontext_t *context)
{
	uint64_t token, address = atomic_load(&s->address);
	struct raddle_track_event *e = track_event(RADDLE_TRACK_HARDWARE, &token);

	e->address = address;
	e->size = (uint8_t)s->length;
	e->value = look_at(address, s->length);
	e->what = RADDLE_TRACK_READ;
	e->state = RADDLE_TRACK_DONE;
#ifdef __x86_64__
	e->more = track_place((uint64_t)context->uc_mcontext.gregs[REG_RIP] - 1);
#else
	(void)context;
#endif
	track_complete(e, token);
	atomic_fetch_add(&track.shared->hits, 1);
	if (atomic_fetch_add(&s->hits, 1) + 1 >= HITS_MAX)
		rt_watchpoint_disable(s->watchpoint);
}

static uint64_t data_of(uint32_t slot)
{
	return (uint64_t)MARK << 8 | slot;
}

static bool hit(uint64_t data, const void *context)
{
	if (data >> 8 != MARK || (data & 255) >= track.slot_count)
		return false;
	if (track.shared)
		note_hit(&track.slots[data & 255], context);
	return true;
}

static bool open_slot(uint32_t i)
{
	track.slots[i].watchpoint = rt_watchpoint_open(data_of(i));
	return track.slots[i].watchpoint >= 0;
}

void track_watch_open(void)
{
	if (!rt_watchpoint_catch(hit))
		return;
	while (track.slot_count < RADDLE_TRACK_SLOTS && open_slot(track.slot_count))
		track.slot_count++;
	atomic_store(&track.shared->no_watch, !track.slot_count);
}

/* Returns the location's number in the order of first accesses, or TRACK_LOCATIONS if it was
 * accessed before or there are too many locations. */
static uint32_t meet(uint64_t location)
{
	uint32_t count = atomic_load(&track.met_count);

	for (uint32_t i = 0; i < count && i < TRACK_LOCATIONS; i++)
		if (atomic_load(&track.met[i]) == location)
			return TRACK_LOCATIONS;
	count = atomic_fetch_add(&track.met_count, 1);
	if (count >= TRACK_LOCATIONS) {
		atomic_store(&track.met_count, TRACK_LOCATIONS);
		return TRACK_LOCATIONS;
	}
	atomic_store(&track.met[count], location);
	return count;
}

static void arm(uint32_t i, uint64_t address, uint32_t size)
{
	struct rt_watched watched = {.address = address, .data = data_of(i)};
	uint64_t none = 0;

	if (!atomic_compare_exchange_strong(&track.slots[i].address, &none, address))
		return;
	track.slots[i].length = watched.length = rt_watchpoint_length(address, size);
	if (rt_watchpoint_move(track.slots[i].watchpoint, &watched))
		atomic_fetch_add(&track.shared->watched, 1);
}

void track_watch(const void *address, uint32_t size)
{
	uint64_t location = (uintptr_t)address, here = (uintptr_t)__builtin_frame_address(0);
	uint64_t distance = location > here ? location - here : here - location;
	uint32_t skipped = track.shared->turn * RADDLE_TRACK_SLOTS, number;

	if (!track.slot_count || !location || distance < STACK_NEAR)
		return;
	number = meet(location);
	if (number < TRACK_LOCATIONS && number >= skipped && number - skipped < track.slot_count)
		arm(number - skipped, location, size);
}
