// SPDX-License-Identifier: Apache-2.0
/*
 * The stories of a check (sketch/story.h): for each bug, a run that shows it is made again and its
 * steps are recorded.  In: the findings.  Out: their steps.  A bug without a story is reported
 * nevertheless.
 */
#include "check/act-int.h"

#include "base/error.h"
#include "replay/led.h"
#include "sketch/story.h"

void check_do_stories(struct check *c)
{
	struct run_build build = c->opts->build;
	struct replay_led led = {0};
	int err;

	if (!story_has_any(c->set))
		return; /* the flavour need not be built */
	build.end_ns = c->known.end_ns;
	build.edits = c->edits.lines;
	err = replay_led_open(&led, c->opts->argv[0], &build);
	if (!err) {
		struct replay_program program = {
			.program = &led.program, .argv = c->opts->argv, .sites = led.sites};
		struct replay_conditions runs = check_conditions(c, &program);

		story_tell(&runs, c->set);
	}
	replay_led_close(&led);
}
