/* SPDX-License-Identifier: Apache-2.0 */
/* Prepares for a recorded run: makes the directory, and fills in the first meta data. */
#ifndef RECORD_PREPARE_H
#define RECORD_PREPARE_H

#include "base/claim.h"
#include "run/program.h"
#include "trace/meta.h"

#include <stdbool.h>

/* Makes room for a trace.  An existing trace is kept as PATH.old, or removed with `force`.
 * Anything else at the path is an error. */
int record_prepare_directory(const char *path, bool force);

/* Does the same as record_prepare_directory(), but for a directory to which other commands may
 * write at the same time.  It claims the directory first.  If another command has already claimed
 * it and `elsewhere` is set, claims another directory beside it. */
int record_claim_directory(struct rd_claim *claim, const char *path, bool force, bool elsewhere);

/* Fills `meta` for a run that starts now.  The caller still owns `argv`, which ends with NULL. */
void record_prepare_meta(struct trace_meta *meta, const struct run_program *program, char **argv);
void record_release_meta(struct trace_meta *meta);

#endif
