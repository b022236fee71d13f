/* SPDX-License-Identifier: Apache-2.0 */
/* A program that a command runs many times in the flavour `led`, each time with the command's
 * standard input. */
#ifndef CMD_LED_INT_H
#define CMD_LED_INT_H

#include "replay/conditions.h"
#include "replay/led.h"
#include "replay/replay.h"
#include "run/input.h"

struct cmd_led {
	struct replay_led flavour;
	struct run_input input;
	struct replay_program program;
	char *scratch;
};

#define CMD_LED_INIT                                                                                         \
	{                                                                                                    \
		.input = {.first = STDIN_FILENO }                                                            \
	}

/* Opens a program.  `command` becomes the name of the scratch directory.  If `lines` is set, the
 * program is built with source lines.  The caller must call cmd_led_close() even if this fails. */
int cmd_led_open(struct cmd_led *l, const char *command, char **argv, bool lines);
void cmd_led_close(struct cmd_led *l);

/* Returns the conditions under which the program is run, according to --with, --setup and
 * --timeout. */
struct replay_conditions cmd_led_runs(const struct cmd_led *l);

#endif
