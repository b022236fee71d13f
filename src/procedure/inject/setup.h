/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The definition of a campaign: program, faults, limits, and facts about the fault-free run.  It is
 * written to campaign.json once (doc/format/campaign.md).  The runs of the campaign depend only on
 * this definition and on the fault-free run.
 */
#ifndef INJECT_SETUP_H
#define INJECT_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INJECT_VERSION 1 /* version of the format of a campaign */
/* Limits of input; set by hand, far above any real campaign. */
#define INJECT_FAULTS_MAX 16 /* number of faults in a run */
#define INJECT_RUNS_MAX 100000000
#define INJECT_WINDOW_MAX 1000000

struct inject_list {
	char **items;
	size_t count, capacity;
};
void inject_list_add(struct inject_list *l, const char *item);
/* Splits a text at its commas.  `text` may be NULL. */
void inject_list_split(struct inject_list *l, const char *text);
void inject_list_release(struct inject_list *l);

struct inject_setup { /* owns its strings */
	/* The first group of members describes the program. */
	char *program; /* absolute path */
	char *key;     /* key of the flavour in the cache */
	char *mode;    /* mode of the flavour: fast or quick */
	/* The code in which faults are injected: source or optimised; NULL means source. */
	char *level;
	struct inject_list argv;
	/* Path of the file that becomes standard input; NULL for empty input. */
	char *input;
	/* Absolute paths of files for the scratch directory of each run. */
	struct inject_list inputs;
	struct inject_list names; /* names of `inputs` in the scratch directory */

	/* This group describes the faults. */
	uint64_t seed;
	uint64_t runs; /* number of runs of each kind */
	/* The stopping rule: the campaign ends when half the width of the confidence interval is
	 * at most this number of millionths.  0 means that there is no such rule. */
	uint64_t until;
	char *until_outcome;	  /* the outcome to whose share the interval applies */
	struct inject_list kinds; /* names of the kinds */
	/* The text of the user's fault models (inject/fault-model.h); NULL if there are none. */
	char *model;
	char *sampling;	 /* how faults are sampled: uniform, function, opcode or thread */
	uint64_t bits;	 /* number of bits that change; 0 for the default of the kind */
	uint64_t faults; /* number of faults in a run */
	/* Further faults strike within this many records of the thread after the first fault. */
	uint64_t window;
	bool once; /* each fault strikes once, even if its kind is permanent */

	/* This group restricts where faults may strike.  NULL and empty members mean anywhere. */

	/* The process that the campaign is about, such as P_0_1; NULL for the first process. */
	char *process;
	char *thread;
	char *line; /* place in the source: FILE:LINE[:COLUMN] */
	uint64_t site;
	struct inject_list functions, not_functions, opcodes, not_opcodes;
	uint64_t instance; /* 0 for any */
	uint64_t bit;	   /* 1 + the number of the bit; 0 for any */

	/* This group contains the limits of a run. */
	uint64_t wall_ms, cpu_ms;
	uint64_t memory, file_size, trace_size, processes;
	bool aslr; /* addresses differ from run to run */

	/* This group decides what is compared and what is kept. */
	struct inject_list ignore; /* patterns of output files, and "stdout" */
	/* Command that reads output and writes the part of it that is compared. */
	char *filter;
	bool errors; /* standard error is compared, too */
	char *keep;  /* which traces are kept: all, deviating, none */

	/* This group contains facts about the fault-free run. */
	uint64_t golden_runs, records, threads;
	int64_t status; /* wait status */
	uint64_t golden_wall_us, golden_cpu_us, golden_bytes;
	bool forced; /* the fault-free runs differed, and the user continued nevertheless */
	/* "yes" if the fault-free run is pseudo-deterministic, "no" or "unknown"; NULL if that was
	 * not checked. */
	char *reversible;
};

int inject_setup_write(const struct inject_setup *s, const char *path);
/* Parses campaign.json.  `name` is used in messages. */
int inject_setup_parse(struct inject_setup *s, const char *text, size_t length, const char *name);
struct run_fault;
/* Sets the process of a fault to the process that the campaign is about. */
void inject_setup_process(const struct inject_setup *s, struct run_fault *f);
int inject_setup_read(struct inject_setup *s, const char *path);
void inject_setup_release(struct inject_setup *s);

#endif
