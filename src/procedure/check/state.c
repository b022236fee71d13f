// SPDX-License-Identifier: Apache-2.0
/*
 * The state of a check (state.h).  In: the results of actions.  Out: the form in which the budget
 * and later actions need them.  A finding lives as long as the set that made it, so sets are kept
 * until the end.
 */
#include "check/state.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/file.h"
#include "check/check.h"
#include "run/forward.h"
#include "run/jobs.h"
#include "run/launch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* ---- what the budget needs ---- */

static uint64_t count_confirmed_races(const struct finding_set *set)
{
	uint64_t races = 0;

	for (size_t i = 0; i < set->count; i++)
		races += set->items[i]->kind == FINDING_RACE && set->items[i]->status == FINDING_CONFIRMED;
	return races;
}

static void refresh_first_run(struct check_known *k, const struct check_run *first)
{
	k->events = first->ending.events;
	k->is_endless = check_ending_busy(&first->ending);
	k->is_cut = first->ending.stopped != NULL;
	k->is_deadlocked = first->deadlock != NULL;
	k->has_exited = WIFEXITED(first->ending.end.status);
}

void check_refresh(struct check *c)
{
	struct check_known *k = &c->known;
	struct explore_racy which;

	k->now_ns = rd_now_ns();
	k->run_interrupted = run_forward_asked() != 0;
	k->interrupted = c->settled.interrupted;
	k->runs = c->recorded.run_count;
	if (k->recorded)
		refresh_first_run(k, &c->recorded.runs[0]);
	k->predicted_events = c->predicted.batch.events;
	k->parts = c->predicted.batch.parts;
	k->threads = c->predicted.batch.threads;
	k->forked = c->recorded.forked;
	k->has_further = further_next(&c->further, &which);
	k->races = count_confirmed_races(c->set);
}

/* ---- paths ---- */

char *check_path(const struct check *c, const char *name)
{
	size_t length;

	RD_ASSERT(c->claim.path);
	length = strlen(c->claim.path);
	return rd_xasprintf("%s%s%s", c->claim.path, c->claim.path[length - 1] == '/' ? "" : "/", name);
}

char *check_trace_path(const struct check *c, uint64_t n)
{
	char *name = n ? rd_xasprintf("trace-%ju", (uintmax_t)n + 1) : rd_xstrdup("trace");
	char *path = check_path(c, name);

	free(name);
	return path;
}

/* ---- sets ---- */

void check_keep(struct check *c, struct finding_set *set)
{
	RD_GROW(c->kept, c->kept_capacity, c->kept_count + 1);
	c->kept[c->kept_count++] = set;
}

/* Converts milliseconds to seconds, rounding up. */
static uint64_t seconds_of(uint64_t ms)
{
	return ms / 1000 + (ms % 1000 != 0);
}

void check_mark_means(const struct check *c, struct finding_set *set)
{
	set->stdin_path = c->input.shown;
	set->with = c->opts->with;
	set->setup = c->opts->setup;
	set->plugins = c->opts->build.plugins;
	set->timeout = seconds_of(c->opts->timeout_ms);
}

void check_make_part(const struct check *c, struct finding_set *some)
{
	some->tool = RADDLE_VERSION;
	some->argc = c->set->argc;
	some->argv = c->set->argv;
	check_mark_means(c, some);
}

static void put_confirmed(struct finding_set *set, struct finding *f)
{
	for (size_t i = 0; i < set->count; i++) {
		struct finding *before = set->items[i];

		finding_identify(before);
		if (finding_is_reproduced(before) || strcmp(before->fingerprint, f->fingerprint) != 0)
			continue;
		f->count = before->count;
		set->items[i] = f;
		return;
	}
}

void check_put_confirmed(struct finding_set *set, const struct finding_set *some)
{
	for (size_t i = 0; i < some->count; i++)
		if (some->items[i]->status == FINDING_CONFIRMED)
			put_confirmed(set, some->items[i]);
}

int check_filter(const struct check *c, struct finding_set *set)
{
	return finding_filter(&c->opts->filter, set, false);
}

/* ---- limits and conditions of runs ---- */

int64_t check_left_ns(int64_t end_ns)
{
	int64_t left = end_ns - rd_now_ns();

	return !end_ns ? 0 : left > RD_NS_PER_S ? left : RD_NS_PER_S;
}

struct replay_conditions check_conditions(const struct check *c, const struct replay_program *program)
{
	return (struct replay_conditions){.program = program,
					  .input = &c->input,
					  .companion = c->opts->with,
					  .setup = c->opts->setup,
					  .shared = c->shared,
					  .kernel_threads = c->opts->kernel_threads,
					  .no_snapshots = c->opts->no_snapshots,
					  .limit_ns = rd_ms_to_ns(c->opts->timeout_ms),
					  .recorded_ns = rd_ms_to_ns(c->known.recorded_ms),
					  .no_world = c->opts->no_world};
}

unsigned check_jobs(const struct check *c)
{
	return run_jobs(c->opts->jobs, c->opts->with || c->opts->setup);
}
