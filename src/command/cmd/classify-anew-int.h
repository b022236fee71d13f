/* SPDX-License-Identifier: Apache-2.0 */
/* Classification of a program that has no findings yet. */
#ifndef CMD_CLASSIFY_ANEW_INT_H
#define CMD_CLASSIFY_ANEW_INT_H

#include "base/process.h"

/* Classifies the races of a program without some of its synchronisation (`--without-sync`).  Such
 * a program behaves differently, so it is recorded and predicted again, as by `raddle check`.
 * Returns the exit status. */
int cmd_classify_anew(char **argv);

/* Appends the `raddle check` command that cmd_classify_anew() runs to `words`.  The first word is
 * the name of the command, and the others are its arguments. */
void cmd_classify_anew_words(char **argv, struct rd_argv *words);

#endif
