/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How an error spread, as a page: the source with the lines it reached, a column for each
 * thread, and between them the ways it took.  In: the propagation in words and numbers.
 * Out: one HTML page that needs nothing else.
 */
#ifndef REPORT_PROPAGATION_H
#define REPORT_PROPAGATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum propagation_way {
	PROPAGATION_REGISTER, /* by a value inside a function */
	PROPAGATION_MEMORY,   /* a corrupted cell was read */
	PROPAGATION_CONTROL,  /* another path was taken */
	PROPAGATION_CALL,     /* from the caller into the callee */
	PROPAGATION_RETURN,   /* and back */
	PROPAGATION_THREAD,   /* into a thread that was created */
	PROPAGATION_WAYS
};

/* A program point in one thread; texts are the caller's and may be NULL. */
struct propagation_place {
	const char *thread, *file, *function;
	uint32_t line, column; /* 0: unknown */
};

/* A place that the error reached. */
struct propagation_node {
	struct propagation_place place;
	const char *kind;	  /* "fault", "data", "address", "control", "missing", "extra" */
	const char *what;	  /* "load", "store", "call memcpy" */
	const char *object;	  /* what was read or written: "hits", "heap of main:12" */
	const char *golden, *run; /* values */
	uint64_t record, count;	  /* number of the first record in its thread, and how many deviate */
};

/* From one node to another, by their numbers. */
struct propagation_edge {
	size_t from, to;
	enum propagation_way way;
	const char *object; /* through what */
};

/* A place where the error came to an end. */
struct propagation_end {
	struct propagation_place place;
	const char *object;
	const char *how; /* "overwritten", "freed" */
	uint64_t count;
};

struct propagation {
	const char *golden, *run;	      /* names of the traces */
	const char *fault;		      /* what was injected; NULL: not known */
	const char *first;		      /* the first deviation in a sentence; NULL: there is none */
	const struct propagation_node *nodes; /* in the order in which they were reached */
	size_t node_count, nodes_left_out;
	const struct propagation_edge *edges;
	size_t edge_count;
	const struct propagation_end *ends;
	size_t end_count;
	const char *root; /* where relative source files are looked for; NULL: here */
};

/* 0, or RD_ESYSTEM if `out` could not be written. */
int report_propagation_html(const struct propagation *p, FILE *out);

#endif
