// SPDX-License-Identifier: Apache-2.0
/*
 * Classification for a check.  In: confirmed races and, if there is time, some unconfirmed ones.
 * Out: the same races with classes, and witnesses as files.  If the class of a race cannot be
 * determined, the check does not fail.
 */
#include "check/act-int.h"

#include "base/clock.h"
#include "base/error.h"
#include "finding/save.h"
#include "replay/led.h"
#include "run/orphan.h"

#include <stdlib.h>

static void show_progress(void *context, const struct classify_progress *so_far)
{
	check_notify(context, &(struct check_event){.kind = CHECK_CLASSIFY_PROGRESS, .classes = so_far});
}

static int classify(struct check *c, struct replay_led *led)
{
	const struct check_opts *o = c->opts;
	struct replay_program program = {.program = &led->program, .argv = o->argv, .sites = led->sites};
	char *directory = check_path(c, "classes");
	struct classify how = {.runs = check_conditions(c, &program),
			       .directory = directory,
			       .jobs = check_jobs(c),
			       .time_ns = check_left_ns(c->known.end_ns),
			       .confirmed = true,
			       .model = FINDING_SC,
			       .models = o->models,
			       .coherent = o->coherent,
			       .techniques = CLASSIFY_TECHNIQUES,
			       .progress = show_progress,
			       .context = c};
	int err;

	check_notify(c, &(struct check_event){.kind = CHECK_CLASSIFYING});
	err = classify_races(&how, c->set, &c->classes);
	run_orphans_end(NULL, 0);
	check_notify(c, &(struct check_event){.kind = CHECK_CLASSIFIED});
	free(directory);
	return err;
}

int check_do_classify(struct check *c)
{
	struct run_build build = c->opts->build;
	struct replay_led led;
	int err, wrong = RD_OK;

	RD_ASSERT(c->known.races);
	build.end_ns = c->known.end_ns;
	build.edits = c->edits.lines;
	err = replay_led_open(&led, c->opts->argv[0], &build);
	if (!err)
		wrong = err = check_edits_find(&c->edits, led.sites, true);
	if (!err)
		err = classify(c, &led);
	if (err && !wrong)
		rd_warn("the races could not be classified");
	if (!err)
		check_edits_warn(&c->edits, c->classes.edits);
	replay_led_close(&led);
	return wrong ? wrong : finding_save_witnesses(c->set, c->claim.path);
}
