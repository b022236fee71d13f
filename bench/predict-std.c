/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures prediction on STD files and prints one line a file and mode: the
 * columns of the tables in the prediction literature (racy events and their
 * lines), and CPU seconds.  Every reported race and deadlock is validated.
 *
 *	predict-std [--deadlocks] [--find] [--window N] FILE...
 */
#include "predict/predict.h"
#include "predict/std.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const struct mode {
	const char *name;
	struct predict_opts o;
} modes[] = {
	{"recorded order", {.sound_only = true, .recorded_order_only = true}},
	{"exact, sound", {.sound_only = true}},
	{"exact, speculative", {.speculative_only = true}},
};

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static size_t count_bad(const struct exec *x, const struct predict_result *r)
{
	size_t bad = 0;

	for (size_t i = 0; i < r->race_count; i++) {
		const struct predict_race *c = &r->races[i];
		uint32_t pair[] = {c->first, c->second};
		bad += predict_validate(x, c->class == PREDICT_SOUND, pair, 2, &c->witness) != NULL;
	}
	for (size_t i = 0; i < r->deadlock_count; i++) {
		const struct predict_deadlock *c = &r->deadlocks[i];
		bad += predict_validate(x, c->class == PREDICT_SOUND, c->stops, c->count, &c->witness) !=
		       NULL;
	}
	return bad;
}

static void measure(const struct exec *x, const struct mode *m, const struct predict_opts *wish)
{
	struct predict_opts o = m->o;
	struct predict_result r;
	double start = cpu_seconds();

	o.no_races = wish->no_races;
	o.no_deadlocks = wish->no_deadlocks;
	o.count_events = wish->count_events;
	o.window = wish->window;
	if (predict_run(x, &o, &r))
		return;
	double used = cpu_seconds() - start;
	const struct predict_stats *s = &r.stats[o.speculative_only];
	printf("  %-18s racy events %6llu (%llu lines), pairs of sites %4zu, deadlocks %3zu, unknown %llu, "
	       "invalid %zu, %.3f s\n",
	       m->name, (unsigned long long)s->racy_events, (unsigned long long)s->racy_sites, r.race_count,
	       r.deadlock_count, (unsigned long long)s->unknown, count_bad(x, &r), used);
	predict_result_release(&r);
}

int main(int argc, char **argv)
{
	struct predict_opts wish = {.no_deadlocks = true, .count_events = true};

	for (int i = 1; i < argc; i++) {
		struct exec x;
		double start = cpu_seconds();

		if (!strcmp(argv[i], "--deadlocks")) {
			wish.no_deadlocks = false;
			wish.no_races = true;
		} else if (!strcmp(argv[i], "--find")) {
			wish.count_events = false;
		} else if (!strcmp(argv[i], "--window") && i + 1 < argc) {
			wish.window = strtoul(argv[++i], NULL, 10);
		} else if (!predict_std_read(&x, argv[i])) {
			double used = cpu_seconds() - start;
			printf("%s: %zu events, read in %.3f s (%.1f M/s)\n", argv[i], x.count, used,
			       x.count / used / 1e6);
			for (size_t m = 0; m < sizeof modes / sizeof *modes; m++)
				measure(&x, &modes[m], &wish);
			exec_release(&x);
		}
	}
	return 0;
}
