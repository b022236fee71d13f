// SPDX-License-Identifier: Apache-2.0
/* Unit tests of trace/std-line.h: randomly assembled lines are split into their original parts, and
 * for damaged lines a reason is reported. */
#include "trace/std-line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static const char *const needs_operand[] = {
	"r",	     "w",      "acq",	    "rel",   "req",   "fork",	 "join", "wait",  "notify",
	"notifyAll", "signal", "broadcast", "wake",  "cwait", "tryacq",	 "busy", "rdacq", "wracq",
	"tryrd",     "trywr",  "rwrel",	    "enter", "exit",  "seminit", "post", "take",  "trytake",
	"run",	     "pass",   "lr",	    "ar",    "ara",   "aw",	 "awr",	 "au",	  "aua"};
static const char *const stands_alone[] = {"begin", "end", "dummy"};
#define COUNT(a) (sizeof(a) / sizeof *(a))

static bool is(struct std_span s, const char *text)
{
	return std_span_equal(s, (struct std_span){text, strlen(text)});
}

static enum std_verdict parse(const char *text, struct std_line *line, const char **why)
{
	const char *p = text;
	enum std_verdict v = std_line_parse(&p, text + strlen(text), line, why);

	assert_ptr_equal(p, text + strlen(text));
	return v;
}

/* ---- random lines ---- */

static const char *blanks(void)
{
	static const char *const some[] = {"", "", "", " ", "\t", "  \t"};

	return some[rand() % COUNT(some)];
}

static const char *name(void)
{
	static const char *const some[] = {"T1", "x", "a.b[3]", "\xc3\xa4", "java/lang/Object.f",
					   "-1", ")", "0"};

	return some[rand() % COUNT(some)];
}

struct made {
	const char *thread, *operation, *operand, *place;
	char text[256];
};

static void make(struct made *m)
{
	bool alone = rand() % 5 == 0;
	const char *end = rand() % 3 ? "" : "\r";

	m->thread = name();
	m->operation = alone ? stands_alone[rand() % COUNT(stands_alone)]
			     : needs_operand[rand() % COUNT(needs_operand)];
	m->operand = alone ? "" : name();
	m->place = rand() % 4 ? name() : NULL;
	snprintf(m->text, sizeof m->text, "%s%s%s|%s%s%s%s%s%s%s%s%s%s%s", blanks(), m->thread, blanks(),
		 blanks(), m->operation, alone ? "" : "(", alone ? "" : blanks(), m->operand,
		 alone ? "" : blanks(), alone ? "" : ")", m->place ? blanks() : "", m->place ? "|" : "",
		 m->place ? m->place : "", end);
}

static void check(const struct made *m, const struct std_line *line)
{
	assert_true(is(line->thread, m->thread));
	assert_string_equal(line->operation->name, m->operation);
	assert_true(is(line->operand, m->operand));
	assert_true(is(line->place, m->place ? m->place : ""));
}

static void lines_come_apart(void **state)
{
	(void)state;
	srand(11);
	for (int round = 0; round < 20000; round++) {
		struct std_line line;
		struct std_span thread;
		struct made m;
		const char *why, *p = m.text;

		make(&m);
		assert_int_equal(parse(m.text, &line, &why), STD_EVENT);
		assert_null(why);
		check(&m, &line);
		assert_true(std_line_thread(&p, m.text + strlen(m.text), &thread));
		assert_true(std_span_equal(thread, line.thread));
	}
}

/* A text of many lines, some of which are not events, is read line by line. */
static void texts_are_taken_line_by_line(void **state)
{
	static char text[64 * 300];
	struct made made[64];

	(void)state;
	srand(12);
	for (int round = 0; round < 200; round++) {
		size_t length = 0, events = 0;
		const char *p = text, *end, *why;

		for (int i = 0; i < 64; i++) {
			make(&made[i]);
			length += (size_t)sprintf(text + length, "%s%s\n", rand() % 4 ? "" : "\n",
						  made[i].text);
			if (rand() % 6 == 0)
				length += (size_t)sprintf(text + length, "   at java.lang.Thread.run:12\n");
		}
		end = text + length;
		while (p < end) {
			struct std_line line;
			enum std_verdict v = std_line_parse(&p, end, &line, &why);

			assert_int_not_equal(v, STD_BAD);
			if (v == STD_EVENT)
				check(&made[events++], &line);
		}
		assert_int_equal(events, 64);
	}
}

/* Whatever the bytes are, parts are within their line, and reading continues with the next line. */
static void any_bytes_are_survived(void **state)
{
	static const char letters[] = "T|r(x)acq \t\r\n,0\xff";

	(void)state;
	srand(13);
	for (int round = 0; round < 50000; round++) {
		char text[40];
		size_t length = (size_t)rand() % sizeof text;
		const char *p = text, *end = text + length, *before, *why;

		for (size_t i = 0; i < length; i++)
			/* including the terminating NUL */
			text[i] = letters[(size_t)rand() % sizeof letters];
		while (p < end) {
			struct std_line line;
			enum std_verdict v;

			before = p;
			v = std_line_parse(&p, end, &line, &why);
			assert_true(p > before && p <= end);
			assert_int_equal(v == STD_BAD, why != NULL);
			if (v != STD_EVENT)
				continue;
			assert_true(line.thread.n && line.thread.p >= before &&
				    line.thread.p + line.thread.n <= p);
			assert_true(line.place.p >= before && line.place.p + line.place.n <= p);
			assert_true(line.operand.p >= before && line.operand.p + line.operand.n <= p);
			assert_null(memchr(line.thread.p, '\n', line.thread.n));
		}
	}
}

/* ---- hand-made lines ---- */

static void what_is_wrong_is_said(void **state)
{
	static const struct {
		const char *text, *why;
	} cases[] = {
		{"T1", "not of the form"},	     {"T1|fly(x)|1", "unknown operation"},
		{"T1||1", "unknown operation"},	     {"T1|R(x)|1", "unknown operation"},
		{"T1|r(x|1", "closing parenthesis"}, {"T1|r()|1", "needs an operand"},
		{"T1|r|1", "needs an operand"},	     {"T1|fork|1", "needs an operand"},
		{"|r(x)|1", "empty thread name"},    {"T 1|r(x)|1", "a blank"},
		{"T1|r(x y)|1", "a blank"},	     {"T1|r(x)|1|2", "more than three fields"},
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct std_line line;
		const char *why;

		assert_int_equal(parse(cases[i].text, &line, &why), STD_BAD);
		assert_non_null(strstr(why, cases[i].why));
	}
}

static void lines_that_are_no_events(void **state)
{
	static const char *const texts[] = {"", " ", "\r", "\t\tat Object.wait", "  "};
	struct std_line line;
	struct std_span thread;
	const char *why;

	(void)state;
	for (size_t i = 0; i < COUNT(texts); i++) {
		const char *p = texts[i];

		assert_int_equal(parse(texts[i], &line, &why), STD_NO_EVENT);
		assert_null(why);
		assert_false(std_line_thread(&p, texts[i] + strlen(texts[i]), &thread));
	}
}

static void two_operands(void **state)
{
	static const struct {
		const char *both, *first, *second; /* first NULL: the two cannot be separated */
	} cases[] = {{"c,m", "c", "m"},	 {"c,m,n", "c", "m,n"}, {"c", NULL, NULL},   {",m", NULL, NULL},
		     {"c,", NULL, NULL}, {"a b,m", NULL, NULL}, {"c, m", NULL, NULL}};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct std_span both = {cases[i].both, strlen(cases[i].both)}, first, second;

		assert_int_equal(std_line_split(both, &first, &second), cases[i].first != NULL);
		if (cases[i].first)
			assert_true(is(first, cases[i].first) && is(second, cases[i].second));
	}
}

/* The word for an event in an export is read as the same event again. */
static void words_lead_back(void **state)
{
	(void)state;
	for (int failed = 0; failed < 2; failed++)
		for (unsigned event = 0; event < 256; event++) {
			const char *word = std_word((enum raddle_event)event, failed), *why;
			struct std_line line;
			char text[64];

			if (strcmp(word, "dummy") == 0)
				continue;
			snprintf(text, sizeof text, "T|%s(x)", word);
			assert_int_equal(parse(text, &line, &why), STD_EVENT);
			assert_int_equal(line.operation->event, event);
			assert_int_equal(line.operation->action == STD_BUSY, failed);
			assert_true(std_operation_number(line.operation) < STD_OPERATIONS_MAX);
		}
	assert_string_equal(std_word(RADDLE_MUTEX_TRYLOCK, false), "tryacq");
	assert_string_equal(std_word(RADDLE_MUTEX_TRYLOCK, true), "busy");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_come_apart),	    cmocka_unit_test(texts_are_taken_line_by_line),
		cmocka_unit_test(any_bytes_are_survived),   cmocka_unit_test(what_is_wrong_is_said),
		cmocka_unit_test(lines_that_are_no_events), cmocka_unit_test(two_operands),
		cmocka_unit_test(words_lead_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
