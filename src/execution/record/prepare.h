/* SPDX-License-Identifier: Apache-2.0 */
/* What is done before a program is recorded: the directory, and what is known of the run. */
#ifndef RECORD_PREPARE_H
#define RECORD_PREPARE_H

#include "base/claim.h"
#include "run/program.h"
#include "trace/meta.h"

#include <stdbool.h>

/* Whether the document is one that Raddle wrote, or empty. */
bool record_wrote_document(const char *path);

/* Makes way for a trace: one that is there is kept as PATH.old, or removed with
 * `force`.  Anything else in the way is an error. */
int record_prepare_directory(const char *path, bool force);

/* The same for a directory that other commands may want to write to at the same time: it is claimed first, or
 * with `elsewhere` another one beside it. */
int record_claim_directory(struct rd_claim *claim, const char *path, bool force, bool elsewhere);

/* Fills `meta` for a run that starts now; argv, up to NULL, stays the caller's. */
void record_prepare_meta(struct trace_meta *meta, const struct run_program *program, char **argv);
void record_release_meta(struct trace_meta *meta);

#endif
