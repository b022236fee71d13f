/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Enumerates all interleavings of a tiny execution, state by state.
 *
 * A state consists of
 *
 *   - the position of each thread,
 *   - the last write to each variable, which matters only for some reads with speculative
 *     semantics,
 *   - for each waiting thread, the notifications since its wait began.
 *
 * In each state, the next events of all threads are examined.  Two conflicting accesses among them
 * are a race.  A set of events of which none can ever proceed is a deadlock.  This code shares
 * nothing with predict/ except the event type.
 */
#include "brute.h"

#include <stdlib.h>
#include <string.h>

struct state {
	uint8_t at[BRUTE_THREADS];
	uint8_t write[BRUTE_VARIABLES]; /* by variable: the last write, as event + 1 */
	uint32_t since[BRUTE_THREADS];	/* by thread: notifications since its wait began, as bits */
};

struct oracle {
	const struct exec *x;
	bool sound;
	uint32_t of[BRUTE_THREADS][BRUTE_EVENTS + 1];
	uint32_t length[BRUTE_THREADS];
	uint32_t fork_of[BRUTE_THREADS]; /* by thread: the event that forks it, or EXEC_NONE */
	uint32_t writer[BRUTE_EVENTS];
	uint32_t holder[BRUTE_EVENTS]; /* of a failed acquisition: the one that made it fail */
	struct state *table;
	uint8_t *full;
	uint32_t *queue;
	size_t capacity, head, tail;
	struct brute *out;
};

static uint64_t hash_state(const struct state *s)
{
	const unsigned char *p = (const unsigned char *)s;
	uint64_t h = 1469598103934665603ull;

	for (size_t i = 0; i < sizeof *s; i++)
		h = (h ^ p[i]) * 1099511628211ull;
	return h ^ h >> 29;
}

static void push(struct oracle *o, const struct state *s);

static void grow(struct oracle *o)
{
	struct oracle old = *o;

	o->capacity *= 2;
	o->table = malloc(o->capacity * sizeof *o->table);
	o->full = calloc(o->capacity, 1);
	o->queue = malloc(o->capacity * sizeof *o->queue);
	o->tail = 0;
	for (size_t i = 0; i < old.tail; i++)
		push(o, &old.table[old.queue[i]]);
	free(old.table);
	free(old.full);
	free(old.queue);
}

static void push(struct oracle *o, const struct state *s)
{
	if (o->tail * 2 >= o->capacity)
		grow(o);
	for (uint64_t h = hash_state(s);; h++) {
		size_t i = h & (o->capacity - 1);
		if (!o->full[i]) {
			o->full[i] = 1;
			o->table[i] = *s;
			o->queue[o->tail++] = i;
			return;
		}
		if (!memcmp(&o->table[i], s, sizeof *s))
			return;
	}
}

static bool done(const struct oracle *o, const struct state *s, uint32_t e)
{
	uint32_t t = o->x->events[e].thread;
	return s->at[t] == o->length[t] || e < o->of[t][s->at[t]];
}

/* Returns how thread `t` holds `lock`: 0 not at all, 1 shared, 2 exclusively. */
static int holds(const struct oracle *o, const struct state *s, uint32_t t, uint32_t lock)
{
	int held = 0, depth = 0;

	for (uint32_t i = 0; i < s->at[t]; i++) {
		const struct exec_event *e = &o->x->events[o->of[t][i]];
		if (exec_acquires(e->kind) && e->object == lock) {
			if (!depth++)
				held = e->kind == EXEC_RDLOCK ? 1 : 2;
		} else if ((e->kind == EXEC_UNLOCK && e->object == lock) ||
			   (e->kind == EXEC_WAIT && e->aux == lock)) {
			depth--;
		}
	}
	return depth ? held : 0;
}

static bool lock_free(const struct oracle *o, const struct state *s, const struct exec_event *e)
{
	for (uint32_t t = 0; t < o->x->threads; t++) {
		int held = holds(o, s, t, e->object);
		if (t != e->thread && held && !(held == 1 && e->kind == EXEC_RDLOCK))
			return false;
	}
	return true;
}

static int sem_value(const struct oracle *o, const struct state *s, uint32_t sem)
{
	int value = (int)exec_sem_initial(o->x, sem);

	for (uint32_t i = 0; i < o->x->count; i++) {
		const struct exec_event *e = &o->x->events[i];
		if (e->object != sem || !done(o, s, i))
			continue;
		value += e->kind == EXEC_POST;
		value -= e->kind == EXEC_TAKE;
	}
	return value;
}

static bool started(const struct oracle *o, const struct state *s, uint32_t t)
{
	return o->fork_of[t] == EXEC_NONE || done(o, s, o->fork_of[t]);
}

static bool others_done(const struct oracle *o, const struct state *s, uint32_t e, uint8_t kind)
{
	const struct exec_event *v = &o->x->events[e];

	for (uint32_t i = 0; i < o->x->count; i++) {
		const struct exec_event *w = &o->x->events[i];
		if (kind == EXEC_JOIN ? w->thread == v->object && i < e
				      : w->kind == kind && w->object == v->object)
			if (!done(o, s, i))
				return false;
	}
	return true;
}

static bool read_possible(const struct oracle *o, const struct state *s, uint32_t i)
{
	const struct exec_event *e = &o->x->events[i];
	uint32_t w = o->writer[i];

	if (o->sound || e->flags & EXEC_LOOP)
		return s->write[e->object] == (uint8_t)(w + 1);
	if (w == EXEC_NONE)
		return true;
	if (e->flags & o->x->events[w].flags & EXEC_SYNC)
		return done(o, s, w);
	return true;
}

/* Whether the section that begins with `acquire` has begun and not ended. */
static bool section_open(const struct oracle *o, const struct state *s, uint32_t acquire)
{
	const struct exec_event *a = &o->x->events[acquire];

	int depth = 1;

	if (!done(o, s, acquire))
		return false;
	for (uint32_t i = acquire + 1; i < o->x->count && depth; i++) {
		const struct exec_event *e = &o->x->events[i];
		if (e->thread != a->thread || !done(o, s, i))
			continue;
		depth += exec_acquires(e->kind) && e->object == a->object;
		depth -= (e->kind == EXEC_UNLOCK && e->object == a->object) ||
			 (e->kind == EXEC_WAIT && e->aux == a->object);
	}
	return depth;
}

/* Returns the acquisition by which another thread held the lock when the acquisition `busy` failed
 * in the recording.  If several threads held the lock, returns that of the thread with the lowest
 * number. */
static uint32_t find_holder(const struct exec *x, uint32_t busy)
{
	const struct exec_event *b = &x->events[busy];

	for (uint32_t t = 0; t < x->threads; t++) {
		uint32_t holder = EXEC_NONE, depth = 0;
		for (uint32_t i = 0; i < busy; i++) {
			const struct exec_event *e = &x->events[i];
			if (e->thread != t || t == b->thread || e->flags & EXEC_PENDING)
				continue;
			if (exec_acquires(e->kind) && e->object == b->object && !depth++)
				holder = i;
			if (((e->kind == EXEC_UNLOCK && e->object == b->object) ||
			     (e->kind == EXEC_WAIT && e->aux == b->object)) &&
			    !--depth)
				holder = EXEC_NONE;
		}
		if (holder != EXEC_NONE && !(x->events[holder].kind == EXEC_RDLOCK && b->aux == EXEC_RDLOCK))
			return holder;
	}
	return EXEC_NONE;
}

static bool possible(const struct oracle *o, const struct state *s, uint32_t i)
{
	const struct exec_event *e = &o->x->events[i];

	if (e->flags & EXEC_PENDING || (o->sound && e->flags & EXEC_UNSURE))
		return false;
	switch (e->kind) {
	case EXEC_READ:
	case EXEC_UPDATE: return read_possible(o, s, i);
	case EXEC_LOCK:
	case EXEC_RDLOCK:
	case EXEC_WRLOCK: return lock_free(o, s, e);
	case EXEC_BUSY: return !o->sound || o->holder[i] == EXEC_NONE || section_open(o, s, o->holder[i]);
	case EXEC_JOIN: return started(o, s, e->object) && others_done(o, s, i, EXEC_JOIN);
	case EXEC_EXIT: return others_done(o, s, i, EXEC_ENTER);
	case EXEC_TAKE: return sem_value(o, s, e->object) > 0;
	case EXEC_ONCE_PASS: return others_done(o, s, i, EXEC_ONCE_RUN);
	case EXEC_WAKE:
		if (e->aux >= EXEC_MATCH)
			return true;
		return o->sound ? s->since[e->thread] >> e->aux & 1 : done(o, s, e->aux);
	default: return true;
	}
}

static void step(struct oracle *o, struct state s, uint32_t i)
{
	const struct exec_event *e = &o->x->events[i];

	s.at[e->thread]++;
	if (exec_writes(e->kind))
		s.write[e->object] = i + 1;
	if (e->kind == EXEC_WAIT || e->kind == EXEC_WAKE)
		s.since[e->thread] = 0;
	if (e->kind == EXEC_SIGNAL || e->kind == EXEC_BROADCAST)
		for (uint32_t t = 0; t < o->x->threads; t++) {
			if (t == e->thread || !s.at[t])
				continue;
			const struct exec_event *last = &o->x->events[o->of[t][s.at[t] - 1]];
			if (last->kind == EXEC_WAIT && last->object == e->object)
				s.since[t] |= 1u << i;
		}
	push(o, &s);
}

/* ---- deadlocks: sets of events that can never proceed ---- */

static uint32_t dead_under(const struct oracle *o, const uint32_t *head, uint32_t set)
{
	const struct exec *x = o->x;
	uint32_t dead = 0;

	for (uint32_t i = 0; i < x->count; i++) {
		const struct exec_event *e = &x->events[i];
		bool d = set >> e->thread & 1 && i >= head[e->thread];
		if (o->fork_of[e->thread] != EXEC_NONE && dead >> o->fork_of[e->thread] & 1)
			d = true;
		for (uint32_t j = 0; j < i; j++) {
			if (!(dead >> j & 1))
				continue;
			const struct exec_event *f = &x->events[j];
			d = d || f->thread == e->thread;
			d = d || (e->kind == EXEC_JOIN && (f->thread == e->object ||
							   (f->kind == EXEC_FORK && f->object == e->object)));
			d = d || (e->kind == EXEC_EXIT && f->kind == EXEC_ENTER && f->object == e->object);
			d = d ||
			    (e->kind == EXEC_ONCE_PASS && f->kind == EXEC_ONCE_RUN && f->object == e->object);
			d = d || (e->kind == EXEC_WAKE && e->aux == j);
			/* With sound semantics, a thread that reads another value continues, but
			 * not as recorded. */
			if (exec_reads(e->kind) && o->writer[i] == j)
				d = d || (!o->sound && e->flags & f->flags & EXEC_SYNC) ||
				    e->flags & EXEC_LOOP;
		}
		dead |= (uint32_t)d << i;
	}
	return dead;
}

static bool wake_consumed(const struct oracle *o, const struct state *s, uint32_t note)
{
	if (o->x->events[note].kind != EXEC_SIGNAL)
		return false;
	for (uint32_t i = 0; i < o->x->count; i++)
		if (o->x->events[i].kind == EXEC_WAKE && o->x->events[i].aux == note && done(o, s, i))
			return true;
	return false;
}

static bool can_be_served(const struct oracle *o, const struct state *s, const struct exec_event *e,
			  uint32_t dead)
{
	for (uint32_t i = 0; i < o->x->count; i++) {
		const struct exec_event *w = &o->x->events[i];
		bool note = e->kind == EXEC_WAKE && (w->kind == EXEC_SIGNAL || w->kind == EXEC_BROADCAST);
		if (w->object != e->object || !(note || (e->kind == EXEC_TAKE && w->kind == EXEC_POST)))
			continue;
		if (!done(o, s, i) && !(dead >> i & 1))
			return true;
		if (note && done(o, s, i) && s->since[e->thread] >> i & 1 && !wake_consumed(o, s, i))
			return true;
	}
	return false;
}

static bool is_stuck(const struct oracle *o, const struct state *s, const uint32_t *head, uint32_t set,
		     uint32_t i)
{
	const struct exec_event *e = &o->x->events[i];

	if (e->flags & EXEC_TRY)
		return false;
	switch (e->kind) {
	case EXEC_LOCK:
	case EXEC_RDLOCK:
	case EXEC_WRLOCK:
		for (uint32_t t = 0; t < o->x->threads; t++) {
			int held = set >> t & 1 ? holds(o, s, t, e->object) : 0;
			if (held && (t != e->thread || e->flags & EXEC_PENDING) &&
			    !(held == 1 && e->kind == EXEC_RDLOCK))
				return true;
		}
		return false;
	case EXEC_JOIN: return set >> e->object & 1;
	case EXEC_EXIT:
		for (uint32_t j = 0; j < o->x->count; j++) {
			const struct exec_event *w = &o->x->events[j];
			if (w->kind == EXEC_ENTER && w->object == e->object && set >> w->thread & 1 &&
			    !done(o, s, j))
				return true;
		}
		return false;
	case EXEC_TAKE:
		return sem_value(o, s, e->object) == 0 && !can_be_served(o, s, e, dead_under(o, head, set));
	case EXEC_WAKE:
		if (e->aux >= EXEC_MATCH && !(e->flags & EXEC_PENDING))
			return false;
		return !can_be_served(o, s, e, dead_under(o, head, set));
	default: return false;
	}
}

static void add_set(struct brute *b, uint32_t events)
{
	for (uint32_t i = 0; i < b->deadlock_count; i++)
		if (b->deadlocks[i] == events)
			return;
	if (b->deadlock_count < BRUTE_SETS)
		b->deadlocks[b->deadlock_count++] = events;
}

static void find_deadlocks(struct oracle *o, const struct state *s, const uint32_t *head)
{
	uint32_t found[1 << BRUTE_THREADS], n = 0, blocked = 0;

	for (uint32_t t = 0; t < o->x->threads; t++)
		if (head[t] != EXEC_NONE && !exec_is_access(o->x->events[head[t]].kind))
			blocked |= 1u << t;
	for (uint32_t size = 1; size <= o->x->threads; size++)
		for (uint32_t set = 1; set < 1u << o->x->threads; set++) {
			bool ok = !(set & ~blocked) && (uint32_t)__builtin_popcount(set) == size;
			uint32_t events = 0;
			for (uint32_t i = 0; i < n && ok; i++)
				ok = (found[i] & set) != found[i];
			for (uint32_t t = 0; t < o->x->threads && ok; t++)
				if (set >> t & 1) {
					ok = is_stuck(o, s, head, set, head[t]);
					events |= 1u << head[t];
				}
			if (!ok)
				continue;
			found[n++] = set;
			add_set(o->out, events);
		}
}

static void find_races(struct oracle *o, const uint32_t *head)
{
	for (uint32_t t = 0; t < o->x->threads; t++)
		for (uint32_t u = 0; u < o->x->threads; u++) {
			uint32_t a = head[t], b = head[u];
			if (a == EXEC_NONE || b == EXEC_NONE || a >= b)
				continue;
			const struct exec_event *x = &o->x->events[a], *y = &o->x->events[b];
			if (exec_is_access(x->kind) && exec_is_access(y->kind) && x->object == y->object &&
			    exec_conflict(x, y))
				o->out->races[b] |= 1u << a;
		}
}

static void explore(struct oracle *o)
{
	while (o->head < o->tail) {
		struct state s = o->table[o->queue[o->head++]];
		uint32_t head[BRUTE_THREADS];

		for (uint32_t t = 0; t < o->x->threads; t++)
			head[t] = s.at[t] < o->length[t] && started(o, &s, t) ? o->of[t][s.at[t]] : EXEC_NONE;
		find_races(o, head);
		find_deadlocks(o, &s, head);
		for (uint32_t t = 0; t < o->x->threads; t++)
			if (head[t] != EXEC_NONE && possible(o, &s, head[t]))
				step(o, s, head[t]);
	}
	o->out->states = o->tail;
}

void brute_run(const struct exec *x, bool sound, struct brute *b)
{
	struct oracle o = {.x = x, .sound = sound, .capacity = 256, .out = b};
	uint32_t last[BRUTE_VARIABLES];
	struct state first;

	memset(b, 0, sizeof *b);
	memset(&first, 0, sizeof first);
	memset(last, 0xff, sizeof last);
	memset(o.fork_of, 0xff, sizeof o.fork_of);
	for (uint32_t i = 0; i < x->count; i++) {
		const struct exec_event *e = &x->events[i];
		o.of[e->thread][o.length[e->thread]++] = i;
		o.writer[i] = exec_reads(e->kind) ? last[e->object] : EXEC_NONE;
		o.holder[i] = e->kind == EXEC_BUSY ? find_holder(x, i) : EXEC_NONE;
		if (exec_writes(e->kind))
			last[e->object] = i;
		if (e->kind == EXEC_FORK)
			o.fork_of[e->object] = i;
	}
	o.table = malloc(o.capacity * sizeof *o.table);
	o.full = calloc(o.capacity, 1);
	o.queue = malloc(o.capacity * sizeof *o.queue);
	push(&o, &first);
	explore(&o);
	free(o.table);
	free(o.full);
	free(o.queue);
}
