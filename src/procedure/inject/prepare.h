/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the user's options into the setup of a campaign.  Errors name the options of `raddle
 * inject`. */
#ifndef INJECT_PREPARE_H
#define INJECT_PREPARE_H

#include "inject/choose.h"
#include "inject/setup.h"

#define INJECT_SEED_CHANCE UINT64_MAX
/* Returns `wanted`, the user's seed.  If it is INJECT_SEED_CHANCE, returns a random seed that is
 * short enough to be typed. */
uint64_t inject_seed(uint64_t wanted);

/* Returns the name that an input file has in the directories of runs.  A path below the current
 * directory stays as it is.  For other paths, the name is their last component.  The result points
 * into `path`. */
const char *inject_input_name(const char *path);

/* Returns the number of runs to do at the same time on a machine with `processors` processors. */
unsigned inject_jobs(unsigned processors);

/* Sets the files of a run.  `inputs` is a comma-separated list of files that are copied to its
 * directory, and `input` is the file that becomes its standard input.  Both may be NULL.  Warns
 * about arguments in s->argv that name files in the current directory but would not exist in the
 * directory of the run. */
int inject_prepare_files(struct inject_setup *s, const char *inputs, const char *input);

/* Fails if `sampling`, `keep` or `level` of the setup is not one of the known words. */
int inject_check_words(const struct inject_setup *s);

#define INJECT_RUNS_UNSET UINT64_MAX
/* Sets the number of runs of each kind and the stopping rule.  `until` is the stopping rule, such
 * as "1%" (inject/until-int.h), or NULL.  It applies to the share of `outcome`; NULL means sdc.
 * `runs` is the user's number of runs, or INJECT_RUNS_UNSET.  If it is unset, the setup gets as
 * many runs as `until` may need, or 1 if `until` is NULL. */
int inject_prepare_runs(struct inject_setup *s, uint64_t runs, const char *until, const char *outcome);

/* Selects the kinds of a campaign.  `faults` is a list of kinds and groups.  A kind in this list is
 * selected if it applies to some place that the program executes.  If a kind does not apply
 * although the list contains its own name, that is an error. */
int inject_prepare_kinds(struct inject_setup *s, const struct inject_ground *ground, const char *faults);

#endif
