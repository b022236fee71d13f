/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that have their own executables. */
#ifndef CMD_HANDOVER_INT_H
#define CMD_HANDOVER_INT_H

/* Executes the program `name`, which is in the same directory as Raddle's other files, with these
 * arguments.  Returns only on failure, with the exit status. */
int cmd_hand_over(const char *name, char **argv);

#endif
