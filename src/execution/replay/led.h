/* SPDX-License-Identifier: Apache-2.0 */
/* The flavour `led` of a program, in which a thread can be stopped before each access, and its
 * sites. */
#ifndef REPLAY_LED_H
#define REPLAY_LED_H

#include "run/program.h"
#include "trace/sites.h"

struct replay_led {
	struct run_program program;
	struct trace_sites *sites;
};

/* Makes the flavour and reads its sites.  Must be closed even after a failure. */
int replay_led_open(struct replay_led *l, const char *name, const struct run_build *how);
void replay_led_close(struct replay_led *l);

#endif
