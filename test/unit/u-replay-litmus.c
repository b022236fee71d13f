// SPDX-License-Identifier: Apache-2.0
/*
 * Litmus tests under the real runtime.  test/prog/litmus.c runs in the flavour `led`, once for each
 * list of choices, and its output is compared with the slow reference of litmus.h.  The search is
 * exhaustive, so the two sets of outcomes must be equal.
 *
 *   u-replay-litmus                     runs a few tests in all models; with $RADDLE_LONG, all
 *                                       tests of two threads
 *   u-replay-litmus MODEL RUNS TEXT...  runs these tests and prints figures (bench/litmus), with at
 *                                       most RUNS runs each (0: all)
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "led-program.h"
#include "litmus.h"

#include "base/error.h"
#include "replay/replay.h"
#include "replay/search.h"

#include <sys/mman.h>
#include <unistd.h>

static struct led_program led;

static int build(void **state)
{
	(void)state;
	return build_led(&led, "litmus", "litmus.c");
}

static bool is_shared(const struct trace_site *s)
{
	return trace_site_accesses(s) &&
	       (!strcmp(s->function, "look") || !strcmp(s->function, "put") || !strcmp(s->function, "swap"));
}

/* Makes all shared accesses of the program obey the model, and watches them, so that threads can be
 * stopped there. */
static void add_sites(struct schedule *s)
{
	for (size_t u = 0; u < led.sites->unit_count; u++)
		for (size_t i = 0; i < led.sites->units[u].site_count; i++) {
			const struct trace_site *site = &led.sites->sites[led.sites->units[u].site + i];
			uint32_t number = trace_sites_number(led.sites, u, site);
			struct schedule_track *t;
			struct schedule_watch *w;

			if (!is_shared(site))
				continue;
			t = schedule_add_track(s);
			t->site = number;
			t->write = trace_site_writes(site);
			w = schedule_add_watch(s);
			w->site = number;
			w->reads = w->writes = true;
		}
}

/* Runs the program once, and stores its outcome.  The choices of the run become those of the
 * search. */
static void run_once(const struct schedule *s, char **argv, struct replay_search *search, char *said)
{
	const struct replay_program p = {&led.program, led.sites, argv};
	const int streams[] = {STDIN_FILENO, led.output, STDERR_FILENO};
	struct replay_request request = {.program = &p, .schedule = s, .streams = streams, .explore = search};
	struct replay_result result = {0};
	ssize_t n;

	if (ftruncate(led.output, 0) || lseek(led.output, 0, SEEK_SET))
		fail();
	assert_int_equal(replay_run(&request, &result), RD_OK);
	assert_int_equal(result.end, REPLAY_EXITED);
	assert_int_equal(result.status, 0);
	if (result.turns.strayed)
		fail_msg("%s", result.turns.strayed);
	assert_null(result.memory.over);
	assert_true(result.memory.complete);
	n = pread(led.output, said, LITMUS_SAID - 1, 0);
	said[n > 0 ? n - 1 : 0] = '\0';
	replay_search_took(search, &result.memory);
	replay_result_release(&result);
}

static size_t most; /* maximum number of runs of a test; 0: all */

/* Explores all choices.  Returns whether the search reached its end. */
static bool explore(const char *text, enum raddle_memory_model model, struct litmus_set *out, size_t *runs)
{
	struct replay_search search = {0};
	char *argv[] = {"./litmus", (char *)text, NULL}, said[LITMUS_SAID];
	struct schedule s;
	bool more;

	schedule_init(&s);
	s.turns = true;
	s.flavour = "led";
	s.memory = litmus_models[model];
	add_sites(&s);
	do {
		run_once(&s, argv, &search, said);
		litmus_add(out, said);
		more = replay_search_next(&search);
	} while (more && (!most || search.runs < most));
	*runs = search.runs;
	schedule_release(&s);
	replay_search_release(&search);
	return !more;
}

static void show(const char *name, const struct litmus_set *s)
{
	fprintf(stderr, "  %s:", name);
	for (size_t i = 0; i < s->count; i++)
		fprintf(stderr, " %s", s->items[i]);
	fprintf(stderr, "\n");
}

enum { OUTSIDE, WITHIN, EQUAL };

/* Compares the outcomes with those that the model allows.  Counts the runs of the program in
 * *runs. */
static int compare(const char *name, const char *text, enum raddle_memory_model model, size_t *runs)
{
	struct litmus_set found = {0}, expected = {0};
	struct litmus l;
	bool all;
	int result;

	assert_true(litmus_parse(&l, text));
	litmus_twin(&l, model, &expected);
	all = explore(text, model, &found, runs);
	result = !litmus_within(&found, &expected)  ? OUTSIDE
		 : litmus_within(&expected, &found) ? EQUAL
						    : WITHIN;
	if (result == OUTSIDE || (all && result != EQUAL)) {
		result = OUTSIDE;
		fprintf(stderr, "%s under %s\n", name, litmus_models[model]);
		show("found", &found);
		show("expected", &expected);
	}
	litmus_release(&found);
	litmus_release(&expected);
	return result;
}

/* Whether a test belongs to the short form.  The tests of the short form contain every kind of
 * operation and show all differences between the models. bench/litmus runs those with more
 * threads. */
static bool is_chosen(const char *name, const char *text)
{
	static const char *const names[] = {"SB",	    "SB+mfences", "SB+xchgs", "MP",
					    "MP+sfence+po", "CoRR",	  "CoWR"};
	const char *bar = strchr(text, '|');

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i], name))
			return true;
	return getenv("RADDLE_LONG") && (!bar || !strchr(bar + 1, '|'));
}

static void exhaustive(void **state)
{
	size_t runs;

	(void)state;
	for (size_t i = 0; i < LITMUS_COUNT; i++)
		for (unsigned model = 0;
		     is_chosen(litmus_tests[i].name, litmus_tests[i].text) && model < RADDLE_MEMORY_MODELS;
		     model++)
			assert_int_equal(compare(litmus_tests[i].name, litmus_tests[i].text, model, &runs),
					 EQUAL);
}

/* Prints figures for the tests of the command line. */
static int measure(int argc, char **argv)
{
	static const char *const words[] = {"OUTSIDE", "within", "equal"};
	size_t runs, outside = 0;
	int model = 0;

	while (model < RADDLE_MEMORY_MODELS && strcmp(argv[1], litmus_models[model]) != 0)
		model++;
	if (model == RADDLE_MEMORY_MODELS || build(NULL))
		return 2;
	most = strtoul(argv[2], NULL, 10);
	for (int i = 3; i < argc; i++) {
		int result = compare(argv[i], argv[i], model, &runs);

		printf("%s\t%s\t%zu\t%s\n", argv[1], words[result], runs, argv[i]);
		fflush(stdout);
		outside += result == OUTSIDE;
	}
	return outside != 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(exhaustive)};

	return argc > 3 ? measure(argc, argv) : cmocka_run_group_tests(tests, build, NULL);
}
