/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes random well-formed executions for the comparison with brute.c.  An execution has two to
 * four threads.  It may contain mutexes (some of them recursive), read-write locks that are
 * released in any order, semaphores, condition waits with and without time limits, barriers, once
 * controls, forks with and without a join, atomics, trylocks that succeed or fail, pending
 * operations, and accesses whose order is not known.
 */
#include "brute.h"
#include "predict/overlap-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define LOCKS 4 /* including the one that represents a once control */
#define DEPTH 6

struct gen {
	struct exec *x;
	uint64_t seed;
	uint32_t threads, locks, variables, limit;
	bool rw[LOCKS], recursive[LOCKS];
	uint32_t holders[LOCKS]; /* threads, as bits */
	bool shared[LOCKS];
	uint32_t held[BRUTE_THREADS][DEPTH], depth[BRUTE_THREADS];
	bool has_once, once_done;
	uint32_t running;	 /* 1 + the thread that runs the initialiser; 0: no thread */
	int wait[BRUTE_THREADS]; /* 1 + the mutex that it takes again; 0: it does not wait */
	bool woken[BRUTE_THREADS];
	uint32_t notes[2]; /* of each condition: notifications not yet used */
	uint32_t cond[BRUTE_THREADS];
	uint32_t stock[2];
	uint32_t members[2], entered[2], left[2]; /* of each barrier: threads, as bits */
	bool alive[BRUTE_THREADS], finished[BRUTE_THREADS], forked[BRUTE_THREADS];
	unsigned conds, sems, barriers;
	const uint8_t *odds;
};

/* Cumulative percentages of events: unlock, lock, wait, notify, semaphore, threads.  The rest are
 * accesses. */
static const uint8_t profiles[][6] = {
	{18, 44, 52, 60, 70, 78},
	{30, 78, 80, 82, 86, 90},
	{15, 35, 48, 66, 86, 90},
	{18, 48, 50, 52, 54, 57},
};

static uint32_t below(struct gen *g, uint32_t n)
{
	g->seed ^= g->seed << 13;
	g->seed ^= g->seed >> 7;
	g->seed ^= g->seed << 17;
	return (g->seed >> 11) % n;
}

static struct exec_event *add(struct gen *g, enum exec_kind kind, uint32_t thread, uint32_t object)
{
	struct exec_event *e = exec_add(g->x, kind, thread, object);
	e->site = g->x->count;
	return e;
}

static bool can_lock(const struct gen *g, uint32_t lock, bool shared)
{
	return !g->holders[lock] || (shared && g->shared[lock]);
}

static uint32_t times_held(const struct gen *g, uint32_t t, uint32_t lock)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->depth[t]; i++)
		n += g->held[t][i] == lock;
	return n;
}

static void acquire(struct gen *g, uint32_t t, uint32_t lock, bool may_pend)
{
	bool shared = g->rw[lock] && below(g, 2);
	enum exec_kind kind = !g->rw[lock] ? EXEC_LOCK : shared ? EXEC_RDLOCK : EXEC_WRLOCK;

	if (g->recursive[lock] && times_held(g, t, lock)) {
		add(g, kind, t, lock);
		g->held[t][g->depth[t]++] = lock;
		return;
	}
	if (g->holders[lock] >> t & 1 || !can_lock(g, lock, shared)) {
		if (may_pend && below(g, 25) == 0) {
			add(g, kind, t, lock)->flags = EXEC_PENDING;
			g->alive[t] = false;
		} else if (!(g->holders[lock] >> t & 1) && below(g, 6) == 0) {
			add(g, EXEC_BUSY, t, lock)->aux = kind;
		}
		return;
	}
	struct exec_event *e = add(g, kind, t, lock);
	if (may_pend && below(g, 8) == 0)
		e->flags = EXEC_TRY;
	g->holders[lock] |= 1u << t;
	g->shared[lock] = shared;
	g->held[t][g->depth[t]++] = lock;
}

static uint32_t drop(struct gen *g, uint32_t t, uint32_t i)
{
	uint32_t lock = g->held[t][i];

	memmove(&g->held[t][i], &g->held[t][i + 1], (g->depth[t] - i - 1) * sizeof g->held[t][0]);
	g->depth[t]--;
	if (!times_held(g, t, lock))
		g->holders[lock] &= ~(1u << t);
	return lock;
}

static void add_access(struct gen *g, uint32_t t)
{
	static const uint8_t kinds[] = {EXEC_READ, EXEC_WRITE, EXEC_READ, EXEC_WRITE, EXEC_READ, EXEC_UPDATE};
	uint32_t v = below(g, g->variables), k = below(g, 100);
	uint8_t kind = kinds[below(g, k < 12 ? 6 : 5)];
	struct exec_event *e = add(g, kind, t, v);

	if (k < 12 || kind == EXEC_UPDATE)
		e->flags = EXEC_ATOMIC | (below(g, 2) ? EXEC_SYNC : 0);
	else if (k < 16 && kind == EXEC_READ)
		e->flags = EXEC_LOOP;
}

static void begin_wait(struct gen *g, uint32_t t)
{
	uint32_t i = below(g, g->depth[t]), mutex = g->held[t][i];

	if (g->rw[mutex] || times_held(g, t, mutex) > 1)
		return;
	drop(g, t, i);
	g->cond[t] = below(g, g->conds);
	add(g, EXEC_WAIT, t, g->cond[t])->aux = mutex;
	g->wait[t] = mutex + 1;
	g->woken[t] = false;
}

static void continue_wait(struct gen *g, uint32_t t)
{
	uint32_t mutex = g->wait[t] - 1;

	if (!g->woken[t]) {
		if (!g->notes[g->cond[t]] && below(g, 20))
			return;
		struct exec_event *e = add(g, EXEC_WAKE, t, g->cond[t]);
		e->aux = EXEC_MATCH;
		e->flags = below(g, 8) == 0 ? EXEC_TRY : 0;
		g->woken[t] = true;
		return;
	}
	if (!can_lock(g, mutex, false))
		return;
	add(g, EXEC_LOCK, t, mutex);
	g->holders[mutex] |= 1u << t;
	g->shared[mutex] = false;
	g->held[t][g->depth[t]++] = mutex;
	g->wait[t] = 0;
}

static void notify(struct gen *g, uint32_t t)
{
	uint32_t c = below(g, g->conds);

	add(g, below(g, 3) ? EXEC_SIGNAL : EXEC_BROADCAST, t, c);
	g->notes[c] = 1;
}

static bool use_barrier(struct gen *g, uint32_t t)
{
	for (uint32_t b = 0; b < g->barriers; b++) {
		if (!(g->members[b] >> t & 1) || g->left[b] >> t & 1)
			continue;
		if (!(g->entered[b] >> t & 1)) {
			if (below(g, 4))
				return false;
			add(g, EXEC_ENTER, t, b);
			g->entered[b] |= 1u << t;
			return true;
		}
		if (g->entered[b] != g->members[b])
			return true;
		add(g, EXEC_EXIT, t, b);
		g->left[b] |= 1u << t;
		return true;
	}
	return false;
}

static void use_sem(struct gen *g, uint32_t t)
{
	uint32_t s = below(g, g->sems);

	if (below(g, 2)) {
		add(g, EXEC_POST, t, s);
		g->stock[s]++;
	} else if (g->stock[s]) {
		add(g, EXEC_TAKE, t, s)->flags = below(g, 10) ? 0 : EXEC_TRY;
		g->stock[s]--;
	}
}

/* The last lock represents the once control: it is held while the initialiser runs. */
static void use_once(struct gen *g, uint32_t t)
{
	uint32_t lock = g->locks;

	if (g->once_done) {
		add(g, EXEC_RDLOCK, t, lock)->flags = EXEC_PART;
		add(g, EXEC_UNLOCK, t, lock)->flags = EXEC_PART;
		add(g, EXEC_ONCE_PASS, t, 0);
	} else if (!g->running) {
		add(g, EXEC_WRLOCK, t, lock);
		g->running = t + 1;
	} else if (g->running == t + 1) {
		add(g, EXEC_UNLOCK, t, lock)->flags = EXEC_PART;
		add(g, EXEC_ONCE_RUN, t, 0);
		g->running = 0;
		g->once_done = true;
	} else if (below(g, 8) == 0) {
		add(g, EXEC_RDLOCK, t, lock)->flags = EXEC_PENDING;
		g->alive[t] = false;
	}
}

static void threads_event(struct gen *g, uint32_t t)
{
	uint32_t u = below(g, g->threads);

	if (u == t || u == 0)
		return;
	if (!g->forked[u]) {
		add(g, EXEC_FORK, t, u);
		g->forked[u] = g->alive[u] = true;
	} else if (g->alive[u] && !g->wait[u] && !g->depth[u] && !g->finished[u] && g->running != u + 1) {
		if (below(g, 3))
			return;
		g->finished[u] = true;
		g->alive[u] = false;
		add(g, EXEC_JOIN, t, u);
	}
}

static void act(struct gen *g, uint32_t t)
{
	uint32_t r = below(g, 100);

	if (g->wait[t]) {
		continue_wait(g, t);
		return;
	}
	if (use_barrier(g, t))
		return;
	if (g->has_once && below(g, 7) == 0) {
		use_once(g, t);
		return;
	}
	if (r < g->odds[0] && g->depth[t])
		add(g, EXEC_UNLOCK, t, drop(g, t, below(g, 6) ? g->depth[t] - 1 : below(g, g->depth[t])));
	else if (r < g->odds[1] && g->depth[t] < 3)
		acquire(g, t, below(g, g->locks), true);
	else if (r < g->odds[2] && g->conds && g->depth[t])
		begin_wait(g, t);
	else if (r < g->odds[3] && g->conds)
		notify(g, t);
	else if (r < g->odds[4] && g->sems)
		use_sem(g, t);
	else if (r < g->odds[5])
		threads_event(g, t);
	else
		add_access(g, t);
}

static void setup(struct gen *g)
{
	uint32_t profile = below(g, 4);

	g->odds = profiles[profile];
	g->threads = 2 + below(g, 3);
	g->locks = 1 + below(g, 3);
	g->variables = 1 + below(g, 3);
	g->limit = 8 + below(g, 20);
	g->conds = profile != 2 && below(g, 3) ? 0 : 1 + below(g, 2);
	g->sems = profile != 2 && below(g, 3) ? 0 : 1 + below(g, 2);
	g->barriers = below(g, 4) ? 0 : 1 + below(g, 2);
	g->has_once = below(g, 3) == 0;
	for (uint32_t l = 0; l < g->locks; l++) {
		g->rw[l] = below(g, 3) == 0;
		g->recursive[l] = !g->rw[l] && below(g, 3) == 0;
	}
	for (uint32_t s = 0; s < g->sems; s++) {
		g->stock[s] = below(g, 2);
		exec_sem_init(g->x, s, g->stock[s]);
	}
	for (uint32_t b = 0; b < g->barriers; b++) {
		uint32_t absent = below(g, g->threads + 1);
		g->members[b] = (1u << g->threads) - 1;
		if (g->threads > 2 && absent < g->threads)
			g->members[b] &= ~(1u << absent);
	}
	bool forks = below(g, 2);
	for (uint32_t t = 0; t < g->threads; t++)
		g->alive[t] = g->forked[t] = t == 0 || !forks || below(g, 3) == 0;
}

static bool overlap(const struct predict_span *a, const struct predict_span *b)
{
	return a->begin < b->end && b->begin < a->end;
}

/* Gives some accesses a duration, and compares the accesses that predict_mark_unsure() marks with
 * those whose durations overlap. */
static void blur(struct gen *g)
{
	struct exec *x = g->x;
	struct predict_span spans[BRUTE_EVENTS];

	for (uint32_t i = 0; i < x->count; i++)
		spans[i] = (struct predict_span){i, i + (below(g, 2) ? below(g, 6) : 0)};
	predict_mark_unsure(x, spans);
	for (uint32_t i = 0; i < x->count; i++) {
		const struct exec_event *e = &x->events[i];
		bool unsure = false;
		for (uint32_t k = 0; k < x->count && exec_is_access(e->kind); k++)
			unsure |= exec_writes(x->events[k].kind) && x->events[k].object == e->object &&
				  x->events[k].thread != e->thread && overlap(&spans[i], &spans[k]);
		assert_int_equal(unsure, (e->flags & EXEC_UNSURE) != 0);
	}
}

void random_exec(struct exec *x, uint64_t seed)
{
	struct gen g = {.x = x, .seed = seed * 0x9e3779b97f4a7c15ull + 0x1234567};

	exec_init(x);
	below(&g, 2);
	setup(&g);
	for (uint32_t i = 0; i < 400 && x->count < g.limit; i++) {
		uint32_t t = below(&g, g.threads);
		if (g.alive[t])
			act(&g, t);
	}
	if (x->threads < g.threads)
		x->threads = g.threads;
	exec_match_signals(x);
	if (below(&g, 3) == 0)
		blur(&g);
}
