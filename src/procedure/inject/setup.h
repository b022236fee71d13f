/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The definition of a campaign: program, faults, limits, and facts about the fault-free run.  It
 * is written to campaign.json once (doc/format/campaign.md).  The runs of the campaign depend only
 * on it and on the fault-free run.
 */
#ifndef INJECT_SETUP_H
#define INJECT_SETUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INJECT_VERSION 1 /* of the format of a campaign */
/* Limits of input; set by hand, far above any real campaign. */
#define INJECT_FAULTS_MAX 16 /* in a run */
#define INJECT_RUNS_MAX 100000000
#define INJECT_WINDOW_MAX 1000000

struct inject_list {
	char **items;
	size_t count, capacity;
};
void inject_list_add(struct inject_list *l, const char *item);
void inject_list_split(struct inject_list *l, const char *text); /* at commas; text may be NULL */
void inject_list_release(struct inject_list *l);

struct inject_setup { /* strings are owned */
	/* the program */
	char *program; /* absolute */
	char *key;     /* of the flavour */
	char *mode;    /* fast or quick */
	char *level;   /* where faults lie: source or optimised; NULL: source */
	struct inject_list argv;
	char *input;		   /* the file that becomes standard input; NULL: empty */
	struct inject_list inputs; /* files for the scratch directory of each run; absolute */
	struct inject_list names;  /* their names there; as many */

	/* the faults */
	uint64_t seed;
	uint64_t runs;	     /* of each kind */
	uint64_t until;	     /* half width of an interval at which to stop, in millionths; 0: no such rule */
	char *until_outcome; /* the outcome for whose share the interval is */
	struct inject_list kinds; /* names */
	char *model;	/* the text of the user's fault models (inject/fault-model.h); NULL: there are none */
	char *sampling; /* uniform, function, opcode or thread */
	uint64_t bits;	/* how many bits change; 0: the default of the kind */
	uint64_t faults; /* in a run */
	uint64_t window; /* further faults strike within so many records of the thread after the first */
	bool once;	 /* each fault strikes once, even if its kind is permanent */

	/* where they may strike; NULL and empty: anywhere */
	char *process; /* P_0_1: the process that the campaign is about; NULL: the first */
	char *thread;
	char *line; /* FILE:LINE[:COLUMN] */
	uint64_t site;
	struct inject_list functions, not_functions, opcodes, not_opcodes;
	uint64_t instance; /* 0: any */
	uint64_t bit;	   /* number of the bit plus one; 0: any */

	/* limits of a run */
	uint64_t wall_ms, cpu_ms;
	uint64_t memory, file_size, trace_size, processes;
	bool aslr; /* addresses differ from run to run */

	/* what is compared and kept */
	struct inject_list ignore; /* patterns of output files, and "stdout" */
	char *filter;		   /* a command: reads output, writes what counts */
	bool errors;		   /* standard error is compared, too */
	char *keep;		   /* traces: all, deviating, none */

	/* of the fault-free run */
	uint64_t golden_runs, records, threads;
	int64_t status; /* of waitpid() */
	uint64_t golden_wall_us, golden_cpu_us, golden_bytes;
	bool forced;	  /* its runs differed, and the user continued */
	char *reversible; /* whether it is pseudo-deterministic: yes, no, unknown; NULL: not checked */
};

int inject_setup_write(const struct inject_setup *s, const char *path);
/* `name` is used in messages. */
int inject_setup_parse(struct inject_setup *s, const char *text, size_t length, const char *name);
/* Sets the process of a fault to the one that the campaign is about. */
struct run_fault;
void inject_setup_process(const struct inject_setup *s, struct run_fault *f);
int inject_setup_read(struct inject_setup *s, const char *path);
void inject_setup_release(struct inject_setup *s);

#endif
