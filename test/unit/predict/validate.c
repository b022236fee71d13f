/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks a witness independently of the code that made it.
 *
 * The witness is run event by event on the machine of machine.h.  Events that it does not order
 * (accesses that no other thread depends on, locks of one thread) run when their thread reaches
 * them.  With sound semantics each read must return the write that it returned in the recording.  A
 * wait must have begun before the notification that ends it, and a failed acquisition must find the
 * section that made it fail.  At the end the threads of the targets are stopped before them, and
 * the targets are an error.  They are two conflicting accesses, or a set of operations that can
 * never succeed:
 *   acquisition   a thread of the set (or the thread itself) holds the lock in conflict with it;
 *   join          the joined thread is in the set;
 *   barrier exit  a thread of the set has not entered;
 *   take          the semaphore is zero, and no thread outside the set can post;
 *   wake          every notification so far came before the wait or was consumed by another wake,
 *                 and no thread outside the set can send one.
 * The recording shows which events can still happen.  An event can never happen (it is "dead") if
 * it is a target or depends on a dead event.
 */
#include "base/alloc.h"
#include "order/machine.h"
#include "predict/predict-int.h"

#include <stdlib.h>
#include <string.h>

struct validation {
	const struct exec *x;
	bool sound;
	const uint32_t *targets;
	uint32_t count;
	struct machine m;
	uint32_t *writer; /* of a read: the write that it returned in the recording */
	uint32_t *next;	  /* of an event: the next one of its thread */
	uint32_t *at;	  /* of a thread: its next event */
	uint32_t *time;	  /* of an event: when it ran; 0: it has not run */
	uint32_t now;
	uint32_t *wait_of; /* of a wake: its wait */
	uint32_t *holder;  /* of a failed acquisition: the acquisition that made it fail */
	uint32_t *taker;   /* of a signal: the wake that it caused */
};

static void *filled(size_t n)
{
	void *p = rd_xmalloc((n + 1) * sizeof(uint32_t));
	memset(p, 0xff, (n + 1) * sizeof(uint32_t));
	return p;
}

/* Finds the acquisitions that made others fail, by running the recording. */
static void find_holders(struct validation *k)
{
	const struct exec *x = k->x;
	struct machine m;
	uint32_t *latest = filled((size_t)x->threads * x->locks);

	machine_init(&m, x);
	for (uint32_t i = 0; i < x->count; i++) {
		const struct exec_event *e = &x->events[i];
		if (exec_acquires(e->kind) && !(e->flags & EXEC_PENDING) &&
		    !machine_find_hold(&m, e->object, e->thread))
			latest[(size_t)e->thread * x->locks + e->object] = i;
		for (uint32_t t = 0; t < x->threads && e->kind == EXEC_BUSY && k->holder[i] == EXEC_NONE;
		     t++) {
			const struct machine_hold *h =
				t == e->thread ? NULL : machine_find_hold(&m, e->object, t);
			if (h && !(h->shared && e->aux == EXEC_RDLOCK))
				k->holder[i] = latest[(size_t)t * x->locks + e->object];
		}
		machine_step(&m, i);
	}
	machine_release(&m);
	free(latest);
}

static bool has_busy(const struct exec *x)
{
	for (size_t i = 0; i < x->count; i++)
		if (x->events[i].kind == EXEC_BUSY)
			return true;
	return false;
}

/* Whether the section that began with `acquire` is open now.  A thread may acquire the lock again
 * inside it. */
static bool is_section_open(const struct validation *k, uint32_t acquire)
{
	uint32_t lock = k->x->events[acquire].object, depth = 0;

	for (uint32_t i = acquire; i != EXEC_NONE && k->time[i]; i = k->next[i]) {
		const struct exec_event *e = &k->x->events[i];
		if (exec_acquires(e->kind) && e->object == lock)
			depth++;
		else if ((e->kind == EXEC_UNLOCK && e->object == lock) ||
			 (e->kind == EXEC_WAIT && e->aux == lock))
			depth--;
		if (!depth)
			return false;
	}
	return depth;
}

static void check_init(struct validation *k)
{
	const struct exec *x = k->x;
	uint32_t *last = filled(x->variables), *wait = filled(x->threads);

	k->writer = filled(x->count);
	k->next = filled(x->count);
	k->at = filled(x->threads);
	k->wait_of = filled(x->count);
	k->holder = filled(x->count);
	k->taker = filled(x->count);
	k->time = rd_xcalloc(x->count + 1, sizeof *k->time);
	machine_init(&k->m, x);
	for (uint32_t i = x->count; i-- > 0;) {
		k->next[i] = k->at[x->events[i].thread];
		k->at[x->events[i].thread] = i;
	}
	for (uint32_t i = 0; i < x->count; i++) {
		const struct exec_event *e = &x->events[i];
		if (exec_reads(e->kind))
			k->writer[i] = last[e->object];
		if (exec_writes(e->kind))
			last[e->object] = i;
		if (e->kind == EXEC_WAIT)
			wait[e->thread] = i;
		if (e->kind == EXEC_WAKE)
			k->wait_of[i] = wait[e->thread];
		if (e->kind == EXEC_WAKE && e->aux < EXEC_MATCH)
			k->taker[e->aux] = i;
	}
	free(last);
	free(wait);
	if (has_busy(x))
		find_holders(k);
}

static void check_release(struct validation *k)
{
	machine_release(&k->m);
	RD_FREE(k->writer, k->next, k->at, k->time, k->wait_of, k->holder, k->taker);
}

static bool is_target(const struct validation *k, uint32_t e)
{
	for (uint32_t i = 0; i < k->count; i++)
		if (k->targets[i] == e)
			return true;
	return false;
}

static const char *run_to(struct validation *k, uint32_t thread, uint32_t last);

/* Runs one event.  The witness does not order the last events of a thread, so a join of the thread
 * runs these events first. */
static const char *run_event(struct validation *k, uint32_t i)
{
	const struct exec_event *e = &k->x->events[i];

	if (is_target(k, i))
		return "the schedule runs over a target";
	if (e->flags & EXEC_PENDING)
		return "the schedule runs an operation that never succeeded";
	if (k->sound && e->flags & EXEC_UNSURE)
		return "the schedule runs over an access whose order is not known";
	if ((k->sound || e->flags & EXEC_LOOP) && exec_reads(e->kind) &&
	    k->m.last_write[e->object] != k->writer[i])
		return "a read finds another write than recorded";
	if (k->sound && e->kind == EXEC_WAKE && e->aux < EXEC_MATCH &&
	    k->time[k->wait_of[i]] > k->time[e->aux])
		return "a notification comes before the wait it ends";
	if (k->sound && k->holder[i] != EXEC_NONE && !is_section_open(k, k->holder[i]))
		return "an acquisition that failed would succeed";
	if (e->kind == EXEC_JOIN) {
		const char *why = run_to(k, e->object, i);
		if (why)
			return why;
	}
	k->at[e->thread] = k->next[i];
	k->time[i] = ++k->now;
	return machine_step(&k->m, i);
}

/* Runs the thread up to and including `last`. */
static const char *run_to(struct validation *k, uint32_t thread, uint32_t last)
{
	const char *why = NULL;

	while (!why && k->at[thread] != EXEC_NONE && k->at[thread] <= last)
		why = run_event(k, k->at[thread]);
	return why;
}

static const char *run_recorded(struct validation *k, const struct predict_witness *w)
{
	const char *why = NULL;

	for (uint32_t i = 0; i < k->x->count && !why; i++) {
		uint32_t done = w->done[k->x->events[i].thread];
		if (done != EXEC_NONE && i <= done)
			why = run_event(k, i);
	}
	return why;
}

static const char *run_ordered(struct validation *k, const struct predict_witness *w)
{
	for (size_t i = 0; i < w->length; i++) {
		uint32_t e = w->order[i], thread = k->x->events[e].thread;
		if (k->at[thread] == EXEC_NONE || k->at[thread] > e)
			return "the schedule leaves program order";
		const char *why = run_to(k, thread, e);
		if (why)
			return why;
	}
	return NULL;
}

static const char *reach_targets(struct validation *k)
{
	for (uint32_t i = 0; i < k->count; i++) {
		uint32_t e = k->targets[i], thread = k->x->events[e].thread;
		const char *why = e ? run_to(k, thread, e - 1) : NULL;
		if (why)
			return why;
		if (k->at[thread] != e)
			return "a thread is not stopped before its target";
		if (k->m.has_fork[thread] && !k->m.forked[thread])
			return "the thread of a target is not yet forked";
	}
	return NULL;
}

/* ---- whether the targets are an error ---- */

static const char *check_race(const struct validation *k)
{
	const struct exec_event *a = &k->x->events[k->targets[0]], *b = &k->x->events[k->targets[1]];

	if (a->thread == b->thread || a->object != b->object || !exec_conflict(a, b))
		return "the accesses do not conflict";
	return NULL;
}

/* Marks the dead events: those that can never happen, because they are targets or depend on a dead
 * event.  One pass suffices, since causes come before effects in recorded order.  With sound
 * semantics, only a read in a wait loop (EXEC_LOOP) depends on its write.  After any other read, a
 * thread that reads a different value continues, although not as recorded. */
static uint8_t *find_dead(const struct validation *k)
{
	const struct exec *x = k->x;
	uint8_t *dead = rd_xcalloc(x->count + 1, 1), *stopped = rd_xcalloc((size_t)x->threads + 1, 1);
	uint8_t *unborn = rd_xcalloc((size_t)x->threads + 1, 1),
		*barred = rd_xcalloc((size_t)x->barriers + 1, 1);
	uint8_t *unrun = rd_xcalloc((size_t)x->onces + 1, 1);

	for (uint32_t i = 0; i < x->count; i++) {
		const struct exec_event *e = &x->events[i];
		bool d = is_target(k, i) || stopped[e->thread] || unborn[e->thread];
		d = d || (e->kind == EXEC_JOIN && (stopped[e->object] || unborn[e->object]));
		d = d || (e->kind == EXEC_WAKE && e->aux < EXEC_MATCH && dead[e->aux]);
		d = d || (e->kind == EXEC_EXIT && barred[e->object]);
		d = d || (e->kind == EXEC_ONCE_PASS && unrun[e->object]);
		if (exec_reads(e->kind) && k->writer[i] != EXEC_NONE && dead[k->writer[i]])
			d = d || (!k->sound && e->flags & x->events[k->writer[i]].flags & EXEC_SYNC) ||
			    (e->flags & EXEC_LOOP);
		if (!d)
			continue;
		dead[i] = stopped[e->thread] = 1;
		if (e->kind == EXEC_FORK)
			unborn[e->object] = 1;
		else if (e->kind == EXEC_ENTER)
			barred[e->object] = 1;
		else if (e->kind == EXEC_ONCE_RUN)
			unrun[e->object] = 1;
	}
	RD_FREE(stopped, unborn, barred, unrun);
	return dead;
}

static bool in_set(const struct validation *k, uint16_t thread)
{
	for (uint32_t i = 0; i < k->count; i++)
		if (k->x->events[k->targets[i]].thread == thread)
			return true;
	return false;
}

static const char *check_acquire(const struct validation *k, const struct exec_event *e)
{
	for (size_t i = 0; i < k->m.hold_count; i++) {
		const struct machine_hold *h = &k->m.holds[i];
		if (h->lock != e->object || !in_set(k, h->thread))
			continue;
		if (h->thread == e->thread ? e->flags & EXEC_PENDING : !(h->shared && e->kind == EXEC_RDLOCK))
			return NULL;
	}
	return "no thread of the set holds the lock";
}

static const char *check_exit(const struct validation *k, const struct exec_event *e)
{
	for (uint32_t i = 0; i < k->x->count; i++) {
		const struct exec_event *o = &k->x->events[i];
		if (o->kind == EXEC_ENTER && o->object == e->object && !k->time[i] && in_set(k, o->thread))
			return NULL;
	}
	return "all threads of the set have entered the barrier";
}

static const char *check_take(const struct validation *k, const struct exec_event *e, const uint8_t *dead)
{
	if (k->m.sem_value[e->object])
		return "the semaphore is not zero";
	for (uint32_t i = 0; i < k->x->count; i++) {
		const struct exec_event *o = &k->x->events[i];
		if (o->kind == EXEC_POST && o->object == e->object && !k->time[i] && !dead[i])
			return "a thread can still post";
	}
	return NULL;
}

static bool consumed(const struct validation *k, uint32_t note)
{
	uint32_t wake = k->taker[note];

	return k->x->events[note].kind == EXEC_SIGNAL && wake != EXEC_NONE && k->time[wake];
}

static const char *check_wake(const struct validation *k, uint32_t index, const uint8_t *dead)
{
	uint32_t cond = k->x->events[index].object;

	for (uint32_t i = 0; i < k->x->count; i++) {
		const struct exec_event *o = &k->x->events[i];
		if ((o->kind != EXEC_SIGNAL && o->kind != EXEC_BROADCAST) || o->object != cond)
			continue;
		if (!k->time[i] ? !dead[i] : k->time[i] > k->time[k->wait_of[index]] && !consumed(k, i))
			return "a notification can still wake it";
	}
	return NULL;
}

static const char *check_deadlock(const struct validation *k)
{
	uint8_t *dead = find_dead(k);
	const char *why = NULL;

	for (uint32_t i = 0; i < k->count && !why; i++) {
		const struct exec_event *e = &k->x->events[k->targets[i]];
		switch (e->kind) {
		case EXEC_LOCK:
		case EXEC_RDLOCK:
		case EXEC_WRLOCK: why = check_acquire(k, e); break;
		case EXEC_JOIN:
			why = in_set(k, e->object) ? NULL : "the joined thread is not in the set";
			break;
		case EXEC_EXIT: why = check_exit(k, e); break;
		case EXEC_TAKE: why = check_take(k, e, dead); break;
		case EXEC_WAKE: why = check_wake(k, k->targets[i], dead); break;
		default: why = "a target is not an operation that can block";
		}
		if (!why && e->flags & EXEC_TRY)
			why = "a target gives up by itself";
	}
	free(dead);
	return why;
}

/* Runs the witness on a machine that implements only the primitives.  Returns NULL if the witness
 * leads to the error that the targets describe, otherwise what is wrong. */
static const char *predict_validate(const struct exec *x, bool sound, const uint32_t *targets, uint32_t count,
				    const struct predict_witness *w)
{
	struct validation k = {.x = x, .sound = sound, .targets = targets, .count = count};
	const char *why;

	check_init(&k);
	why = w->order ? run_ordered(&k, w) : run_recorded(&k, w);
	if (!why)
		why = reach_targets(&k);
	if (!why)
		why = exec_is_access(x->events[targets[0]].kind) ? check_race(&k) : check_deadlock(&k);
	check_release(&k);
	return why;
}
