/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that an executable of their own does. */
#ifndef CMD_HANDOVER_INT_H
#define CMD_HANDOVER_INT_H

/* Becomes the executable of that name beside Raddle's other files, with these arguments; returns
 * the status of a failure. */
int cmd_hand_over(const char *name, char **argv);

#endif
