/* SPDX-License-Identifier: Apache-2.0 */
/* What `classify` and `check` do with classes. */
#ifndef CMD_CLASSES_H
#define CMD_CLASSES_H

#include "classify/classify.h"
#include "finding/finding.h"

#include <stdio.h>

/* Reads the argument of --fail-on, which may be NULL; `name` is the command's, for the message. */
int cmd_classes_option(const char *text, const char *name, enum finding_class *class);

/* Leaves out what the argument of --without names; NULL: nothing. */
int cmd_classes_techniques(const char *text, struct classify_techniques *techniques);

/* How many runs at a time: as the user says, else one for each core, or one if programs would get into each
 * other's way. */
unsigned cmd_classes_jobs(uint64_t wanted, bool alone);

/* Whether a confirmed finding that is neither known nor hidden is as bad as `class`; FINDING_NO_CLASS: all
 * are.  Deadlocks and failures always are, and so is a race whose class is not known. */
bool cmd_classes_found(const struct finding_set *set, enum finding_class class);

/* The worst first, within each status. */
void cmd_classes_sort(struct finding_set *set);

/* Writes DIR/ID.witness.schedule, .witness-2. and so on. */
int cmd_classes_write_witnesses(struct finding_set *set, const char *directory);

/* How many races have which class. */
void cmd_classes_say(const struct finding_set *set, const struct classify_result *result, FILE *out);

#endif
