/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The definition of a campaign: program, faults, limits, and facts about the fault-free run.  It is
 * written to campaign.json once (doc/format/campaign.md), and a run of the campaign depends on
 * nothing else.
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
	char *until_outcome; /* the outcome whose share it is */
	struct inject_list kinds; /* names */
	char *model;	/* the text of the user's fault models (inject/fault-model.h); NULL: there are none */
	char *sampling; /* uniform, function, opcode or thread */
	uint64_t bits;	/* that change; 0: the default of the kind */
	uint64_t faults; /* in a run */
	uint64_t window; /* operations of the thread after the first fault in which further ones strike */
	bool once;	 /* also for faults that would be permanent */

	/* where they may strike; NULL and empty: anywhere */
	char *process; /* P_0_1; all is about this one, the first if it is NULL */
	char *thread;
	char *line; /* P_0_1; the process that the campaign is about; NULL: the first */
	uint64_t site;
	struct inject_list functions, not_functions, opcodes, not_opcodes;
	uint64_t instance; /* 0: any */
	uint64_t bit;	   /* plus one; 0: any */

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
	bool forced;	  /* its runs differed, or it failed */
	char *reversible; /* whether the schedule can change it: yes (it cannot), no, unknown */
};

int inject_setup_write(const struct inject_setup *s, const char *path);
/* `name` is used in messages. */
int inject_setup_parse(struct inject_setup *s, const char *text, size_t length, const char *name);
/* The process that the campaign is about, as forks from the first one. */
struct run_fault;
void inject_setup_process(const struct inject_setup *s, struct run_fault *f);
int inject_setup_read(struct inject_setup *s, const char *path);
void inject_setup_release(struct inject_setup *s);

#endif
