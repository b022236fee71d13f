/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that the hive knows, in memory: its candidates with the reports about them, and the
 * sites that report.  doc/format/hive-api.json defines the document that adds a program.  Only one
 * thread at a time changes a program, and no thread reads it meanwhile (hive.h).
 */
#ifndef HIVE_PROGRAM_H
#define HIVE_PROGRAM_H

#include "base/map.h"
#include "hive/sketch.h"
#include "hive/verdict.h"
#include "protocol/task-set.h"

#include <jansson.h>

enum {
	HIVE_CANDIDATES_MAX = 200000, /* of a program; a judgement: bounds memory */
	HIVE_NAME_MAX = 255,	      /* bytes; as NAME_MAX of Linux */
	HIVE_LEVELS = 5,	      /* of the time-out (hive_tau_us()) */
};

/* The time-out of a level, in microseconds. */
uint32_t hive_tau_us(unsigned level);

struct hive_candidate {
	char id[HIVE_CANDIDATE];
	uint32_t rank;
	char *object;
	char *accesses;			      /* JSON text */
	char *unguarded;		      /* why no site can validate it; NULL: sites can */
	char *class_name, *class_consequence; /* from `raddle classify`; NULL: not classified */
	struct hive_tally tally;
	struct hive_canary canary;
	uint32_t weight; /* its share of the tasks */
};

/* What is known about a site, from its reports alone. */
struct hive_site {
	uint64_t key[2]; /* its id; both 0: the slot is free */
	uint32_t reports, timeouts;
	uint32_t completed; /* tasks */
	uint32_t candidate; /* that it works on */
	uint8_t level[HIVE_ORDERS];
	uint8_t done; /* bits of orders */
	uint8_t unseen;
	uint64_t cost_us;
};

struct hive_program {
	char build[HIVE_BUILD];
	char *name, *unsound; /* unsound: JSON text of an array */
	uint64_t number;      /* in the store */
	enum protocol_mode state;
	uint32_t rollout; /* percent of the sites */
	uint32_t poll_s;
	uint64_t revision;
	int64_t added;			   /* Unix milliseconds */
	struct hive_candidate *candidates; /* by rank */
	size_t count;
	struct rd_umap by_id;
	uint64_t *sums;		 /* of weights: a Fenwick tree of count + 1 numbers */
	struct hive_site *sites; /* a hash table */
	size_t site_count, site_capacity;
	uint64_t timeouts, cost_us;   /* of all sites */
	struct hive_canary canary;    /* of all candidates */
	struct hive_sketch *sketches; /* failures to explain, the oldest first */
	size_t sketch_count;
	struct hive_task_cache *cache; /* task sets that were signed, see task-set-int.h */
};

/* Reads a program from the body of POST /api/v1/programs.  It has no number and no reports yet. */
int hive_program_read(struct hive_program *program, const char *body, size_t length);
void hive_program_release(struct hive_program *p);

/* Makes the index and the weights; call it when all candidates have been added. */
void hive_program_index(struct hive_program *p);

/* The index of a candidate, -1: there is none. */
int64_t hive_program_find(const struct hive_program *p, const char *id);

/* What is stored about one report. */
struct hive_row {
	uint64_t number, program;
	char site[HIVE_SITE];
	struct hive_report report;
};
void hive_program_apply(struct hive_program *p, const struct hive_row *row);

/* The site, NULL: it has not reported yet. */
const struct hive_site *hive_program_site(const struct hive_program *p, const uint64_t key[2]);

/* 32 hexadecimal digits as two numbers. */
void hive_site_key(const char *site, uint64_t key[2]);

/* The failure of that id, NULL: there is none. */
struct hive_sketch *hive_program_sketch(const struct hive_program *p, const char *id);

uint64_t hive_program_total(const struct hive_program *p); /* of weights */
/* The candidate in whose share of the total `at` lies, which is less than the total. */
uint32_t hive_program_pick(const struct hive_program *p, uint64_t at);

#endif
