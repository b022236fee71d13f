/* SPDX-License-Identifier: Apache-2.0 */
/* What `classify` and `check` do with classes. */
#ifndef CMD_CLASSES_H
#define CMD_CLASSES_H

#include "classify/classify.h"
#include "finding/finding.h"
#include "run/program.h"
#include "trace/sites.h"

#include <stdio.h>

/* Reads the argument of --fail-on, which may be NULL; `name` is the command's, for the message. */
int cmd_classes_option(const char *text, const char *name, enum finding_class *class);

/* Leaves out what the argument of --without names; NULL: nothing. */
int cmd_classes_techniques(const char *text, struct classify_techniques *techniques);

/* Memory models by their names, as bits; NULL: none.  The names of the command and the option are for
 * messages. */
int cmd_classes_models(const char *text, const char *name, const char *option, unsigned *models);

/* How many runs at a time: as the user says, else one for each core, or one if programs would get into each
 * other's way. */
unsigned cmd_classes_jobs(uint64_t wanted, bool alone);

/* The flavour of the program that classification runs, and its sites. */
struct cmd_classes_program {
	struct run_program program;
	struct trace_sites *sites;
};
int cmd_classes_open(struct cmd_classes_program *p, const char *name, const struct run_build *how);
void cmd_classes_close(struct cmd_classes_program *p);

/* Classifies the races of the set with a line of progress, unless `quiet`.  `program`, progress and context
 * of `how` are set here. */
int cmd_classes_run(struct cmd_classes_program *p, struct classify how, char **argv, struct finding_set *set,
		    struct classify_result *result);

/* Whether a confirmed finding that is neither known nor hidden is as bad as `class`; FINDING_NO_CLASS: all
 * are.  Deadlocks and failures always are, and so is a race whose class is not known. */
bool cmd_classes_found(const struct finding_set *set, enum finding_class class);

/* The worst first, within each status. */
void cmd_classes_sort(struct finding_set *set);

/* Writes DIR/ID.witness.schedule, .witness-2. and so on. */
int cmd_classes_write_witnesses(struct finding_set *set, const char *directory);

/* How many races have which class; and a line for each of those that were told before they had one. */
void cmd_classes_say(const struct finding_set *set, const struct classify_result *result, FILE *out);

/* What classification counted, for the statistics of the set. */
void cmd_classes_stats(struct finding_set *set, const struct classify_result *result);

#endif
