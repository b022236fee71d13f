// SPDX-License-Identifier: Apache-2.0
/* Unit tests of finding/suppress.h. */
#include "finding/suppress.h"
#include "finding-fixture.h"

#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static char last_message[256];

static void keep_message(void *context, enum rd_level level, const char *message)
{
	(void)level;
	snprintf(context, 256, "%s", message);
}

static void patterns(void **state)
{
	static const struct {
		const char *pattern, *text;
		bool found;
	} cases[] = {
		{"foo", "a foo b", true},   {"foo", "fo", false},
		{"^foo", "foobar", true},   {"^foo", "a foo", false},
		{"foo$", "a foo", true},    {"foo$", "foo a", false},
		{"^foo$", "foo", true},	    {"^foo$", "foofoo", false},
		{"foo$", "foofoo", true},   {"a*b", "xaxbx", true},
		{"a*b", "b a", false},	    {"^a*b$", "a---b", true},
		{"^a*b$", "a---bc", false}, {"*", "", true},
		{"*", "x", true},	    {"^*$", "", true},
		{"a**b", "ab", true},	    {"a*a", "a", false},
		{"^a*a$", "a", false},	    {"^ab*bc$", "abc", false},
		{"x*y*z", "1x2y3z4", true}, {"x*y*z$", "1x2y3z4", false},
		{"*.c", "/src/a.c:", true}, {"*.c$", "/src/a.c", true},
		{"^$", "", true},	    {"^$", "x", false},
		{"$", "x", true},	    {"^", "x", true},
		{"aab", "aaab", true},	    {"*aab$", "aaab", true},
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		if (suppress_match(cases[i].pattern, cases[i].text) != cases[i].found)
			fail_msg("\"%s\" in \"%s\"", cases[i].pattern, cases[i].text);
}

/* Returns how many findings of the fixture the rules hide. */
static size_t hidden_by(const char *rules)
{
	struct finding_set *set = fixture_set();
	struct suppressions s = SUPPRESSIONS_INIT;

	set->items[0]->accesses[1].stack.frames[1].module = "/usr/lib/libcounter.so";
	set->items[1]->cycle[0].stack.frames[0].module = "/usr/lib/libbank.so";
	assert_int_equal(suppressions_parse(&s, rules, strlen(rules), "rules"), 0);
	size_t hidden = suppressions_apply(&s, set);
	suppressions_release(&s);
	finding_set_free(set);
	return hidden;
}

static void types(void **state)
{
	(void)state;
	assert_int_equal(hidden_by(""), 0);
	assert_int_equal(hidden_by("race:add_one"), 3);
	assert_int_equal(hidden_by("race:^hits$"), 1);
	assert_int_equal(hidden_by("race:src/counter.c"), 3);
	assert_int_equal(hidden_by("race:^worker$"), 3);
	assert_int_equal(hidden_by("race:table_new"), 1);
	assert_int_equal(hidden_by("race:transfer"), 0);
	assert_int_equal(hidden_by("race_top:worker"), 0);
	assert_int_equal(hidden_by("race_top:add_*"), 3);
	assert_int_equal(hidden_by("deadlock:transfer"), 1);
	assert_int_equal(hidden_by("deadlock:add_one"), 0);
	assert_int_equal(hidden_by("mutex:accounts[*].lock"), 1);
	assert_int_equal(hidden_by("mutex:table"), 0);
	assert_int_equal(hidden_by("thread:^adder$"), 4);
	assert_int_equal(hidden_by("signal:*"), 0);
}

static void unused_rules(void **state)
{
	static const char rules[] = "# ours\n\n  race:hits \r\ndeadlock:nothing\n#race:*\nrace:^hits$";
	struct finding_set *set = fixture_set();
	struct suppressions s = SUPPRESSIONS_INIT;

	(void)state;
	assert_int_equal(suppressions_parse(&s, rules, strlen(rules), "rules"), 0);
	assert_int_equal(s.count, 3);
	assert_int_equal(suppressions_apply(&s, set), 1);
	assert_string_equal(set->items[0]->suppressed, "race:hits");
	assert_int_equal(s.rules[0].hits, 1);
	assert_int_equal(s.rules[0].line, 3);
	assert_int_equal(s.rules[1].hits, 0);
	assert_int_equal(s.rules[2].hits, 0);
	assert_string_equal(suppress_type_name(s.rules[1].type), "deadlock");
	suppressions_release(&s);
	finding_set_free(set);
}

/* Generated rules hide the findings they were made for, and no others, whatever the names are. */
static void made_rules(void **state)
{
	struct finding_set *set = fixture_set();
	struct suppressions s = SUPPRESSIONS_INIT;
	struct rd_buf text = RD_BUF_INIT;
	size_t confirmed = finding_set_count(set, FINDING_CONFIRMED, true);

	(void)state;
	set->items[0]->object.name = "evil\nrace:*\n";
	suppressions_make(set, &text);
	assert_int_equal(suppressions_parse(&s, text.data, text.length, "rules"), 0);
	assert_int_equal(s.count, confirmed);
	assert_int_equal(suppressions_apply(&s, set), confirmed);
	for (size_t i = 0; i < set->count; i++)
		assert_int_equal(set->items[i]->suppressed != NULL,
				 set->items[i]->status == FINDING_CONFIRMED);
	/* A finding that is already hidden gets no rule. */
	rd_buf_clear(&text);
	suppressions_make(set, &text);
	assert_int_equal(text.length, 0);
	rd_buf_release(&text);
	suppressions_release(&s);
	finding_set_free(set);
}

static void bad_rules(void **state)
{
	static const char *const cases[] = {
		"called_from_lib:libc.so", "hello", "race", "race:", "Race:x", "races:x", ":x", "ok race:x"};
	struct suppressions s = SUPPRESSIONS_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		char *text = rd_xasprintf("race:a\n%s\n", cases[i]);

		assert_int_equal(suppressions_parse(&s, text, strlen(text), "rules"), RD_EFORMAT);
		assert_non_null(strstr(last_message, "rules: line 2"));
		free(text);
	}
	assert_int_equal(suppressions_parse(&s, "called_from_lib:x", 17, "rules"), RD_EFORMAT);
	assert_non_null(strstr(last_message, "called_from_lib is not supported"));
	assert_int_equal(suppressions_parse(&s, "race:\0", 6, "rules"), RD_EFORMAT);
	assert_int_equal(suppressions_read(&s, "missing"), RD_ESYSTEM);
	suppressions_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns),   cmocka_unit_test(types),	   cmocka_unit_test(unused_rules),
		cmocka_unit_test(made_rules), cmocka_unit_test(bad_rules),
	};

	rd_log_set(keep_message, last_message);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
