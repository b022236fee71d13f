/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the watchdog of a recorded run asks: does the program stand still for good, and who waits
 * for whom?  The answer is made in another process and comes back through a memory file.
 */
#ifndef CMD_STANDING_H
#define CMD_STANDING_H

#include "finding/finding.h"
#include "record/watch.h"

struct cmd_standing {
	const char *trace; /* directory */
	int answer;	   /* memory file with a finding document */
};

int cmd_standing_open(struct cmd_standing *s, const char *trace);
void cmd_standing_close(struct cmd_standing *s);

/* A record_stands_fn; the context is the struct cmd_standing. */
bool cmd_standing_look(void *context, const struct run_still *still);

/* The deadlocks in which the program stood; finding_set_free() frees them. */
int cmd_standing_read(const struct cmd_standing *s, struct finding_set **set);

#endif
