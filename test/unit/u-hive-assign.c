// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of the assignment of tasks, with a simulated fleet of sites whose answers are known.
 * Drawing is compared with a slow, obvious reference.  Tasks are kept, escalated, completed,
 * limited in time and retired.  Sites with many time-outs are reshuffled, and costly ones rest.
 * The rank affects how often a candidate is drawn.
 */
#include "base/buf.h"
#include "hive/assign-int.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

/* Makes a program with candidates 1 to `count`. */
static void make(struct hive_program *p, unsigned count)
{
	struct rd_buf b = RD_BUF_INIT;

	rd_buf_adds(&b, "{\"version\":1,\"build\":\"00000000\",\"name\":\"p\",\"candidates\":[");
	for (unsigned i = 0; i < count; i++)
		rd_buf_addf(&b, "%s{\"id\":\"%016x\",\"rank\":%u,\"accesses\":[{},{}]}", i ? "," : "", i + 1,
			    i + 1);
	rd_buf_adds(&b, "]}");
	assert_int_equal(hive_program_read(p, b.data, b.length), 0);
	rd_buf_release(&b);
}

static void site_name(char name[HIVE_SITE], unsigned site)
{
	snprintf(name, HIVE_SITE, "%032x", site + 1);
}

static bool ask(const struct hive_program *p, unsigned site, const char *held, uint64_t epoch,
		struct hive_task *t)
{
	struct hive_asking who = {.held = held, .epoch = epoch};
	char name[HIVE_SITE];

	site_name(name, site);
	hive_site_key(name, who.site);
	return hive_assign(p, &who, t);
}

static void tell(struct hive_program *p, unsigned site, uint32_t candidate, struct hive_report r)
{
	struct hive_row row = {.report = r};

	site_name(row.site, site);
	row.report.weight = 1;
	strcpy(row.report.candidate, p->candidates[candidate].id);
	hive_program_apply(p, &row);
}

static bool is_same(const struct hive_task *a, const struct hive_task *b)
{
	return a->candidate == b->candidate && a->order == b->order && a->validate == b->validate &&
	       a->level == b->level && a->epoch == b->epoch;
}

static const struct hive_report met = {.result = HIVE_CONTEXT, .context = HIVE_MET};

/* The twin walks along the weights to find the candidate that is drawn. */
static void picks_by_weight(void **state)
{
	(void)state;
	srand(2);
	for (unsigned count = 1; count < 40; count++) {
		struct hive_program p;

		make(&p, count);
		for (unsigned i = 0; i < 3 * count; i++)
			tell(&p, 0, (uint32_t)rand() % count,
			     (struct hive_report){.result = (enum hive_result)(rand() % HIVE_RESULTS),
						  .order = HIVE_PRIMARY,
						  .context = rand() % 2 ? HIVE_MET : 0});
		uint64_t at = 0;
		for (uint32_t i = 0; i < count; i++)
			for (uint32_t k = 0; k < p.candidates[i].weight; k++)
				assert_int_equal(hive_program_pick(&p, at++), i);
		assert_int_equal(at, hive_program_total(&p));
		hive_program_release(&p);
	}
}

static void spreads(void **state)
{
	enum { CANDIDATES = 10, SITES = 1000 };
	unsigned counts[CANDIDATES] = {0}, primary = 0;
	struct hive_program p;
	struct hive_task t;

	(void)state;
	make(&p, CANDIDATES);
	for (unsigned i = 0; i < SITES; i++) {
		assert_true(ask(&p, i, NULL, 5, &t));
		counts[t.candidate]++;
		primary += t.order == HIVE_PRIMARY;
		assert_false(t.validate);
	}
	for (unsigned i = 0; i < CANDIDATES; i++)
		assert_in_range(counts[i], SITES / CANDIDATES / 2, SITES / CANDIDATES * 2);
	assert_in_range(primary, SITES / 3, SITES * 2 / 3);
	hive_program_release(&p);
}

static void keeps_until_the_bound(void **state)
{
	struct hive_program p;
	struct hive_task t, again;
	char id[PROTOCOL_TASK_ID];
	unsigned changed = 0;

	(void)state;
	make(&p, 50);
	for (unsigned i = 0; i < 100; i++) {
		assert_true(ask(&p, i, NULL, 5, &t));
		hive_task_id(&p, &t, id);
		assert_true(ask(&p, i, id, 5, &again));
		assert_true(is_same(&t, &again));
		assert_true(ask(&p, i, id, 6, &again));
		assert_int_equal(again.candidate, t.candidate);
		assert_int_equal(again.epoch, 5);
		assert_true(ask(&p, i, id, 7, &again));
		assert_int_equal(again.epoch, 7);
		changed += again.candidate != t.candidate;
		/* An id of a future epoch, of an unknown candidate, or without meaning does not
		 * name the site's current task. */
		assert_true(ask(&p, i, "0000000000000001.pv0.99", 5, &again) && again.epoch == 5);
		assert_true(ask(&p, i, "ffffffffffffffff.pv0.5", 5, &again) && again.epoch == 5);
		assert_true(ask(&p, i, "nonsense", 5, &again) && again.candidate == t.candidate);
	}
	assert_true(changed > 80);
	hive_program_release(&p);
}

static void retires(void **state)
{
	struct hive_program p;
	struct hive_task t;
	char id[PROTOCOL_TASK_ID];

	(void)state;
	make(&p, 2);
	assert_true(ask(&p, 0, NULL, 5, &t));
	hive_task_id(&p, &t, id);
	tell(&p, 7, t.candidate,
	     (struct hive_report){.result = HIVE_RACE, .order = HIVE_PRIMARY, .proof = HIVE_COLLISION});
	uint32_t other = 1 - t.candidate;
	for (unsigned i = 0; i < 50; i++) {
		assert_true(ask(&p, i, id, 5, &t));
		assert_int_equal(t.candidate, other);
	}
	tell(&p, 7, other,
	     (struct hive_report){.result = HIVE_RACE, .order = HIVE_PRIMARY, .proof = HIVE_COLLISION});
	assert_false(ask(&p, 0, id, 5, &t));
	hive_program_release(&p);
}

/* Each site is given the pauses of one order, then those of the other order, and then another
 * candidate. */
static void escalates(void **state)
{
	struct hive_program p;
	struct hive_task t, first;
	char id[PROTOCOL_TASK_ID];

	(void)state;
	make(&p, 8);
	for (uint32_t i = 0; i < 8; i++)
		tell(&p, 99, i, met);
	/* Other sites time out as often, so that no site is reshuffled. */
	for (unsigned site = 0; site < 4; site++) {
		assert_true(ask(&p, site, NULL, 5, &first));
		t = first;
		for (unsigned step = 0; step < 2 * HIVE_LEVELS; step++) {
			assert_int_equal(t.candidate, first.candidate);
			assert_true(t.validate);
			assert_int_equal(t.level, step % HIVE_LEVELS);
			assert_int_equal(t.order == first.order, step < HIVE_LEVELS);
			struct hive_report r = {
				.result = HIVE_TIMEOUT, .order = t.order, .tau_us = hive_tau_us(t.level)};
			for (unsigned all = 100; all < 110; all++)
				tell(&p, all, t.candidate, r);
			tell(&p, site, t.candidate, r);
			hive_task_id(&p, &t, id);
			assert_true(ask(&p, site, id, 5, &t));
		}
		assert_int_not_equal(t.candidate, first.candidate);
	}
	hive_program_release(&p);
}

/* Both accesses were executed, but not seen at one address.  Sites then compare addresses, and stop
 * no thread. */
static void looks_first(void **state)
{
	struct hive_program p;
	struct hive_task t, again;
	char id[PROTOCOL_TASK_ID];

	(void)state;
	make(&p, 1);
	tell(&p, 99, 0, (struct hive_report){.result = HIVE_CONTEXT, .context = HIVE_FIRST});
	assert_true(ask(&p, 0, NULL, 5, &t) && !t.validate && !t.look);
	tell(&p, 99, 0, (struct hive_report){.result = HIVE_CONTEXT, .context = HIVE_BOTH});
	assert_true(ask(&p, 0, NULL, 5, &t) && t.validate && t.look);
	hive_task_id(&p, &t, id);
	assert_true(hive_task_parse(&p, id, &again) && again.validate && again.look);
	tell(&p, 99, 0,
	     (struct hive_report){.result = HIVE_CONTEXT, .context = HIVE_BOTH | HIVE_SAME_ADDRESS});
	assert_true(ask(&p, 0, id, 5, &t) && t.validate && !t.look);
	hive_program_release(&p);
}

static void not_seen_ends(void **state)
{
	struct hive_program p;
	struct hive_task t, now;
	char id[PROTOCOL_TASK_ID];

	(void)state;
	make(&p, 20);
	assert_true(ask(&p, 0, NULL, 5, &t));
	hive_task_id(&p, &t, id);
	for (unsigned i = 0; i < 4; i++) {
		assert_true(ask(&p, 0, id, 5, &now));
		assert_int_equal(now.candidate, t.candidate);
		tell(&p, 0, t.candidate, (struct hive_report){.result = HIVE_NOT_SEEN});
	}
	assert_true(ask(&p, 0, id, 5, &now));
	assert_int_not_equal(now.candidate, t.candidate);
	hive_program_release(&p);
}

/* Returns how many of 2000 sites draw a candidate before place `end`. */
static unsigned drawn_before(const struct hive_program *p, uint32_t end)
{
	unsigned count = 0;
	struct hive_task t;

	for (unsigned site = 0; site < 2000; site++)
		count += ask(p, site, NULL, 5, &t) && t.candidate < end;
	return count;
}

/* Of many candidates, most sites get one of the first, but some get one of the last.  Candidates
 * at which two threads were seen are preferred to all others.  A candidate whose accesses are not
 * executed is drawn less often, unless other runs execute them. */
static void prefers_by_rank(void **state)
{
	struct hive_program p;

	(void)state;
	make(&p, 320);
	/* 16 of 320 candidates would be 100 of 2000 sites without ranks */
	assert_in_range(drawn_before(&p, 16), 350, 600);
	assert_in_range(drawn_before(&p, 160), 1400, 1800);
	for (uint32_t i = 1; i < 320; i++)
		assert_true(p.candidates[i].weight <= p.candidates[i - 1].weight && p.candidates[i].weight);
	tell(&p, 99, 40, met);
	assert_true(p.candidates[40].weight > p.candidates[0].weight);

	uint32_t before = p.candidates[0].weight;
	for (unsigned site = 0; site < 3; site++) {
		tell(&p, site, 0, (struct hive_report){.result = HIVE_NOT_SEEN});
		tell(&p, site, 40, (struct hive_report){.result = HIVE_NOT_SEEN});
	}
	assert_int_equal(p.candidates[0].weight, before / 4);
	assert_true(p.candidates[40].weight > before);
	hive_program_release(&p);
}

/* A site that has all the time-outs does not keep its candidate.  A site that has all the cost
 * rests in some epochs. */
static void balances(void **state)
{
	struct hive_program p;
	struct hive_task t;
	char id[PROTOCOL_TASK_ID];
	unsigned moved = 0, rested = 0;

	(void)state;
	make(&p, 50);
	for (uint32_t i = 0; i < 50; i++)
		for (unsigned site = 0; site < 3; site++)
			tell(&p, 200 + site, i, met);
	for (unsigned site = 0; site < 10; site++) {
		assert_true(ask(&p, site, NULL, 5, &t));
		hive_task_id(&p, &t, id);
		uint32_t before = t.candidate;
		for (unsigned i = 0; i < 3; i++)
			tell(&p, site, before,
			     (struct hive_report){
				     .result = HIVE_TIMEOUT, .order = HIVE_PRIMARY, .tau_us = 1000});
		assert_true(ask(&p, site, id, 5, &t));
		moved += t.candidate != before;
		/* The other sites get as many time-outs. */
		for (unsigned i = 0; i < 3; i++)
			for (unsigned all = 200; all < 203; all++)
				tell(&p, all, before,
				     (struct hive_report){
					     .result = HIVE_TIMEOUT, .order = HIVE_PRIMARY, .tau_us = 1000});
	}
	assert_in_range(moved, 1, 10);
	tell(&p, 77, 0, (struct hive_report){.result = HIVE_NOT_SEEN, .busy_us = 1000000});
	for (uint64_t epoch = 10; epoch < 60; epoch++) {
		assert_true(ask(&p, 77, NULL, epoch, &t));
		rested += !t.validate;
		assert_true(ask(&p, 78, NULL, epoch, &t) && t.validate);
	}
	assert_in_range(rested, 10, 40);
	hive_program_release(&p);
}

/* The answers do not depend on the order in which reports arrived, and are the same in a program
 * that is made again from them. */
static void follows_from_rows(void **state)
{
	struct hive_program p, q;
	struct hive_task a, b;

	(void)state;
	make(&p, 30);
	make(&q, 30);
	srand(3);
	for (unsigned i = 0; i < 3000; i++) {
		struct hive_report r = {.result = (enum hive_result)(HIVE_NO_RACE + rand() % 4),
					.order = HIVE_ALTERNATE,
					.tau_us = 1000,
					.busy_us = (uint32_t)rand() % 1000};
		unsigned site = (unsigned)rand() % 100;
		uint32_t candidate = (uint32_t)rand() % 30;

		tell(&p, site, candidate, r);
		tell(&q, site, candidate, r);
	}
	for (unsigned i = 0; i < 200; i++) {
		assert_true(ask(&p, i, NULL, 9, &a) && ask(&q, i, NULL, 9, &b));
		assert_true(is_same(&a, &b));
	}
	assert_int_equal(p.site_count, 100);
	hive_program_release(&p);
	hive_program_release(&q);
}

/* A candidate at which runs fail is given to no site.  If runs fail at every candidate, sites only
 * observe. */
static void test_canary(void **state)
{
	const struct hive_report fine = {.result = HIVE_TIMEOUT, .order = HIVE_PRIMARY, .tau_us = 1000},
				 crashed = {.result = HIVE_NOT_SEEN, .consequence = HIVE_CRASH};
	struct hive_program p;
	struct hive_task t;

	(void)state;
	make(&p, 2);
	for (unsigned i = 0; i < 2; i++)
		tell(&p, i, i, met);
	for (unsigned site = 0; site < 40; site++)
		tell(&p, site, 1, fine);
	for (unsigned site = 0; site < 4; site++)
		tell(&p, site, 0, crashed);
	assert_true(p.candidates[0].weight > 0);
	tell(&p, 4, 0, crashed);
	assert_int_equal(p.candidates[0].weight, 0);
	for (unsigned site = 50; site < 90; site++) {
		assert_true(ask(&p, site, NULL, 7, &t));
		assert_int_equal(t.candidate, 1);
		assert_true(t.validate);
	}
	for (unsigned site = 0; site < 5; site++)
		tell(&p, site, 1, crashed);
	assert_true(p.candidates[1].weight > 0);
	assert_true(ask(&p, 91, NULL, 7, &t) && !t.validate);
	hive_program_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(picks_by_weight),
		cmocka_unit_test(spreads),
		cmocka_unit_test(keeps_until_the_bound),
		cmocka_unit_test(retires),
		cmocka_unit_test(escalates),
		cmocka_unit_test(looks_first),
		cmocka_unit_test(not_seen_ends),
		cmocka_unit_test(prefers_by_rank),
		cmocka_unit_test(balances),
		cmocka_unit_test(follows_from_rows),
		cmocka_unit_test(test_canary),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
