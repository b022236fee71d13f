// SPDX-License-Identifier: Apache-2.0
/*
 * Further schedules.  In: a program, and the findings so far.  Out: failures that exploration
 * found, and findings of runs that were recorded under such schedules.  New findings are tried in
 * every way; known ones are replayed once, with the new schedule.
 */
#include "check/act-int.h"

#include "base/clock.h"
#include "base/error.h"
#include "explore/known.h"
#include "explore/sighted.h"
#include "record/prepare.h"
#include "replay/led.h"
#include "run/jobs.h"

#include <stdlib.h>

/* ---- findings of a further run ---- */

/* Chooses some of the findings of a further run: if `fresh` is true, the new ones, and otherwise
 * those that are known but not confirmed. */
static struct finding_set *choose(struct check *c, const struct finding_set *seen, bool fresh)
{
	struct finding_set *some = finding_set_new();

	for (size_t i = 0; i < seen->count; i++) {
		struct finding *f = seen->items[i];
		const struct finding *before = finding_at(c->set, f->fingerprint);

		if (fresh ? !before : before && before->status != FINDING_CONFIRMED && f->schedule)
			finding_set_put(some, f);
	}
	check_make_part(c, some);
	check_keep(c, some);
	return some;
}

static bool has_replays(const struct check *c)
{
	return !c->opts->no_replay && !c->settled.interrupted;
}

/* Repeats the run from which findings were predicted.  Even if their threads did not meet in
 * replays, the detector may see that the accesses are unordered. */
static int look_again(struct check *c, const struct finding_set *seen, const struct schedule *made,
		      int64_t end_ns)
{
	struct finding_set *some = explore_look_again(seen, c->set, made);
	int err = RD_OK;

	check_make_part(c, some);
	check_keep(c, some);
	if (some->count && has_replays(c))
		err = check_replay(c, some, true, end_ns);
	check_put_confirmed(c->set, some);
	return err;
}

static int try_fresh(struct check *c, struct finding_set *fresh, int64_t end_ns)
{
	int err = check_filter(c, fresh);

	c->further.fresh += fresh->count;
	if (!err && fresh->count && !c->opts->no_replay)
		err = check_replay(c, fresh, false, end_ns);
	for (size_t i = 0; i < fresh->count && !err; i++)
		finding_set_put(c->set, fresh->items[i]);
	return err;
}

/* Tries all findings of a further run.  Sets *any if something is new or newly confirmed. */
static int try_all(struct check *c, const struct finding_set *seen, const struct schedule *made,
		   int64_t end_ns, bool *any)
{
	struct finding_set *fresh = choose(c, seen, true), *old = choose(c, seen, false);
	size_t before = finding_set_count(c->set, FINDING_CONFIRMED, false);
	int err;

	*any = fresh->count > 0;
	err = try_fresh(c, fresh, end_ns);
	if (!err && old->count && has_replays(c))
		err = check_replay(c, old, true, end_ns);
	check_put_confirmed(c->set, old);
	if (!err)
		err = look_again(c, seen, made, end_ns);
	finding_set_finish(c->set);
	*any |= finding_set_count(c->set, FINDING_CONFIRMED, false) > before;
	return err;
}

/* ---- running ---- */

static struct replay_conditions runs_of(const struct check *c, const struct replay_program *program,
					int64_t end_ns)
{
	struct replay_conditions runs = check_conditions(c, program);

	runs.deadline_ns = end_ns;
	runs.no_world = false;
	if (c->known.is_endless)
		runs.recorded_ns = 0;
	return runs;
}

static int record(struct check *c, const struct explore *how, int64_t end_ns,
		  const struct explore_racy *which)
{
	struct finding_set *seen = finding_set_new();
	char *path = check_trace_path(c, c->recorded.run_count + c->further.runs);
	struct schedule made = {0};
	bool counts = false, any = false;
	int err = record_prepare_directory(path, true);

	check_keep(c, seen);
	if (!err)
		err = explore_record(how, which, path, &counts, &made);
	if (!err && counts)
		err = predict_batch_again(&c->predicted.batch, path, seen);
	if (!err && counts)
		err = try_all(c, seen, &made, end_ns, &any);
	further_took(&c->further, any);
	schedule_release(&made);
	free(path);
	return err;
}

/* Names the program in the set.  If further schedules come before prediction, no trace that names
 * it has been read yet. */
static void name_program(struct check *c)
{
	char **argv = c->opts->argv;

	if (c->set->argc)
		return;
	while (argv[c->set->argc])
		c->set->argc++;
	c->set->argv = finding_array(c->set, c->set->argc, sizeof *c->set->argv);
	for (size_t i = 0; i < c->set->argc; i++)
		c->set->argv[i] = finding_text(c->set, argv[i]);
	c->set->tool = RADDLE_VERSION;
	check_mark_means(c, c->set);
}

static void prepare(struct check *c)
{
	RD_ASSERT(!c->predicted.pass);
	if (c->known.is_endless)
		name_program(c);
	c->predicted.batch.deadline_ns = c->predicted.batch.latest_ns = c->known.end_ns;
}

int check_do_further(struct check *c, const struct check_action *a)
{
	struct explore_racy which;
	struct trace_sites *sites = NULL;
	int err = trace_sites_read(&sites, c->program.flavour.sites);
	struct replay_program program = {.program = &c->program, .argv = c->opts->argv, .sites = sites};
	struct explore how = {.runs = runs_of(c, &program, a->end_ns),
			      .seed = c->opts->seed,
			      .strategy = c->opts->strategy};
	bool has_next = further_next(&c->further, &which);

	RD_ASSERT(has_next);
	prepare(c);
	if (!err)
		err = record(c, &how, a->end_ns, &which);
	trace_sites_free(sites);
	return err;
}

int check_do_explore(struct check *c, const struct check_action *a)
{
	const struct check_opts *o = c->opts;
	struct run_build build = o->build;
	struct replay_led led;
	struct replay_program program = {.program = &led.program, .argv = o->argv};
	struct explore how = {.runs = runs_of(c, &program, c->known.end_ns),
			      .jobs = run_jobs(o->jobs, false),
			      .seed = o->seed,
			      .quiet = FURTHER_QUIET,
			      .strategy = o->strategy,
			      .suggested = c->set,
			      .go_on = true};
	int err;

	prepare(c);
	build.end_ns = a->end_ns;
	err = replay_led_open(&led, o->argv[0], &build);
	program.sites = led.sites;
	how.time_ns = check_left_ns(a->end_ns); /* making the flavour took some of the time */
	if (!err)
		err = explore_run(&how, c->set, &c->explored);
	if (!err) {
		further_choose(&c->further, &c->explored, c->set, led.sites);
		check_keep(c, c->sighted = explore_sighted(&c->explored, led.sites));
	}
	c->settled.interrupted |= c->explored.stop == EXPLORE_INTERRUPTED;
	replay_led_close(&led);
	return err;
}

/* Merges the results of further runs.  Even if such runs could not be made, the check does not
 * fail. */
void check_do_end_further(struct check *c)
{
	if (c->known.is_endless)
		name_program(c);
	if (c->known.further_failed)
		rd_warn("further schedules could not be examined");
	explore_put_sighted(c->set, c->sighted);
	explore_leave_known(c->set, c->known.is_endless);
	finding_set_finish(c->set);
}
