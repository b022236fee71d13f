/* SPDX-License-Identifier: Apache-2.0 */
/* Classification of a program that has no findings yet. */
#ifndef CMD_CLASSIFY_ANEW_INT_H
#define CMD_CLASSIFY_ANEW_INT_H

/* Without a synchronisation it is another program: what follows is recorded and predicted first, which is
 * what `raddle check` does. */
int cmd_classify_anew(char **argv);

#endif
