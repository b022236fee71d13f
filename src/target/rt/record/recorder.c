// SPDX-License-Identifier: Apache-2.0
/*
 * The parts of a thread's recorder that are not on the hot path (rt/record/recorder.h).  They make
 * room in the buffer and write the records of signal handlers.  In: a thread and its pending
 * records.  Out: whole records in the thread's buffer, whose `used` moves only when a record is
 * complete.
 *
 * A signal handler may interrupt the encoder and leave it by longjmp.  The next call of the
 * recorder then finds that its own frame is not deeper in the stack than the frame that took the
 * encoder.  It drops the half-written record and begins a new buffer, because the encoder's state
 * may be inconsistent too.
 */
#include "rt/record/recorder.h"

#include "rt/common/bug.h"
#include "rt/core/buffer/mark.h"
#include "rt/record/thin.h"

RT_COLD bool rt_recorder_is_orphan(struct rt_thread *t)
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

RT_COLD_KEEPS bool rt_recorder_prepare(struct rt_thread *t, size_t need)
{
	uint32_t *top = t->self.stack_top;

	if (rt_recorder_is_orphan(t))
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
	rt_recorder_publish(t);
	return true;
}

/* Returns true if the function that took the encoder was left by longjmp.  Then its frame (t->busy)
 * has a lower address than the current frame, so the current function cannot be one of its callees.
 * The two can be compared only if both are on the thread's own stack, since a handler may run on an
 * alternate stack. */
static bool abandoned(const struct rt_thread *t)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);

	return frame > t->busy && frame < t->stack_high && frame >= t->stack_low && t->busy >= t->stack_low;
}

void rt_recorder_encode(struct rt_thread *t, const struct rt_record *r)
{
	RT_ASSERT(t->buffer && t->cursor >= t->buffer->data);
	if (r->code == RADDLE_ACCESS)
		t->cursor = rt_put_access(&t->encoder, t->cursor, r->site, r->operand[0]);
	else
		t->cursor = rt_put_record(&t->encoder, t->cursor, r);
	t->events += r->code == RADDLE_STRIDE ? (uint32_t)r->operand[2] : 1;
	rt_recorder_publish(t);
}

/* The handler has returned, so its frames are no longer on the stack.  One stack record adds them,
 * and another removes them again. */
static void encode_pending(struct rt_thread *t, struct rt_pending *p)
{
	struct rt_encoder *e = &t->encoder;
	size_t depth;
	uint64_t previous = 0;

	RT_ASSERT(p->frames <= RT_PENDING_FRAMES);
	if (!rt_recorder_prepare(t, RT_RECORD_MAX + 16 + 5 * RT_PENDING_FRAMES))
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
	rt_recorder_publish(t);
}

/* Writes a note that records were lost. */
#define NOTE_LOST(t, text) note_lost(t, text, sizeof text - 1)
static void note_lost(struct rt_thread *t, const char *text, uint32_t length)
{
	struct rt_record r = {.code = RADDLE_NOTE, .bytes = text, .length = length};

	t->pending_lost = 0;
	if (rt_recorder_prepare(t, RT_RECORD_MAX + r.length))
		rt_recorder_encode(t, &r);
}

/* Appends the records that handlers left.  A handler may add another one at any moment, even
 * between the last check and the exchange that empties the list. */
RT_COLD_KEEPS void rt_recorder_drain(struct rt_thread *t)
{
	uint32_t done, count;

	t->busy = (uintptr_t)__builtin_frame_address(0);
	RT_BARRIER();
	done = t->pending_done;
	RT_ASSERT(done <= RT_PENDING);
	do {
		for (; done < atomic_load_explicit(&t->pending_count, memory_order_relaxed); done++)
			encode_pending(t, &t->pending[done]);
		t->pending_done = 0;
		if (t->pending_lost)
			NOTE_LOST(t, "records of a signal handler were lost");
		rt_new_segment(t);
		count = done;
	} while (!atomic_compare_exchange_strong(&t->pending_count, &count, 0));
	RT_BARRIER();
	t->busy = 0;
}

/* Appends the records of handlers that ran after the encoder was taken but before `q` was drawn. */
RT_COLD void rt_recorder_drain_before(struct rt_thread *t, uint64_t q)
{
	uint32_t count = atomic_load_explicit(&t->pending_count, memory_order_relaxed), end = 0;

	for (uint32_t i = t->pending_done; i < count; i++)
		if (raddle_has_q(t->pending[i].record.code) && t->pending[i].record.operand[0] < q)
			end = i + 1;
	for (; t->pending_done < end; t->pending_done++)
		encode_pending(t, &t->pending[t->pending_done]);
}

/* Called by code that found the encoder taken.  Returns true if it may take the encoder, because
 * the interrupted code will never continue.  Records in t->pending may be half-written too. */
RT_COLD bool rt_recorder_recover(struct rt_thread *t)
{
	if (!abandoned(t))
		return false;
	rt_recorder_take(t);
	rt_buffer_seal(t);
	t->pending_count = t->pending_done = 0;
	NOTE_LOST(t, "a signal handler left the recorder by longjmp: records may be lost");
	rt_recorder_leave(t);
	return true;
}

RT_COLD void rt_recorder_defer(struct rt_thread *t, const struct rt_record *r)
{
	uint32_t at = atomic_load_explicit(&t->pending_count, memory_order_relaxed);
	uint32_t *top = t->self.stack_top;
	struct rt_pending *p;

	if (at == RT_PENDING) {
		t->pending_lost++;
		return;
	}
	RT_ASSERT(at < RT_PENDING);
	atomic_store_explicit(&t->pending_count, at + 1, memory_order_relaxed);
	RT_BARRIER();
	p = &t->pending[at];
	p->record = *r;
	p->record.length = 0;
	p->frames = 0;
	while (p->frames < RT_PENDING_FRAMES && top - p->frames > t->busy_top)
		p->frames++;
	for (uint32_t i = 0; i < p->frames; i++)
		p->frame[i] = top[(int)i - (int)p->frames] & ~RT_STACK_EMITTED;
}

uint32_t rt_encoder_take(struct rt_thread *t)
{
	if (t->busy && !rt_recorder_recover(t))
		return 0;
	rt_recorder_take(t);
	return RT_TAKEN;
}

void rt_encoder_leave(struct rt_thread *t)
{
	rt_recorder_leave(t);
}
