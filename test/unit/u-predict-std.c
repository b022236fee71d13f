/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compares what a user gets from STD text with brute force.  Random executions are written as text
 * and processed as `raddle predict` does.  The races and minimal deadlocks of both semantics must
 * be those that the enumeration of every interleaving of the execution finds.
 *
 * Executions that the text cannot express are left out: pending operations, accesses of unknown
 * order, the parts of a once control, timed waits.
 *
 * The same executions are also cut in two.  Of the past of the second part, the model keeps only
 * what lasts.  From this part, prediction must find what it finds in the whole execution if
 * everything before the cut has happened.
 *
 * RADDLE_BRUTE=COUNT[,FIRST] sets the number of executions and the first seed.
 */
#include "predict/brute.c"
#include "predict/random.c"
#include "predict/std.h"

#include "base/buf.h"
#include "predict/predict-int.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* The words for an event: the plain operation, and its form that tries, if there is one. */
static const struct {
	const char *plain, *try;
} words[EXEC_KINDS] = {
	[EXEC_READ] = {"r", NULL},
	[EXEC_WRITE] = {"w", NULL},
	[EXEC_UPDATE] = {"au", NULL},
	[EXEC_LOCK] = {"acq", "tryacq"},
	[EXEC_RDLOCK] = {"rdacq", "tryrd"},
	[EXEC_WRLOCK] = {"wracq", "trywr"},
	[EXEC_UNLOCK] = {"rel", NULL},
	[EXEC_FORK] = {"fork", NULL},
	[EXEC_JOIN] = {"join", NULL},
	[EXEC_WAIT] = {"cwait", NULL},
	[EXEC_WAKE] = {"wake", NULL},
	[EXEC_SIGNAL] = {"signal", NULL},
	[EXEC_BROADCAST] = {"broadcast", NULL},
	[EXEC_ENTER] = {"enter", NULL},
	[EXEC_EXIT] = {"exit", NULL},
	[EXEC_POST] = {"post", NULL},
	[EXEC_TAKE] = {"take", "trytake"},
	[EXEC_BUSY] = {"busy", NULL},
};

struct writer {
	const struct exec *x;
	struct rd_buf text;
	bool rw[BRUTE_EVENTS];		   /* by lock: whether it is a read-write lock */
	uint32_t stands_for[BRUTE_EVENTS]; /* by event: the event on whose line it is */
};

/* Whether a wake can be written.  The thread must take the lock again in the directly following
 * event. */
static bool can_wake(const struct exec *x, uint32_t i)
{
	return !(x->events[i].flags & EXEC_TRY) && i + 1 < x->count &&
	       x->events[i + 1].thread == x->events[i].thread && x->events[i + 1].kind == EXEC_LOCK;
}

static bool can_write(const struct exec *x, uint32_t i)
{
	const struct exec_event *e = &x->events[i];

	if (!words[e->kind].plain || e->flags & (EXEC_PENDING | EXEC_UNSURE | EXEC_PART))
		return false;
	if (e->kind == EXEC_BUSY)
		return e->aux == EXEC_LOCK;
	/* A relaxed update may continue a release sequence.  The execution does not express
	 * that. */
	if (e->kind == EXEC_UPDATE)
		return e->flags & EXEC_SYNC;
	return e->kind != EXEC_WAKE || can_wake(x, i);
}

static const char *word_of(const struct writer *w, const struct exec_event *e)
{
	static const char *const atomics[3][2] = {{"ar", "ara"}, {"aw", "awr"}, {"au", "aua"}};

	if (e->flags & EXEC_ATOMIC)
		return atomics[e->kind][(e->flags & EXEC_SYNC) != 0];
	if (e->flags & EXEC_LOOP)
		return "lr";
	if (e->kind == EXEC_UNLOCK && w->rw[e->object])
		return "rwrel";
	return e->flags & EXEC_TRY ? words[e->kind].
	try : words
		[e->kind].plain;
}

static void write_event(struct writer *w, uint32_t i)
{
	const struct exec_event *e = &w->x->events[i];
	const char *prefix = e->kind == EXEC_FORK || e->kind == EXEC_JOIN ? "T" : "o";

	w->stands_for[i] = e->kind == EXEC_WAKE ? i + 1 : i;
	rd_buf_addf(&w->text, "T%u|%s(%s%u", e->thread, word_of(w, e), prefix, e->object);
	if (e->kind == EXEC_WAIT)
		rd_buf_addf(&w->text, ",o%u", e->aux);
	rd_buf_addf(&w->text, ")|%u\n", i + 1);
}

/* Writes the text.  Returns false if it cannot express the execution. */
static bool write_text(struct writer *w)
{
	const struct exec *x = w->x;

	for (uint32_t s = 0; s < x->sems; s++)
		rd_buf_addf(&w->text, "T0|seminit(o%u,%u)|0\n", s, exec_sem_initial(x, s));
	for (uint32_t i = 0; i < x->count; i++) {
		if (!can_write(x, i))
			return false;
		if (x->events[i].kind == EXEC_RDLOCK || x->events[i].kind == EXEC_WRLOCK)
			w->rw[x->events[i].object] = true;
	}
	for (uint32_t i = 0; i < x->count; i++)
		write_event(w, i);
	return true;
}

/* Returns the event from which an event of the imported execution was made. */
static uint32_t origin(const struct std_case *c, uint32_t event)
{
	const struct trace_site *site = trace_sites_find(c->model->sites, c->t.x.events[event].site);

	return site->line - 1;
}

static const char *compare_races(const struct writer *w, const struct std_case *c,
				 const struct predict_result *r, const struct brute *b)
{
	uint32_t got[BRUTE_EVENTS] = {0};

	for (size_t i = 0; i < r->race_count; i++)
		got[origin(c, r->races[i].second)] |= 1u << origin(c, r->races[i].first);
	for (uint32_t i = 0; i < w->x->count; i++)
		if (got[i] != b->races[i])
			return got[i] & ~b->races[i] ? "a race is invented" : "a race is missed";
	return NULL;
}

static uint32_t oracle_bits(const struct writer *w, uint32_t bits)
{
	uint32_t shown = 0;

	for (uint32_t i = 0; i < BRUTE_EVENTS; i++)
		if (bits >> i & 1)
			shown |= 1u << w->stands_for[i];
	return shown;
}

static const char *compare_deadlocks(const struct writer *w, const struct std_case *c,
				     const struct predict_result *r, const struct brute *b)
{
	uint32_t got[BRUTE_SETS] = {0};

	assert_true(r->deadlock_count < BRUTE_SETS);
	for (size_t i = 0; i < r->deadlock_count; i++) {
		bool known = false;
		for (uint32_t k = 0; k < r->deadlocks[i].count; k++)
			got[i] |= 1u << origin(c, r->deadlocks[i].stops[k]);
		for (uint32_t k = 0; k < b->deadlock_count; k++)
			known |= oracle_bits(w, b->deadlocks[k]) == got[i];
		if (!known)
			return "a deadlock is invented";
	}
	for (uint32_t k = 0; k < b->deadlock_count; k++) {
		bool found = false;
		for (size_t i = 0; i < r->deadlock_count; i++)
			found |= oracle_bits(w, b->deadlocks[k]) == got[i];
		if (!found)
			return "a deadlock is missed";
	}
	return NULL;
}

static size_t compare(const struct writer *w, const struct std_case *c, bool sound, uint64_t seed)
{
	struct predict_opts o = {.max_tries = UINT32_MAX, .sound_only = sound, .speculative_only = !sound};
	struct predict_result r;
	struct brute b;

	brute_run(w->x, sound, &b);
	assert_int_equal(predict_run(&c->t.x, &o, &r), 0);
	const char *why = compare_races(w, c, &r, &b);
	if (!why)
		why = compare_deadlocks(w, c, &r, &b);
	size_t found = r.race_count + r.deadlock_count;
	predict_result_release(&r);
	if (why)
		fail_msg("seed %llu, %s: %s\n%s", (unsigned long long)seed, sound ? "sound" : "speculative",
			 why, w->text.data);
	return found;
}

/* ---- prediction from the second part of an execution ---- */

static uint64_t q_of(const struct std_case *c, uint32_t event)
{
	const struct exec_event *e = &c->t.x.events[event];
	const struct model_history *h = &c->model->histories[e->thread];
	uint32_t index = c->t.origins[event].index;
	uint64_t q = 0;

	if (!exec_is_access(e->kind))
		return h->operations[index].q;
	for (size_t i = 0; i < h->operation_count && h->operations[i].access <= index; i++)
		q = h->operations[i].q;
	return q;
}

/* Returns a sum of what was found, by sites.  It does not depend on the order. */
static uint64_t digest(const struct exec *x, const struct predict_result *r)
{
	uint64_t sum = r->race_count + r->deadlock_count * 1000;

	for (size_t i = 0; i < r->race_count; i++)
		sum += rd_hash_add(rd_hash_add(r->races[i].class, x->events[r->races[i].first].site),
				   x->events[r->races[i].second].site);
	for (size_t i = 0; i < r->deadlock_count; i++) {
		uint64_t stops = 0;
		for (uint32_t k = 0; k < r->deadlocks[i].count; k++)
			stops += rd_hash_add(r->deadlocks[i].class, x->events[r->deadlocks[i].stops[k]].site);
		sum += rd_hash_add(stops, r->deadlocks[i].count);
	}
	return sum;
}

static uint64_t predict_from(const struct exec *x, uint32_t begin, size_t *found)
{
	struct predict_opts o = {.max_tries = UINT32_MAX, .begin = begin};
	struct predict_result r;
	uint64_t sum;

	assert_int_equal(predict_run(x, &o, &r), 0);
	sum = digest(x, &r);
	*found += r.race_count + r.deadlock_count;
	predict_result_release(&r);
	return sum;
}

/* Predicts from the part that begins at `from`.  If `behind`, the part before it is loaded
 * first. */
static uint64_t predict_part(struct std_case *c, uint64_t from, bool behind, uint32_t *begin)
{
	struct predict_trace part;
	size_t found = 0;
	uint64_t sum;

	if (behind)
		assert_int_equal(model_load(c->model, (struct model_part){0, from}), 0);
	assert_int_equal(model_load(c->model, (struct model_part){from, UINT64_MAX}), 0);
	assert_int_equal(predict_fill(&part, c->model), 0);
	assert_int_equal(part.dropped, 0);
	*begin = part.begin;
	sum = predict_from(&part.x, part.begin, &found);
	predict_trace_release(&part);
	return sum;
}

static size_t compare_parts(const struct writer *w, struct std_case *c, uint64_t seed)
{
	uint32_t cut = (uint32_t)(rd_hash_add(seed, 99) % c->t.x.count), begin = 0, starts;
	uint64_t from = q_of(c, cut);
	size_t found = 0;

	while (q_of(c, begin) < from)
		begin++;
	uint64_t whole = predict_from(&c->t.x, begin, &found);
	for (int behind = 0; behind < 2; behind++)
		if (predict_part(c, from, behind, &starts) != whole || starts > begin)
			fail_msg("seed %llu, from line %u on: the part differs\n%s", (unsigned long long)seed,
				 origin(c, cut) + 1, w->text.data);
	return found;
}

/* The text is compared for all executions that it can express.  Some executions join threads that
 * did nothing. */
static void test_text(void **state)
{
	const char *wish = getenv("RADDLE_BRUTE"), *comma = wish ? strchr(wish, ',') : NULL;
	uint64_t count = wish ? strtoull(wish, NULL, 10) : 1500,
		 first = comma ? strtoull(comma + 1, NULL, 10) : 1, texts = 0, found = 0, in_parts = 0;

	char *directory = std_case_directory();

	(void)state;
	rd_log_set(rd_log_discard, NULL);
	for (uint64_t seed = first; seed < first + count; seed++) {
		struct exec x;
		struct writer w = {.x = &x, .text = RD_BUF_INIT};
		struct std_case c;
		random_exec(&x, seed);
		if (x.count && write_text(&w)) {
			assert_int_equal(std_case_open(&c, directory, w.text.data, w.text.length), 0);
			assert_int_equal(c.t.dropped, 0);
			found += compare(&w, &c, true, seed) + compare(&w, &c, false, seed);
			in_parts += compare_parts(&w, &c, seed);
			std_case_close(&c);
			texts++;
		}
		rd_buf_release(&w.text);
		exec_release(&x);
	}
	rd_log_set(NULL, NULL);
	free(directory);
	print_message("%llu texts, %llu races and deadlocks, %llu in parts\n", (unsigned long long)texts,
		      (unsigned long long)found, (unsigned long long)in_parts);
	if (count >= 1000)
		assert_true(texts > count / 10 && found > count / 10 && in_parts > count / 100);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_text)};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
