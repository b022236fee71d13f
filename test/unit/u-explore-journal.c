// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of explore/journal-int.h and explore/further.h with made-up notes.  A resumed
 * exploration must know what the first one knew, wherever the log was cut.  Which explored
 * schedules are recorded next is compared with a linear search.
 */
#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "explore/further.h"
#include "explore/journal-int.h"
#include "explore/log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static uint64_t seed = 37;

static uint32_t below(uint32_t n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % n;
}

/* ---- random notes about runs ---- */

enum { NOTES = 40 };

struct some {
	struct note note;
	struct note_race races[2];
	struct note_thread threads[3];
	uint64_t pairs[2];
};

static void some_note(struct some *s, uint64_t number)
{
	*s = (struct some){.note = {.number = number,
				    .run_ns = 1000 + below(1000),
				    .trail = below(30),
				    .choices = below(100),
				    .extent = 1 + below(1000),
				    .counts = below(8) != 0,
				    .status = below(2) ? 0 : 3}};
	struct note *n = &s->note;

	n->cut = !n->counts && below(2);
	n->why = n->counts ? NULL : "it left its schedule";
	n->races = s->races;
	n->threads = s->threads;
	n->pairs = s->pairs;
	n->race_count = below(3);
	n->thread_count = below(4);
	n->pair_count = below(3);
	for (uint32_t i = 0; i < n->race_count; i++)
		s->races[i] = (struct note_race){.site = {1 + below(4), 1 + below(4)}};
	for (uint32_t i = 0; i < n->thread_count; i++) {
		snprintf(s->threads[i].name, sizeof s->threads[i].name, "T_%u", i);
		s->threads[i].points = below(9);
	}
	for (uint32_t i = 0; i < n->pair_count; i++)
		s->pairs[i] = (uint64_t)(1 + below(4)) << 32 | (1 + below(4));
	if (n->pair_count || below(4) == 0)
		n->made = "{}";
	if (n->pair_count)
		n->mark_count = below(PREFIX_MARKS + 1);
	for (uint32_t i = 0; i < n->mark_count; i++)
		n->marks[i] = below(50);
	if (n->counts && below(6) == 0) {
		n->failure = (struct failure){.fault = "crash", .place = below(2) ? "a.c:1: f" : "a.c:2: g"};
		n->made = "{}";
	}
}

/* ---- logs of explorations ---- */

struct exploration {
	struct explore how;
	struct explore_result result;
	struct explore_state state;
	struct journal journal;
	struct rd_arena *arena;
};

static char *words[] = {(char[]){"prog"}, NULL};
static struct replay_program program = {.argv = words};
static char directory[] = "/tmp/raddle-journal-XXXXXX";

static int begin(struct exploration *x, const struct explore *how)
{
	*x = (struct exploration){.how = *how, .arena = rd_arena_new()};
	x->how.runs.program = &program;
	explore_state_init(&x->state, &x->how, &x->result);
	return journal_open(&x->journal, &x->state, x->arena);
}

static void end(struct exploration *x)
{
	assert_int_equal(journal_close(&x->journal), RD_OK);
	explore_state_release(&x->state);
	cover_release(&x->result.cover);
	rd_arena_free(x->arena);
}

static void take(struct exploration *x, const struct some *s)
{
	struct rd_buf answer = RD_BUF_INIT;

	note_put(&s->note, &answer);
	assert_int_equal(journal_take(&x->journal, answer.data, answer.length), RD_OK);
	rd_buf_release(&answer);
}

/* Checks that two explorations know the same. */
static void expect_same(const struct exploration *a, const struct exploration *b)
{
	assert_int_equal(a->result.schedules, b->result.schedules);
	assert_int_equal(a->result.different, b->result.different);
	assert_int_equal(a->result.discarded, b->result.discarded);
	assert_int_equal(a->result.last_new, b->result.last_new);
	assert_int_equal(a->result.first_failure, b->result.first_failure);
	assert_int_equal(a->result.racy_count, b->result.racy_count);
	assert_int_equal(a->result.cover.count, b->result.cover.count);
	assert_int_equal(a->state.race_count, b->state.race_count);
	for (size_t i = 0; i < a->state.race_count; i++)
		assert_memory_equal(a->state.races[i].site, b->state.races[i].site,
				    sizeof a->state.races[i].site);
	assert_int_equal(a->state.thread_count, b->state.thread_count);
	assert_int_equal(a->state.prefixes.count, b->state.prefixes.count);
	for (size_t i = 0; i < a->state.prefixes.count; i++) {
		const struct prefix *p = &a->state.prefixes.items[i], *q = &b->state.prefixes.items[i];

		assert_int_equal(p->mark_count, q->mark_count);
		assert_memory_equal(p->marks, q->marks, p->mark_count * sizeof *p->marks);
	}
	assert_int_equal(a->state.failure_count, b->state.failure_count);
	for (size_t i = 0; i < a->state.failure_count; i++)
		assert_true(failure_is_same(&a->state.failures[i].failure, &b->state.failures[i].failure));
	assert_int_equal(a->state.usual_status, b->state.usual_status);
	assert_int_equal(a->state.run_ns, b->state.run_ns);
	assert_int_equal(a->state.run_extent, b->state.run_extent);
	assert_memory_equal(a->state.longest, b->state.longest, sizeof a->state.longest);
	assert_memory_equal(a->state.length, b->state.length, sizeof a->state.length);
}

static char *path_of(const char *name)
{
	return rd_xasprintf("%s/%s", directory, name);
}

static void test_resume(void **state)
{
	char *log = path_of("log");

	(void)state;
	for (int round = 0; round < 60; round++) {
		static struct some notes[NOTES];
		static struct exploration x, again;
		size_t count = 1 + below(NOTES);

		assert_int_equal(begin(&x, &(struct explore){.log = log}), RD_OK);
		for (size_t i = 0; i < count; i++) {
			some_note(&notes[i], i);
			take(&x, &notes[i]);
		}
		assert_int_equal(begin(&again, &(struct explore){.log = log, .resume = true}), RD_OK);
		expect_same(&x, &again);
		assert_int_equal(again.state.given, count); /* it continues with the next schedule */
		end(&again);
		end(&x);
	}
	free(log);
}

/* A writer that was killed leaves a partial line.  The lines before it are valid, and writing
 * continues after them. */
static void test_cut_log(void **state)
{
	char *log = path_of("cut");

	(void)state;
	for (int round = 0; round < 40; round++) {
		static struct some notes[NOTES];
		static struct exploration x, again, known;
		struct rd_buf text = RD_BUF_INIT;
		size_t count = 1 + below(8), whole = 0, cut;

		assert_int_equal(begin(&x, &(struct explore){.log = log}), RD_OK);
		for (size_t i = 0; i < count; i++) {
			some_note(&notes[i], i);
			take(&x, &notes[i]);
		}
		end(&x);
		assert_int_equal(rd_file_read(log, &text), RD_OK);
		cut = strcspn(text.data, "\n") + 1; /* the first line stays complete */
		cut += below((uint32_t)(text.length - cut + 1));
		for (size_t i = 0; i < cut; i++)
			whole += text.data[i] == '\n';
		assert_int_equal(truncate(log, (off_t)cut), 0);
		assert_int_equal(begin(&again, &(struct explore){.log = log, .resume = true}), RD_OK);
		assert_int_equal(again.state.given, whole - 1);
		/* the remaining schedules are run again */
		for (size_t i = whole - 1; i < count; i++)
			take(&again, &notes[i]);
		end(&again);
		assert_int_equal(begin(&again, &(struct explore){.log = log, .resume = true}), RD_OK);
		/* an exploration without a log */
		assert_int_equal(begin(&known, &(struct explore){0}), RD_OK);
		for (size_t i = 0; i < count; i++)
			take(&known, &notes[i]);
		expect_same(&known, &again);
		end(&known);
		end(&again);
		rd_buf_release(&text);
	}
	free(log);
}

/* Each shard writes its own log.  The whole exploration reads all of them, and a new exploration
 * removes them. */
static void test_shards(void **state)
{
	enum { SHARDS = 3 };
	static struct exploration whole, known, part;
	static struct some notes[NOTES];
	char *log = path_of("shards"), *first = path_of("shards.0");

	(void)state;
	assert_int_equal(begin(&whole, &(struct explore){.log = log}), RD_OK);
	end(&whole);
	assert_int_equal(begin(&known, &(struct explore){0}), RD_OK);
	for (unsigned s = 0; s < SHARDS; s++) {
		assert_int_equal(
			begin(&part,
			      &(struct explore){.log = log, .resume = true, .shard = s, .shards = SHARDS}),
			RD_OK);
		assert_int_equal(part.state.given, 0);
		for (uint64_t n = s; n < NOTES; n += SHARDS) {
			some_note(&notes[n], n);
			take(&part, &notes[n]);
			take(&known, &notes[n]);
		}
		end(&part);
	}
	assert_int_equal(begin(&whole, &(struct explore){.log = log, .resume = true}), RD_OK);
	expect_same(&known, &whole);
	assert_int_equal(whole.state.given, NOTES);
	end(&whole);
	assert_true(rd_file_exists(first));
	assert_int_equal(begin(&whole, &(struct explore){.log = log}), RD_OK);
	assert_false(rd_file_exists(first));
	assert_int_equal(whole.result.schedules, 0);
	end(&whole);
	end(&known);
	free(log);
	free(first);
}

/* A file that is not a log, or is the log of another program, is refused. */
static void test_wrong_log(void **state)
{
	static const char *const wrong[] = {"", "hello\n", "{}\n",
					    "{\"format\":\"raddle explore\",\"version\":9}\n"};
	static struct exploration x;
	char *log = path_of("wrong");

	(void)state;
	rd_log_set(rd_log_discard, NULL);
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		assert_int_equal(rd_file_write(log, wrong[i], strlen(wrong[i])), RD_OK);
		assert_true(begin(&x, &(struct explore){.log = log, .resume = true}) != RD_OK);
		end(&x);
	}
	rd_log_set(NULL, NULL);
	free(log);
}

/* ---- which explored schedules are recorded next ---- */

struct listed {
	struct explore_racy racy;
	unsigned rank;
	bool taken;
};

/* Chooses schedules one by one, each number once.  The first schedules of all races come first,
 * then their second ones, and so on.  Schedules that showed something new come last, the latest
 * first. */
static size_t choose(const struct explore_result *r, struct explore_racy *out)
{
	struct listed all[EXPLORE_RACY];
	size_t count = 0;

	for (size_t i = 0; i < r->racy_count; i++) {
		all[i] = (struct listed){.racy = r->racy[i]};
		for (size_t k = 0; k < i; k++)
			all[i].rank += !memcmp(r->racy[k].site, r->racy[i].site, sizeof r->racy[i].site);
	}
	for (;;) {
		struct listed *next = NULL;
		bool again = false;

		for (size_t i = 0; i < r->racy_count; i++)
			if (!all[i].taken && (!next || all[i].rank < next->rank))
				next = &all[i];
		if (!next)
			break;
		next->taken = true;
		for (size_t k = 0; k < count; k++)
			again |= out[k].number == next->racy.number;
		if (!again)
			out[count++] = next->racy;
	}
	for (size_t i = r->new_count; i-- > 0;) {
		bool again = false;

		for (size_t k = 0; k < count; k++)
			again |= out[k].number == r->new_ones[i].number;
		if (!again)
			out[count++] = r->new_ones[i];
	}
	return count;
}

static void test_choose(void **state)
{
	struct finding_set *none = finding_set_new();

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct explore_result r = {
			.racy_count = below(20), .new_count = below(EXPLORE_NEW + 1), .extent = 77};
		struct explore_racy expected[EXPLORE_RACY + EXPLORE_NEW];
		struct further f = {0};
		size_t count;

		for (size_t i = 0; i < r.racy_count; i++)
			r.racy[i] = (struct explore_racy){.number = below(15),
							  .site = {1 + below(3), 1 + below(2)}};
		for (size_t i = 0; i < r.new_count; i++)
			r.new_ones[i] = (struct explore_racy){.number = below(15)};
		count = choose(&r, expected);
		further_choose(&f, &r, none, NULL);
		assert_int_equal(f.most, 77);
		assert_int_equal(f.racy_count, count);
		for (size_t i = 0; i < count; i++) {
			assert_int_equal(f.racy[i].number, expected[i].number);
			assert_memory_equal(f.racy[i].site, expected[i].site, sizeof expected[i].site);
		}
		further_release(&f);
	}
	finding_set_free(none);
}

/* Whatever the runs show, at most 24 are recorded.  Recording ends after three in a row that showed
 * nothing new, unless a race was seen in them.  A race that was shown gets no other schedule. */
static void test_runs(void **state)
{
	struct finding_set *none = finding_set_new();

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct explore_result r = {.racy_count = below(10)};
		struct further f = {0};
		struct explore_racy which;
		bool shown[4][3] = {{false}};
		unsigned runs = 0, vain = 0;

		for (size_t i = 0; i < r.racy_count; i++)
			r.racy[i] = (struct explore_racy){.number = 100 + i,
							  .site = {1 + below(3), 1 + below(2)}};
		further_choose(&f, &r, none, NULL);
		while (further_next(&f, &which)) {
			bool any = below(2), race = which.site[0] != 0;

			assert_true(vain < 3 && runs < 24);
			assert_false(race && shown[which.site[0]][which.site[1]]);
			if (race && any)
				shown[which.site[0]][which.site[1]] = true;
			vain = any || race ? 0 : vain + 1;
			runs++;
			further_took(&f, any);
		}
		assert_true(vain == 3 || runs == 24);
		further_release(&f);
	}
	finding_set_free(none);
}

static int start(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int stop(void **state)
{
	(void)state;
	rd_remove_tree(directory);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_resume), cmocka_unit_test(test_cut_log),
		cmocka_unit_test(test_shards), cmocka_unit_test(test_wrong_log),
		cmocka_unit_test(test_choose), cmocka_unit_test(test_runs),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
