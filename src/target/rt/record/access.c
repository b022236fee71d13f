// SPDX-License-Identifier: Apache-2.0
/*
 * Records single accesses: the slow path of the hooks.  In: the first read, write or update of
 * bytes in a segment.  Out: a record of the access, and notifications to the layers.  If the run is
 * thinned (rt/record/thin.h) and the access is not new, it is only counted.
 */
#include "rt/record/access.h"

#include "rt/record/put.h"

__attribute__((noinline, preserve_most)) void rt_gather_anew(struct rt_thread *t, uint64_t key,
							     uint64_t sites, uint64_t bits)
{
	t->gather->anew(t, key, sites, bits);
}

/* Appends a single access.  The encoder must be taken.  Returns false if there was no room.  If the
 * access is not the first one to its bytes in the segment, it must not be moved before the first
 * one. */
static inline __attribute__((always_inline)) bool append_access(struct rt_thread *t, uintptr_t address,
								uint32_t site, bool first)
{
	if (!rt_recorder_ready_alive(t))
		return false;
	t->cursor = rt_put_near(&t->encoder, t->cursor, site, address, first ? t->encoder.floor : t->cursor);
	t->events++;
	rt_recorder_publish(t);
	return true;
}

static void notified_access(struct rt_thread *t, uintptr_t address, uint32_t site, uint32_t size, bool write)
{
	uint64_t bits = rt_bits_of(address, size), unseen;
	bool written;

	rt_recorder_take(t);
	unseen = rt_mark(&t->self, address, bits, write);
	written = rt_unread() || append_access(t, address, site, unseen == bits);
	rt_recorder_leave(t);
	if (written)
		rt_notify_access(t, address, size, site, write);
}

static RT_COLD_KEEPS void listened_or_alone_access(struct raddle_self *self, uintptr_t address, uint32_t site,
						   uint32_t size, bool write)
{
	struct rt_thread *t = (struct rt_thread *)self;
	struct rt_record r = {.code = RADDLE_ACCESS, .site = site, .count = 1, .operand = {address}};

	if (rt_is_listened(self)) {
		notified_access(t, address, site, size, write);
		return;
	}
	if (__raddle_self != &rt_placeholder)
		t = (struct rt_thread *)__raddle_self;
	if (&t->self == &rt_placeholder)
		t = rt_thread_adopt();
	if (t && (t->busy || t->recording))
		rt_emit(t, &r);
	if (t && t->recording == RT_LISTENED)
		rt_notify_access(t, address, size, site, write);
}

/* Handles every access that is neither plain nor thin (rt/record/access.h).  For most gathered
 * accesses it makes no calls, so it saves few registers. */
static __attribute__((noinline, preserve_most)) void
listened_access(struct raddle_self *self, uintptr_t address, uint32_t site, uint32_t size, bool write)
{
	struct rt_thread *t = (struct rt_thread *)self;
	uint64_t bits = rt_bits_of(address, size);

	if (!rt_is_gathered(self)) {
		listened_or_alone_access(self, address, site, size, write);
		return;
	}
	rt_recorder_take(t);
	rt_mark(self, address, bits, write);
	rt_gather_access(t, (address & ~63ull) | (write ? RT_GATHER_WRITE : 0), (uint64_t)site << 32, bits);
	rt_recorder_leave(t);
}

/* In a thinned run, marks and counts an access that is not new, and returns true.  Returns false if
 * the access is new or the run is not thinned. */
static inline __attribute__((always_inline)) bool is_left_out(struct raddle_self *self, uintptr_t address,
							      uint32_t site, uint32_t size, bool write)
{
	struct rt_thread *t = (struct rt_thread *)self;
	struct rt_place *p;

	if (!rt_is_thin(self) || !t->buffer || !(p = rt_hot_place(t, site)) ||
	    (!rt_was_left_out_here(t, p, address) &&
	     (!rt_thin_is_quiet(t, address, write) || rt_is_sampled(p, address))))
		return false;
	rt_recorder_take(t);
	rt_mark(self, address, rt_bits_of(address, size), write);
	rt_leave_out_at(t, p, address);
	rt_recorder_leave(t);
	return true;
}

/* Handles an access that a thinned run records, or one that layers listen to. */
static RT_COLD_KEEPS void thin_access(struct raddle_self *self, uintptr_t address, uint32_t site,
				      uint32_t size, bool write)
{
	struct rt_thread *t = (struct rt_thread *)self;
	uint64_t bits = rt_bits_of(address, size), unseen;

	if (!rt_is_thin(self)) {
		listened_access(self, address, site, size, write);
		return;
	}
	rt_recorder_take(t);
	if (!t->places)
		rt_thin_begin_places(t);
	unseen = rt_mark(self, address, bits, write);
	rt_thin_touch(t, address, write, !rt_hot_place(t, site));
	if (rt_recorder_ready_alive(t)) {
		rt_thin_record_at(t, site);
		append_access(t, address, site, unseen == bits);
	}
	rt_recorder_leave(t);
}

static inline __attribute__((always_inline)) void first_access(struct raddle_self *self, uintptr_t address,
							       uint32_t site, uint32_t size, bool write)
{
	struct rt_thread *t = (struct rt_thread *)self;
	uint64_t bits = rt_bits_of(address, size), unseen;

	if (!rt_is_plain(self)) {
		thin_access(self, address, site, size, write);
		return;
	}
	rt_recorder_take(t);
	unseen = rt_mark(self, address, bits, write);
	append_access(t, address, site, unseen == bits);
	rt_recorder_leave(t);
}

static __attribute__((noinline, preserve_most)) void first_read(struct raddle_self *self, uintptr_t address,
								uint32_t site, uint32_t size)
{
	first_access(self, address, site, size, false);
}

static __attribute__((noinline, preserve_most)) void first_write(struct raddle_self *self, uintptr_t address,
								 uint32_t site, uint32_t size)
{
	first_access(self, address, site, size, true);
}

__attribute__((visibility("default"))) RADDLE_COLD void
__raddle_first_read(struct raddle_self *self, uintptr_t address, uint32_t site, uint32_t size)
{
	if (!is_left_out(self, address, site, size, false))
		first_read(self, address, site, size);
}

__attribute__((visibility("default"))) RADDLE_COLD void
__raddle_first_write(struct raddle_self *self, uintptr_t address, uint32_t site, uint32_t size)
{
	if (!is_left_out(self, address, site, size, true))
		first_write(self, address, site, size);
}

/* Appends the read and the write, or only the write.  The encoder must be taken.  The record of the
 * write stays after that of the read. */
static inline __attribute__((always_inline)) bool append_update(struct rt_thread *t, uintptr_t address,
								uint64_t sites, bool read, bool first)
{
	const uint8_t *behind;
	uint8_t *p;

	if (!rt_recorder_ready_alive(t))
		return false;
	behind = p = t->cursor;
	if (read) {
		p = rt_put_near(&t->encoder, p, (uint32_t)sites, address, first ? t->encoder.floor : p);
		behind = t->encoder.slot[(uint32_t)sites % RADDLE_SITE_SLOTS].at;
		t->events++;
	}
	t->cursor = rt_put_near(&t->encoder, p, (uint32_t)(sites >> 32), address, behind);
	t->events++;
	rt_recorder_publish(t);
	return true;
}

static RT_COLD_KEEPS void listened_or_alone_update(struct raddle_self *self, uintptr_t address,
						   uint64_t sites, uint32_t size)
{
	struct rt_thread *t = (struct rt_thread *)self;
	uint32_t first = (uint32_t)sites, second = (uint32_t)(sites >> 32);
	uint64_t bits = rt_bits_of(address, size), unseen;
	bool written;

	if (!rt_is_listened(self)) {
		listened_or_alone_access(self, address, first, size, false);
		listened_or_alone_access(self, address, second, size, true);
		return;
	}
	rt_recorder_take(t);
	unseen = rt_mark(self, address, bits, true);
	written = rt_unread() || append_update(t, address, sites, unseen, bits == unseen);
	rt_recorder_leave(t);
	if (written && unseen)
		rt_notify_update(t, address, size, sites);
	else if (written)
		rt_notify_access(t, address, size, second, true);
}

static __attribute__((noinline, preserve_most)) void
listened_update(struct raddle_self *self, uintptr_t address, uint64_t sites, uint32_t size)
{
	struct rt_thread *t = (struct rt_thread *)self;
	uint64_t bits = rt_bits_of(address, size);

	if (!rt_is_gathered(self)) {
		listened_or_alone_update(self, address, sites, size);
		return;
	}
	rt_recorder_take(t);
	if (rt_mark(self, address, bits, true))
		rt_gather_access(t, (address & ~63ull) | RT_GATHER_WRITE | RT_GATHER_UPDATE, sites, bits);
	else
		rt_gather_access(t, (address & ~63ull) | RT_GATHER_WRITE, sites >> 32 << 32, bits);
	rt_recorder_leave(t);
}

static RT_COLD_KEEPS void thin_update(struct raddle_self *self, uintptr_t address, uint64_t sites,
				      uint32_t size)
{
	struct rt_thread *t = (struct rt_thread *)self;
	uint64_t bits = rt_bits_of(address, size), unseen;

	if (!rt_is_thin(self)) {
		listened_update(self, address, sites, size);
		return;
	}
	rt_recorder_take(t);
	if (!t->places)
		rt_thin_begin_places(t);
	unseen = rt_mark(self, address, bits, true);
	rt_thin_touch(t, address, true, !rt_hot_place(t, (uint32_t)(sites >> 32)));
	if (rt_recorder_ready_alive(t)) {
		if (unseen)
			rt_thin_record_at(t, (uint32_t)sites);
		rt_thin_record_at(t, (uint32_t)(sites >> 32));
		append_update(t, address, sites, unseen, unseen == bits);
	}
	rt_recorder_leave(t);
}

/* Like is_left_out(), for an update: leaves out both accesses or neither. */
static inline __attribute__((always_inline)) bool
is_update_left_out(struct raddle_self *self, uintptr_t address, uint64_t sites, uint32_t size)
{
	struct rt_thread *t = (struct rt_thread *)self;
	struct rt_place *read, *write;

	if (!rt_is_thin(self) || !t->buffer || !(read = rt_hot_place(t, (uint32_t)sites)) ||
	    !(write = rt_hot_place(t, (uint32_t)(sites >> 32))))
		return false;
	if (!(rt_was_left_out_here(t, read, address) && rt_was_left_out_here(t, write, address)) &&
	    (!rt_thin_is_quiet(t, address, true) || rt_is_sampled(read, address) ||
	     rt_is_sampled(write, address)))
		return false;
	rt_recorder_take(t);
	if (rt_mark(self, address, rt_bits_of(address, size), true))
		rt_leave_out_at(t, read, address);
	rt_leave_out_at(t, write, address);
	rt_recorder_leave(t);
	return true;
}

/* The write is new; the read is new only if the bytes were not accessed before. */
static __attribute__((noinline, preserve_most)) void first_update(struct raddle_self *self, uintptr_t address,
								  uint64_t sites, uint32_t size)
{
	struct rt_thread *t = (struct rt_thread *)self;
	uint64_t bits = rt_bits_of(address, size), unseen;

	if (!rt_is_plain(self)) {
		thin_update(self, address, sites, size);
		return;
	}
	rt_recorder_take(t);
	unseen = rt_mark(self, address, bits, true);
	append_update(t, address, sites, unseen, unseen == bits);
	rt_recorder_leave(t);
}

__attribute__((visibility("default"))) RADDLE_COLD void
__raddle_first_update(struct raddle_self *self, uintptr_t address, uint64_t sites, uint32_t size)
{
	if (!is_update_left_out(self, address, sites, size))
		first_update(self, address, sites, size);
}

__attribute__((visibility("default"))) void __raddle_read_always(struct raddle_self *self, const void *p,
								 uint32_t site, uint32_t size)
{
	struct rt_thread *t = rt_current(self);

	if (!t)
		return;
	if (RT_UNLIKELY(rt_guard.alive == RT_THIN))
		rt_thin_pin((uintptr_t)p);
	first_access(&t->self, (uintptr_t)p, site, size, false);
}

RADDLE_COLD void rt_new_read(struct raddle_self *self, uintptr_t address, uint32_t site, uint32_t size)
	__attribute__((alias("__raddle_first_read")));

RADDLE_COLD void rt_new_write(struct raddle_self *self, uintptr_t address, uint32_t site, uint32_t size)
	__attribute__((alias("__raddle_first_write")));

RADDLE_COLD void rt_new_update(struct raddle_self *self, uintptr_t address, uint64_t sites, uint32_t size)
	__attribute__((alias("__raddle_first_update")));
