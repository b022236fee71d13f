/* SPDX-License-Identifier: Apache-2.0 */
/* Preparation before a program is recorded: the directory, and the first meta data. */
#ifndef RECORD_PREPARE_H
#define RECORD_PREPARE_H

#include "base/claim.h"
#include "run/program.h"
#include "trace/meta.h"

#include <stdbool.h>

/* Makes room for a trace.  An existing trace is kept as PATH.old, or removed with `force`.
 * Anything else at the path is an error. */
int record_prepare_directory(const char *path, bool force);

/* Does the same as record_prepare_directory() for a directory that other commands may write to at
 * the same time.  Claims the directory first.  If it is already claimed and `elsewhere` is set,
 * claims another directory beside it. */
int record_claim_directory(struct rd_claim *claim, const char *path, bool force, bool elsewhere);

/* Fills `meta` for a run that starts now.  The caller still owns `argv`, which ends with NULL. */
void record_prepare_meta(struct trace_meta *meta, const struct run_program *program, char **argv);
void record_release_meta(struct trace_meta *meta);

#endif
