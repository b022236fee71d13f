// SPDX-License-Identifier: Apache-2.0
/*
 * Writes events: synchronisation, allocation, atomics and all other records that are not plain
 * accesses.  In: a code and operands.  Out: a record with its q and its time.
 */
#include "rt/common/bug.h"
#include "rt/core/buffer/mark.h"
#include "rt/record/left-out.h"
#include "rt/record/put.h"

void rt_see_again(struct rt_thread *t)
{
	rt_new_segment(t);
}

/* A synchronisation operation begins a new segment, except in three cases.  (1) There is no other
 * thread, and none that could still be joined.  Then all accesses of this thread are ordered with
 * those of other threads, so its earlier accesses can stand for later ones to the same bytes.  (2)
 * Nothing reads the records, and no layer needs a new segment.  (3) The thread is lazy and
 * continues its segment (rt/record/thin.h). */
static inline void synchronised(struct rt_thread *t)
{
	if (atomic_load_explicit(&rt.others, memory_order_relaxed) != 0 &&
	    !(RT_UNLIKELY(t->recording == RT_LISTENED) && rt_unread() && !rt_notify_segment_ends(t)) &&
	    !(RT_UNLIKELY(t->lazy) && rt_thin_goes_on(t)))
		rt_new_segment(t);
}

/* Fills in q and the time of an event, if the caller left placeholders for them. */
static inline void place(struct rt_record *r)
{
	if (r->operand[0] == RT_Q)
		r->operand[0] = rt_q();
	if (r->operand[1] == RT_T)
		r->operand[1] = rt_now();
}

/* Appends a record.  The encoder must be taken. */
static void append(struct rt_thread *t, struct rt_record *r)
{
	RT_ASSERT(t->busy != 0);
	place(r);
	t->steps += raddle_is_counted(r->code);
	if (raddle_ends_segment(r->code, r->operand[2]))
		synchronised(t);
	if (rt_recorder_has_pending(t) && raddle_has_q(r->code))
		rt_recorder_drain_before(t, r->operand[0]);
	if (rt_recorder_is_orphan(t))
		return;
	if (rt.session &&
	    atomic_load_explicit(&rt.session->state, memory_order_relaxed) != RADDLE_RECORDING) {
		rt_buffer_seal(t);
		t->recording = false;
	} else if (r->length ? rt_recorder_prepare(t, RT_RECORD_MAX + r->length) : rt_recorder_ready(t)) {
		rt_recorder_encode(t, r);
	}
}

/* Fills in q and the time of a record, and writes the record. */
static void emit(struct rt_thread *t, struct rt_record *r)
{
	bool taken = r->code & RT_TAKEN;

	r->code &= ~RT_TAKEN;
	if (!taken && t->busy && !rt_recorder_recover(t)) {
		place(r);
		rt_recorder_defer(t, r);
		return;
	}
	if (!taken && rt_recorder_has_pending(t))
		rt_recorder_drain(t);
	rt_recorder_take(t);
	append(t, r);
	rt_recorder_leave(t);
}

void rt_emit(struct rt_thread *t, const struct rt_record *record)
{
	struct rt_record r = *record;

	emit(t, &r);
}

/* Returns true if the fast path applies, that is, if the run is recorded, the encoder is not in
 * use, and no signal handler has left records. */
static inline bool is_easy(const struct rt_thread *t)
{
	return RT_LIKELY(!t->busy) && !rt_recorder_has_pending(t) &&
	       RT_LIKELY(atomic_load_explicit(&rt.session->state, memory_order_relaxed) == RADDLE_RECORDING);
}

/* Completes the record that ends at p and is not an access. */
static inline void finish(struct rt_thread *t, uint8_t *p)
{
	t->encoder.floor = t->cursor = p;
	t->events++;
	rt_recorder_publish(t);
}

/* Handles an operation in a replay, whose records nothing reads.  Only draws a q and ends the
 * segment if necessary. */
static __attribute__((noinline)) void pass_sync(struct rt_thread *t)
{
	rt_q();
	synchronised(t);
}

/* Begins a record.  The encoder must be taken.  First writes those records of signal handlers whose
 * number is lower than `q`.  Returns the position after q, or NULL if there is no room. */
static inline uint8_t *begin_record(struct rt_thread *t, uint32_t code, uint64_t q)
{
	uint8_t *p;

	if (rt_recorder_has_pending(t))
		rt_recorder_drain_before(t, q);
	if (!rt_recorder_ready(t))
		return NULL;
	p = t->cursor;
	*p++ = (uint8_t)code;
	return rt_put_delta(p, &t->encoder.q, q);
}

/* Appends an event with the operands `q t a` and, unless `last` is RT_NONE, `u`.  The encoder must
 * be taken.  Returns false if nothing would read the record. */
static inline bool append_sync(struct rt_thread *t, uint32_t code, uintptr_t object, uint64_t last)
{
	uint64_t q, now;
	uint8_t *p;

	if (RT_UNLIKELY(t->recording == RT_LISTENED) && rt_unread()) {
		pass_sync(t);
		return false;
	}
	q = rt_q();
	now = rt_now_soon(t);
	t->steps += raddle_is_counted(code);
	synchronised(t);
	p = begin_record(t, code, q);
	if (!p)
		return true;
	if (now < t->encoder.t) /* the two clocks that rt_now_soon() reads differ slightly */
		now = t->encoder.t;
	p = rt_put_delta(p, &t->encoder.t, now);
	p = rt_put_delta(p, &t->encoder.a, object);
	if (last != RT_NONE)
		p = rt_put_varint(p, last);
	finish(t, p);
	return true;
}

/* Only full traces contain the handle. */
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
	rt_recorder_take(t);
	append_sync(t, code, object, last);
	rt_recorder_leave(t);
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
	rt_recorder_take(t);
	q = rt_q();
	p = begin_record(t, code, q);
	if (p) {
		p = rt_put_far_delta(p, &t->encoder.a, address);
		if (size != RT_NONE)
			p = rt_put_varint(p, size);
		finish(t, rt_put_varint(p, kind));
	}
	rt_recorder_leave(t);
}

/* Counts an update of a counter, if the update is not new.  Returns false if the update must be
 * recorded.  The encoder must be taken. */
static bool thin_counter(struct rt_thread *t, uintptr_t address, uint32_t site)
{
	struct rt_place *p = rt_hot_place(t, site);

	if (p && t->buffer && rt_thin_is_quiet(t, address, true) && !rt_is_sampled(p, address)) {
		rt_leave_out(t, p);
		return true;
	}
	if (!t->places)
		rt_thin_begin_places(t);
	rt_thin_touch(t, address, true, !p);
	if (rt_recorder_ready(t))
		rt_thin_record_at(t, site);
	return false;
}

#define COUNTER (RADDLE_ATOMIC_STORED | RADDLE_ATOMIC_PASSED)

bool rt_atomic(struct rt_thread *t, uintptr_t address, uint32_t site, uint32_t flags)
{
	uint64_t q;
	uint8_t *p;

	if (!is_easy(t) || RT_UNLIKELY(!rt_guard.alive))
		return false;
	rt_recorder_take(t);
	if (flags == COUNTER && rt_guard.alive == RT_THIN && thin_counter(t, address, site)) {
		rt_recorder_leave(t);
		return true;
	}
	q = rt_q();
	if (!(flags & RADDLE_ATOMIC_PASSED))
		synchronised(t);
	p = begin_record(t, RADDLE_ATOMIC, q);
	if (p) {
		p = rt_put_delta(p, &t->encoder.site, site);
		p = rt_put_address(&t->encoder, p, site, address);
		finish(t, rt_put_varint(p, flags));
	}
	rt_recorder_leave(t);
	return true;
}

/* The result is filled in later, as the last byte of the record.  One byte suffices, since errno
 * values of releasing operations are below 128. */
static struct rt_release held_release(struct rt_thread *t)
{
	struct rt_release release = {0};

	if (t->buffer)
		release.byte = t->cursor - 1;
	else
		rt_recorder_leave(t);
	return release;
}

static RT_COLD struct rt_release careful_release(struct rt_thread *t, uint32_t code, uintptr_t object)
{
	struct rt_record r = {.code = code, .count = 4, .operand = {RT_Q, RT_T, object, 0}};
	struct rt_release release = {0};

	if (t->busy && !rt_recorder_recover(t)) {
		uint32_t at = atomic_load_explicit(&t->pending_count, memory_order_relaxed);
		place(&r);
		rt_recorder_defer(t, &r);
		if (at < RT_PENDING)
			release.operand = &t->pending[at].record.operand[3];
		return release;
	}
	if (rt_recorder_has_pending(t))
		rt_recorder_drain(t);
	rt_recorder_take(t);
	append(t, &r);
	return held_release(t);
}

struct rt_release rt_release_begin(struct rt_thread *t, uint32_t code, uintptr_t object)
{
	if (!is_easy(t))
		return careful_release(t, code, object);
	rt_recorder_take(t);
	if (append_sync(t, code, object, 0))
		return held_release(t);
	rt_recorder_leave(t);
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
	rt_recorder_leave(t);
}

void rt_event(struct rt_thread *t, uint32_t code, uint32_t count, const uint64_t *operands)
{
	struct rt_record r = {.code = code, .count = count};

	RT_ASSERT(count <= sizeof((struct rt_record *)0)->operand / sizeof(uint64_t));
	for (uint32_t i = 0; i < count; i++)
		r.operand[i] = operands[i];
	emit(t, &r);
}

/* Clears the table of places for the next thread that gets this state. */
static void reset(struct rt_thread *t)
{
	if (t->places && t->places != rt_thin.nowhere)
		rt_unmap(t->places, RT_PLACES * sizeof *t->places);
	t->places = NULL;
	t->hand = 0;
}

/* Thinning starts anew in the child, which has a trace of its own. */
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
