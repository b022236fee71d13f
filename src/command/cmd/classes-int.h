/* SPDX-License-Identifier: Apache-2.0 */
/* Options and texts about classes, for `classify` and `check`. */
#ifndef CMD_CLASSES_INT_H
#define CMD_CLASSES_INT_H

#include "base/progress.h"
#include "classify/classify.h"
#include "finding/finding.h"
#include "replay/led.h"

/* Reads the argument of --fail-on, which may be NULL.  `name` is the name of the command, for
 * messages. */
int cmd_classes_option(const char *text, const char *name, enum finding_class *class);

/* Converts a list of names of memory models to a bit mask.  NULL is treated as an empty list.
 * `name` is the command and `option` is its option; both are used in messages. */
int cmd_classes_models(const char *text, const char *name, const char *option, unsigned *models);

/* Shows the progress of a classification. */
void cmd_classes_progress(struct rd_progress *progress, const struct classify_progress *so_far);

/* Classifies the races of the set, and shows a progress line meanwhile.  This function sets the
 * members `runs.program`, `progress` and `context` of `how`. */
int cmd_classes_run(struct replay_led *p, struct classify how, char **argv, struct finding_set *set,
		    struct classify_result *result);

/* Adds the counts of a classification to the statistics of the set. */
void cmd_classes_stats(struct finding_set *set, const struct classify_result *result);

#endif
