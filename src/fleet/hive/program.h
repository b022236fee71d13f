/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that the hive knows, as it is kept in memory: its candidates with the reports about
 * them, and the sites that report.  doc/format/hive-api.json defines the document that adds a
 * program.  Only one thread at a time changes a program, and no other thread reads it meanwhile
 * (hive.h).
 */
#ifndef HIVE_PROGRAM_H
#define HIVE_PROGRAM_H

#include "base/map.h"
#include "hive/sketch.h"
#include "hive/verdict.h"
#include "protocol/task-set.h"

#include <jansson.h>

enum {
	/* Maximum number of candidates of a program; set by hand to bound memory. */
	HIVE_CANDIDATES_MAX = 200000,
	HIVE_NAME_MAX = 255, /* in bytes, like NAME_MAX of Linux */
	HIVE_LEVELS = 5,     /* the number of levels of the time-out (hive_tau_us()) */
};

/* Returns the time-out of a level, in microseconds. */
uint32_t hive_tau_us(unsigned level);

struct hive_candidate {
	char id[HIVE_CANDIDATE];
	uint32_t rank;
	char *object;
	char *accesses;	 /* both accesses, as JSON text */
	char *unguarded; /* the reason why no site can validate the candidate; NULL if sites can */
	/* The class from `raddle classify`; NULL if the candidate is not classified. */
	char *class_name, *class_consequence;
	struct hive_tally tally;
	struct hive_canary canary;
	uint32_t weight; /* the weight with which the candidate is drawn as a task */
};

/* The state of a site, computed from its reports alone. */
struct hive_site {
	uint64_t key[2]; /* the id of the site; both numbers are 0 if the slot is free */
	uint32_t reports, timeouts;
	uint32_t completed; /* the number of tasks that the site has completed */
	uint32_t candidate; /* the index of the candidate that the site works on */
	uint8_t level[HIVE_ORDERS];
	uint8_t done; /* a bit for each order that was tried */
	uint8_t unseen;
	uint64_t cost_us;
};

struct hive_program {
	char build[HIVE_BUILD];
	char *name, *unsound; /* `unsound` is the JSON text of an array */
	uint64_t number;      /* the program's number in the store */
	enum protocol_mode state;
	uint32_t rollout; /* the percentage of sites that take part */
	uint32_t poll_s;
	uint64_t revision;
	int64_t added;			   /* when the program was added, in Unix milliseconds */
	struct hive_candidate *candidates; /* the candidates, by rank */
	size_t count;
	struct rd_umap by_id;
	/* A Fenwick tree of the weights, with one number more than there are candidates. */
	uint64_t *sums;
	struct hive_site *sites; /* a hash table of sites */
	size_t site_count, site_capacity;
	uint64_t timeouts, cost_us;   /* sums over all sites */
	struct hive_canary canary;    /* the sum over all candidates */
	struct hive_sketch *sketches; /* the failures to explain, oldest first */
	size_t sketch_count;
	struct hive_task_cache *cache; /* the task sets that were signed (task-set-int.h) */
};

/* Reads a program from the body of POST /api/v1/programs.  It has no number and no reports yet. */
int hive_program_read(struct hive_program *program, const char *body, size_t length);
void hive_program_release(struct hive_program *p);

/* Makes the index and the weights.  Call this when all candidates have been added. */
void hive_program_index(struct hive_program *p);

/* Returns the index of a candidate, or -1 if there is none with this id. */
int64_t hive_program_find(const struct hive_program *p, const char *id);

/* One report, as it is stored. */
struct hive_row {
	uint64_t number, program;
	char site[HIVE_SITE];
	struct hive_report report;
};
void hive_program_apply(struct hive_program *p, const struct hive_row *row);

/* Returns the state of a site, or NULL if it has not reported yet. */
const struct hive_site *hive_program_site(const struct hive_program *p, const uint64_t key[2]);

/* Converts 32 hexadecimal digits to two numbers. */
void hive_site_key(const char *site, uint64_t key[2]);

/* Returns the failure with that id, or NULL if there is none. */
struct hive_sketch *hive_program_sketch(const struct hive_program *p, const char *id);

uint64_t hive_program_total(const struct hive_program *p); /* the sum of all weights */
/* Draws a candidate.  If the weights are laid out one after another, this is the candidate whose
 * range contains `at`.  `at` is less than the total. */
uint32_t hive_program_pick(const struct hive_program *p, uint64_t at);

#endif
