// SPDX-License-Identifier: Apache-2.0
/*
 * The hooks of the flavour `led`.  __raddle_stop() is called before each load and store, before the
 * accesses of a library function, and before a call that writes to a stream.  In: the address, site and
 * kind of the access.  Out: notifications to the layers, which may stop the thread there
 * (rt/core/layer.h).  The other hooks are called after it, before some of these accesses.
 *
 * Until the threads have reached their goals, only first accesses in a segment are counted.  The
 * flavour `record`, from whose traces schedules are made, does the same.  After that, layers are
 * notified of every access (`every` of struct rt_thread).
 */
#include "raddle/full.h"
#include "rt/core/layer.h"
#include "rt/core/buffer/mark.h"

/* Marks the bytes.  For a read, returns true if the thread had not yet accessed some of them in
 * this segment.  For a write, returns true if it had not yet written some of them. */
static bool is_first(struct rt_thread *t, uintptr_t a, uint64_t size, bool write)
{
	bool first = false;

	for (uintptr_t end = a + size, stop; a < end; a = stop) {
		const struct raddle_block *b = &t->self.blocks[RADDLE_BLOCK_INDEX(a)];
		uint64_t bits, has = write ? b->written[0] : b->seen[0];

		stop = (a | 63) + 1 < end ? (a | 63) + 1 : end;
		bits = stop - a == 64 ? ~0ull : rt_bits_of(a, (uint32_t)(stop - a));
		if (b->tag == (a >> RADDLE_BLOCK_SHIFT | t->self.epoch) && (has & bits) == bits)
			continue;
		rt_mark(&t->self, a, bits, write);
		first = true;
	}
	return first;
}

/* Returns the size of a string including its NUL, but at most RADDLE_STOP_STRING.  Returns 0 for
 * NULL. */
static uint64_t string_size(const char *s)
{
	uint64_t n = 0;

	while (s && n < RADDLE_STOP_STRING - 1 && s[n])
		n++;
	return s ? n + 1 : 0;
}

__attribute__((visibility("default"))) void __raddle_stop(struct raddle_self *self, const void *p,
							  uint64_t what)
{
	struct rt_thread *t = self == &rt_placeholder ? rt_self() : (struct rt_thread *)self;
	bool write = RADDLE_ATOMIC_WRITES(what);
	uint64_t size = RADDLE_ATOMIC_SIZE(what);
	uint32_t how = (write ? RT_ACCESS_WRITE : RT_ACCESS_READ) |
		       (what & RADDLE_STOP_SAME ? RT_ACCESS_SAME_CALL : 0) |
		       (what & RADDLE_STOP_COMPUTED ? RT_ACCESS_COMPUTED : 0) |
		       (what & RADDLE_STOP_IDLE ? RT_ACCESS_IDLE : 0);

	if (!t || t->recording != RT_LISTENED)
		return;
	if (what & RADDLE_STOP_CALLS) {
		t->self.stack_top[-1] = (uint32_t)what;
		RT_NOTIFY(calls, t);
		if (what & RADDLE_STOP_EMITS)
			RT_NOTIFY(emits, t);
		return;
	}
	if (size == RADDLE_STOP_STRING)
		size = string_size(p);
	if (!size)
		return;
	if (RT_LIKELY(t->every && rt.callbacks.stops)) {
		rt.callbacks.stops(t, (uintptr_t)p, size, (uint32_t)what, how);
		return;
	}
	if (t->every || is_first(t, (uintptr_t)p, size, write))
		RT_NOTIFY(access, t, (uintptr_t)p, size, (uint32_t)what, how);
	RT_NOTIFY(touches, t, (uintptr_t)p, size, (uint32_t)what, how);
}

__attribute__((visibility("default"))) void __raddle_within(struct raddle_self *self, const void *p,
							    uint64_t size, const void *start, uint64_t extent,
							    uint32_t site)
{
	struct rt_thread *t;
	uint64_t at = (uintptr_t)p - (uintptr_t)start;

	if (RT_LIKELY((at <= extent && size <= extent - at) || !size))
		return;
	t = self == &rt_placeholder ? rt_self() : (struct rt_thread *)self;
	if (t && t->recording == RT_LISTENED)
		RT_NOTIFY(strays, t, (uintptr_t)p, site);
}

__attribute__((visibility("default"))) uint64_t __raddle_copies(struct raddle_self *self, const char *p,
								const char *from, uint64_t max, uint64_t what)
{
	struct rt_thread *t = self == &rt_placeholder ? rt_self() : (struct rt_thread *)self;
	uint64_t before = 0, n = 0;

	if (!t || t->recording != RT_LISTENED || !p || !from)
		return 0;
	while (what & RADDLE_COPIES_APPENDS && p[before])
		before++;
	while (n < max && from[n])
		n++;
	RT_NOTIFY(copies, t, (uintptr_t)p, before + n + 1, (uint32_t)what);
	return before + n + 1;
}

__attribute__((visibility("default"))) void __raddle_barrier(struct raddle_self *self, uint32_t kind)
{
	struct rt_thread *t = self == &rt_placeholder ? rt_self() : (struct rt_thread *)self;

	if (t && t->recording == RT_LISTENED)
		RT_NOTIFY(barrier, t, kind);
}

const struct rt_layer rt_layer_led = {.number = RT_LAYER_LED};
