/* SPDX-License-Identifier: Apache-2.0 */
/* What a campaign starts with: program, kinds of faults, setup and directory, new or read from an
 * existing campaign. */
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
	bool discard; /* the directory: nothing in it is worth keeping */
};

void inject_start_release(struct inject_start *c);

/* The faults of the user become kinds like the others: those of the file, which the setup then holds; NULL:
 * nothing is done. */
int inject_start_models(struct inject_start *c, const char *file);

/* The full flavour of the program; the setup has its level. */
int inject_start_program(struct inject_start *c, const char *name, bool quick, bool verbose);

/* A directory for what is not kept. */
int inject_start_temporary(struct inject_start *c);

/* The directory of a new campaign.  What is there is replaced only if it is a campaign, and `force` is set.
 */
int inject_start_directory(struct inject_start *c, const char *directory, bool force);

/* Runs the program without a fault; with `check` also looks whether chance decides what it does.  `allow`: it
 * may. */
int inject_start_golden(struct inject_start *c, bool check, bool allow);

/* What the golden run left, and where faults may strike in it; the golden run is to be released in any case.
 */
int inject_start_ground(const struct inject_start *c, struct inject_golden *golden,
			struct inject_ground *ground);

/* Chooses the kinds of `faults` that fit and writes campaign.json: the directory is a campaign from now on.
 */
int inject_start_kinds(struct inject_start *c, const char *faults);

/* The campaign in a directory: its setup, models and program.  `said` is called with the setup before the
 * program is opened. */
int inject_start_resume(struct inject_start *c, const char *directory, bool verbose,
			void (*said)(const struct inject_setup *s, const char *path));

#endif
