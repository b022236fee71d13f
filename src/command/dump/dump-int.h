/* SPDX-License-Identifier: Apache-2.0 */
/* Declarations that the files of dump/ share. */
#ifndef DUMP_DUMP_INT_H
#define DUMP_DUMP_INT_H

#include "base/buf.h"
#include "base/json.h"
#include "dump/dump.h"
#include "model/model.h"

struct dump {
	const struct dump_options *opt;
	FILE *out;
	struct trace *trace;
	struct model *model;
	int thread_width; /* the width of the column of thread names */
	bool *threads;	  /* for each thread of the model, true if it is shown; NULL if all are */
	bool kinds[RADDLE_ACCESS + 1]; /* for each kind of event, true if it is shown */
	/* True if plain reads and reads of ranges are shown; the same for writes. */
	bool reads, writes;
	struct model_cache cache;
};

/* Decides which threads and kinds are shown, according to the lists in the options and the
 * model. */
int dump_set_filters(struct dump *d);

/* Returns the maximum number of events that may be written. */
uint64_t dump_limit(const struct dump_options *options);

/* Each of these writes one document. */
int dump_events(struct dump *d);
int dump_summary(struct dump *d);
int dump_full(struct trace *trace, const struct dump_options *options, FILE *out);
void dump_sites(const struct trace_sites *sites, bool json, FILE *out);
/* `damaged` is true if the file `world` of the trace is damaged. */
int dump_check(struct trace *trace, bool json, bool damaged, FILE *out);
int dump_facts(const char *path, bool json, FILE *out);

#define DUMP_OTHER 1 /* what dump_artefact() returns for a path that is no known artefact */
/* Shows the facts, schedule, findings or program at `path`.  Returns DUMP_OTHER if the path is none
 * of these. */
int dump_artefact(const char *path, bool json, FILE *out);

/* Functions for the world of a run: the recorded input from outside. dump_is_world() tests whether
 * a file contains such input, dump_world() shows its records, and dump_check_world() checks
 * whether those of a trace directory can be read. */
bool dump_is_world(const char *path);
int dump_world(const char *path, bool json, FILE *out);
int dump_check_world(const char *directory);

/* Returns true if an access writes. */
bool dump_event_writes(const struct dump *d, const struct trace_event *e);

/* Appends "file.c:12 function", or nothing for site 0. */
void dump_location(const struct trace_sites *sites, uint32_t site, struct rd_buf *out);

/* Writes a frame object {"file", "line", "column", "function"} for the site, and another for each
 * place into which the site was inlined. */
void dump_json_frames(struct rd_json *j, const struct trace_sites *sites, uint32_t site);

/* Writes the "trace" object of JSON documents. */
void dump_json_trace(struct rd_json *j, const struct dump *d);
void dump_json_threads(struct rd_json *j, const struct dump *d);

/* These write a text such as "1.5 ms" or "12.3 kB" to the caller's buffer and return it. */
const char *dump_duration(uint64_t ns, char out[24]);
const char *dump_bytes(uint64_t bytes, char out[24]);

#endif
