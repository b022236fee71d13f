// SPDX-License-Identifier: Apache-2.0
/*
 * Unit tests of a campaign's log and its statistics.  What is written is read back, damage affects
 * only one line, and every count and rate is correct.
 */
#include "golden.h"

#include "base/error.h"
#include "inject/interval-int.h"
#include "inject/place-int.h"
#include "inject/against.h"

#include <math.h>
#include <stdio.h>

static unsigned warnings;

static void count_warnings(void *context, enum rd_level level, const char *message)
{
	(void)context;
	(void)message;
	warnings += level == RD_LOG_WARN;
}

static const struct runlog_run full = {
	.run = 17,
	.fault = "BitFlip",
	.thread = "T_0_2",
	.site = 12345,
	.where = "pca.c:88:12 calc_mean",
	.opcode = "load",
	.instance = 991,
	.action = "flip",
	.mask = "0x0000000000000400",
	.bit = 10,
	.fired = true,
	.before = "0x01",
	.after = "0x0401",
	.stratum = "memory \"x\"",
	.population = 77,
	.outcome = RUNLOG_SDC,
	.signal = "SIGSEGV",
	.exit = 0,
	.place = "pca.c:91 in main",
	.deviation = RUNLOG_CONTROL,
	.deviation_at = "pca.c:90:3",
	.deviation_thread = "T_0_2",
	.deviation_site = 123456,
	.records = 45012,
	.cpu_ms = 7.125,
	.wall_ms = 6,
	.diff = "runs/17/stdout.diff",
};

static void check_text(const char *a, const char *b)
{
	assert_true(!a == !b);
	if (a)
		assert_string_equal(a, b);
}

static void check_same(const struct runlog_run *a, const struct runlog_run *b)
{
	check_text(a->fault, b->fault);
	check_text(a->thread, b->thread);
	check_text(a->where, b->where);
	check_text(a->opcode, b->opcode);
	check_text(a->action, b->action);
	check_text(a->mask, b->mask);
	check_text(a->before, b->before);
	check_text(a->after, b->after);
	check_text(a->stratum, b->stratum);
	check_text(a->signal, b->signal);
	check_text(a->place, b->place);
	check_text(a->deviation_at, b->deviation_at);
	check_text(a->deviation_thread, b->deviation_thread);
	assert_int_equal(a->deviation_site, b->deviation_site);
	check_text(a->diff, b->diff);
	assert_true(a->run == b->run && a->site == b->site && a->instance == b->instance);
	assert_true(a->bit == b->bit && a->fired == b->fired && a->population == b->population);
	assert_true(a->outcome == b->outcome && a->exit == b->exit && a->deviation == b->deviation);
	assert_true(a->records == b->records && a->cpu_ms == b->cpu_ms && a->wall_ms == b->wall_ms);
}

static void written_is_read(void **state)
{
	struct runlog_run runs[] = {full, {.run = 1, .fault = "x", .bit = -1, .exit = -1}}, back;
	struct rd_names texts = RD_NAMES_INIT;
	struct rd_buf line = RD_BUF_INIT;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		rd_buf_clear(&line);
		runlog_write(&line, &runs[i]);
		assert_ptr_equal(strchr(line.data, '\n'), line.data + line.length - 1);
		assert_null(runlog_parse(&back, line.data, line.length - 1, &texts));
		check_same(&runs[i], &back);
	}
	assert_non_null(strstr(line.data, "\"signal\":null"));
	assert_null(strstr(line.data, "stratum"));
	rd_names_release(&texts);
	rd_buf_release(&line);
}

static void every_word_has_its_number(void **state)
{
	struct rd_names texts = RD_NAMES_INIT;
	struct rd_buf line = RD_BUF_INIT;
	struct runlog_run back;

	(void)state;
	for (unsigned i = 0; i < RUNLOG_OUTCOMES * RUNLOG_DEVIATIONS; i++) {
		struct runlog_run run = {
			.fault = "x", .outcome = i / RUNLOG_DEVIATIONS, .deviation = i % RUNLOG_DEVIATIONS};

		rd_buf_clear(&line);
		runlog_write(&line, &run);
		assert_null(runlog_parse(&back, line.data, line.length, &texts));
		assert_true(back.outcome == run.outcome && back.deviation == run.deviation);
	}
	assert_string_equal(runlog_outcome_name(RUNLOG_INACTIVE), "not-activated");
	rd_names_release(&texts);
	rd_buf_release(&line);
}

static void bad_lines(void **state)
{
	static const struct {
		const char *line, *wrong;
	} table[] = {
		{"", "not a JSON object"},
		{"{", "not a JSON object"},
		{"[1]", "not a JSON object"},
		{"{}", "run"},
		{"{\"run\":-1,\"fault\":\"x\",\"outcome\":\"sdc\",\"deviation\":\"none\"}", "run"},
		{"{\"run\":1,\"fault\":\"\",\"outcome\":\"sdc\",\"deviation\":\"none\"}", "fault"},
		{"{\"run\":1,\"fault\":\"x\",\"outcome\":\"sad\",\"deviation\":\"none\"}", "outcome"},
		{"{\"run\":1,\"fault\":\"x\",\"outcome\":\"sdc\",\"deviation\":3}", "deviation"},
		{"{\"run\":1,\"fault\":\"x\",\"outcome\":\"sdc\",\"deviation\":\"none\",\"cpu_ms\":-1}",
		 "cpu_ms"},
		{"{\"run\":1,\"fault\":\"x\",\"outcome\":\"sdc\",\"deviation\":\"none\",\"fired\":1}",
		 "fired"},
		{"{\"run\":1,\"run\":2,\"fault\":\"x\",\"outcome\":\"sdc\",\"deviation\":\"none\"}",
		 "not a JSON object"},
		{"{\"run\":1,\"fault\":\"x\",\"outcome\":\"sdc\",\"deviation\":\"none\",\"more\":[]}", NULL},
	};
	struct rd_names texts = RD_NAMES_INIT;
	struct runlog_run run;

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		check_text(runlog_parse(&run, table[i].line, strlen(table[i].line), &texts), table[i].wrong);
	rd_names_release(&texts);
}

/* ---- reading the directory of a campaign ---- */

static void add(struct rd_buf *log, uint64_t number, const char *fault, enum runlog_outcome outcome,
		enum runlog_deviation deviation)
{
	struct runlog_run run = full;

	run.run = number;
	run.fault = fault;
	run.outcome = outcome;
	run.deviation = deviation;
	run.stratum = NULL;
	runlog_write(log, &run);
}

static void make_directory(const char *first, const char *second)
{
	static const char facts[] = "{\"program\":\"/a/b/pca\",\"argv\":[\"./pca\",\"-r\",\"10\"]}";

	assert_int_equal(rd_remove_tree("c"), 0);
	assert_int_equal(rd_mkdirs("c"), 0);
	assert_int_equal(rd_file_write("c/campaign.json", facts, sizeof facts - 1), 0);
	assert_int_equal(rd_file_write("c/log", first, strlen(first)), 0);
	if (second)
		assert_int_equal(rd_file_write("c/log.2", second, strlen(second)), 0);
}

static void a_directory(void **state)
{
	struct rd_buf first = RD_BUF_INIT, second = RD_BUF_INIT;
	struct campaign_results r;

	(void)state;
	add(&first, 3, "BitFlip", RUNLOG_SDC, RUNLOG_DATA);
	add(&first, 1, "BitFlip", RUNLOG_CRASH, RUNLOG_DATA);
	rd_buf_adds(&first, "{\"run\":9,\"fau{\"run\":10}\n");
	add(&first, 4, "BitFlip", RUNLOG_MASKED, RUNLOG_NONE);
	rd_buf_adds(&first, "{\"run\":5,\"fault\":\"Bit");
	add(&second, 2, "InvalPtr", RUNLOG_HANG, RUNLOG_NONE);
	add(&second, 3, "InvalPtr", RUNLOG_HANG, RUNLOG_NONE);
	make_directory(first.data, second.data);
	warnings = 0;
	assert_int_equal(campaign_results_read(&r, "c"), 0);
	assert_int_equal(warnings, 2);
	assert_true(r.cut == 1 && r.damaged == 1 && r.repeated == 1 && r.count == 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(r.runs[i].run, i + 1);
	assert_string_equal(r.runs[2].fault, "BitFlip");
	assert_string_equal(r.name, "pca");
	assert_string_equal(r.command, "./pca -r 10");
	campaign_results_release(&r);
	rd_buf_release(&first);
	rd_buf_release(&second);
}

/* From every prefix of the log, all complete lines are read. */
static void every_prefix(void **state)
{
	struct rd_buf log = RD_BUF_INIT;
	struct campaign_results r;

	(void)state;
	for (unsigned i = 0; i < 4; i++)
		add(&log, i, "BitFlip", RUNLOG_SDC, RUNLOG_DATA);
	for (size_t length = 0; length <= log.length; length++) {
		size_t lines = 0;

		for (size_t i = 0; i < length; i++)
			lines += log.data[i] == '\n';
		r = (struct campaign_results)EPA_RESULTS_INIT;
		assert_int_equal(campaign_results_add(&r, log.data, length, "log"), 0);
		assert_true(r.count == lines && !r.damaged);
		assert_int_equal(r.cut, length && log.data[length - 1] != '\n');
		campaign_results_release(&r);
	}
	rd_buf_release(&log);
}

static void not_a_campaign(void **state)
{
	struct campaign_results r;

	(void)state;
	assert_true(campaign_results_read(&r, "absent") < 0);
	make_directory("", NULL);
	assert_int_equal(campaign_results_read(&r, "c"), 0);
	assert_int_equal(r.count, 0);
	campaign_results_release(&r);
	assert_int_equal(rd_remove_tree("c/log"), 0);
	assert_int_equal(campaign_results_read(&r, "c"), RD_ENOTFOUND);
	assert_int_equal(rd_file_write("c/campaign.json", "[]", 2), 0);
	assert_int_equal(campaign_results_read(&r, "c"), RD_EFORMAT);
}

/* ---- statistics of a campaign ---- */

static void check_rate(const struct campaign_rate *r, uint64_t hits, uint64_t runs, double value)
{
	assert_int_equal(r->hits, hits);
	assert_int_equal(r->runs, runs);
	assert_true(fabs(r->value - value) < 1e-9);
	assert_true(r->low <= r->value + 1e-12 && r->high >= r->value - 1e-12);
}

static void names_of_places(void **state)
{
	static const struct {
		const char *where, *line, *function;
	} table[] = {
		{"pca.c:88:12 calc_mean", "pca.c:88", "calc_mean"},
		{"my file.c:3:1 main", "my file.c:3", "main"},
		{"v.h:9:2 std::map<int, std::pair<a, b> >::f(int const&)", "v.h:9",
		 "std::map<int, std::pair<a, b> >::f(int const&)"},
		{"a:1.c:7:5 f", "a:1.c:7", "f"},
		{"pca.c:88:12", "pca.c:88", "?"},
		{"std::f(int, int)", "?", "std::f(int, int)"},
		{"", "?", "?"},
		{NULL, "?", "?"},
	};
	struct rd_buf text = RD_BUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		struct runlog_run run = {.where = table[i].where};

		rd_buf_clear(&text);
		campaign_name_line(&run, &text);
		assert_string_equal(text.data, table[i].line);
		rd_buf_clear(&text);
		campaign_name_function(&run, &text);
		assert_string_equal(text.data, table[i].function);
	}
	rd_buf_release(&text);
}

/* All faults are at one place, so its cells have the same counts as the groups. */
static void check_cells(const struct campaign_statistics *s)
{
	const struct campaign_place *p = &s->places[CAMPAIGN_BY_OPCODE][0];
	struct campaign_rate rate;

	assert_int_equal(s->place_count[CAMPAIGN_BY_OPCODE], 1);
	assert_int_equal(p->cell_count, s->group_count);
	for (size_t g = 0; g < s->group_count; g++) {
		const struct campaign_cell *c = campaign_cell(p, g);

		assert_non_null(c);
		assert_int_equal(c->runs, s->groups[g].activated);
		for (unsigned m = 0; m < CAMPAIGN_MEASURES; m++) {
			const struct campaign_rate *of = campaign_group_rate(&s->groups[g], m);

			if (m == RUNLOG_INACTIVE)
				continue;
			rate = campaign_cell_rate(s, c, m);
			check_rate(&rate, of->hits, of->runs, of->value);
			assert_true(rate.low == of->low && rate.high == of->high);
		}
	}
	assert_int_equal(p->cells[0].hits[CAMPAIGN_HARM], 10);
	assert_null(campaign_cell(p, s->group_count));
	/* the campaign has no site table */
	assert_string_equal(s->places[CAMPAIGN_BY_VARIABLE][0].name, "?");
	assert_int_equal(s->places[CAMPAIGN_BY_LINE][0].line, 88);
}

static void counts_and_rates(void **state)
{
	struct rd_buf log = RD_BUF_INIT;
	struct campaign_results r = EPA_RESULTS_INIT;
	struct campaign_statistics s;
	uint64_t n = 0;

	(void)state;
	for (unsigned i = 0; i < 6; i++)
		add(&log, n++, "Own", RUNLOG_CRASH, RUNLOG_ADDRESS);
	for (unsigned i = 0; i < 4; i++)
		add(&log, n++, "InvalPtr", RUNLOG_SDC, i ? RUNLOG_DATA : RUNLOG_NONE);
	for (unsigned i = 0; i < 10; i++)
		add(&log, n++, "BitFlip", RUNLOG_MASKED, i < 3 ? RUNLOG_CONTROL : RUNLOG_NONE);
	for (unsigned i = 0; i < 5; i++)
		add(&log, n++, "BitFlip", RUNLOG_INACTIVE, RUNLOG_NONE);
	assert_int_equal(campaign_results_add(&r, log.data, log.length, "log"), 0);
	campaign_statistics(&s, &r);

	assert_int_equal(s.group_count, 4);
	assert_null(s.groups[0].fault);
	assert_string_equal(s.groups[1].fault, "BitFlip");
	assert_string_equal(s.groups[2].fault, "InvalPtr");
	assert_string_equal(s.groups[3].fault, "Own");
	assert_true(s.groups[0].runs == 25 && s.groups[0].activated == 20 && !s.groups[0].weighted);
	check_rate(&s.groups[0].coverage, 12, 20, 0.6);
	check_rate(&s.groups[0].outcome[RUNLOG_INACTIVE], 5, 25, 0.2);
	check_rate(&s.groups[0].outcome[RUNLOG_CRASH], 6, 20, 0.3);
	check_rate(&s.groups[0].shown[RUNLOG_SDC], 3, 20, 0.15);
	check_rate(&s.groups[1].mpfnr[RUNLOG_MASKED], 7, 10, 0.7);
	check_rate(&s.groups[2].mpfnr[RUNLOG_SDC], 1, 4, 0.25);
	check_rate(&s.groups[3].mpfnr[RUNLOG_CRASH], 0, 6, 0);
	check_rate(&s.groups[3].mpfnr[RUNLOG_SDC], 0, 0, 0);
	assert_int_equal(campaign_group_count(&s.groups[1], RUNLOG_MASKED), 10);
	assert_int_equal(s.groups[1].count[RUNLOG_MASKED][RUNLOG_CONTROL], 3);

	assert_int_equal(s.place_count[CAMPAIGN_BY_LINE], 1);
	assert_string_equal(s.places[CAMPAIGN_BY_LINE][0].name, "pca.c:88");
	assert_string_equal(s.places[CAMPAIGN_BY_FUNCTION][0].name, "calc_mean");
	assert_string_equal(s.places[CAMPAIGN_BY_OPCODE][0].name, "load");
	check_cells(&s);
	campaign_statistics_release(&s);
	campaign_results_release(&r);
	rd_buf_release(&log);
}

static void only_some_kinds(void **state)
{
	struct rd_buf log = RD_BUF_INIT;
	struct campaign_results r = {.directory = "c"};

	(void)state;
	for (unsigned i = 0; i < 9; i++)
		add(&log, i, i % 3 ? i % 3 == 1 ? "BitFlip" : "InvalPtr" : "Own", RUNLOG_SDC, RUNLOG_DATA);
	assert_int_equal(campaign_results_add(&r, log.data, log.length, "log"), 0);
	assert_int_equal(campaign_results_choose(&r, "bitflip,Own,"), 0);
	assert_int_equal(r.count, 6);
	assert_int_equal(campaign_results_choose(&r, "InvalPtr"), RD_ENOTFOUND);
	campaign_results_release(&r);
	rd_buf_release(&log);
}

/* ---- comparison of two campaigns ---- */

/* Makes a campaign with 100 runs of each kind; sdc[k] runs of kind k have the outcome sdc. */
static void make_campaign(struct campaign_results *r, struct campaign_statistics *s, const char *const *kinds,
			  const unsigned *sdc)
{
	struct rd_buf log = RD_BUF_INIT;

	*r = (struct campaign_results){.directory = "c", .name = rd_xstrdup("x")};
	for (unsigned k = 0; kinds[k]; k++)
		for (unsigned i = 0; i < 100; i++)
			add(&log, k * 100 + i, kinds[k], i < sdc[k] ? RUNLOG_SDC : RUNLOG_MASKED,
			    RUNLOG_DATA);
	assert_int_equal(campaign_results_add(r, log.data, log.length, "log"), 0);
	campaign_statistics(s, r);
	rd_buf_release(&log);
}

static const struct campaign_contrast *find_contrast(const struct campaign_against *a, unsigned by,
						     const char *fault, unsigned measure)
{
	for (size_t i = 0; i < a->count; i++)
		if (a->items[i].by == by && a->items[i].measure == measure &&
		    (fault ? a->items[i].fault && !strcmp(a->items[i].fault, fault) : !a->items[i].fault))
			return &a->items[i];
	return NULL;
}

static void two_campaigns(void **state)
{
	static const char *const kinds[] = {"BitFlip", "Own", NULL}, *const other[] = {"Own", "Else", NULL},
				 *const none[] = {"Else", NULL};
	struct campaign_results r[4];
	struct campaign_statistics s[4];
	struct campaign_against a;
	const struct campaign_contrast *c;

	(void)state;
	make_campaign(&r[0], &s[0], kinds, (unsigned[]){40, 10});
	make_campaign(&r[1], &s[1], kinds, (unsigned[]){10, 12});
	make_campaign(&r[2], &s[2], other, (unsigned[]){60, 0});
	make_campaign(&r[3], &s[3], none, (unsigned[]){1});

	assert_int_equal(campaign_against(&a, &s[0], &s[1]), 0);
	assert_true(a.same_proportions && a.same_program);
	c = find_contrast(&a, CAMPAIGN_WHOLE, "BitFlip", RUNLOG_SDC);
	assert_true(fabs(c->difference.value + 0.3) < 1e-9 && campaign_differs(c));
	/* There are 6 tests: the shares of sdc and masked, for each of two kinds and for both
	 * together.  Crashes and deviations are equal in all runs, so they are not tested. */
	assert_true(fabs(c->difference.chance - campaign_fisher(40, 100, 10, 100)) < 1e-15);
	assert_true(fabs(c->difference.adjusted - 6 * c->difference.chance) < 1e-12);
	assert_false(campaign_differs(find_contrast(&a, CAMPAIGN_WHOLE, "Own", RUNLOG_SDC)));
	assert_null(find_contrast(&a, CAMPAIGN_WHOLE, "Own", RUNLOG_CRASH));
	assert_non_null(find_contrast(&a, CAMPAIGN_BY_FUNCTION, NULL, CAMPAIGN_HARM));
	campaign_against_release(&a);

	/* One kind is common, but the kinds differ in total.  So only that kind is compared, not
	 * all kinds together or places. */
	assert_int_equal(campaign_against(&a, &s[0], &s[2]), 0);
	assert_false(a.same_proportions);
	assert_int_equal(a.count, 2);
	assert_string_equal(a.items[0].fault, "Own");
	campaign_against_release(&a);
	assert_int_equal(campaign_against(&a, &s[0], &s[3]), RD_EUSAGE);
	campaign_against_release(&a);
	for (size_t i = 0; i < 4; i++) {
		campaign_statistics_release(&s[i]);
		campaign_results_release(&r[i]);
	}
}

static void add_stratum(struct campaign_results *r, const char *name, uint64_t population, unsigned hits,
			unsigned runs)
{
	struct rd_buf log = RD_BUF_INIT;

	for (unsigned i = 0; i < runs; i++) {
		struct runlog_run run = full;

		run.run = r->count + i;
		run.stratum = name;
		run.population = population;
		run.outcome = i < hits ? RUNLOG_SDC : RUNLOG_MASKED;
		run.deviation = i < hits ? RUNLOG_DATA : RUNLOG_NONE;
		runlog_write(&log, &run);
	}
	assert_int_equal(campaign_results_add(r, log.data, log.length, "log"), 0);
	rd_buf_release(&log);
}

/* A stratum with 90 % of the instances has as many runs as one with 10 %. */
static void strata_have_weights(void **state)
{
	struct campaign_results r = EPA_RESULTS_INIT, even = EPA_RESULTS_INIT;
	struct campaign_statistics s, t;

	(void)state;
	add_stratum(&r, "loads", 900000, 10, 100);
	add_stratum(&r, "calls", 100000, 80, 100);
	campaign_statistics(&s, &r);
	assert_true(s.groups[1].weighted);
	check_rate(&s.groups[1].coverage, 90, 200, 0.9 * 0.1 + 0.1 * 0.8);
	add_stratum(&even, "loads", 500, 10, 100);
	add_stratum(&even, "calls", 500, 80, 100);
	campaign_statistics(&t, &even);
	check_rate(&t.groups[1].coverage, 90, 200, 0.45);
	/* Unequal weights lower the effective size of the sample to 200 / (0.5 * 1.8^2 + 0.5 *
	 * 0.2^2). */
	double size = 200 / 1.64;
	struct campaign_interval i = campaign_interval(0.17 * size, size, 0.95);
	assert_true(fabs(s.groups[1].coverage.low - i.low) < 1e-9);
	assert_true(fabs(s.groups[1].coverage.high - i.high) < 1e-9);
	i = campaign_interval(90, 200, 0.95);
	assert_true(fabs(t.groups[1].coverage.low - i.low) < 1e-9);
	campaign_statistics_release(&s);
	campaign_statistics_release(&t);
	campaign_results_release(&r);
	campaign_results_release(&even);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_is_read),  cmocka_unit_test(every_word_has_its_number),
		cmocka_unit_test(bad_lines),	    cmocka_unit_test(a_directory),
		cmocka_unit_test(every_prefix),	    cmocka_unit_test(not_a_campaign),
		cmocka_unit_test(counts_and_rates), cmocka_unit_test(strata_have_weights),
		cmocka_unit_test(names_of_places),  cmocka_unit_test(only_some_kinds),
		cmocka_unit_test(two_campaigns),
	};

	rd_log_set(count_warnings, NULL);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
