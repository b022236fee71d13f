/* SPDX-License-Identifier: Apache-2.0 */
/* Inside trial/: the files that a run wrote, and what it sent. */
#ifndef TRIAL_FILES_INT_H
#define TRIAL_FILES_INT_H

#include "trial/trial.h"

/* The lock for runs whose files are compared.  A process that ends while it holds the lock releases
 * it. */
void files_setup(struct trial_shared *s);
void files_lock(struct trial_shared *s);

bool files_are_written(const struct replay_result *r);

/* Sets the streams TRIAL_SENT and TRIAL_FILES.  The files are read as they are now. */
void files_read_sent(const struct replay_result *r, struct trial *t, struct rd_arena *arena);
void files_read(const struct replay_result *r, struct trial *t, struct rd_arena *arena);

#endif
