/* SPDX-License-Identifier: Apache-2.0 */
/* A program that a command runs many times in the flavour `led`, each time with the input that the
 * command got. */
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

/* The command's name is that of its scratch directory; `lines`: the program that runs knows its
 * lines.  What was opened is closed in any case by cmd_led_close(). */
int cmd_led_open(struct cmd_led *l, const char *command, char **argv, bool lines);
void cmd_led_close(struct cmd_led *l);

/* How it is run, by the options that say what runs beside it and how long it may take. */
struct replay_conditions cmd_led_runs(const struct cmd_led *l);

#endif
