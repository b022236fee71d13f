// SPDX-License-Identifier: Apache-2.0
/*
 * Appending records: the slow path of the hooks, ranges, and events.
 *
 * In: addresses and operands.  Out: whole records in the thread's buffer, whose
 * `used` moves only when a record is complete.
 *
 * Every entry takes the encoder (take), prepares it (room in the buffer, the
 * call stack as it is now), encodes, publishes, and lets go (leave).  An entry
 * that finds the encoder taken runs in a signal handler above it; its record goes
 * to t->pending together with the handler's own frames, and leave() appends it.
 * Such an entry touches neither the encoder nor the marks.
 *
 * A handler may leave the encoder by longjmp.  The next entry notices that its own
 * frame is not below the one that took the encoder, drops the half-written record
 * and begins a new buffer, because the encoder's state may be half-changed too.
 */
#include "rt/core/layer.h"
#include "rt/core/mark.h"
#include "rt/record/thin.h"

#define COLD __attribute__((noinline, cold))
#define COLD_KEEPS __attribute__((noinline, cold, preserve_most))
#define BARRIER() atomic_signal_fence(memory_order_seq_cst)

/* The largest range whose bytes are marked one by one. */
#define RANGE_MARK_MAX (RADDLE_BLOCKS / 4 * RADDLE_BLOCK_BYTES)

static inline void publish(struct rt_thread *t)
{
	struct raddle_buffer *b = t->buffer;

	atomic_store_explicit(&b->used, (uint32_t)(t->cursor - b->data), memory_order_release);
}

/* In the child of a fork that nobody told us of: lets go of the parent's
 * buffer. */
static COLD bool orphaned(struct rt_thread *t)
{
	if (rt_guard.alive)
		return false;
	t->recording = false;
	t->buffer = NULL;
	t->cursor = (uint8_t *)1;
	t->limit = NULL;
	return true;
}

static bool switch_buffer(struct rt_thread *t)
{
	rt_thin_look(t);
	return rt_buffer_switch(t);
}

/* Room for `need` bytes and a decoder that knows the present call stack. */
static COLD_KEEPS bool prepare(struct rt_thread *t, size_t need)
{
	uint32_t *top = t->self.stack_top;

	if (orphaned(t))
		return false;
	if (RT_UNLIKELY(!t->buffer) || t->cursor + need > t->limit)
		if (!switch_buffer(t))
			return false;
	if (!rt_stack_changed(&t->encoder, top))
		return true;
	if (t->cursor + need + RT_STACK_MAX > t->limit)
		if (!switch_buffer(t))
			return false;
	t->cursor = rt_put_stack(&t->encoder, t->cursor, top);
	publish(t);
	return true;
}

static inline bool ready(struct rt_thread *t)
{
	return RT_LIKELY(t->cursor <= t->limit && rt_guard.alive &&
			 !rt_stack_changed(&t->encoder, t->self.stack_top)) ||
	       prepare(t, 0);
}

/* The same where is_plain() has looked at rt_guard. */
static inline bool ready_too(struct rt_thread *t)
{
	return RT_LIKELY(t->cursor <= t->limit && !rt_stack_changed(&t->encoder, t->self.stack_top)) ||
	       prepare(t, 0);
}

static inline void take(struct rt_thread *t)
{
#if defined(__x86_64__)
	__asm__ volatile("movq %%rsp, %0" : "=m"(t->busy)); /* saves the hooks a frame pointer */
#else
	t->busy = (uintptr_t)__builtin_frame_address(0);
#endif
	t->busy_top = t->self.stack_top;
	BARRIER();
}

/* Was the encoder left by longjmp?  Only frames of the thread's own stack can
 * be compared: a handler may run on an alternate one. */
static bool abandoned(const struct rt_thread *t)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	return frame > t->busy && frame < t->stack_high && frame >= t->stack_low && t->busy >= t->stack_low;
}

static void encode(struct rt_thread *t, const struct rt_record *r)
{
	if (r->code == RADDLE_ACCESS)
		t->cursor = rt_put_access(&t->encoder, t->cursor, r->site, r->operand[0]);
	else
		t->cursor = rt_put_record(&t->encoder, t->cursor, r);
	t->events += r->code == RADDLE_STRIDE ? (uint32_t)r->operand[2] : 1;
	publish(t);
}

/* The frames of a handler that are gone by now: one stack record brings them,
 * another one takes them away. */
static void encode_pending(struct rt_thread *t, struct rt_pending *p)
{
	struct rt_encoder *e = &t->encoder;
	size_t depth;
	uint64_t previous = 0;

	if (!prepare(t, RT_RECORD_MAX + 16 + 5 * RT_PENDING_FRAMES))
		return;
	depth = e->stack_known;
	if (p->frames) {
		*t->cursor++ = RADDLE_STACK;
		t->cursor = rt_put_varint(t->cursor, depth);
		t->cursor = rt_put_varint(t->cursor, p->frames);
		t->cursor = rt_put_frames(t->cursor, p->frame, p->frames, &previous);
	}
	e->floor = t->cursor;
	if (p->record.code == RADDLE_ACCESS)
		t->cursor = rt_put_access(e, t->cursor, p->record.site, p->record.operand[0]);
	else
		t->cursor = rt_put_record(e, t->cursor, &p->record);
	t->events++;
	if (p->frames) {
		*t->cursor++ = RADDLE_STACK;
		t->cursor = rt_put_varint(t->cursor, depth);
		t->cursor = rt_put_varint(t->cursor, 0);
		e->stack_at = NULL;
	}
	e->floor = t->cursor;
	publish(t);
}

void rt_see_again(struct rt_thread *t)
{
	rt_new_segment(t);
}

/* A synchronisation operation begins a new segment.  While there is no other
 * thread and none that could still be met in a join, everything this thread does
 * is ordered before or after all that others do, whatever it synchronises: the
 * accesses made so far stand for the same ones to come.  They do so too where nobody reads them and
 * no layer needs more, and for a while in a thread that is lazy. */
static inline void synchronised(struct rt_thread *t)
{
	if (atomic_load_explicit(&rt.others, memory_order_relaxed) != 0 &&
	    !(RT_UNLIKELY(t->recording == RT_TOLD) && rt_unread() && !rt_tell_segment_ends(t)) &&
	    !(RT_UNLIKELY(t->lazy) && rt_thin_goes_on(t)))
		rt_new_segment(t);
}

/* Records that are lost are owned up to. */
#define NOTE_LOST(t, text) note_lost(t, text, sizeof text - 1)
static void note_lost(struct rt_thread *t, const char *text, uint32_t length)
{
	struct rt_record r = {.code = RADDLE_NOTE, .bytes = text, .length = length};

	t->pending_lost = 0;
	if (prepare(t, RT_RECORD_MAX + r.length))
		encode(t, &r);
}

/* Appends what handlers left.  A handler may add to it at any moment, also
 * between the last look and the exchange that empties it. */
static COLD_KEEPS void drain(struct rt_thread *t)
{
	uint32_t done, count;

	t->busy = (uintptr_t)__builtin_frame_address(0);
	BARRIER();
	done = t->pending_done;
	do {
		for (; done < atomic_load_explicit(&t->pending_count, memory_order_relaxed); done++)
			encode_pending(t, &t->pending[done]);
		t->pending_done = 0;
		if (t->pending_lost)
			NOTE_LOST(t, "records of a signal handler were lost");
		rt_new_segment(t);
		count = done;
	} while (!atomic_compare_exchange_strong(&t->pending_count, &count, 0));
	BARRIER();
	t->busy = 0;
}

/* Handlers that ran after the encoder was taken but before position `q` was
 * come first. */
static COLD void drain_before(struct rt_thread *t, uint64_t q)
{
	uint32_t count = atomic_load_explicit(&t->pending_count, memory_order_relaxed), end = 0;

	for (uint32_t i = t->pending_done; i < count; i++)
		if (raddle_has_q(t->pending[i].record.code) && t->pending[i].record.operand[0] < q)
			end = i + 1;
	for (; t->pending_done < end; t->pending_done++)
		encode_pending(t, &t->pending[t->pending_done]);
}

static inline bool pending(const struct rt_thread *t)
{
	return RT_UNLIKELY(atomic_load_explicit(&t->pending_count, memory_order_relaxed));
}

static inline void leave(struct rt_thread *t)
{
	BARRIER();
	if (pending(t))
		drain(t);
	t->busy = 0;
	BARRIER();
	if (pending(t))
		drain(t);
}

/* For an entry that found the encoder taken: true if it may go on because nobody
 * will come back to it.  What was left in t->pending may be half-written, too. */
static COLD bool recover(struct rt_thread *t)
{
	if (!abandoned(t))
		return false;
	take(t);
	rt_buffer_seal(t);
	t->pending_count = t->pending_done = 0;
	NOTE_LOST(t, "a signal handler left the recorder by longjmp: records may be lost");
	leave(t);
	return true;
}

static COLD void defer(struct rt_thread *t, const struct rt_record *r)
{
	uint32_t at = atomic_load_explicit(&t->pending_count, memory_order_relaxed);
	uint32_t *top = t->self.stack_top;
	struct rt_pending *p;

	if (at == RT_PENDING) {
		t->pending_lost++;
		return;
	}
	atomic_store_explicit(&t->pending_count, at + 1, memory_order_relaxed);
	BARRIER();
	p = &t->pending[at];
	p->record = *r;
	p->record.length = 0;
	p->frames = 0;
	while (p->frames < RT_PENDING_FRAMES && top - p->frames > t->busy_top)
		p->frames++;
	for (uint32_t i = 0; i < p->frames; i++)
		p->frame[i] = top[(int)i - (int)p->frames] & ~RT_STACK_EMITTED;
}

/* The groups of seven bits of a number below 2^28, a byte each. */
static inline __attribute__((always_inline)) uint32_t spread(uint32_t v)
{
	return (v & 0x7f) | (v & 0x3f80) << 1 | (v & 0x1fc000) << 2 | (v & 0xfe00000) << 3;
}

/* Varints without a branch, since the lengths of addresses vary from one access to the next; the first is for
 * numbers below 2^28, the second below 2^56.  What lies behind them is overwritten later. */
static inline __attribute__((always_inline)) uint8_t *put_four(uint8_t *p, uint32_t v)
{
	uint32_t more =
		(uint32_t)(31 - __builtin_clz(v | 1)) * 37 >> 8; /* bytes behind the first: log2 / 7 */
	uint32_t bytes = spread(v) | (0x80808080u & ((1u << 8 * more) - 1));

	memcpy(p, &bytes, sizeof bytes);
	return p + more + 1;
}

static inline __attribute__((always_inline)) uint8_t *put_eight(uint8_t *p, uint64_t v)
{
	uint32_t more = (uint32_t)(63 - __builtin_clzll(v | 1)) * 37 >> 8;
	uint64_t bytes = spread((uint32_t)v & 0xfffffff) | (uint64_t)spread((uint32_t)(v >> 28)) << 32;

	bytes |= 0x8080808080808080u & ((1ull << 8 * more) - 1);
	memcpy(p, &bytes, sizeof bytes);
	return p + more + 1;
}

/* The difference of two addresses, which may be anything. */
static inline uint8_t *put_far_delta(uint8_t *p, uint64_t *previous, uint64_t value)
{
	uint64_t z = rt_zigzag(value - *previous);

	*previous = value;
	return RT_LIKELY(z < 1ull << 56) ? put_eight(p, z) : rt_put_varint(p, z);
}

/* The first part of an access: which site. */
static inline __attribute__((always_inline)) uint8_t *put_site(uint8_t *p, uint32_t z)
{
	if (z < RADDLE_ACCESS_ESCAPE) {
		*p = (uint8_t)(RADDLE_ACCESS_FLAG | z);
		return p + 1;
	}
	p[0] = RADDLE_ACCESS_FLAG | RADDLE_ACCESS_ESCAPE;
	p[1] = (uint8_t)(z | 0x80);
	p[2] = (uint8_t)(z >> 7);
	return p + 3;
}

static inline __attribute__((always_inline)) void note_single(struct rt_encoder *e, struct rt_slot *slot,
							      uint8_t *p, uint32_t site, uint64_t address)
{
	e->site = site;
	slot->by = address - slot->address;
	slot->address = address;
	slot->at = p;
	slot->site = site;
	slot->left = 0;
}

static inline uint32_t site_distance(const struct rt_encoder *e, uint32_t site)
{
	int32_t by = (int32_t)(site - (uint32_t)e->site);

	return (uint32_t)by << 1 ^ (uint32_t)(by >> 31);
}

static COLD_KEEPS uint8_t *put_far(struct rt_encoder *e, uint8_t *p, uint32_t site, uint64_t address)
{
	struct rt_slot *slot = &e->slot[site % RADDLE_SITE_SLOTS];
	uint64_t d = rt_zigzag(address - slot->address);
	uint32_t z = site_distance(e, site);

	if (z >= 1u << 14 || d >= 1ull << 56)
		return rt_put_access(e, p, site, address);
	note_single(e, slot, p, site, address);
	return put_eight(put_site(p, z), d);
}

static __attribute__((noinline, preserve_most)) uint8_t *put_run(struct rt_encoder *e, uint8_t *p,
								 uint32_t site, uint64_t address)
{
	return rt_put_run(e, p, site, address);
}

/* rt_put_access() or rt_put_run() for the hooks: straight on for what is near, few registers. */
static inline __attribute__((always_inline)) uint8_t *
put_near(struct rt_encoder *e, uint8_t *p, uint32_t site, uint64_t address, const uint8_t *floor)
{
	struct rt_slot *slot = &e->slot[site % RADDLE_SITE_SLOTS];
	uint32_t z = site_distance(e, site);
	uint64_t d = rt_zigzag(address - slot->address);

	if (rt_is_run(slot, site, address, floor)) {
		if (RT_UNLIKELY(!slot->left))
			return put_run(e, p, site, address);
		slot->address = address;
		slot->left--;
		++*slot->at;
		return p;
	}
	if (RT_UNLIKELY(z >= 1u << 14 || d >= 1u << 28))
		return put_far(e, p, site, address);
	note_single(e, slot, p, site, address);
	return put_four(put_site(p, z), (uint32_t)d);
}

/* Appends a single access with the encoder taken; false: there was no room for it.  One that is not the
 * first of its bytes in the segment must not get before the one that was. */
static inline __attribute__((always_inline)) bool append_access(struct rt_thread *t, uintptr_t address,
								uint32_t site, bool first)
{
	if (!ready_too(t))
		return false;
	t->cursor = put_near(&t->encoder, t->cursor, site, address, first ? t->encoder.floor : t->cursor);
	t->events++;
	publish(t);
	return true;
}

/*
 * A first access goes one of five ways:
 *   plain     recorded, and nobody listens: straight on, in the hook's own slow path
 *   thin      the same in a thinned run: it may be left out
 *   gathered  layers listen, but nobody reads the records and no layer has to see the access now
 *   told      layers listen: the record, then they are told, and may have the thread wait
 *   alone     by a thread that has no state yet, or by a handler that interrupted the encoder
 */
static inline bool is_plain(const struct raddle_self *self)
{
	return RT_LIKELY(self != &rt_placeholder) && RT_LIKELY(!((const struct rt_thread *)self)->busy) &&
	       RT_LIKELY(rt_guard.alive == RT_PLAIN);
}

static inline bool is_thin(const struct raddle_self *self)
{
	return RT_LIKELY(rt_guard.alive == RT_THIN) && self != &rt_placeholder &&
	       RT_LIKELY(!((const struct rt_thread *)self)->busy) &&
	       RT_LIKELY(((const struct rt_thread *)self)->recording == RT_PLAIN);
}

static inline bool is_told(const struct raddle_self *self)
{
	const struct rt_thread *t = (const struct rt_thread *)self;

	return RT_LIKELY(self != &rt_placeholder && t->recording == RT_TOLD && !t->busy);
}

static inline bool is_gathered(const struct raddle_self *self)
{
	return is_told(self) && RT_LIKELY(rt_unread() && !((const struct rt_thread *)self)->each);
}

static __attribute__((noinline, preserve_most)) void gather_anew(struct rt_thread *t, uint64_t key,
								 uint64_t sites, uint64_t bits)
{
	t->gather->anew(t, key, sites, bits);
}

/* With the encoder taken. */
static inline __attribute__((always_inline)) void gather(struct rt_thread *t, uint64_t key, uint64_t sites,
							 uint64_t bits)
{
	if (t->told)
		atomic_store_explicit(t->told, atomic_load_explicit(t->told, memory_order_relaxed) + 1,
				      memory_order_relaxed);
	if (t->gather && !rt_gather_more(t->gather, key, sites, bits))
		gather_anew(t, key, sites, bits);
}

static void tell_access(struct rt_thread *t, uintptr_t address, uint64_t size, uint32_t site, bool write)
{
	RT_TELL(access, t, address, size, site, write ? RT_ACCESS_WRITE : RT_ACCESS_READ);
}

static void told_access(struct rt_thread *t, uintptr_t address, uint32_t site, uint32_t size, bool write)
{
	uint64_t bits = rt_bits_of(address, size), unseen;
	bool written;

	take(t);
	unseen = rt_mark(&t->self, address, bits, write);
	written = rt_unread() || append_access(t, address, site, unseen == bits);
	leave(t);
	if (written)
		tell_access(t, address, size, site, write);
}

static COLD_KEEPS void told_or_alone_access(struct raddle_self *self, uintptr_t address, uint32_t site,
					    uint32_t size, bool write)
{
	struct rt_thread *t = (struct rt_thread *)self;
	struct rt_record r = {.code = RADDLE_ACCESS, .site = site, .count = 1, .operand = {address}};

	if (is_told(self)) {
		told_access(t, address, site, size, write);
		return;
	}
	if (__raddle_self != &rt_placeholder)
		t = (struct rt_thread *)__raddle_self;
	if (&t->self == &rt_placeholder)
		t = rt_thread_adopt();
	if (t && (t->busy || t->recording))
		rt_emit(t, &r);
	if (t && t->recording == RT_TOLD)
		tell_access(t, address, size, site, write);
}

/* Any but a plain access.  One that is gathered calls nothing, so it saves few registers. */
static __attribute__((noinline, preserve_most)) void
listened_access(struct raddle_self *self, uintptr_t address, uint32_t site, uint32_t size, bool write)
{
	struct rt_thread *t = (struct rt_thread *)self;
	uint64_t bits = rt_bits_of(address, size);

	if (!is_gathered(self)) {
		told_or_alone_access(self, address, site, size, write);
		return;
	}
	take(t);
	rt_mark(self, address, bits, write);
	gather(t, (address & ~63ull) | (write ? RT_GATHER_WRITE : 0), (uint64_t)site << 32, bits);
	leave(t);
}

/* ---- thinned runs ---- */

/* The thread's first access since its run is thinned; without memory all its places stay cold. */
static COLD_KEEPS void begin_places(struct rt_thread *t)
{
	t->hand = rt_hand(t->number);
	t->places = rt_map(RT_PLACES * sizeof *t->places);
	if (!t->places)
		t->places = rt_thin.nowhere;
}

/* Says how many accesses of the place were left out, with room for it. */
static COLD_KEEPS void tell_left(struct rt_thread *t, const struct rt_place *p)
{
	if (p->step != t->steps)
		return;
	t->cursor = rt_put_left_out(&t->encoder, t->cursor, p->site, p->left);
	t->events++;
	publish(t);
}

/* A record of the place is about to be appended, and there is room for another one. */
static void record_at(struct rt_thread *t, uint32_t site)
{
	struct rt_place *p = rt_place_of(t->places, site);

	if (t->places == rt_thin.nowhere)
		return;
	if (p->left)
		tell_left(t, p);
	p->left = 0;
	if (p->site != site)
		*p = (struct rt_place){.site = site};
	if (p->heat & RT_PLACE_HOT)
		p->more++;
	else if (++p->heat == RT_THIN_PLACE)
		p->heat = RT_PLACE_HOT | site;
}

static inline __attribute__((always_inline)) struct rt_place *hot_place(const struct rt_thread *t,
									uint32_t site)
{
	struct rt_place *places = t->places ? t->places : rt_thin.nowhere, *p = places + rt_place_index(site);

	if (RT_LIKELY(p->heat == (RT_PLACE_HOT | site)))
		return p;
	p = places + rt_place_other(site);
	return p->heat == (RT_PLACE_HOT | site) ? p : NULL;
}

/* With the encoder taken. */
static inline __attribute__((always_inline)) void leave_out(struct rt_thread *t, struct rt_place *p)
{
	if (p->step != t->steps) {
		p->step = t->steps;
		p->left = 0;
	}
	p->left++;
	t->buffer->left_out++;
}

/* The same for one that was_here() may follow. */
static inline __attribute__((always_inline)) void leave_out_at(struct rt_thread *t, struct rt_place *p,
							       uintptr_t address)
{
	leave_out(t, p);
	p->tag = address >> RADDLE_BLOCK_SHIFT | t->self.epoch;
}

/* Whether the last access of the place was left out, in this block and since the last operation: so is the
 * next one.  A loop goes through memory: most of its accesses lie in the block of the one before. */
static inline __attribute__((always_inline)) bool was_here(const struct rt_thread *t,
							   const struct rt_place *p, uintptr_t address)
{
	return p->tag == (address >> RADDLE_BLOCK_SHIFT | t->self.epoch) && p->step == t->steps;
}

/* Marks and counts an access of a thinned run of which nothing is news; false: it is another matter. */
static inline __attribute__((always_inline)) bool is_left_out(struct raddle_self *self, uintptr_t address,
							      uint32_t site, uint32_t size, bool write)
{
	struct rt_thread *t = (struct rt_thread *)self;
	struct rt_place *p;

	if (!is_thin(self) || !t->buffer || !(p = hot_place(t, site)) ||
	    (!was_here(t, p, address) && (!rt_thin_is_quiet(t, address, write) || rt_is_sampled(p, address))))
		return false;
	take(t);
	rt_mark(self, address, rt_bits_of(address, size), write);
	leave_out_at(t, p, address);
	leave(t);
	return true;
}

/* An access of a thinned run that is recorded, or one that others listen to. */
static COLD_KEEPS void thin_access(struct raddle_self *self, uintptr_t address, uint32_t site, uint32_t size,
				   bool write)
{
	struct rt_thread *t = (struct rt_thread *)self;
	uint64_t bits = rt_bits_of(address, size), unseen;

	if (!is_thin(self)) {
		listened_access(self, address, site, size, write);
		return;
	}
	take(t);
	if (!t->places)
		begin_places(t);
	unseen = rt_mark(self, address, bits, write);
	rt_thin_touch(t, address, write, !hot_place(t, site));
	if (ready_too(t)) {
		record_at(t, site);
		append_access(t, address, site, unseen == bits);
	}
	leave(t);
}

static inline __attribute__((always_inline)) void first_access(struct raddle_self *self, uintptr_t address,
							       uint32_t site, uint32_t size, bool write)
{
	struct rt_thread *t = (struct rt_thread *)self;
	uint64_t bits = rt_bits_of(address, size), unseen;

	if (!is_plain(self)) {
		thin_access(self, address, site, size, write);
		return;
	}
	take(t);
	unseen = rt_mark(self, address, bits, write);
	append_access(t, address, site, unseen == bits);
	leave(t);
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

/* Appends both, or only the write, with the encoder taken.  The write's record stays behind the read's. */
static inline __attribute__((always_inline)) bool append_update(struct rt_thread *t, uintptr_t address,
								uint64_t sites, bool read, bool first)
{
	const uint8_t *behind;
	uint8_t *p;

	if (!ready_too(t))
		return false;
	behind = p = t->cursor;
	if (read) {
		p = put_near(&t->encoder, p, (uint32_t)sites, address, first ? t->encoder.floor : p);
		behind = t->encoder.slot[(uint32_t)sites % RADDLE_SITE_SLOTS].at;
		t->events++;
	}
	t->cursor = put_near(&t->encoder, p, (uint32_t)(sites >> 32), address, behind);
	t->events++;
	publish(t);
	return true;
}

static COLD_KEEPS void told_or_alone_update(struct raddle_self *self, uintptr_t address, uint64_t sites,
					    uint32_t size)
{
	struct rt_thread *t = (struct rt_thread *)self;
	uint32_t first = (uint32_t)sites, second = (uint32_t)(sites >> 32);
	uint64_t bits = rt_bits_of(address, size), unseen;
	bool written;

	if (!is_told(self)) {
		told_or_alone_access(self, address, first, size, false);
		told_or_alone_access(self, address, second, size, true);
		return;
	}
	take(t);
	unseen = rt_mark(self, address, bits, true);
	written = rt_unread() || append_update(t, address, sites, unseen, bits == unseen);
	leave(t);
	if (written && unseen)
		rt_tell_update(t, address, size, sites);
	else if (written)
		tell_access(t, address, size, second, true);
}

static __attribute__((noinline, preserve_most)) void
listened_update(struct raddle_self *self, uintptr_t address, uint64_t sites, uint32_t size)
{
	struct rt_thread *t = (struct rt_thread *)self;
	uint64_t bits = rt_bits_of(address, size);

	if (!is_gathered(self)) {
		told_or_alone_update(self, address, sites, size);
		return;
	}
	take(t);
	if (rt_mark(self, address, bits, true))
		gather(t, (address & ~63ull) | RT_GATHER_WRITE | RT_GATHER_UPDATE, sites, bits);
	else
		gather(t, (address & ~63ull) | RT_GATHER_WRITE, sites >> 32 << 32, bits);
	leave(t);
}

static COLD_KEEPS void thin_update(struct raddle_self *self, uintptr_t address, uint64_t sites, uint32_t size)
{
	struct rt_thread *t = (struct rt_thread *)self;
	uint64_t bits = rt_bits_of(address, size), unseen;

	if (!is_thin(self)) {
		listened_update(self, address, sites, size);
		return;
	}
	take(t);
	if (!t->places)
		begin_places(t);
	unseen = rt_mark(self, address, bits, true);
	rt_thin_touch(t, address, true, !hot_place(t, (uint32_t)(sites >> 32)));
	if (ready_too(t)) {
		if (unseen)
			record_at(t, (uint32_t)sites);
		record_at(t, (uint32_t)(sites >> 32));
		append_update(t, address, sites, unseen, unseen == bits);
	}
	leave(t);
}

/* The same of an update, of which both are left out or none. */
static inline __attribute__((always_inline)) bool
is_update_left_out(struct raddle_self *self, uintptr_t address, uint64_t sites, uint32_t size)
{
	struct rt_thread *t = (struct rt_thread *)self;
	struct rt_place *read, *write;

	if (!is_thin(self) || !t->buffer || !(read = hot_place(t, (uint32_t)sites)) ||
	    !(write = hot_place(t, (uint32_t)(sites >> 32))))
		return false;
	if (!(was_here(t, read, address) && was_here(t, write, address)) &&
	    (!rt_thin_is_quiet(t, address, true) || rt_is_sampled(read, address) ||
	     rt_is_sampled(write, address)))
		return false;
	take(t);
	if (rt_mark(self, address, rt_bits_of(address, size), true))
		leave_out_at(t, read, address);
	leave_out_at(t, write, address);
	leave(t);
	return true;
}

/* The write is new; the read only if the bytes were not met before. */
static __attribute__((noinline, preserve_most)) void first_update(struct raddle_self *self, uintptr_t address,
								  uint64_t sites, uint32_t size)
{
	struct rt_thread *t = (struct rt_thread *)self;
	uint64_t bits = rt_bits_of(address, size), unseen;

	if (!is_plain(self)) {
		thin_update(self, address, sites, size);
		return;
	}
	take(t);
	unseen = rt_mark(self, address, bits, true);
	append_update(t, address, sites, unseen, unseen == bits);
	leave(t);
}

__attribute__((visibility("default"))) RADDLE_COLD void
__raddle_first_update(struct raddle_self *self, uintptr_t address, uint64_t sites, uint32_t size)
{
	if (!is_update_left_out(self, address, sites, size))
		first_update(self, address, sites, size);
}

/* ---- two side by side ---- */

/* Whether these bytes of one block are marked already: nothing to be done, as in the hooks. */
static inline __attribute__((always_inline)) bool is_marked(const struct raddle_self *self, uintptr_t a,
							    uint64_t size, bool write)
{
	const struct raddle_block *b = &self->blocks[RADDLE_BLOCK_INDEX(a)];
	uint64_t bits = ~0ull >> (64 - size) << a % 64;

	return b->tag == (a >> RADDLE_BLOCK_SHIFT | self->epoch) &&
	       (~(write ? b->written[0] : b->seen[0]) & bits) == 0;
}

/* The places of one of two accesses; both are the same unless it is an update. */
struct half {
	struct rt_place *first, *last;
};

static inline __attribute__((always_inline)) bool find_half(const struct rt_thread *t, struct half *h,
							    uint64_t sites, bool update)
{
	h->first = h->last = hot_place(t, (uint32_t)sites);
	if (update)
		h->last = hot_place(t, (uint32_t)(sites >> 32));
	return h->first && h->last;
}

static inline bool was_half_here(const struct rt_thread *t, const struct half *h, uintptr_t address)
{
	return was_here(t, h->first, address) && was_here(t, h->last, address);
}

static inline bool is_sampled_half(const struct half *h, uintptr_t address)
{
	return rt_is_sampled(h->first, address) || rt_is_sampled(h->last, address);
}

/* One of the two, of whose bytes some were not `marked`; the read of an update counts only if they were not
 * `seen` either. */
static inline __attribute__((always_inline)) void leave_half_out(struct rt_thread *t, const struct half *h,
								 uintptr_t address, uint64_t unmarked,
								 uint64_t unseen)
{
	if (!unmarked)
		return;
	if (h->first != h->last && unseen)
		leave_out_at(t, h->first, address);
	leave_out_at(t, h->last, address);
}

/* Marks both, with the encoder taken, and counts them. */
static inline __attribute__((always_inline)) void
leave_halves_out(struct rt_thread *t, const struct half *h, uintptr_t address, uint32_t size, bool write)
{
	const struct raddle_block *b = &t->self.blocks[RADDLE_BLOCK_INDEX(address)];
	bool mine = b->tag == (address >> RADDLE_BLOCK_SHIFT | t->self.epoch);
	uint64_t low = rt_bits_of(address, size), high = low << size;
	uint64_t unseen = mine ? ~b->seen[0] : ~0ull, unmarked = mine && write ? ~b->written[0] : unseen;

	rt_mark(&t->self, address, low | high, write);
	leave_half_out(t, &h[0], address, unmarked & low, unseen & low);
	leave_half_out(t, &h[1], address, unmarked & high, unseen & high);
}

/* In a thinned run most are left out: two in one go, as is_left_out() and is_update_left_out() would.  False:
 * each is to be looked at. */
static inline __attribute__((always_inline)) bool leave_two_out(struct raddle_self *self, uintptr_t address,
								const uint64_t sites[2], uint32_t size,
								bool write, bool update)
{
	struct rt_thread *t = (struct rt_thread *)self;
	struct half h[2];

	if (!is_thin(self) || address % 64 + 2 * size > 64 || !t->buffer ||
	    !find_half(t, &h[0], sites[0], update) || !find_half(t, &h[1], sites[1], update))
		return false;
	if (!(was_half_here(t, &h[0], address) && was_half_here(t, &h[1], address)) &&
	    (!rt_thin_is_quiet(t, address, write) || is_sampled_half(&h[0], address) ||
	     is_sampled_half(&h[1], address)))
		return false;
	take(t);
	leave_halves_out(t, h, address, size, write);
	leave(t);
	return true;
}

static COLD_KEEPS void each_of_two(struct raddle_self *self, uintptr_t address, uint64_t sites, uint32_t size,
				   bool write)
{
	for (int i = 0; i < 2; i++, address += size, sites >>= 32) {
		if (is_marked(self, address, size, write))
			continue;
		if (write)
			__raddle_first_write(self, address, (uint32_t)sites, size);
		else
			__raddle_first_read(self, address, (uint32_t)sites, size);
	}
}

static COLD_KEEPS void each_of_two_updates(struct raddle_self *self, uintptr_t address,
					   const uint64_t sites[2], uint32_t size)
{
	for (int i = 0; i < 2; i++, address += size)
		if (!is_marked(self, address, size, true))
			__raddle_first_update(self, address, sites[i], size);
}

__attribute__((visibility("default"))) RADDLE_COLD void
__raddle_first_two_reads(struct raddle_self *self, uintptr_t address, uint64_t sites, uint32_t size)
{
	if (!leave_two_out(self, address, (uint64_t[]){sites, sites >> 32}, size, false, false))
		each_of_two(self, address, sites, size, false);
}

__attribute__((visibility("default"))) RADDLE_COLD void
__raddle_first_two_writes(struct raddle_self *self, uintptr_t address, uint64_t sites, uint32_t size)
{
	if (!leave_two_out(self, address, (uint64_t[]){sites, sites >> 32}, size, true, false))
		each_of_two(self, address, sites, size, true);
}

__attribute__((visibility("default"))) RADDLE_COLD void
__raddle_first_two_updates(struct raddle_self *self, uintptr_t address, uint64_t first, uint64_t second,
			   uint32_t size)
{
	uint64_t sites[] = {first, second};

	if (!leave_two_out(self, address, sites, size, true, true))
		each_of_two_updates(self, address, sites, size);
}

/* The state to work with, whatever the caller loaded when it was entered. */
static inline struct rt_thread *current(struct raddle_self *self)
{
	if (RT_UNLIKELY(self == &rt_placeholder))
		return rt_self();
	return ((struct rt_thread *)self)->recording ? (struct rt_thread *)self : NULL;
}

__attribute__((visibility("default"))) void __raddle_read_always(struct raddle_self *self, const void *p,
								 uint32_t site, uint32_t size)
{
	struct rt_thread *t = current(self);

	if (!t)
		return;
	if (RT_UNLIKELY(rt_guard.alive == RT_THIN))
		rt_thin_pin((uintptr_t)p);
	first_access(&t->self, (uintptr_t)p, site, size, false);
}

/* What the marks said about a range: all bytes were marked; none had been seen; anything else. */
enum met { MET_ALL, MET_NONE, MET_SOME };

static inline bool in_block(uintptr_t a, uint64_t size)
{
	return size - 1 < 64 - a % 64; /* not if it is empty */
}

/* The same of bytes that may lie in two blocks; false: there is something to be done, or there are more. */
static inline __attribute__((always_inline)) bool is_marked_range(const struct raddle_self *self, uintptr_t a,
								  uint64_t size, bool write)
{
	uint64_t first = 64 - a % 64;

	if (RT_LIKELY(in_block(a, size)))
		return is_marked(self, a, size, write);
	return size - 1 < 64 && is_marked(self, a, first, write) &&
	       is_marked(self, a + first, size - first, write);
}

/* Marks bytes of one block. */
static inline __attribute__((always_inline)) enum met mark_block(struct raddle_self *self, uintptr_t a,
								 uint64_t size, bool write)
{
	uint64_t bits = ~0ull >> (64 - size) << a % 64;

	if (is_marked(self, a, size, write))
		return MET_ALL;
	return rt_mark(self, a, bits, write) == bits ? MET_NONE : MET_SOME;
}

static __attribute__((noinline)) enum met mark_blocks(struct raddle_self *self, uintptr_t a, uint64_t size,
						      bool write)
{
	uintptr_t end = a + size, next = (a | 63) + 1;
	enum met met;

	if (size > RANGE_MARK_MAX)
		return MET_SOME;
	for (met = mark_block(self, a, next - a, write); next < end; next += 64)
		if (mark_block(self, next, end - next < 64 ? end - next : 64, write) != met)
			met = MET_SOME;
	return met;
}

/* Marks all bytes of a range. */
static inline enum met mark_range(struct raddle_self *self, uintptr_t a, uint64_t size, bool write)
{
	return RT_LIKELY(in_block(a, size)) ? mark_block(self, a, size, write)
					    : mark_blocks(self, a, size, write);
}

/* Only blocks with something new are gathered. */
static void gather_range(struct rt_thread *t, uintptr_t a, uint64_t size, uint64_t sites, bool write)
{
	for (uintptr_t end = a + size, stop; a < end; a = stop) {
		const struct raddle_block *b = &t->self.blocks[RADDLE_BLOCK_INDEX(a)];
		uint64_t bits, has = write ? b->written[0] : b->seen[0];
		stop = (a | 63) + 1 < end ? (a | 63) + 1 : end;
		bits = stop - a == 64 ? ~0ull : ((1ull << (stop - a)) - 1) << a % 64;
		if (b->tag == (a >> RADDLE_BLOCK_SHIFT | t->self.epoch) && (has & bits) == bits)
			continue;
		rt_mark(&t->self, a, bits, write);
		gather(t, (a & ~63ull) | (write ? RT_GATHER_WRITE : 0), sites, bits);
	}
}

#define GATHER_MAX 256 /* a larger one fills its blocks alone */

/* With the encoder taken, and room.  As with single accesses, only one whose bytes are all new may get before
 * others. */
static inline void append_range(struct rt_thread *t, const void *p, uint32_t site, uint64_t size,
				enum met met)
{
	t->cursor = rt_put_range_run(&t->encoder, t->cursor, site, (uintptr_t)p, size,
				     met == MET_NONE ? t->encoder.floor : t->cursor);
	t->events++;
	publish(t);
}

static COLD void emit_range(struct rt_thread *t, const void *p, uint32_t site, uint64_t size)
{
	rt_emit(t, &(struct rt_record){
			   .code = RADDLE_RANGE, .site = site, .count = 2, .operand = {(uintptr_t)p, size}});
}

/* A range where layers listen, or by a thread that has no state yet. */
static COLD void listened_range(struct raddle_self *self, const void *p, uint32_t site, uint64_t size,
				bool write)
{
	struct rt_thread *t = current(self);
	bool written = true;
	enum met met;

	if (!t || !size)
		return;
	if (t->busy) {
		emit_range(t, p, site, size);
	} else if (size <= GATHER_MAX && is_gathered(&t->self)) {
		take(t);
		gather_range(t, (uintptr_t)p, size, (uint64_t)site << 32, write);
		leave(t);
		return;
	} else {
		take(t);
		met = mark_range(&t->self, (uintptr_t)p, size, write);
		written = met != MET_ALL && (rt_unread() || ready(t));
		if (written && !rt_unread())
			append_range(t, p, site, size, met);
		leave(t);
	}
	if (written && t->recording == RT_TOLD)
		tell_access(t, (uintptr_t)p, size, site, write);
}

#define THIN_RANGE_MAX 256 /* a longer one is never left out */

/* Whether nothing is news of a range at a place that is hot. */
static inline bool is_quiet_range(const struct rt_thread *t, const struct rt_place *p, uintptr_t a,
				  uint64_t size, bool write)
{
	uintptr_t end = a + size;

	if (size > THIN_RANGE_MAX)
		return false;
	for (; a < end; a = (a | (RADDLE_BLOCK_BYTES - 1)) + 1)
		if (!rt_thin_is_quiet(t, a, write) || rt_is_sampled(p, a))
			return false;
	return true;
}

/* A range of a thinned run that is recorded. */
static COLD void note_thin_range(struct rt_thread *t, uintptr_t a, uint32_t site, uint64_t size, bool write)
{
	if (!t->places)
		begin_places(t);
	rt_thin_touch_range(t, a, size, write, !hot_place(t, site));
	if (ready(t))
		record_at(t, site);
}

/* With the encoder taken; true: it is to be recorded. */
static inline bool thin_range(struct rt_thread *t, uintptr_t a, uint32_t site, uint64_t size, bool write)
{
	struct rt_place *p = hot_place(t, site);

	if (RT_LIKELY(p && t->buffer && is_quiet_range(t, p, a, size, write))) {
		leave_out(t, p);
		return false;
	}
	note_thin_range(t, a, site, size, write);
	return true;
}

static __attribute__((noinline)) void range(struct raddle_self *self, const void *p, uint32_t site,
					    uint64_t size, bool write)
{
	struct rt_thread *t = (struct rt_thread *)self;
	enum met met;

	if (RT_UNLIKELY(self == &rt_placeholder) || t->recording != RT_PLAIN || !size) {
		listened_range(self, p, site, size, write);
		return;
	}
	if (RT_UNLIKELY(t->busy)) {
		emit_range(t, p, site, size);
		return;
	}
	take(t);
	met = mark_range(self, (uintptr_t)p, size, write);
	if (RT_UNLIKELY(rt_guard.alive == RT_THIN) && met != MET_ALL &&
	    !thin_range(t, (uintptr_t)p, site, size, write))
		met = MET_ALL;
	if (met != MET_ALL && ready(t))
		append_range(t, p, site, size, met);
	leave(t);
}

__attribute__((visibility("default"))) void __raddle_read_range(struct raddle_self *self, const void *p,
								uint32_t site, uint64_t size)
{
	if (!is_marked_range(self, (uintptr_t)p, size, false))
		range(self, p, site, size, false);
}

__attribute__((visibility("default"))) void __raddle_write_range(struct raddle_self *self, const void *p,
								 uint32_t site, uint64_t size)
{
	if (!is_marked_range(self, (uintptr_t)p, size, true))
		range(self, p, site, size, true);
}

void *rt_fresh(void *p, size_t known)
{
	(void)known;
	return p;
}

/* Looking through the blocks of an object costs about what clearing its memory
 * does; only a very large one is cheaper forgotten with all others, at the price of
 * recording them again. */
#define FORGET_MAX (2u << 20)

void rt_forget(struct rt_thread *t, uintptr_t address, size_t size)
{
	uintptr_t last = (address + size - 1) >> RADDLE_BLOCK_SHIFT;

	if (!size || t->busy)
		return;
	if (size > FORGET_MAX) {
		rt_new_segment(t);
		return;
	}
	for (uintptr_t block = address >> RADDLE_BLOCK_SHIFT; block <= last; block++) {
		struct raddle_block *b = &t->self.blocks[RADDLE_BLOCK_INDEX(block << RADDLE_BLOCK_SHIFT)];
		if (b->tag == (block | t->self.epoch))
			b->tag = 0;
	}
}

/* The position and the time of an event that did not bring its own. */
static inline void place(struct rt_record *r)
{
	if (r->operand[0] == RT_Q)
		r->operand[0] = rt_q();
	if (r->operand[1] == RT_T)
		r->operand[1] = rt_now();
}

/* Appends a record with the encoder taken. */
static void append(struct rt_thread *t, struct rt_record *r)
{
	place(r);
	t->steps += raddle_is_counted(r->code);
	if (raddle_ends_segment(r->code, r->operand[2]))
		synchronised(t);
	if (pending(t) && raddle_has_q(r->code))
		drain_before(t, r->operand[0]);
	if (orphaned(t))
		return;
	if (rt.session &&
	    atomic_load_explicit(&rt.session->state, memory_order_relaxed) != RADDLE_RECORDING) {
		rt_buffer_seal(t);
		t->recording = false;
	} else if (r->length ? prepare(t, RT_RECORD_MAX + r->length) : ready(t)) {
		encode(t, r);
	}
}

/* The record is the callee's to change. */
static void emit(struct rt_thread *t, struct rt_record *r)
{
	bool taken = r->code & RT_TAKEN;

	r->code &= ~RT_TAKEN;
	if (!taken && t->busy && !recover(t)) {
		place(r);
		defer(t, r);
		return;
	}
	if (!taken && pending(t))
		drain(t);
	take(t);
	append(t, r);
	leave(t);
}

void rt_emit(struct rt_thread *t, const struct rt_record *record)
{
	struct rt_record r = *record;

	emit(t, &r);
}

/* Nothing needs special care: nobody else has or wants the encoder, recording goes on. */
static inline bool is_easy(const struct rt_thread *t)
{
	return RT_LIKELY(!t->busy) && !pending(t) &&
	       RT_LIKELY(atomic_load_explicit(&rt.session->state, memory_order_relaxed) == RADDLE_RECORDING);
}

/* A record whose first bytes end at p is whole, and it is no access. */
static inline void finish(struct rt_thread *t, uint8_t *p)
{
	t->encoder.floor = t->cursor = p;
	t->events++;
	publish(t);
}

/* All that is left of an operation of a replay, whose records nobody reads: it has its position and ends the
 * segment. */
static __attribute__((noinline)) void pass_sync(struct rt_thread *t)
{
	rt_q();
	synchronised(t);
}

/* Appends `q t a` and perhaps `u` with the encoder taken; false: nobody would read it. */
static inline bool append_sync(struct rt_thread *t, uint32_t code, uintptr_t object, uint64_t last)
{
	uint64_t q, now;
	uint8_t *p;

	if (RT_UNLIKELY(t->recording == RT_TOLD) && rt_unread()) {
		pass_sync(t);
		return false;
	}
	q = rt_q();
	now = rt_now_soon(t);
	t->steps += raddle_is_counted(code);
	synchronised(t);
	if (pending(t))
		drain_before(t, q);
	if (!ready(t))
		return true;
	p = t->cursor;
	if (now < t->encoder.t) /* ticks and clock differ by a little */
		now = t->encoder.t;
	*p++ = (uint8_t)code;
	p = rt_put_delta(p, &t->encoder.q, q);
	p = rt_put_delta(p, &t->encoder.t, now);
	p = rt_put_delta(p, &t->encoder.a, object);
	if (last != RT_NONE)
		p = rt_put_varint(p, last);
	finish(t, p);
	return true;
}

/* Only full traces tell. */
void rt_created(struct rt_thread *t, uint64_t handle)
{
	(void)t;
	(void)handle;
}

void rt_sync(struct rt_thread *t, uint32_t code, uintptr_t object, uint64_t last)
{
	if (!is_easy(t)) {
		rt_event(t, code, last == RT_NONE ? 3 : 4, (uint64_t[]){RT_Q, RT_T, object, last});
		return;
	}
	take(t);
	append_sync(t, code, object, last);
	leave(t);
}

void rt_outside_event(struct rt_thread *t, uint32_t code)
{
	RT_EVENT(t, code, RT_Q);
}

void rt_heap(struct rt_thread *t, uint32_t code, uintptr_t address, uint64_t size, uint64_t kind)
{
	uint64_t q;
	uint8_t *p;

	if (!is_easy(t)) {
		if (size == RT_NONE)
			RT_EVENT(t, code, RT_Q, address, kind);
		else
			RT_EVENT(t, code, RT_Q, address, size, kind);
		return;
	}
	take(t);
	q = rt_q();
	if (pending(t))
		drain_before(t, q);
	if (ready(t)) {
		p = t->cursor;
		*p++ = (uint8_t)code;
		p = rt_put_delta(p, &t->encoder.q, q);
		p = put_far_delta(p, &t->encoder.a, address);
		if (size != RT_NONE)
			p = rt_put_varint(p, size);
		finish(t, rt_put_varint(p, kind));
	}
	leave(t);
}

/* Counts an update of a counter that says nothing new; false: it is to be recorded.  The encoder is taken. */
static bool thin_counter(struct rt_thread *t, uintptr_t address, uint32_t site)
{
	struct rt_place *p = hot_place(t, site);

	if (p && t->buffer && rt_thin_is_quiet(t, address, true) && !rt_is_sampled(p, address)) {
		leave_out(t, p);
		return true;
	}
	if (!t->places)
		begin_places(t);
	rt_thin_touch(t, address, true, !p);
	if (ready(t))
		record_at(t, site);
	return false;
}

#define COUNTER (RADDLE_ATOMIC_STORED | RADDLE_ATOMIC_PASSED)

bool rt_atomic(struct rt_thread *t, uintptr_t address, uint32_t site, uint32_t flags)
{
	uint64_t q;
	uint8_t *p;

	if (!is_easy(t) || RT_UNLIKELY(!rt_guard.alive))
		return false;
	take(t);
	if (flags == COUNTER && rt_guard.alive == RT_THIN && thin_counter(t, address, site)) {
		leave(t);
		return true;
	}
	q = rt_q();
	if (!(flags & RADDLE_ATOMIC_PASSED))
		synchronised(t);
	if (pending(t))
		drain_before(t, q);
	if (ready(t)) {
		p = t->cursor;
		*p++ = RADDLE_ATOMIC;
		p = rt_put_delta(p, &t->encoder.q, q);
		p = rt_put_delta(p, &t->encoder.site, site);
		p = rt_put_address(&t->encoder, p, site, address);
		finish(t, rt_put_varint(p, flags));
	}
	leave(t);
	return true;
}

/* The result is the last byte of the record: errno values of releasing
 * operations are below 128. */
static struct rt_release held_release(struct rt_thread *t)
{
	struct rt_release release = {0};

	if (t->buffer)
		release.byte = t->cursor - 1;
	else
		leave(t);
	return release;
}

static COLD struct rt_release careful_release(struct rt_thread *t, uint32_t code, uintptr_t object)
{
	struct rt_record r = {.code = code, .count = 4, .operand = {RT_Q, RT_T, object, 0}};
	struct rt_release release = {0};

	if (t->busy && !recover(t)) {
		uint32_t at = atomic_load_explicit(&t->pending_count, memory_order_relaxed);
		place(&r);
		defer(t, &r);
		if (at < RT_PENDING)
			release.operand = &t->pending[at].record.operand[3];
		return release;
	}
	if (pending(t))
		drain(t);
	take(t);
	append(t, &r);
	return held_release(t);
}

struct rt_release rt_release_begin(struct rt_thread *t, uint32_t code, uintptr_t object)
{
	if (!is_easy(t))
		return careful_release(t, code, object);
	take(t);
	if (append_sync(t, code, object, 0))
		return held_release(t);
	leave(t);
	return (struct rt_release){0};
}

void rt_release_end(struct rt_thread *t, const struct rt_release *release, uint64_t result)
{
	if (release->operand)
		*release->operand = result;
	if (!release->byte)
		return;
	if (RT_UNLIKELY(result))
		*release->byte = result & 0x7f;
	leave(t);
}

void rt_event(struct rt_thread *t, uint32_t code, uint32_t count, const uint64_t *operands)
{
	struct rt_record r = {.code = code, .count = count};

	for (uint32_t i = 0; i < count; i++)
		r.operand[i] = operands[i];
	emit(t, &r);
}

uint32_t rt_encoder_take(struct rt_thread *t)
{
	if (t->busy && !recover(t))
		return 0;
	take(t);
	return RT_TAKEN;
}

void rt_encoder_leave(struct rt_thread *t)
{
	leave(t);
}

/* Another thread has the state next, and has been nowhere. */
static void reset(struct rt_thread *t)
{
	if (t->places && t->places != rt_thin.nowhere)
		rt_unmap(t->places, RT_PLACES * sizeof *t->places);
	t->places = NULL;
	t->hand = 0;
}

/* The child is a run of its own. */
static void forked(void)
{
	struct rt_thread *t = (struct rt_thread *)__raddle_self;

	atomic_store(&rt_thin.events, 0);
	if (&t->self == &rt_placeholder)
		return;
	reset(t);
	t->lazy = 0;
}

const struct rt_layer rt_layer_record = {.number = RT_LAYER_RECORD, .forked = forked, .reset = reset};
