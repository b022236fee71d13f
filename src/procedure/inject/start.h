/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares the start of a campaign: its program, kinds of fault, setup and directory.  For a new
 * campaign, these are created.  For an existing campaign, they are read from its directory. */
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

/* Registers the faults that the user describes in a file as kinds of fault.  Copies the text of the
 * file into the setup.  If `file` is NULL, does nothing. */
int inject_start_models(struct inject_start *c, const char *file);

/* Opens the flavour `full` of the program, for the level that the setup contains (source or
 * optimised). */
int inject_start_program(struct inject_start *c, const char *name, bool quick, bool verbose);

/* Makes a temporary directory, which inject_start_release() removes. */
int inject_start_temporary(struct inject_start *c);

/* Creates the directory of a new campaign.  An existing directory is replaced only if it contains
 * nothing but files of a campaign.  If campaign.json exists, the campaign has started, and the
 * directory is replaced only if `force` is set. */
int inject_start_directory(struct inject_start *c, const char *directory, bool force);

/* Makes the golden run: runs the program without a fault.  If `check` is set, also checks whether
 * the schedule can change what the program does.  A program for which this is true is rejected
 * unless `allow` is set. */
int inject_start_golden(struct inject_start *c, bool check, bool allow);

/* Loads the golden run, and finds the places at which faults can be injected.  The caller must
 * release the golden run, even after a failure. */
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
