// SPDX-License-Identifier: Apache-2.0
/*
 * Compares the reversibility check with its slow reference, on random runs of up to four threads
 * with all primitives.  The reference visits every state that any schedule reaches.  Two dependent
 * events can be reversed if and only if there is a state in which the thread of the later event has
 * reached it and the thread of the earlier event has not passed its own.
 *
 * RADDLE_BRUTE=200000 build/u-reversible is the long run.
 */
#include "reversible/decide.h"
#include "reversible/depend-int.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { THREADS = 4, OPS = 15, EVENTS = 64, ACCESSES = 64 };
enum {
	LOCK = 0x1000,
	OTHER = 0x1100,
	RW = 0x1200,
	SEM = 0x1300,
	COND = 0x1400,
	BARRIER = 0x1500,
	ONCE = 0x1600
};

struct event {
	uint32_t thread;
	struct trace_event e;
};

struct access {
	uint32_t thread, segment;
	uint64_t address, size;
	bool write;
	size_t at; /* number of events before it */
};

/* A random run. */
struct story {
	unsigned threads;
	struct event events[EVENTS];
	size_t count;
	struct access accesses[ACCESSES];
	size_t access_count;
	uint64_t sem_value;
	/* the state of the threads while the run is made up */
	uint32_t done[THREADS];
	bool begun[THREADS], created[THREADS], ended[THREADS], joined[THREADS];
	int holds[3]; /* by lock: thread + 1 that holds it for writing */
	int readers[THREADS];
	int sem;
	int waits[THREADS]; /* 0: does not wait, 1: waits, 2: was notified */
	int inside[THREADS];
	int entered;
	int once; /* thread + 1 that runs the initialiser; -1: it has run */
};

static uint64_t seed;

static unsigned dice(unsigned n)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (unsigned)(seed >> 33) % n;
}

static void say(struct story *s, uint32_t thread, enum raddle_event kind, uint64_t address, uint64_t value)
{
	struct event *e = &s->events[s->count++];

	*e = (struct event){.thread = thread, .e = {.kind = kind, .address = address}};
	e->e.values[2] = address;
	e->e.values[3] = value;
	s->done[thread] += raddle_is_counted(kind);
}

static void touch(struct story *s, uint32_t thread)
{
	struct access *a = &s->accesses[s->access_count++];

	*a = (struct access){.thread = thread,
			     .segment = s->done[thread],
			     .address = 0x100 + dice(3) * 2,
			     .size = 1u << dice(3),
			     .write = dice(3) == 0,
			     .at = s->count};
}

static void lock(struct story *s, uint32_t t, int which)
{
	uint64_t address = which ? OTHER : LOCK;

	if (s->holds[which] == (int)t + 1) {
		say(s, t, RADDLE_MUTEX_UNLOCK, address, 0);
		s->holds[which] = 0;
	} else if (dice(4) == 0) {
		say(s, t, RADDLE_MUTEX_TRYLOCK, address, s->holds[which] ? 16 : 0);
		s->holds[which] = s->holds[which] ? s->holds[which] : (int)t + 1;
	} else if (!s->holds[which]) {
		say(s, t, RADDLE_MUTEX_LOCK, address, 0);
		s->holds[which] = (int)t + 1;
	}
}

static void rwlock(struct story *s, uint32_t t)
{
	int readers = 0;

	for (int i = 0; i < THREADS; i++)
		readers += s->readers[i];
	if (s->holds[2] == (int)t + 1 || s->readers[t]) {
		say(s, t, RADDLE_RWLOCK_UNLOCK, RW, 0);
		s->holds[2] = s->holds[2] == (int)t + 1 ? 0 : s->holds[2];
		s->readers[t] = 0;
	} else if (!s->holds[2] && dice(2)) {
		say(s, t, RADDLE_RWLOCK_RDLOCK, RW, 0);
		s->readers[t] = 1;
	} else if (!s->holds[2] && !readers) {
		say(s, t, RADDLE_RWLOCK_WRLOCK, RW, 0);
		s->holds[2] = (int)t + 1;
	}
}

static void semaphore(struct story *s, uint32_t t)
{
	if (dice(2)) {
		say(s, t, RADDLE_SEM_POST, SEM, 0);
		s->sem++;
	} else if (dice(6) == 0) {
		say(s, t, RADDLE_SEM_TRYWAIT, SEM, s->sem ? 0 : 11);
		s->sem -= s->sem > 0;
	} else if (s->sem) {
		say(s, t, RADDLE_SEM_WAIT, SEM, 0);
		s->sem--;
	}
}

static void notify(struct story *s, uint32_t t)
{
	unsigned first = dice(THREADS);
	bool all = dice(3) == 0;

	say(s, t, all ? RADDLE_COND_BROADCAST : RADDLE_COND_SIGNAL, COND, 0);
	for (unsigned i = 0; i < THREADS; i++) {
		unsigned w = (first + i) % THREADS;

		if (s->waits[w] != 1)
			continue;
		s->waits[w] = 2;
		if (!all)
			return;
	}
}

static void condition(struct story *s, uint32_t t)
{
	if (s->holds[0] == (int)t + 1 && dice(2)) {
		say(s, t, RADDLE_COND_WAIT, COND, LOCK);
		s->holds[0] = 0;
		s->waits[t] = 1;
	} else {
		notify(s, t);
	}
}

static void once(struct story *s, uint32_t t)
{
	if (s->once == 0) {
		say(s, t, RADDLE_ONCE_RUN, ONCE, 0);
		s->once = (int)t + 1;
	} else if (s->once == (int)t + 1) {
		say(s, t, RADDLE_ONCE_DONE, ONCE, 0);
		s->once = -1;
	} else if (s->once == -1) {
		say(s, t, RADDLE_ONCE_PASS, ONCE, 0);
	}
}

/* Thread 0 creates and joins the others. */
static void parent(struct story *s)
{
	for (unsigned t = 1; t < s->threads; t++) {
		if (!s->created[t]) {
			say(s, 0, RADDLE_THREAD_CREATE, t, 0);
			s->created[t] = true;
			return;
		}
		if (s->ended[t] && !s->joined[t]) {
			say(s, 0, RADDLE_THREAD_JOIN, t, 0);
			s->joined[t] = true;
			return;
		}
	}
}

static void act(struct story *s, uint32_t t, unsigned kinds)
{
	switch (dice(9)) {
	case 0:
	case 1: lock(s, t, 0); break;
	case 2: lock(s, t, (int)dice(2)); break;
	case 3:
		if (kinds & 1)
			rwlock(s, t);
		break;
	case 4:
		if (kinds & 2)
			semaphore(s, t);
		break;
	case 5:
		if (kinds & 4)
			condition(s, t);
		break;
	case 6:
		if (kinds & 8 && !s->inside[t]) {
			say(s, t, RADDLE_BARRIER_ENTER, BARRIER, 0);
			s->inside[t] = 1;
			if (++s->entered == 2)
				for (int i = s->entered = 0; i < THREADS; i++)
					s->inside[i] = s->inside[i] ? 2 : 0;
		}
		break;
	case 7:
		if (kinds & 16)
			once(s, t);
		break;
	default:
		if (t == 0)
			parent(s);
		else if (dice(3) == 0) {
			say(s, t, RADDLE_THREAD_END, 0, 0);
			s->ended[t] = true;
		}
	}
}

/* Makes one step of a thread, if the thread can do any. */
static void step(struct story *s, uint32_t t, unsigned kinds)
{
	if (s->ended[t] || !s->created[t] || s->done[t] >= OPS - 1)
		return;
	if (!s->begun[t]) {
		say(s, t, RADDLE_THREAD_START, 0, 0);
		s->begun[t] = true;
		return;
	}
	if (s->inside[t] == 2) {
		say(s, t, RADDLE_BARRIER_EXIT, BARRIER, 0);
		s->inside[t] = 0;
	} else if (s->waits[t] == 2 && !s->holds[0]) {
		struct event *e = &s->events[s->count];

		say(s, t, RADDLE_COND_WAKE, COND, LOCK);
		e->e.values[4] = 0;
		s->waits[t] = 0;
		s->holds[0] = (int)t + 1;
	} else if (!s->inside[t] && !s->waits[t]) {
		if (dice(3) == 0 && s->access_count < ACCESSES)
			touch(s, t);
		else
			act(s, t, kinds);
	}
}

static void make_up(struct story *s)
{
	unsigned kinds = dice(32), length = 6 + dice(18);

	*s = (struct story){.threads = 2 + dice(THREADS - 1)};
	s->created[0] = true;
	s->sem_value = dice(2);
	s->sem = (int)s->sem_value;
	say(s, 0, RADDLE_THREAD_START, 0, 0);
	s->begun[0] = true;
	say(s, 0, RADDLE_SEM_INIT, SEM, s->sem_value);
	say(s, 0, RADDLE_BARRIER_INIT, BARRIER, 2);
	for (unsigned i = 0; i < 400 && s->count < length + 3; i++)
		step(s, dice(s->threads), kinds);
}

/* ---- the twin: all states that any schedule reaches ---- */

struct twin {
	const struct rev_run *run;
	uint8_t *seen; /* indexed by state */
	uint32_t states[1 << 16];
	size_t count;
};

/* Packs a state: four bits for each thread (its number of operations), and one for "its wait was
 * notified". */
static uint32_t pack(const uint32_t *done, uint32_t woken)
{
	return done[0] | done[1] << 4 | done[2] << 8 | done[3] << 12 | woken << 16;
}

static void reach(struct twin *t, uint32_t state)
{
	if (t->seen[state])
		return;
	t->seen[state] = 1;
	assert_true(t->count < sizeof t->states / sizeof *t->states);
	t->states[t->count++] = state;
}

static bool is_over(const struct rev_run *run, const uint32_t *done, uint32_t at)
{
	return at == REV_NONE || done[run->ops[at].thread] >= run->ops[at].n;
}

/* Which thread holds a lock in a state follows from the operations that are done. */
static bool is_free_for(const struct rev_run *run, const uint32_t *done, const struct rev_op *op)
{
	for (size_t i = 0; i < run->op_count; i++) {
		const struct rev_op *o = &run->ops[i];

		if (!rev_begins(o) || o->lock != op->lock || o->thread == op->thread ||
		    !is_over(run, done, (uint32_t)i))
			continue;
		if ((o->link == REV_NONE || !is_over(run, done, o->link)) &&
		    !(o->flags & REV_SHARED && op->flags & REV_SHARED))
			return false;
	}
	return true;
}

static int value_in(const struct rev_run *run, const uint32_t *done, uint32_t sem)
{
	int value = (int)run->objects[sem].value;

	for (size_t i = 0; i < run->op_count; i++)
		if (run->ops[i].object == sem && is_over(run, done, (uint32_t)i))
			value += (run->ops[i].kind == EXEC_POST) - (run->ops[i].kind == EXEC_TAKE);
	return value;
}

static bool may(const struct rev_run *run, const uint32_t *done, uint32_t woken, const struct rev_op *op)
{
	bool full = true;

	switch (op->kind) {
	case EXEC_BEGIN:
	case EXEC_JOIN:
	case EXEC_ONCE_PASS:
	case EXEC_ONCE_BEGIN: return is_over(run, done, op->pair);
	case EXEC_EXIT:
		for (size_t i = 0; i < run->uses[op->link].count; i++)
			full &= is_over(run, done, run->uses[op->link].enters[i]);
		return full;
	case EXEC_TAKE: return value_in(run, done, op->object) > 0;
	case EXEC_WAKE:
		if (!(op->flags & REV_ALONE) && !(woken >> op->thread & 1))
			return false;
		/* fall through */
	case EXEC_LOCK:
	case EXEC_RDLOCK:
	case EXEC_WRLOCK: return op->lock == REV_NONE || is_free_for(run, done, op);
	default: return true;
	}
}

static bool is_waiting(const struct rev_run *run, const uint32_t *done, uint32_t t, uint32_t cond)
{
	const struct rev_op *op = done[t] ? rev_run_op(run, t, done[t]) : NULL;

	return op && op->kind == EXEC_WAIT && op->object == cond;
}

static void go(struct twin *t, const uint32_t *before, uint32_t woken, const struct rev_op *op)
{
	uint32_t done[THREADS], all = woken;
	bool lost = true;

	memcpy(done, before, sizeof done);
	done[op->thread]++;
	if (op->kind == EXEC_WAKE || op->kind == EXEC_WAIT)
		all = woken &= ~(1u << op->thread);
	for (uint32_t w = 0; rev_notifies(op) && w < t->run->thread_count; w++) {
		if (!is_waiting(t->run, before, w, op->object) || woken >> w & 1)
			continue;
		lost = false;
		all |= 1u << w;
		if (op->kind != EXEC_BROADCAST)
			reach(t, pack(done, woken | 1u << w));
	}
	if (op->kind != EXEC_SIGNAL || lost)
		reach(t, pack(done, all));
}

static void explore(struct twin *t)
{
	reach(t, 0);
	for (size_t i = 0; i < t->count; i++) {
		uint32_t state = t->states[i], done[THREADS];

		for (int k = 0; k < THREADS; k++)
			done[k] = state >> 4 * k & 15;
		for (uint32_t k = 0; k < t->run->thread_count; k++) {
			const struct rev_op *op;

			if (done[k] == t->run->threads[k].count)
				continue;
			op = rev_run_op(t->run, k, done[k] + 1);
			if (may(t->run, done, state >> 16, op))
				go(t, done, state >> 16, op);
		}
	}
}

static bool can_reverse(const struct twin *t, uint32_t first, uint32_t s, uint32_t second, uint32_t r)
{
	for (size_t i = 0; i < t->count; i++)
		if ((t->states[i] >> 4 * second & 15) >= r && (t->states[i] >> 4 * first & 15) <= s)
			return true;
	return false;
}

/* ---- dependent events, pair by pair ---- */

static bool overlap(const struct access *a, const struct access *b)
{
	return a->thread != b->thread && (a->write || b->write) && a->address < b->address + b->size &&
	       b->address < a->address + a->size;
}

static bool memory_reverses(const struct story *s, const struct twin *t, const uint32_t *index)
{
	for (size_t j = 0; j < s->access_count; j++)
		for (size_t i = 0; i < j; i++) {
			const struct access *a = &s->accesses[i], *b = &s->accesses[j];

			if (overlap(a, b) &&
			    can_reverse(t, index[a->thread], a->segment, index[b->thread], b->segment))
				return true;
		}
	return false;
}

static bool operations_depend(const struct rev_run *run, const struct rev_op *a, const struct rev_op *b)
{
	bool notify = rev_notifies(a) || rev_notifies(b);
	bool wait = a->kind == EXEC_WAIT || b->kind == EXEC_WAIT;

	if (a->thread == b->thread || a->object == REV_NONE || a->kind == EXEC_FORK || a->kind == EXEC_JOIN ||
	    b->kind == EXEC_FORK || b->kind == EXEC_JOIN)
		return false;
	if (a->flags & REV_TRY || b->flags & REV_TRY) {
		if (run->objects[a->flags & REV_TRY ? a->object : b->object].class == REV_ONCE)
			return a->object == b->object && a->kind != EXEC_ONCE_RUN &&
			       b->kind != EXEC_ONCE_RUN &&
			       (a->kind == EXEC_ONCE_BEGIN || b->kind == EXEC_ONCE_BEGIN);
		return a->object == b->object || (a->lock != REV_NONE && a->lock == b->object) ||
		       (b->lock != REV_NONE && b->lock == a->object);
	}
	if (a->object != b->object)
		return false;
	if (a->kind == EXEC_WAIT && b->kind == EXEC_WAIT)
		return run->objects[a->object].signalled;
	if (a->kind == EXEC_ENTER && b->kind == EXEC_ENTER)
		return a->link != b->link &&
		       slots_threads(&run->enters, a->object) > run->objects[a->object].value;
	return notify && wait;
}

static bool operations_reverse(const struct twin *t)
{
	const struct rev_run *run = t->run;

	for (size_t j = 0; j < run->op_count; j++)
		for (size_t i = 0; i < j; i++) {
			const struct rev_op *a = &run->ops[i], *b = &run->ops[j];

			if (operations_depend(run, a, b) && can_reverse(t, a->thread, a->n - 1, b->thread,
									b->n - (b->flags & REV_TRY ? 1 : 0)))
				return true;
		}
	return false;
}

/* ---- comparison of the check with the twin ---- */

struct trial {
	struct story story;
	struct rev_run run;
	struct rev_shadow *shadow;
	struct twin *twin;
	uint32_t index[THREADS]; /* by thread of the story: its index in the run */
};

static void feed(struct trial *t)
{
	struct story *s = &t->story;
	size_t next = 0;

	rev_run_init(&t->run);
	for (uint32_t i = 0; i < s->threads; i++)
		t->index[i] = rev_run_thread(&t->run, i);
	for (size_t i = 0; i < s->count; i++)
		rev_run_event(&t->run, t->index[s->events[i].thread], &s->events[i].e, 0);
	rev_run_finish(&t->run);
	rev_order_build(&t->run, true);
	t->shadow = rev_shadow_new(&t->run);
	rev_depend(&t->run, t->shadow);
	for (; next < s->access_count; next++) {
		const struct access *a = &s->accesses[next];

		rev_shadow_touch(t->shadow, &(struct rev_touch){.u = t->index[a->thread],
								.r = a->segment,
								.address = a->address,
								.size = a->size,
								.access = a->write ? REV_WRITE : REV_READ});
	}
}

static void show(const struct trial *t)
{
	const struct story *s = &t->story;
	size_t next = 0;

	for (size_t i = 0; i <= s->count; i++) {
		for (; next < s->access_count && s->accesses[next].at <= i; next++)
			printf("        %u.%u %s %" PRIx64 " %" PRIu64 "\n", s->accesses[next].thread,
			       s->accesses[next].segment, s->accesses[next].write ? "write" : "read",
			       s->accesses[next].address, s->accesses[next].size);
		if (i < s->count)
			printf("%3zu %u %s %" PRIx64 " %" PRIu64 "\n", i, s->events[i].thread,
			       trace_kind(s->events[i].e.kind)->name, s->events[i].e.address,
			       s->events[i].e.values[3]);
	}
}

/* Clocks must not order operations that can be reversed. */
static void check_clocks(const struct trial *t)
{
	const struct rev_run *run = &t->run;

	for (size_t i = 0; i < run->op_count; i++)
		for (uint32_t k = 0; k < run->thread_count; k++) {
			const struct rev_op *op = &run->ops[i];
			uint32_t n = rev_order_get(run, op, k);

			if (k != op->thread && n && can_reverse(t->twin, k, n - 1, op->thread, op->n)) {
				show(t);
				fail_msg("operation %u of %u does not need %u of %u", op->n, op->thread, n,
					 k);
			}
		}
}

/* Every order that was found is possible, and reverses its pair at its end. */
static void check_found(const struct trial *t, const struct rev_decision *d)
{
	struct machine m;

	machine_init(&m, &t->run.x);
	for (size_t i = 0; i < d->found_count; i++) {
		const struct rev_found *f = &d->found[i];

		assert_true(rev_accepts(&t->run, &m, f->order.order, f->order.count));
		assert_true(rev_done(&t->run, &m, f->pair.u) >= f->pair.r &&
			    rev_done(&t->run, &m, f->pair.t) <= f->pair.s);
		assert_true(can_reverse(t->twin, f->pair.t, f->pair.s, f->pair.u, f->pair.r));
		if (!f->replay.count)
			continue;
		/* If the last operation is an attempt, it need not succeed. */
		assert_true(
			rev_accepts(&t->run, &m, f->replay.order, f->replay.count - (f->pair.ops >> 2 & 1)));
		assert_true(rev_done(&t->run, &m, f->pair.u) >= f->pair.r &&
			    rev_done(&t->run, &m, f->pair.t) <= f->pair.s);
	}
	machine_release(&m);
}

static void take_down(struct trial *t)
{
	rev_shadow_free(t->shadow);
	rev_order_free(&t->run);
	rev_run_release(&t->run);
}

static enum rev_verdict try_one(struct trial *t, struct rev_counts *sum)
{
	struct rev_decision d;
	bool reverses;

	feed(t);
	memset(t->twin->seen, 0, 1 << 20);
	t->twin->run = &t->run;
	t->twin->count = 0;
	explore(t->twin);
	check_clocks(t);
	rev_decide(&d, &t->run, t->shadow, 10000, 3);
	reverses = memory_reverses(&t->story, t->twin, t->index) || operations_reverse(t->twin);
	if (d.verdict != (reverses ? REV_NO : REV_YES)) {
		show(t);
		fail_msg("verdict %d, the twin says %s", d.verdict, reverses ? "no" : "yes");
	}
	check_found(t, &d);
	sum->searched += d.counts.searched;
	sum->solver_found += d.counts.solver_found;
	sum->solver_never += d.counts.solver_never;
	sum->ordered += d.counts.ordered;
	enum rev_verdict verdict = d.verdict;
	rev_decision_release(&d);
	take_down(t);
	return verdict;
}

static struct trial *new_trial(void)
{
	struct trial *t = rd_xcalloc(1, sizeof *t);

	t->twin = rd_xcalloc(1, sizeof *t->twin);
	t->twin->seen = rd_xcalloc(1 << 20, 1);
	return t;
}

static void free_trial(struct trial *t)
{
	free(t->twin->seen);
	free(t->twin);
	free(t);
}

static void make_up_number(struct trial *t, unsigned number)
{
	seed = number * 0x9e3779b97f4a7c15ull + 1;
	make_up(&t->story);
}

/* The write of thread 0 can come after the read of thread 1 only if the section of thread 2 comes
 * before thread 0's own section. */
static void two_sections(struct story *s)
{
	enum { SECOND = 0x1700 };

	*s = (struct story){.threads = 3};
	say(s, 0, RADDLE_THREAD_START, 0, 0);
	say(s, 0, RADDLE_SEM_INIT, SEM, 0);
	say(s, 0, RADDLE_SEM_INIT, SECOND, 0);
	for (uint32_t t = 1; t < 3; t++) {
		say(s, 0, RADDLE_THREAD_CREATE, t, 0);
		say(s, t, RADDLE_THREAD_START, 0, 0);
	}
	say(s, 0, RADDLE_MUTEX_LOCK, LOCK, 0);
	say(s, 0, RADDLE_SEM_POST, SEM, 0);
	s->accesses[0] = (struct access){0, s->done[0], 0x100, 4, true, s->count};
	say(s, 0, RADDLE_MUTEX_UNLOCK, LOCK, 0);
	say(s, 2, RADDLE_MUTEX_LOCK, LOCK, 0);
	say(s, 2, RADDLE_SEM_POST, SECOND, 0);
	say(s, 2, RADDLE_MUTEX_UNLOCK, LOCK, 0);
	say(s, 1, RADDLE_SEM_WAIT, SEM, 0);
	say(s, 1, RADDLE_SEM_WAIT, SECOND, 0);
	s->accesses[1] = (struct access){1, s->done[1], 0x102, 1, false, s->count};
	s->access_count = 2;
}

/* Some runs can be decided only by the solver, with yes or with no.  Without the solver, they stay
 * undecided. */
static void test_solver(void **state)
{
	static const unsigned proved[] = {25926, 30092, 49151};
	enum { PROVED = sizeof proved / sizeof *proved };
	struct trial *t = new_trial();
	struct rev_counts sum = {0};
	struct rev_decision d;

	(void)state;
	for (size_t i = 0; i < PROVED; i++) {
		make_up_number(t, proved[i]);
		try_one(t, &sum);
	}
	assert_true(sum.solver_never >= 3);
	/* Without time for the solver, the pair stays undecided. */
	for (unsigned ms = 0; ms <= 10000; ms += 10000) {
		two_sections(&t->story);
		feed(t);
		rev_decide(&d, &t->run, t->shadow, ms, 1);
		assert_int_equal(d.verdict, ms ? REV_NO : REV_OPEN);
		assert_int_equal(d.counts.solver_found, ms ? 1 : 0);
		assert_int_equal(d.counts.unknown, ms ? 0 : 1);
		assert_true(ms ? d.found[0].by_solver : strstr(d.reason, "no time") != NULL);
		rev_decision_release(&d);
		take_down(t);
	}
	free_trial(t);
}

static void test_twin(void **state)
{
	const char *wanted = getenv("RADDLE_BRUTE");
	unsigned runs = wanted ? (unsigned)atoi(wanted) : 4000, verdicts[3] = {0};
	struct trial *t = new_trial();
	struct rev_counts sum = {0};

	(void)state;
	for (unsigned i = 0; i < runs; i++) {
		make_up_number(t, i);
		verdicts[try_one(t, &sum)]++;
	}
	printf("yes %u, no %u; ordered %" PRIu64 ", found %" PRIu64 ", by the solver %" PRIu64
	       ", proved by it %" PRIu64 "\n",
	       verdicts[REV_YES], verdicts[REV_NO], sum.ordered, sum.searched, sum.solver_found,
	       sum.solver_never);
	assert_true(verdicts[REV_YES] > runs / 20 && verdicts[REV_NO] > runs / 20);
	free_trial(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_twin), cmocka_unit_test(test_solver)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
