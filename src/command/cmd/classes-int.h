/* SPDX-License-Identifier: Apache-2.0 */
/* What `classify` and `check` do with classes. */
#ifndef CMD_CLASSES_INT_H
#define CMD_CLASSES_INT_H

#include "base/progress.h"
#include "classify/classify.h"
#include "finding/finding.h"
#include "replay/led.h"

/* Reads the argument of --fail-on, which may be NULL; `name` is the command's, for the message. */
int cmd_classes_option(const char *text, const char *name, enum finding_class *class);

/* Memory models by their names, as bits; NULL: none.  The names of the command and the option are
 * for messages. */
int cmd_classes_models(const char *text, const char *name, const char *option, unsigned *models);

/* Draws how far classification is. */
void cmd_classes_progress(struct rd_progress *progress, const struct classify_progress *so_far);

/* Classifies the races of the set with a line of progress, unless `quiet`.  `program`, progress and
 * context of `how` are set here. */
int cmd_classes_run(struct replay_led *p, struct classify how, char **argv, struct finding_set *set,
		    struct classify_result *result);

/* What classification counted, for the statistics of the set. */
void cmd_classes_stats(struct finding_set *set, const struct classify_result *result);

#endif
