// SPDX-License-Identifier: Apache-2.0
/*
 * Derives the timeline of a finding from the finding alone.  In: its accesses or waits, with stacks
 * and locks, and its schedule.  Out: steps.  No program is run.
 *
 * Invariant: the steps of a thread are in the order in which the thread executes them.
 */
#include "finding/timeline.h"

#include "base/buf.h"
#include "base/compare.h"
#include "base/error.h"
#include "base/name.h"
#include "finding/schedule.h"

#include <stdlib.h>
#include <string.h>

/* The decisions of an explored failure that are shown.  Chosen by hand, so that a report fits on a
 * screen. */
#define DECISIONS_SHOWN 8
/* With more threads, those that run the same function are not numbered; nobody would read that. */
#define NUMBERED_MOST 32
/* Waits of a deadlock that are shown, and locks; a program may have thousands of threads. */
#define WAITS_SHOWN 12

static struct finding_step *add_step(struct finding_timeline *t, const char *thread,
				     const struct finding_frame *place)
{
	RD_GROW(t->steps, t->capacity, t->count + 1);
	t->steps[t->count] = (struct finding_step){.thread = thread, .place = *place};
	return &t->steps[t->count++];
}

static const char *event(struct finding_timeline *t, const char *does, const char *object)
{
	struct rd_buf text = RD_BUF_INIT;
	const char *copy;

	rd_buf_addf(&text, "%s%s%s", does, object ? " " : "", object ? object : "");
	copy = rd_arena_strndup(t->arena, text.data, text.length);
	rd_buf_release(&text);
	return copy;
}

/* ---- deadlocks ---- */

/* Returns the position of the operation in the schedule that took the lock last, or 0 if the
 * schedule does not name it. */
static size_t position_of(const struct finding *f, const char *thread, const char *lock)
{
	const struct schedule *s = f->schedule;
	size_t at = 0;

	for (size_t i = 0; s && thread && lock && i < s->op_count; i++)
		if (s->ops[i].object && !strcmp(s->ops[i].thread, thread) && !strcmp(s->ops[i].object, lock))
			at = i + 1;
	return at;
}

static void add_taken(struct finding_timeline *t, const char *thread, const struct finding_lock *lock)
{
	if (lock->stack.count)
		add_step(t, thread, finding_own_code_frame(&lock->stack))->event =
			event(t, lock->shared ? "takes, for reading," : "takes", lock->name);
}

/* A lock that a thread of the cycle holds. */
struct held {
	const char *thread;
	size_t at; /* the position in the schedule at which the thread took it */
	const struct finding_lock *lock;
};

/* Sorts by thread, so that the timeline is the same in every check.  The threads may take these locks
 * in any order, because each lock is held until the end. */
static int compare_held(const void *left, const void *right)
{
	const struct held *a = left, *b = right;
	int order = a->thread && b->thread ? rd_thread_compare(a->thread, b->thread) : 0;

	if (order)
		return order;
	RD_BY(a->at, b->at);
	return 0;
}

static int compare_waits(const void *left, const void *right)
{
	const struct finding_wait *a = *(const struct finding_wait *const *)left,
				  *b = *(const struct finding_wait *const *)right;

	return a->thread && b->thread ? rd_thread_compare(a->thread, b->thread) : 0;
}

static void add_waits(struct finding_timeline *t, const struct finding *f)
{
	const struct finding_wait **waits = rd_xcalloc(f->cycle_count + 1, sizeof *waits);

	for (size_t i = 0; i < f->cycle_count; i++)
		waits[i] = &f->cycle[i];
	qsort(waits, f->cycle_count, sizeof *waits, compare_waits);
	for (size_t i = 0; i < f->cycle_count && i < WAITS_SHOWN; i++) {
		const struct finding_wait *w = waits[i];
		bool signalled = w->kind && !strcmp(w->kind, "signal");
		struct finding_step *step;

		if (!w->stack.count || (w->kind && !strcmp(w->kind, "alive")))
			continue;
		step = add_step(t, w->thread, finding_own_code_frame(&w->stack));
		step->last = true;
		step->event = signalled ? event(t, "fails here", NULL) : event(t, "waits for", w->wants);
	}
	free(waits);
}

/* Adds the operations that took the held locks, and then the waits. */
static void add_cycle(struct finding_timeline *t, const struct finding *f)
{
	struct held *held = NULL;
	size_t count = 0, capacity = 0;

	for (size_t i = 0; i < f->cycle_count; i++) {
		for (size_t k = 0; k < f->cycle[i].hold_count; k++) {
			const struct finding_lock *lock = &f->cycle[i].holds[k];
			const char *thread = f->cycle[i].thread;

			RD_GROW(held, capacity, count + 1);
			held[count++] = (struct held){thread, position_of(f, thread, lock->name), lock};
		}
	}
	if (count)
		qsort(held, count, sizeof *held, compare_held);
	for (size_t i = 0; i < count && i < WAITS_SHOWN; i++)
		add_taken(t, held[i].thread, held[i].lock);
	free(held);
	add_waits(t, f);
}

/* ---- races ---- */

static const char *verb_of(const struct finding_access *a)
{
	static const char *const verbs[FINDING_OPS] = {
		[FINDING_READ] = "reads",   [FINDING_WRITE] = "writes",	    [FINDING_FREE] = "frees",
		[FINDING_USE] = "uses",	    [FINDING_INIT] = "initialises", [FINDING_DESTROY] = "destroys",
		[FINDING_CLOSE] = "closes",
	};

	return verbs[a->op];
}

static void add_access(struct finding_timeline *t, const struct finding *f, const struct finding_access *a)
{
	const char *what = a->op < FINDING_FREE ? a->what : NULL;

	for (size_t i = 0; i < a->lock_count; i++)
		add_taken(t, a->thread, &a->locks[i]);
	add_step(t, a->thread, finding_own_code_frame(&a->stack))->event =
		event(t, verb_of(a),
		      a->op == FINDING_FREE ? "the object"
		      : what		    ? what
					    : f->object.name);
}

/* Returns the index of the access that the worst witness executes first.  Without a witness, the
 * order of the accesses in the finding is shown. */
static size_t first_access(const struct finding *f)
{
	const struct schedule *s = f->witness_count ? f->witnesses[0].schedule : NULL;
	const char *first = s ? s->first : NULL;

	return first && f->access_count == 2 && f->accesses[1].thread &&
	       !strcmp(f->accesses[1].thread, first);
}

static void add_race(struct finding_timeline *t, const struct finding *f)
{
	size_t first = first_access(f);

	/* The class names the only order that was possible.  The finding may have the other one. */
	if (f->class == FINDING_SINGLE_ORDERING)
		return;
	for (size_t i = 0; i < f->access_count; i++)
		add_access(t, f, &f->accesses[f->access_count == 2 ? i ^ first : i]);
}

/* ---- failures that exploration found ---- */

/* Adds the places at which threads are preempted. */
static void add_decisions(struct finding_timeline *t, const struct schedule *s)
{
	size_t first = s->decision_count > DECISIONS_SHOWN ? s->decision_count - DECISIONS_SHOWN : 0;

	for (size_t i = first; i < s->decision_count; i++) {
		const struct schedule_decision *d = &s->decisions[i];
		struct finding_frame place = {.file = d->place.file,
					      .function = d->place.function,
					      .line = d->place.line,
					      .column = d->place.column};

		if (!place.file || !strcmp(d->thread, d->next))
			continue;
		add_step(t, d->thread, &place)->event = event(t, "is preempted before this", NULL);
	}
}

void finding_timeline_make(struct finding_timeline *t, const struct finding *f)
{
	*t = (struct finding_timeline){.arena = rd_arena_new()};
	for (size_t i = 0; i < f->step_count; i++)
		*add_step(t, f->steps[i].thread, &f->steps[i].place) = f->steps[i];
	if (f->step_count)
		return;
	if (f->schedule && f->schedule->turns && !f->access_count)
		add_decisions(t, f->schedule);
	if (f->access_count)
		add_race(t, f);
	else
		add_cycle(t, f);
}

void finding_timeline_release(struct finding_timeline *t)
{
	free(t->steps);
	rd_arena_free(t->arena);
	*t = (struct finding_timeline){0};
}

/* ---- names of threads ---- */

/* Returns the thread of an access, of a wait or of a step, in this order; NULL if it is unknown. */
static const char *thread_at(const struct finding *f, size_t i)
{
	size_t waits = f->access_count + f->cycle_count;

	return i < f->access_count ? f->accesses[i].thread
	       : i < waits	   ? f->cycle[i - f->access_count].thread
				   : f->steps[i - waits].thread;
}

/* Returns the outermost function of the program in the stacks of a thread, or NULL.  The stack of a
 * failure has one frame, and lacks the function that the thread runs. */
static const char *function_of(const struct finding *f, const char *thread)
{
	size_t sides = f->kind == FINDING_FAILURE ? 0 : f->access_count + f->cycle_count;

	for (size_t i = 0; i < sides; i++) {
		const struct finding_stack *s = finding_side(f, i);
		const char *name = thread_at(f, i);

		for (size_t k = s->count; name && !strcmp(name, thread) && k-- > 0;)
			if (s->frames[k].function && s->frames[k].file && !finding_is_library(&s->frames[k]))
				return s->frames[k].function;
	}
	return NULL;
}

/* Returns the number of the thread among those of the finding that run the same function, counted
 * from 1, or 0 if no other thread of the finding runs it. */
static size_t number_of(const struct finding *f, const char *thread, const char *function)
{
	size_t before = 0, others = 0;

	if (f->access_count + f->cycle_count > NUMBERED_MOST)
		return 0;
	for (size_t i = 0; i < f->access_count + f->cycle_count + f->step_count; i++) {
		const char *other = thread_at(f, i), *runs = other ? function_of(f, other) : NULL;
		const struct finding_thread *known = finding_thread(f, other);
		bool seen = !runs || !strcmp(other, thread) || strcmp(runs, function) != 0 ||
			    (known && known->label);

		for (size_t k = 0; k < i && !seen; k++)
			seen = thread_at(f, k) && !strcmp(thread_at(f, k), other);
		others += !seen;
		before += !seen && rd_thread_compare(other, thread) < 0;
	}
	return others ? before + 1 : 0;
}

/* Appends the name without template arguments, parameters, and the return type before it. */
static void add_plain_name(struct rd_buf *out, const char *function)
{
	size_t start = out->length, depth = 0;

	for (; *function && (depth || *function != '('); function++) {
		depth += *function == '<';
		if (!depth && *function == ' ') {
			out->length = start; /* what came before was the return type */
			out->data[start] = '\0';
		} else if (!depth) {
			rd_buf_addc(out, *function);
		}
		depth -= depth && *function == '>';
	}
}

void finding_function_name(struct rd_buf *out, const char *function)
{
	static const char *const nameless[] = {"(anonymous namespace)::", "(anonymous)::"};
	const char *lambda = strstr(function, "::$_");

	if (lambda) { /* clang's name for a lambda of a function */
		rd_buf_addf(out, "lambda in %.*s", (int)strcspn(function, "(:<"), function);
		return;
	}
	for (size_t i = 0; i < sizeof nameless / sizeof *nameless; i++)
		if (!strncmp(function, nameless[i], strlen(nameless[i])))
			function += strlen(nameless[i]);
	if (strstr(function, "operator")) {
		rd_buf_adds(out, function);
		return;
	}
	add_plain_name(out, function);
}

void finding_thread_name(struct rd_buf *out, const struct finding *f, const char *thread)
{
	const struct finding_thread *known = finding_thread(f, thread);
	const char *function;
	size_t number;

	if (!thread) {
		rd_buf_adds(out, "a thread");
		return;
	}
	if (known && known->label) {
		rd_buf_adds(out, known->label);
		return;
	}
	if (!strcmp(thread, "T_0")) {
		rd_buf_adds(out, "main");
		return;
	}
	function = function_of(f, thread);
	if (!function) {
		rd_buf_addf(out, "thread %s", thread);
		return;
	}
	number = number_of(f, thread, function);
	finding_function_name(out, function);
	if (number)
		rd_buf_addf(out, " %zu", number);
}
