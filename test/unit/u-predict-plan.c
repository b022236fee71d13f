/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares plans with all executions that they allow, on random executions.
 *
 * The slow reference enforces a list of operations and leaves everything else free.  It enumerates
 * every state that can then be reached, up to the end of the witness.
 *   - If the plan is enforced, no execution gets stuck.  None has two clashing events in an order
 *     that enforcing all operations of the witness would exclude.
 *   - If any one operation of the plan is left out, some execution gets stuck or has such an order.
 * Which events clash is defined here a second time, pair by pair.
 *
 * The same is tested for executions whose beginning has already happened.  There the plan comes
 * after all past operations, in recorded order.  It does not name past operations that clash only
 * with one another.
 */
#include "predict/brute.c"
#include "predict/kind.h"
#include "predict/random.c"

#include "predict/plan-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct twin {
	const uint32_t *targets; /* the events before which the threads are stopped at the end */
	uint32_t target_count;
	struct oracle o;
	uint32_t line[BRUTE_EVENTS], count; /* the events of the witness, in its order */
	uint32_t end[BRUTE_THREADS];	    /* by thread: how many of these events it does */
	uint32_t before[BRUTE_EVENTS];	    /* bits of earlier events that clash with it */
	const uint32_t *list;		    /* the operations that are enforced */
	uint32_t list_length;
	/* by event: the events of before[] that came later in some execution */
	uint32_t wrong[BRUTE_EVENTS];
	bool broken;
	uint32_t past; /* events before this one have happened */
	uint64_t *seen;
	size_t seen_capacity;
};

struct tally {
	uint64_t plans, operations, listed, dropped, bad;
	uint64_t past; /* number of plans that leave out past operations */
};

/* ---- the witness as a list of events ---- */

static void run_until(struct twin *w, uint32_t t, uint32_t last);

static void run_one(struct twin *w, uint32_t t)
{
	uint32_t e = w->o.of[t][w->end[t]];

	if (w->o.x->events[e].kind == EXEC_JOIN && e)
		run_until(w, w->o.x->events[e].object, e - 1);
	w->end[t]++;
	w->line[w->count++] = e;
}

static void run_until(struct twin *w, uint32_t t, uint32_t last)
{
	while (w->end[t] < w->o.length[t] && w->o.of[t][w->end[t]] <= last)
		run_one(w, t);
}

static void make_line(struct twin *w, const struct predict_witness *p, const uint32_t *targets,
		      uint32_t count)
{
	const struct exec *x = w->o.x;

	for (size_t i = 0; p->order && i < p->length; i++)
		run_until(w, x->events[p->order[i]].thread, p->order[i]);
	for (uint32_t i = 0; !p->order && i < x->count; i++) {
		uint32_t t = x->events[i].thread;
		if (p->done[t] != EXEC_NONE && i <= p->done[t] && w->end[t] < w->o.length[t] &&
		    w->o.of[t][w->end[t]] == i)
			run_one(w, t);
	}
	for (uint32_t i = 0; i < count; i++)
		if (targets[i])
			run_until(w, x->events[targets[i]].thread, targets[i] - 1);
}

static const struct exec_event *at(const struct twin *w, uint32_t i)
{
	return &w->o.x->events[w->line[i]];
}

/* Returns the next event of the same thread in the line, or the count if there is none. */
static uint32_t next_in_line(const struct twin *w, uint32_t i)
{
	for (uint32_t k = i + 1; k < w->count; k++)
		if (at(w, k)->thread == at(w, i)->thread)
			return k;
	return w->count;
}

/* ---- which events clash, pair by pair ---- */

static bool is_acquire(const struct twin *w, uint32_t i, uint32_t lock)
{
	uint32_t depth = 0;

	if (!exec_acquires(at(w, i)->kind) || at(w, i)->object != lock || at(w, i)->flags & EXEC_PART)
		return false;
	for (uint32_t k = 0; k < i; k++) {
		if (at(w, k)->thread != at(w, i)->thread)
			continue;
		depth += exec_acquires(at(w, k)->kind) && at(w, k)->object == lock;
		depth -= at(w, k)->kind == EXEC_UNLOCK && at(w, k)->object == lock;
		depth -= at(w, k)->kind == EXEC_WAIT && at(w, k)->aux == lock;
	}
	return depth == 0;
}

static uint32_t end_of(const struct twin *w, uint32_t acquire)
{
	uint32_t depth = 1, lock = at(w, acquire)->object;

	for (uint32_t k = acquire + 1; k < w->count; k++) {
		if (at(w, k)->thread != at(w, acquire)->thread)
			continue;
		depth += exec_acquires(at(w, k)->kind) && at(w, k)->object == lock;
		depth -= at(w, k)->kind == EXEC_UNLOCK && at(w, k)->object == lock;
		depth -= at(w, k)->kind == EXEC_WAIT && at(w, k)->aux == lock;
		if (!depth)
			return k;
	}
	return w->count;
}

static void clash(struct twin *w, uint32_t i, uint32_t k)
{
	if (at(w, i)->thread != at(w, k)->thread)
		w->before[w->line[k]] |= 1u << w->line[i];
}

static void add_lock_clashes(struct twin *w, uint32_t k)
{
	uint32_t lock = at(w, k)->object, holder = w->count, lowest = UINT32_MAX;

	if (at(w, k)->kind == EXEC_BUSY) {
		for (uint32_t i = 0; i < k; i++) {
			if (!is_acquire(w, i, lock) || end_of(w, i) < k ||
			    at(w, i)->thread == at(w, k)->thread ||
			    (at(w, i)->kind == EXEC_RDLOCK && at(w, k)->aux == EXEC_RDLOCK) ||
			    at(w, i)->thread >= lowest)
				continue;
			holder = i;
			lowest = at(w, i)->thread;
		}
		if (holder == w->count)
			return;
		clash(w, holder, k);
		if (end_of(w, holder) < w->count)
			clash(w, k, end_of(w, holder));
		return;
	}
	for (uint32_t i = 0; i < k && is_acquire(w, k, lock); i++)
		if (is_acquire(w, i, lock) &&
		    !(at(w, i)->kind == EXEC_RDLOCK && at(w, k)->kind == EXEC_RDLOCK))
			clash(w, i, k);
}

static void add_sem_clashes(struct twin *w, uint32_t k)
{
	uint32_t sem = at(w, k)->object, takes = 1, posts = 0;

	for (uint32_t i = 0; i < k; i++)
		if (at(w, i)->kind == EXEC_TAKE && at(w, i)->object == sem) {
			takes++;
			clash(w, i, k);
		}
	for (uint32_t i = 0; i < k; i++)
		if (at(w, i)->kind == EXEC_POST && at(w, i)->object == sem &&
		    ++posts + exec_sem_initial(w->o.x, sem) == takes)
			clash(w, i, k);
}

static bool is_note(const struct exec_event *e)
{
	return e->kind == EXEC_SIGNAL || e->kind == EXEC_BROADCAST;
}

static void add_cond_clashes(struct twin *w, uint32_t k)
{
	for (uint32_t i = 0; i < k; i++) {
		if (at(w, i)->object != at(w, k)->object)
			continue;
		if (is_note(at(w, i)) || (at(w, i)->kind == EXEC_WAIT && is_note(at(w, k))))
			clash(w, i, k);
		/* A wait that ended without a notification. */
		if (at(w, i)->kind == EXEC_WAKE && at(w, i)->aux >= EXEC_MATCH && is_note(at(w, k)) &&
		    next_in_line(w, i) < k)
			clash(w, next_in_line(w, i), k);
	}
}

static void add_access_clashes(struct twin *w, uint32_t k)
{
	uint32_t ops = 0;

	/* A recorded thread begins with an operation, but a thread of these executions may begin
	 * with accesses.  Only the fork of the thread can order such accesses. */
	for (uint32_t i = 0; i < k; i++)
		ops += at(w, i)->thread == at(w, k)->thread && !exec_is_access(at(w, i)->kind);
	if (!ops)
		return;
	for (uint32_t i = k; i-- > 0;) {
		if (!exec_is_access(at(w, i)->kind) || at(w, i)->object != at(w, k)->object)
			continue;
		if (exec_writes(at(w, i)->kind) || exec_writes(at(w, k)->kind))
			clash(w, i, k);
		if (exec_writes(at(w, i)->kind))
			return;
	}
}

static void add_clashes(struct twin *w)
{
	for (uint32_t k = 0; k < w->count; k++) {
		const struct exec_event *e = at(w, k);
		if (exec_is_access(e->kind))
			add_access_clashes(w, k);
		else if (exec_acquires(e->kind) || e->kind == EXEC_BUSY)
			add_lock_clashes(w, k);
		else if (e->kind == EXEC_TAKE)
			add_sem_clashes(w, k);
		else if (e->kind == EXEC_WAIT || is_note(e))
			add_cond_clashes(w, k);
		for (uint32_t i = 0; i < k && e->kind == EXEC_ONCE_PASS; i++)
			if (at(w, i)->kind == EXEC_ONCE_RUN && at(w, i)->object == e->object)
				clash(w, i, k);
	}
}

/* ---- enumeration of all executions ---- */

static bool visit(struct twin *w, const struct state *s)
{
	uint64_t key = 1;

	for (uint32_t t = 0; t < BRUTE_THREADS; t++)
		key = key << 6 | s->at[t];
	for (uint64_t h = key * 0x9e3779b97f4a7c15ull;; h++) {
		uint64_t *slot = &w->seen[(h ^ h >> 32) & (w->seen_capacity - 1)];
		if (*slot == key)
			return false;
		if (!*slot) {
			*slot = key;
			return true;
		}
	}
}

static uint32_t done_bits(const struct twin *w, const struct state *s)
{
	uint32_t bits = 0;

	for (uint32_t t = 0; t < w->o.x->threads; t++)
		for (uint32_t i = 0; i < s->at[t]; i++)
			bits |= 1u << w->o.of[t][i];
	return bits;
}

/* Returns 1 if the event can happen now, 0 if not yet, and -1 if it would have another result. */
static int can(struct twin *w, const struct state *s, uint32_t e, uint32_t done)
{
	const struct exec_event *v = &w->o.x->events[e];
	uint32_t turn = 0;

	while (turn < w->list_length && done >> w->list[turn] & 1)
		turn++;
	for (uint32_t i = turn; i < w->list_length; i++)
		if (w->list[i] == e && i != turn)
			return 0;
	if (exec_is_access(v->kind) || v->kind == EXEC_BUSY)
		return 1;
	if (possible(&w->o, s, e))
		return 1;
	return (v->flags & EXEC_TRY && v->kind != EXEC_WAKE) || v->kind == EXEC_ONCE_PASS ? -1 : 0;
}

static void explore_from(struct twin *w, const struct state *s)
{
	uint32_t done = done_bits(w, s);
	bool moved = false, complete = true;

	if (!visit(w, s))
		return;
	for (uint32_t i = 0; i < w->count; i++)
		if (done >> w->line[i] & 1)
			w->wrong[w->line[i]] |= w->before[w->line[i]] & ~done;
	for (uint32_t t = 0; t < w->o.x->threads; t++) {
		if (s->at[t] >= w->end[t])
			continue;
		complete = false;
		if (!started(&w->o, s, t))
			continue;
		int how = can(w, s, w->o.of[t][s->at[t]], done);
		w->broken |= how < 0;
		if (how > 0) {
			struct state next = *s;
			next.at[t]++;
			moved = true;
			explore_from(w, &next);
		}
	}
	w->broken |= !moved && !complete;
}

static void enforce(struct twin *w, const uint32_t *list, size_t length)
{
	struct state first;

	memset(&first, 0, sizeof first);
	memset(w->seen, 0, w->seen_capacity * sizeof *w->seen);
	memset(w->wrong, 0, sizeof w->wrong);
	w->broken = false;
	w->list = list;
	w->list_length = (uint32_t)length;
	explore_from(w, &first);
}

static bool more_wrong(const struct twin *w, const uint32_t *allowed)
{
	for (uint32_t i = 0; i < BRUTE_EVENTS; i++)
		if (w->wrong[i] & ~allowed[i])
			return true;
	return w->broken;
}

/* ---- comparison of a plan with the executions ---- */

/* Whether an operation is named because a signal could wake one of several threads. */
static bool chooses(const struct twin *w, uint32_t event)
{
	uint32_t waiting = 0, k = 0;
	const struct exec_event *wake = NULL;

	for (uint32_t i = 0; i < w->count && w->line[i] != event; i++)
		if (at(w, i)->kind == EXEC_WAKE && next_in_line(w, i) < w->count &&
		    w->line[next_in_line(w, i)] == event)
			wake = at(w, i);
	if (!wake || wake->aux >= EXEC_MATCH)
		return false;
	for (; w->line[k] != event; k++) {
		waiting += at(w, k)->kind == EXEC_WAIT && at(w, k)->object == wake->object;
		for (uint32_t i = 0; i < k; i++)
			waiting -= at(w, i)->kind == EXEC_WAKE && at(w, i)->object == wake->object &&
				   next_in_line(w, i) == k;
	}
	return waiting > 1;
}

/* If several threads post a semaphore, the order of a post and a take depends on how far the other
 * threads are.  A plan names such a pair even if the numbers of posts and takes would show that
 * its order is always the same. */
static bool has_several_posters(const struct twin *w)
{
	uint32_t posters[2] = {0};

	for (uint32_t i = 0; i < w->count; i++)
		if (at(w, i)->kind == EXEC_POST)
			posters[at(w, i)->object] |= 1u << at(w, i)->thread;
	return __builtin_popcount(posters[0]) > 1 || __builtin_popcount(posters[1]) > 1;
}

/* Whether an operation is named because a thread must wait forever for the same semaphore at the
 * end. */
static bool leaves_nothing(const struct twin *w, uint32_t event)
{
	const struct exec_event *e = &w->o.x->events[event];

	for (uint32_t i = 0; i < w->target_count; i++) {
		const struct exec_event *stop = &w->o.x->events[w->targets[i]];

		if (e->kind == EXEC_TAKE && stop->kind == EXEC_TAKE && stop->object == e->object)
			return true;
	}
	return false;
}

static const char *check_drops(struct twin *w, const struct predict_plan *plan, const uint32_t *allowed,
			       struct tally *t)
{
	uint32_t list[BRUTE_EVENTS];

	for (size_t i = 0; i < plan->count && !has_several_posters(w); i++) {
		if (chooses(w, plan->events[i]) || leaves_nothing(w, plan->events[i]))
			continue;
		memcpy(list, plan->events, i * sizeof *list);
		memcpy(list + i, plan->events + i + 1, (plan->count - i - 1) * sizeof *list);
		enforce(w, list, plan->count - 1);
		t->dropped++;
		if (!more_wrong(w, allowed))
			return "an operation could be left out";
	}
	return NULL;
}

/* Lists everything that is enforced: the past operations, then those of the plan that are not
 * past. */
static uint32_t add_past(const struct twin *w, const struct predict_plan *plan, uint32_t *all, uint32_t count)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < count; i++)
		if (all[i] < w->past)
			all[n++] = all[i];
	for (size_t i = 0; i < plan->count; i++)
		if (plan->events[i] >= w->past)
			all[n++] = plan->events[i];
	return n;
}

static const char *check_plan(struct twin *w, const struct predict_plan *plan, struct tally *t)
{
	uint32_t all[BRUTE_EVENTS], allowed[BRUTE_EVENTS], n = 0;

	for (uint32_t i = 0; i < w->count; i++)
		if (!exec_is_access(at(w, i)->kind) && at(w, i)->kind != EXEC_WAKE &&
		    !(at(w, i)->flags & EXEC_PART))
			all[n++] = w->line[i];
	if (n != plan->operations)
		return "the operations are counted wrong";
	enforce(w, all, n);
	if (w->broken)
		return "the whole order gets stuck";
	memcpy(allowed, w->wrong, sizeof allowed);
	n = add_past(w, plan, all, n);
	enforce(w, all, n);
	if (w->broken)
		return "the plan gets stuck";
	if (more_wrong(w, allowed))
		return "the plan allows another execution";
	t->plans++;
	t->operations += plan->operations;
	t->listed += plan->count;
	t->past += n > plan->count;
	return w->past ? NULL : check_drops(w, plan, allowed, t);
}

static void twin_init(struct twin *w, const struct exec *x)
{
	memset(w, 0, sizeof *w);
	w->o.x = x;
	memset(w->o.fork_of, 0xff, sizeof w->o.fork_of);
	for (uint32_t i = 0; i < x->count; i++) {
		const struct exec_event *e = &x->events[i];
		w->o.of[e->thread][w->o.length[e->thread]++] = i;
		if (e->kind == EXEC_FORK)
			w->o.fork_of[e->object] = i;
	}
	w->seen_capacity = 1 << 16;
	w->seen = calloc(w->seen_capacity, sizeof *w->seen);
}

static void print_plan(const struct twin *w, const struct predict_plan *plan)
{
	for (uint32_t i = 0; i < w->count; i++) {
		bool listed = false;
		for (size_t k = 0; k < plan->count; k++)
			listed |= plan->events[k] == w->line[i];
		print_message("    %s %2u T%u %s(%u) flags %u aux %d\n", listed ? "*" : " ", w->line[i],
			      at(w, i)->thread, exec_kind_name(at(w, i)->kind), at(w, i)->object,
			      at(w, i)->flags, (int)at(w, i)->aux);
	}
}

static void check_witness(const struct exec *x, const struct predict_witness *p, const uint32_t *targets,
			  uint32_t count, uint32_t past, struct tally *t)
{
	struct predict_plan plan;
	struct lines lines;
	struct twin w;

	twin_init(&w, x);
	w.targets = targets;
	w.target_count = count;
	w.past = past;
	make_line(&w, p, targets, count);
	add_clashes(&w);
	predict_lines_init(&lines, x);
	lines.start = past;
	predict_plan_make(&lines, p, targets, count, &plan);
	predict_lines_release(&lines);
	const char *why = check_plan(&w, &plan, t);
	if (why && t->bad++ < 4) {
		print_message("%s\n", why);
		print_plan(&w, &plan);
	}
	predict_plan_release(&plan);
	free(w.seen);
}

static void check_exec(const struct exec *x, bool sound, uint32_t past, struct tally *t)
{
	struct predict_opts o = {.sound_only = sound, .speculative_only = !sound, .begin = past};
	struct predict_result r;

	assert_int_equal(predict_run(x, &o, &r), 0);
	for (size_t i = 0; i < r.race_count; i++)
		check_witness(x, &r.races[i].witness, (uint32_t[]){r.races[i].first, r.races[i].second}, 2,
			      past, t);
	for (size_t i = 0; i < r.deadlock_count; i++)
		check_witness(x, &r.deadlocks[i].witness, r.deadlocks[i].stops, r.deadlocks[i].count, past,
			      t);
	predict_result_release(&r);
}

static void test_plans(void **state)
{
	const char *wish = getenv("RADDLE_BRUTE"), *comma = wish ? strchr(wish, ',') : NULL;
	uint64_t count = wish ? strtoull(wish, NULL, 10) : 1000,
		 first = comma ? strtoull(comma + 1, NULL, 10) : 1;
	struct tally t = {0};

	(void)state;
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct exec x;
		random_exec(&x, seed);
		uint64_t bad = t.bad;
		check_exec(&x, true, 0, &t);
		check_exec(&x, false, 0, &t);
		check_exec(&x, true, (uint32_t)x.count / 2, &t);
		check_exec(&x, false, (uint32_t)x.count / 2, &t);
		if (t.bad > bad && bad < 4)
			print_message("seed %llu\n", (unsigned long long)seed);
		exec_release(&x);
	}
	print_message(
		"%llu plans: %llu operations, %llu of them named; %llu left out one by one; %llu wrong\n",
		(unsigned long long)t.plans, (unsigned long long)t.operations, (unsigned long long)t.listed,
		(unsigned long long)t.dropped, (unsigned long long)t.bad);
	assert_int_equal(t.bad, 0);
	assert_true(count < 1000 || (t.listed && t.dropped && t.past));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_plans)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
