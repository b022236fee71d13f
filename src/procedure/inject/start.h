/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares the start of a campaign: program, kinds of faults, setup and directory, new or read from
 * an existing campaign. */
#ifndef INJECT_START_H
#define INJECT_START_H

#include "inject/choose.h"
#include "inject/golden.h"
#include "inject/fault-model.h"
#include "inject/setup.h"
#include "run/program.h"

struct inject_start {
	struct run_program program;
	struct inject_fault_models models;
	struct inject_setup setup;
	char *directory;
	bool temporary;
	bool discard; /* nothing in the directory is worth keeping, so it is removed at the end */
};

void inject_start_release(struct inject_start *c);

/* Registers the faults that the user describes in a file as kinds.  The setup keeps the text of the
 * file.  If the file is NULL, does nothing. */
int inject_start_models(struct inject_start *c, const char *file);

/* Opens the full flavour of the program, at the level of the setup. */
int inject_start_program(struct inject_start *c, const char *name, bool quick, bool verbose);

/* Makes a temporary directory, which inject_start_release() removes. */
int inject_start_temporary(struct inject_start *c);

/* Creates the directory of a new campaign.  An existing one is replaced only if it has nothing but
 * files of a campaign, and a started campaign (campaign.json) only if `force` is set. */
int inject_start_directory(struct inject_start *c, const char *directory, bool force);

/* Makes the golden run: runs the program without a fault.  With `check`, also checks whether its
 * behaviour depends on the schedule.  With `allow`, such a program is accepted. */
int inject_start_golden(struct inject_start *c, bool check, bool allow);

/* Loads the golden run, and finds the places where faults may strike.  The caller releases the
 * golden run in any case. */
int inject_start_ground(const struct inject_start *c, struct inject_golden *golden,
			struct inject_ground *ground);

/* Chooses the kinds in `faults` that apply to the program, and writes campaign.json, which makes
 * the directory a campaign.
 */
int inject_start_kinds(struct inject_start *c, const char *faults);

/* Opens the campaign in a directory: its setup, fault models and program.  Calls `said` with the
 * setup before it opens the program. */
int inject_start_resume(struct inject_start *c, const char *directory, bool verbose,
			void (*said)(const struct inject_setup *s, const char *path));

#endif
