// SPDX-License-Identifier: Apache-2.0
/* Unit tests of finding/schedule.h. */
#include "finding-fixture.h"
#include "golden.h"

#include "base/error.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

static char last_message[256];

static void keep_message(void *context, enum rd_level level, const char *message)
{
	(void)level;
	snprintf(context, 256, "%s", message);
}

static void written_as_ever(void **state)
{
	struct finding_set *set = fixture_set();
	struct rd_buf race = RD_BUF_INIT, deadlock = RD_BUF_INIT;

	(void)state;
	schedule_format(set->items[0]->schedule, &race);
	schedule_format(set->items[1]->schedule, &deadlock);
	golden_check("race-v1.schedule", race.data, race.length);
	golden_check("deadlock-v1.schedule", deadlock.data, deadlock.length);
	rd_buf_release(&race);
	rd_buf_release(&deadlock);
	finding_set_free(set);
}

static void round_trip(void **state)
{
	struct rd_buf text = RD_BUF_INIT, again = RD_BUF_INIT;
	struct schedule s, back;
	struct schedule_op *op;

	(void)state;
	schedule_init(&s);
	s.program = "a\tb\\c\nd";
	s.trace = "-";
	s.anywhere = true;
	s.handed = true;
	s.keep[0] = 65537;
	s.keep[1] = 3;
	op = schedule_add_op(&s);
	op->thread = "T_0";
	op->n = INT64_MAX;
	op->kind = "cond-wake";
	op->object = "-";
	op->place = (struct schedule_place){"a:file.c", "operator()", UINT32_MAX, 1};
	*schedule_add_limit(&s) = (struct schedule_limit){"T_0_1", 4};
	schedule_format(&s, &text);
	assert_int_equal(schedule_parse(&back, text.data, text.length, "memory"), 0);
	assert_string_equal(back.program, s.program);
	assert_string_equal(back.trace, "-");
	assert_string_equal(back.ops[0].object, "-");
	assert_string_equal(back.ops[0].place.file, "a:file.c");
	assert_int_equal(back.ops[0].place.line, UINT32_MAX);
	assert_null(back.finding);
	assert_true(back.anywhere);
	assert_true(back.handed);
	assert_int_equal(back.keep[0], 65537);
	assert_int_equal(back.keep[1], 3);
	assert_int_equal(back.limits[0].n, 4);
	schedule_format(&back, &again);
	assert_string_equal(text.data, again.data);
	rd_buf_release(&text);
	rd_buf_release(&again);
	schedule_release(&s);
	schedule_release(&back);
}

static void file_round_trip(void **state)
{
	struct finding_set *set = fixture_set();
	struct schedule back;

	(void)state;
	assert_int_equal(schedule_write(set->items[0]->schedule, "race.schedule"), 0);
	assert_int_equal(schedule_read(&back, "race.schedule"), 0);
	assert_int_equal(back.goal_count, 2);
	assert_true(back.goals[0].write);
	assert_int_equal(back.goals[1].site, 65541);
	schedule_release(&back);
	assert_int_equal(schedule_read(&back, "missing.schedule"), RD_ESYSTEM);
	schedule_release(&back);
	finding_set_free(set);
}

/* Reads the text after adding a correct last line.  Returns the result. */
static int parse_body(const char *body)
{
	struct rd_buf text = RD_BUF_INIT;
	struct schedule s;
	size_t lines = 0;

	for (const char *p = body; *p; p++)
		lines += *p == '\n';
	rd_buf_addf(&text, "%send\t%zu\t%016llx\n", body, lines,
		    (unsigned long long)XXH64(body, strlen(body), 0));
	last_message[0] = '\0';
	int err = schedule_parse(&s, text.data, text.length, "s");
	schedule_release(&s);
	rd_buf_release(&text);
	return err;
}

#define OP(thread, n) "op\t" thread "\t" n "\tmutex-lock\ta\t0\t-\t-\n"
#define HEADER "raddle-schedule\t1\n"

static void good_bodies(void **state)
{
	(void)state;
	assert_int_equal(parse_body(HEADER), 0);
	assert_int_equal(parse_body(HEADER "# a remark\n" OP("T_0", "1") OP("T_0_1", "1") OP("T_0", "4")), 0);
	assert_int_equal(parse_body(HEADER OP("T_0", "1") "hold\tT_0\t1\t0\t1\tread\t-\t-\t-\n"), 0);
	assert_int_equal(parse_body(HEADER "stop\tT_0\t1\tthread-join\tT_0_1\t-\t-\n"), 0);
}

static void bad_bodies(void **state)
{
	static const struct {
		const char *body, *message;
	} cases[] = {
		{"", "not a schedule"},
		{"hello\n", "not a schedule"},
		{"raddle-schedule\tx\n", "not a number"},
		{HEADER "what\n", "unknown record"},
		{HEADER "meet\tsomewhere\n", "unknown way to meet"},
		{HEADER "locks\tfree\n", "unknown way to release locks"},
		{HEADER "keep\t0\t5\n", "not a site"},
		{HEADER "\n", "unknown record"},
		{HEADER "limit\tT_0\n", "wrong number of fields"},
		{HEADER "limit\tT_0\t1\t2\n", "wrong number of fields"},
		{HEADER "limit\tT_0\t-1\n", "not a number"},
		{HEADER "limit\tT_0\t\n", "a number is missing"},
		{HEADER "limit\tT_0\t9223372036854775808\n", "too large"},
		{HEADER "limit\tT_0\t99999999999999999999999\n", "too large"},
		{HEADER "limit\tT 0\t1\n", "not a name"},
		{HEADER "limit\t-\t1\n", "not a name"},
		{HEADER "program\ta\\x\n", "a bad escape"},
		{HEADER "program\ta\\\n", "a bad escape"},
		{HEADER "program\ta\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\n", "too many fields"},
		{HEADER OP("T_0", "2") OP("T_0", "2"), "do not ascend"},
		{HEADER OP("T_0", "0"), "do not ascend"},
		{HEADER "stop\tT_0\t1\tmutex-lock\ta\tfile.c\t-\n", "not file:line:column"},
		{HEADER "stop\tT_0\t1\tmutex-lock\ta\tfile.c:1\t-\n", "not file:line:column"},
		{HEADER "stop\tT_0\t1\tmutex-lock\ta\t:1:2\t-\n", "not file:line:column"},
		{HEADER "stop\tT_0\t1\tmutex-lock\ta\tfile.c:1:\t-\n", "a number is missing"},
		{HEADER "stop\tT_0\t1\tmutex-lock\ta\tfile.c:x:2\t-\n", "not a number"},
		{HEADER OP("T_0", "2") "limit\tT_0\t1\n", "a limit lies before"},
		{HEADER OP("T_0", "2") "hold\tT_0\t1\t0\t1\tread\t-\t-\t-\n", "a hold lies before"},
		{HEADER "hold\tT_0\t1\t0\t0\tread\t-\t-\t-\n", "a hold lies before"},
		{HEADER "hold\tT_0\t1\t0\t1\tswap\t-\t-\t-\n", "neither read nor write"},
		{HEADER OP("T_0", "2") "stop\tT_0\t2\tmutex-lock\ta\t-\t-\n", "a stop lies before"},
		{HEADER "hold\tT_0\t1\t0\t1\tread\t-\t-\t-\nstop\tT_1\t2\tjoin\ta\t-\t-\n", "both"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(parse_body(cases[i].body), RD_EFORMAT);
		assert_non_null(strstr(last_message, cases[i].message));
	}
	assert_int_equal(parse_body("raddle-schedule\t5\n"), RD_EVERSION);
}

#define HEADER2 "raddle-schedule\t2\n"
#define HOLDS "hold\tT_0\t1\t0\t1\tread\t-\t-\t-\nhold\tT_0_1\t1\t0\t1\twrite\t-\t-\t-\n"

/* A goal may be an access to bytes that the thread has accessed before. */
static void accessed_again(void **state)
{
	struct finding_set *set = fixture_set();
	struct rd_buf text = RD_BUF_INIT;
	struct schedule *s = set->items[0]->schedule, back;

	(void)state;
	s->turns = true;
	s->goals[0].occurrence = 0;
	schedule_format(s, &text);
	golden_check("again-v4.schedule", text.data, text.length);
	assert_int_equal(schedule_parse(&back, text.data, text.length, "memory"), 0);
	assert_int_equal(back.goals[0].occurrence, 0);
	assert_int_equal(back.goals[1].occurrence, 1);
	schedule_release(&back);
	rd_buf_release(&text);
	finding_set_free(set);
}

/* A schedule whose threads take turns at its end is written and read back. */
static void going_on(void **state)
{
	struct finding_set *set = fixture_set();
	struct rd_buf text = RD_BUF_INIT, again = RD_BUF_INIT;
	struct schedule *s = set->items[0]->schedule, back;

	(void)state;
	s->turns = true;
	s->first = "T_0_1";
	s->seed = 42;
	*schedule_add_watch(s) = (struct schedule_watch){
		.after = SCHEDULE_ALWAYS, .reads = true, .writes = true, .object = "table[3].lock"};
	*schedule_add_watch(s) = (struct schedule_watch){.thread = "T_0_0",
							 .after = 2,
							 .occurrence = 7,
							 .site = 65538,
							 .writes = true,
							 .place = {"src/counter.c", "add_one", 12, 6}};
	*schedule_add_decision(s) = (struct schedule_decision){.thread = "T_0_1",
							       .n = 3,
							       .point = "back",
							       .count = 1,
							       .next = "T_0_0",
							       .place = {"src/counter.c", "report", 30, 6}};
	*schedule_add_decision(s) = (struct schedule_decision){
		.thread = "T_0_0", .n = 4, .point = "wait", .count = 2, .next = "T_0"};
	schedule_format(s, &text);
	golden_check("turns-v2.schedule", text.data, text.length);
	assert_int_equal(schedule_parse(&back, text.data, text.length, "memory"), 0);
	assert_true(back.turns);
	assert_string_equal(back.first, "T_0_1");
	assert_int_equal(back.seed, 42);
	assert_int_equal(back.watch_count, 2);
	assert_null(back.watches[0].thread);
	assert_true(back.watches[0].after == SCHEDULE_ALWAYS && back.watches[0].reads &&
		    back.watches[0].writes);
	assert_true(back.watches[1].after == 2 && !back.watches[1].reads && back.watches[1].occurrence == 7);
	assert_string_equal(back.decisions[0].point, "back");
	assert_string_equal(back.decisions[1].next, "T_0");
	assert_int_equal(back.decisions[1].count, 2);
	schedule_format(&back, &again);
	assert_string_equal(text.data, again.data);
	rd_buf_release(&text);
	rd_buf_release(&again);
	schedule_release(&back);
	finding_set_free(set);
}

/* A schedule with a memory model is written and read back, as a file and as a member of a
 * document. */
static void memory_model(void **state)
{
	struct finding_set *set = fixture_set(), *parsed;
	struct rd_buf text = RD_BUF_INIT, again = RD_BUF_INIT;
	struct schedule *s = set->items[0]->schedule, back;

	(void)state;
	s->turns = true;
	s->memory = "pso";
	s->memory_seed = 7;
	*schedule_add_track(s) = (struct schedule_track){
		.site = 65538, .write = true, .place = {"src/counter.c", "add_one", 12, 6}};
	*schedule_add_choice(s) = (struct schedule_choice){.at = 3, .from = 4, .taken = 2, .thread = "T_0_1"};
	schedule_format(s, &text);
	golden_check("memory-v3.schedule", text.data, text.length);
	assert_int_equal(schedule_parse(&back, text.data, text.length, "memory"), 0);
	assert_string_equal(back.memory, "pso");
	assert_int_equal(back.memory_seed, 7);
	assert_true(back.track_count == 1 && back.tracks[0].write && back.tracks[0].site == 65538);
	assert_true(back.choice_count == 1 && back.choices[0].at == 3 && back.choices[0].from == 4 &&
		    back.choices[0].taken == 2);
	schedule_release(&back);
	assert_int_equal(finding_format(set, &again), 0);
	assert_int_equal(finding_parse(&parsed, again.data, again.length, "memory"), 0);
	rd_buf_release(&again);
	schedule_format(parsed->items[0]->schedule, &again);
	assert_non_null(strstr(again.data,
			       "memory\tpso\t7\ntrack\t65538\twrite\tsrc/counter.c:12:6\tadd_one\n"
			       "choose\t3\t4\t2\tT_0_1\t-\t-\n"));
	rd_buf_release(&text);
	rd_buf_release(&again);
	finding_set_free(set);
	finding_set_free(parsed);
}

#define HEADER3 "raddle-schedule\t3\nthen\tturns\n"

static void bad_memory(void **state)
{
	static const struct {
		const char *body, *message;
	} cases[] = {
		{"raddle-schedule\t2\nthen\tturns\nmemory\ttso\t0\n", "unknown record"},
		{"raddle-schedule\t3\nmemory\ttso\t0\n", "without"},
		{HEADER3 "memory\ttsx\t0\n", "unknown memory model"},
		{HEADER3 "choose\t1\t2\t1\t-\t-\t-\n", "without"},
		{HEADER3 "memory\ttso\t0\nchoose\t1\t2\t2\t-\t-\t-\n", "that it does not have"},
		{HEADER3 "memory\ttso\t0\nchoose\t2\t2\t1\t-\t-\t-\nchoose\t2\t2\t1\t-\t-\t-\n",
		 "do not ascend"},
		{HEADER3 "memory\ttso\t0\ntrack\t1\tswap\t-\t-\n", "neither read nor write"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(parse_body(cases[i].body), RD_EFORMAT);
		assert_non_null(strstr(last_message, cases[i].message));
	}
}

/* A schedule whose threads take turns is read back as a member of a document. */
static void going_on_inline(void **state)
{
	struct finding_set *set = fixture_set(), *back;
	struct schedule *s = set->items[0]->schedule;
	struct rd_buf text = RD_BUF_INIT, again = RD_BUF_INIT;
	FILE *out = fopen("turns.json", "w");

	(void)state;
	s->turns = true;
	s->first = "T_0_1";
	s->seed = 7;
	*schedule_add_watch(s) = (struct schedule_watch){.after = 1, .reads = true, .object = "hits"};
	*schedule_add_watch(s) =
		(struct schedule_watch){.after = SCHEDULE_ALWAYS, .reads = true, .writes = true};
	*schedule_add_decision(s) = (struct schedule_decision){
		.thread = "T_0", .n = 4, .point = "op", .count = 1, .next = "T_0_1"};
	assert_int_equal(finding_write(set, out), 0);
	fclose(out);
	assert_int_equal(finding_read(&back, "turns.json"), 0);
	schedule_format(s, &text);
	schedule_format(back->items[0]->schedule, &again);
	assert_string_equal(text.data, again.data);
	rd_buf_release(&text);
	rd_buf_release(&again);
	finding_set_free(set);
	finding_set_free(back);
}

/* schedule_copy() has the same result as writing and reading. */
static void assert_copy(const struct schedule *s)
{
	struct rd_buf text = RD_BUF_INIT, copied = RD_BUF_INIT, parsed = RD_BUF_INIT;
	struct schedule copy, back;

	schedule_format(s, &text);
	if (schedule_parse(&back, text.data, text.length, "memory"))
		fail_msg("%s", last_message);
	schedule_copy(&copy, s);
	schedule_format(&copy, &copied);
	schedule_format(&back, &parsed);
	assert_string_equal(copied.data, parsed.data);
	assert_true(copy.notes == back.notes && copy.looks == back.looks);
	for (size_t i = 0; i < copy.watch_count; i++)
		assert_true(copy.watches[i].bytes == 0 && !copy.watches[i].stand && !copy.watches[i].once);
	for (size_t i = 0; i < copy.decision_count; i++)
		assert_ptr_not_equal(copy.decisions[i].thread, s->decisions[i].thread);
	schedule_release(&copy);
	schedule_release(&back);
	rd_buf_release(&text);
	rd_buf_release(&copied);
	rd_buf_release(&parsed);
}

static void copies(void **state)
{
	struct finding_set *set = fixture_set();
	char names[600][16];
	struct schedule s;

	(void)state;
	for (size_t i = 0; i < set->count; i++)
		if (set->items[i]->schedule)
			assert_copy(set->items[i]->schedule);
	finding_set_free(set);
	schedule_init(&s);
	s.turns = s.notes = s.looks = true;
	s.seed = s.memory_seed = 5;
	s.flavour = "led";
	s.input = "";
	s.edits = "a\nb";
	s.memory = "tso";
	*schedule_add_watch(&s) =
		(struct schedule_watch){.after = 3, .reads = true, .bytes = 8, .stand = true, .once = true};
	*schedule_add_track(&s) = (struct schedule_track){.place = {"a.c", "f", 3, 4}, .write = true};
	*schedule_add_choice(&s) = (struct schedule_choice){.at = 1, .from = 3, .taken = 2, .thread = "T_0"};
	/* more strings than the table of copies has entries, each used several times */
	for (size_t i = 0; i < 1800; i++) {
		snprintf(names[i % 600], sizeof names[0], "T_0_%zu", i % 600);
		*schedule_add_decision(&s) =
			(struct schedule_decision){.thread = names[i % 600],
						   .n = i,
						   .point = "op",
						   .count = 1,
						   .next = "T_0",
						   .place = {i % 2 ? "b.c" : NULL, "g", 7, 1}};
	}
	assert_copy(&s);
	schedule_release(&s);
}

/* "meet nowhere" is written and read back, alone and in a document. */
static void meet_nowhere(void **state)
{
	struct finding_set *set = fixture_set(), *again = NULL;
	struct schedule *s = set->items[0]->schedule, back;
	struct rd_buf text = RD_BUF_INIT, document = RD_BUF_INIT;

	(void)state;
	s->turns = s->nowhere = true;
	schedule_format(s, &text);
	assert_non_null(strstr(text.data, "meet\tnowhere"));
	assert_int_equal(schedule_parse(&back, text.data, text.length, "s"), 0);
	assert_true(back.nowhere && !back.anywhere);
	schedule_release(&back);
	assert_int_equal(finding_format(set, &document), 0);
	assert_int_equal(finding_parse(&again, document.data, document.length, "d"), 0);
	assert_true(again->items[0]->schedule->nowhere);
	finding_set_free(again);
	finding_set_free(set);
	rd_buf_release(&text);
	rd_buf_release(&document);
}

static void bad_turns(void **state)
{
	static const struct {
		const char *body, *message;
	} cases[] = {
		{HEADER "then\tturns\n", "unknown record"},
		{HEADER2 "then\trest\n", "unknown way to continue"},
		{HEADER2 "then\tturns\nseed\t0\n", "not a seed"},
		{HEADER2 "seed\t1\n", "without \"then turns\""},
		{HEADER2 "first\tT_0\n", "without \"then turns\""},
		{HEADER2 "then\tturns\nfirst\tT_0_7\n" HOLDS, "has no hold"},
		{HEADER2 "then\tturns\nmeet\tanywhere\n", "excludes stop records"},
		{HEADER2 "then\tturns\nmeet\tnowhere\n", "needs two hold records"},
		{HEADER2 "then\tturns\nstop\tT_0\t1\tmutex-lock\ta\t-\t-\n", "excludes stop records"},
		{HEADER2 "then\tturns\nnext\tT_0\t1\tnowhere\t1\tT_0_1\t-\t-\n", "unknown point"},
		{HEADER2 "then\tturns\nnext\tT_0\t1\top\t0\tT_0_1\t-\t-\n", "unknown point"},
		{HEADER2 "then\tturns\nnext\tT_0\t1\top\t1\t-\t-\t-\n", "not a name"},
		{HEADER2 "then\tturns\nnext\tT_0\t1\top\t1\tT_0_1\n", "wrong number of fields"},
		{HEADER2 "then\tturns\nwatch\t-\t-\t0\t0\tswap\tx\t-\t-\n", "neither read nor write"},
		{HEADER2 "then\tturns\nwatch\t-\tx\t0\t0\t-\tx\t-\t-\n", "not a number"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(parse_body(cases[i].body), RD_EFORMAT);
		assert_non_null(strstr(last_message, cases[i].message));
	}
	assert_int_equal(parse_body(HEADER2 "then\tturns\n"), 0);
	assert_int_equal(parse_body(HEADER2), 0);
	assert_int_equal(parse_body(HEADER2 "then\tturns\nfirst\tT_0_1\n" HOLDS), 0);
	for (unsigned i = 0; schedule_point_name(i); i++)
		assert_int_equal(schedule_point(schedule_point_name(i)), i);
	assert_int_equal(schedule_point("nowhere"), -1);
}

/* Every prefix and every changed byte is noticed by the checksum. */
static void damaged_files(void **state)
{
	struct finding_set *set = fixture_set();
	struct rd_buf text = RD_BUF_INIT;
	struct schedule s;

	(void)state;
	schedule_format(set->items[0]->schedule, &text);
	for (size_t i = 0; i < text.length; i++) {
		assert_int_equal(schedule_parse(&s, text.data, i, "cut"), RD_EFORMAT);
		schedule_release(&s);
		text.data[i] ^= (char)(1 + i % 255);
		assert_int_equal(schedule_parse(&s, text.data, text.length, "changed"), RD_EFORMAT);
		schedule_release(&s);
		text.data[i] ^= (char)(1 + i % 255);
	}
	rd_buf_release(&text);
	finding_set_free(set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_as_ever), cmocka_unit_test(round_trip),
		cmocka_unit_test(file_round_trip), cmocka_unit_test(good_bodies),
		cmocka_unit_test(bad_bodies),	   cmocka_unit_test(damaged_files),
		cmocka_unit_test(going_on),	   cmocka_unit_test(going_on_inline),
		cmocka_unit_test(meet_nowhere),	   cmocka_unit_test(bad_turns),
		cmocka_unit_test(memory_model),	   cmocka_unit_test(bad_memory),
		cmocka_unit_test(copies),	   cmocka_unit_test(accessed_again),
	};

	rd_log_set(keep_message, last_message);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
