/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes a self-contained HTML page that shows how an error spread from a fault.  The page shows
 * the source with the lines that the error reached, a column for each thread, and arrows between
 * the lines.
 */
#ifndef REPORT_PROPAGATION_INT_H
#define REPORT_PROPAGATION_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum propagation_way {
	PROPAGATION_REGISTER, /* through a value inside a function */
	PROPAGATION_MEMORY,   /* through a read of a corrupted memory cell */
	PROPAGATION_CONTROL,  /* because another path was taken */
	PROPAGATION_CALL,     /* from the caller into the callee */
	PROPAGATION_RETURN,   /* from the callee back to the caller */
	PROPAGATION_THREAD,   /* into a created thread */
	PROPAGATION_WAYS
};

/* A place in one thread.  The caller owns the texts, which may be NULL. */
struct propagation_place {
	const char *thread, *file, *function;
	uint32_t line, column; /* 0 if unknown */
};

/* A place that the error reached. */
struct propagation_node {
	struct propagation_place place;
	const char *kind; /* such as "fault", "data", "address", "control", "missing" or "extra" */
	const char *what; /* the operation, such as "load", "store" or "call memcpy" */
	/* The object that was read or written, such as "hits" or "heap of main:12". */
	const char *object;
	const char *golden, *run; /* the values in the two runs */
	/* `record` is the number, in the node's thread, of the first deviating record.  `count` is
	 * the number of the node's deviating records. */
	uint64_t record, count;
};

/* An edge between two nodes.  `from` and `to` are the numbers of the nodes. */
struct propagation_edge {
	size_t from, to;
	enum propagation_way way;
	const char *object; /* the object through which the error passed */
};

/* A place where the error disappeared. */
struct propagation_end {
	struct propagation_place place;
	const char *object;
	const char *how; /* such as "overwritten" or "freed" */
	uint64_t count;
};

struct propagation {
	const char *golden, *run;	      /* the names of the traces */
	const char *fault;		      /* a description of the injected fault; NULL if unknown */
	const char *first;		      /* a sentence about the first deviation; NULL if unknown */
	const struct propagation_node *nodes; /* the nodes, in the order in which they were reached */
	size_t node_count, nodes_left_out;
	const struct propagation_edge *edges;
	size_t edge_count;
	const struct propagation_end *ends;
	size_t end_count;
	const char *root; /* the directory of relative source files; NULL for the current directory */
};

/* Returns 0, or RD_ESYSTEM if `out` could not be written. */
int report_propagation_html(const struct propagation *p, FILE *out);

#endif
