/* SPDX-License-Identifier: Apache-2.0 */
/* Classification of a program that has no findings yet. */
#ifndef CMD_CLASSIFY_ANEW_INT_H
#define CMD_CLASSIFY_ANEW_INT_H

#include "base/process.h"

/* Classifies a program from which synchronisation is left out.  This is a different program, so it
 * is recorded and predicted anew, as by `raddle check`.  Returns the exit status. */
int cmd_classify_anew(char **argv);

/* The arguments of that `raddle check`, preceded by the name of the command. */
void cmd_classify_anew_words(char **argv, struct rd_argv *words);

#endif
