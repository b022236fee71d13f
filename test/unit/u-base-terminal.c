// SPDX-License-Identifier: Apache-2.0
/* Unit tests of texts for a terminal: Raddle's own colours reach it, and no other control
 * characters. */
#include "golden.h"

#include "base/terminal.h"

static void check(const char *in, const char *out)
{
	char *text = rd_xstrdup(in);

	rd_terminal_clean(text, strlen(text));
	assert_string_equal(text, out);
	free(text);
}

static void plain_text_stays(void **state)
{
	(void)state;
	check("", "");
	check("race on x\n\tat bank.c:12, größer\n", "race on x\n\tat bank.c:12, größer\n");
}

static void colours_stay(void **state)
{
	(void)state;
	check("\033[1;31mWARNING\033[0m: x\n", "\033[1;31mWARNING\033[0m: x\n");
	check("\033[1mbold\033[0m", "\033[1mbold\033[0m");
}

/* A name could contain sequences that clear the screen, set a title, or answer in place of the
 * user. */
static void other_sequences_do_not(void **state)
{
	(void)state;
	check("a\033[2Jb", "a?[2Jb");
	check("\033]0;title\007", "?]0;title?");
	check("\033", "?");
	check("x\033\033[1;31my", "x?\033[1;31my"); /* an escape character before a colour */
	check("\033[1;31m\033[5n\033[0m", "\033[1;31m?[5n\033[0m");
	check("back\b\b\r", "back???");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_text_stays),
		cmocka_unit_test(colours_stay),
		cmocka_unit_test(other_sequences_do_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
